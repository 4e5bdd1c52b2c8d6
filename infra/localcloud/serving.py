"""Serving until a signal comes: start, say so in one line of JSON, note that it runs, end cleanly."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from localcloud import running
from localcloud.cloud import LocalCloud, Options
from localcloud.deployment import ManifestError, read_manifest
from localcloud.functions import Deployment
from localcloud.limits import OFF, Limits, limited
from localcloud.storage import StateInUseError

HOOKS = "SPOTWARDEN_HOOKS"
USUAL = Limits()
"""The limits where functions run."""


class CannotStartError(Exception):
    """Something that was asked for cannot be had: says what."""


def options(
    *,
    project: str,
    state: Path,
    ports: tuple[int, int],
    metric_seconds: float,
    machines: bool = True,
    umask: int = -1,
    with_functions: bool = False,
    limits: Iterable[str] = (),
) -> Options:
    """How to start; `ports` are of HTTP and gRPC, `umask` of VMs, `limits` what differs from the usual.

    Raises:
        CannotStartError: there is no such limit.
    """
    try:
        held = limited(limits, USUAL if with_functions else OFF)
    except ValueError as error:
        raise CannotStartError(str(error)) from error
    http_port, grpc_port = ports
    return Options(
        project=project,
        state=state,
        http_port=http_port,
        grpc_port=grpc_port,
        metric_period=timedelta(seconds=metric_seconds),
        machines=machines,
        umask=umask,
        limits=held,
    )


def deployment(
    infra: Path, *, bucket: str, prefix: str, policy: Path, environ: Mapping[str, str] | None = None
) -> Deployment:
    """The functions of the manifest in `infra`; `CannotStartError` where it cannot be read.

    Of a developer's environment they are told where hooks are, and no other setting of Spotwarden's.
    """
    try:
        manifest = read_manifest(infra / "functions.yaml")
    except ManifestError as error:
        raise CannotStartError(str(error)) from error
    confided = {HOOKS: environ[HOOKS]} if environ and HOOKS in environ else {}
    return Deployment(manifest=manifest, bucket=bucket, policy=policy, prefix=prefix, confided=confided)


async def serve(options: Options, deployment: Deployment | None) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP."""
    ended = end_at_a_signal()
    try:
        async with LocalCloud(options) as cloud, noted(cloud, options.state) as now:
            if deployment:
                await cloud.deploy(deployment)
            line = {"http": now.http, "grpc": now.grpc, "project": now.project, "pid": now.pid}
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
            await ended.wait()
    except (StateInUseError, RuntimeError) as error:
        raise CannotStartError(str(error)) from error


def end_at_a_signal() -> asyncio.Event:
    """An event that is set when somebody wants the process to end."""
    ended = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    return ended


@asynccontextmanager
async def noted(cloud: LocalCloud, state: Path) -> AsyncIterator[running.RunningCloud]:
    """Let commands find this local cloud for as long as it runs."""
    endpoints = cloud.endpoints
    now = running.RunningCloud(
        http=endpoints.http, grpc=endpoints.grpc, project=endpoints.project, pid=os.getpid(), state=str(state)
    )
    note = running.write_down(now, os.environ)
    try:
        yield now
    finally:
        note.unlink(missing_ok=True)
