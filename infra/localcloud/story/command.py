"""`spotwarden local story`, which `./deploy.sh local` runs."""

import asyncio
import os
import signal
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import click

from localcloud import running
from localcloud.cloud import Deployment, LocalCloud, Options
from localcloud.deployment import read_manifest
from localcloud.story.plot import Plot, Say
from localcloud.story.watch import StoryError

INFRA = Path(__file__).resolve().parents[2]
PROJECT = "demo"
BUCKET = "demo-jobs"
METRIC_PERIOD = timedelta(seconds=5)


@click.command()
@click.option("--once", is_flag=True, help="End after the story, at a terminal too.")
@click.option(
    "--state", type=click.Path(path_type=Path), help="Folder to keep everything in; else a temporary one."
)
def story(*, once: bool, state: Path | None) -> None:
    """Tell how a preempted training job comes back; exits non-zero if it did not."""
    stay = not once and sys.stdin.isatty() and sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="spotwarden-", ignore_cleanup_errors=True) as temporary:
        code = asyncio.run(_story((state or Path(temporary)).resolve(), stay=stay))
    raise SystemExit(code)


async def _story(state: Path, *, stay: bool) -> int:
    began = time.monotonic()

    def say(line: str) -> None:
        click.echo(f"{time.monotonic() - began:6.1f} s  {line}")

    ended = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    manifest = read_manifest(INFRA / "functions.yaml")
    deployment = Deployment(manifest=manifest, bucket=BUCKET, policy=INFRA / "policy.toml")
    options = Options(project=PROJECT, state=state, metric_period=METRIC_PERIOD)
    async with LocalCloud(options) as cloud:
        note = running.write_down(_running(cloud, state), os.environ)
        try:
            await cloud.deploy(deployment)
            names = ", ".join(function.name for function in manifest.functions)
            say(f"a Google Cloud of this machine's own is up; functions: {names}")
            code = await _tell(Plot(cloud, deployment, say), ended, say)
            _where_to_look(cloud, state, say)
            if stay and not ended.is_set():
                say("the local cloud stays up; Ctrl-C ends it")
                await ended.wait()
        finally:
            note.unlink(missing_ok=True)
    return code


async def _tell(plot: Plot, ended: asyncio.Event, say: Say) -> int:
    """Tell the story unless somebody ends it; gives the exit status."""
    telling, ending = asyncio.create_task(plot.tell()), asyncio.create_task(ended.wait())
    await asyncio.wait([telling, ending], return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if not telling.done():
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        return 130
    try:
        telling.result()
    except StoryError as error:
        say(f"the story did not come true: {error}")
        return 1
    return 0


def _where_to_look(cloud: LocalCloud, state: Path, say: Say) -> None:
    url = cloud.endpoints.http
    say("the experiment table:  spotwarden jobs")
    say(f"the mailbox:           {url}/local/mailbox")
    say(f"the logs:              {state}/logs and {state}/vms")
    say('to point clients at it: eval "$(.venv-local/bin/spotwarden local env)"')


def _running(cloud: LocalCloud, state: Path) -> running.Running:
    endpoints = cloud.endpoints
    return running.Running(
        http=endpoints.http, grpc=endpoints.grpc, project=endpoints.project, pid=os.getpid(), state=str(state)
    )
