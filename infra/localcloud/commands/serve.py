"""Starting a local cloud, and pointing clients at it."""

import asyncio
import json
import os
import shlex
import signal
import tempfile
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import click

from localcloud import running
from localcloud.cloud import Deployment, LocalCloud, Options, run
from localcloud.commands.client import call
from localcloud.deployment import ManifestError, read_manifest

INFRA = Path(__file__).resolve().parents[2]


@click.command()
@click.option("--http-port", default=0, show_default="any free one", help="Port of the REST APIs.")
@click.option("--grpc-port", default=0, show_default="any free one", help="Port of Pub/Sub and Monitoring.")
@click.option("--project", default="local-project", show_default=True, help="The project's id.")
@click.option(
    "--state", type=click.Path(path_type=Path), help="Folder to keep the bucket in; else a temporary one."
)
@click.option("--functions", is_flag=True, help="Run the functions of infra/functions.yaml as well.")
@click.option(
    "--bucket", default="", help="The jobs' bucket, made for the functions [default: PROJECT-jobs]."
)
@click.option("--prefix", default="", help="The bucket-wide prefix, such as users/.")
@click.option(
    "--policy", type=click.Path(path_type=Path), default=INFRA / "policy.toml", help="The policy file."
)
@click.option("--metric-seconds", default=60.0, show_default=True, help="How often GPUs are measured.")
def serve(  # noqa: PLR0913 — one parameter per option
    *,
    http_port: int,
    grpc_port: int,
    project: str,
    state: Path | None,
    functions: bool,
    bucket: str,
    prefix: str,
    policy: Path,
    metric_seconds: float,
) -> None:
    """Start a local cloud; prints one JSON line when it is ready, ends at Ctrl-C or SIGTERM."""
    deployment = None
    if functions:
        try:
            manifest = read_manifest(INFRA / "functions.yaml")
        except ManifestError as error:
            raise click.ClickException(str(error)) from error
        deployment = Deployment(
            manifest=manifest, bucket=bucket or f"{project}-jobs", policy=policy.resolve(), prefix=prefix
        )
    with tempfile.TemporaryDirectory(prefix="spotwarden-", ignore_cleanup_errors=True) as temporary:
        options = Options(
            project=project,
            state=(state or Path(temporary)).resolve(),
            http_port=http_port,
            grpc_port=grpc_port,
            metric_period=timedelta(seconds=metric_seconds),
        )
        try:
            asyncio.run(_serve(options, deployment))
        except OSError as error:
            raise click.ClickException(f"the local cloud could not start: {error}") from error


async def _serve(options: Options, deployment: Deployment | None) -> None:
    until = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, until.set)
    notes: list[Path] = []

    def ready(cloud: LocalCloud) -> None:
        endpoints = cloud.endpoints
        now = running.Running(
            http=endpoints.http,
            grpc=endpoints.grpc,
            project=endpoints.project,
            pid=os.getpid(),
            state=str(options.state),
        )
        notes.append(running.write_down(now, os.environ))
        line = {"http": now.http, "grpc": now.grpc, "project": now.project, "pid": now.pid}
        click.echo(json.dumps(line))

    try:
        await run(options, deployment, ready, until)
    finally:
        for note in notes:
            note.unlink(missing_ok=True)


@click.command()
def env() -> None:
    """Print the exports that point every client and gcloud at the running local cloud."""
    settings: Mapping[str, str] = call("GET", "/local/env")
    for name, value in settings.items():
        click.echo(f"export {name}={shlex.quote(value)}")
