"""The telling: a local cloud, the plot, and where to look afterwards."""

import asyncio
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Protocol

import click
import msgspec

from localcloud import serving
from localcloud.cloud import LocalCloud
from localcloud.functions import Deployment
from localcloud.serving import end_at_a_signal, noted
from localcloud.story import plot
from localcloud.story.governance import plot as governance
from localcloud.story.handover.plot import HandoverPlot
from localcloud.story.stage import Tell
from localcloud.story.watch import StoryError

INFRA = Path(__file__).resolve().parents[2]
PROJECT = "demo"
BUCKET = "demo-jobs"
INSERTS = "insert_times=0.02"
"""In a story a VM runs after 0.4 s, and one in a hundred after 1.5 s."""
LAG_PERIODS = 4
"""Points are seen so much later; of VMs that are measured each minute these are the usual 240 s."""
Say = Callable[[str], None]


class Teller(Protocol):
    """One telling of a story."""

    async def tell(self) -> None:
        """Live through it; `StoryError` where it does not come true."""


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """A story: what happens, under which policy, and how often its VMs are measured."""

    plot: Callable[[LocalCloud, Deployment, Tell], Teller]
    policy: Path
    metric_period: timedelta


STORIES = {
    "recovery": Story(plot=plot.Plot, policy=INFRA / "policy.toml", metric_period=timedelta(seconds=5)),
    "governance": Story(
        plot=governance.GovernancePlot, policy=governance.POLICY, metric_period=timedelta(seconds=2)
    ),
    "handover": Story(plot=HandoverPlot, policy=INFRA / "policy.toml", metric_period=timedelta(seconds=5)),
}
RECOVERY = STORIES["recovery"]


async def tell_story(
    state: Path, *, stay: bool, story: Story = RECOVERY, umask: int = -1, limits: Iterable[str] = ()
) -> int:
    """Start a local cloud and tell; gives the exit status. With `stay` it goes on until a signal comes.

    Raises:
        CannotStartError: there is no such limit.
    """
    began = time.monotonic()

    def tell(chapter: str, line: str) -> None:
        click.echo(f"{time.monotonic() - began:6.1f} s  {chapter:<7} {line}")

    say = partial(tell, "")

    ended = end_at_a_signal()
    deployment = serving.deployment(INFRA, bucket=BUCKET, prefix="", policy=story.policy)
    period = story.metric_period.total_seconds()
    options = serving.options(
        project=PROJECT,
        state=state,
        ports=(0, 0),
        metric_seconds=period,
        umask=umask,
        with_functions=True,
        limits=[f"metric_lag_seconds={LAG_PERIODS * period}", INSERTS, *limits],
    )
    async with LocalCloud(options) as cloud, noted(cloud, state):
        await cloud.deploy(deployment)
        names = ", ".join(function.name for function in deployment.manifest.functions)
        say(f"local cloud is up; functions: {names}")
        code = await _tell(story.plot(cloud, deployment, tell), ended, say) or tell_refusals(cloud, say)
        _where_to_look(cloud, state, say)
        if not stay:
            say("the local cloud stops now. To keep its bucket and logs, use --state DIR")
        elif not ended.is_set():
            say("the local cloud stays up. Press Ctrl-C to stop it")
            await ended.wait()
    return code


async def _tell(teller: Teller, ended: asyncio.Event, say: Say) -> int:
    """Tell the story unless somebody ends it; gives the exit status."""
    telling, ending = asyncio.create_task(teller.tell()), asyncio.create_task(ended.wait())
    await asyncio.wait([telling, ending], return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if not telling.done():
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        return 130
    try:
        telling.result()
    except StoryError as error:
        say(f"the demo failed: {error}")
        return 1
    return 0


def tell_refusals(cloud: LocalCloud, say: Say) -> int:
    """Say what the functions lacked a permission for; gives the exit status."""
    for account in cloud.doors.accounts.values():
        for permission in sorted(account.refused):
            say(f"{account.name} was denied {permission}. See its row in infra/functions.yaml")
    return int(any(account.refused for account in cloud.doors.accounts.values()))


def _where_to_look(cloud: LocalCloud, state: Path, say: Say) -> None:
    url = cloud.endpoints.http
    say("the experiment table:  spotwarden jobs")
    say(f"the mailbox:           {url}/local/mailbox")
    if report := cloud.client_environment().get("SPOTWARDEN_REPORT"):
        say(f"the report:            {report}")
    say(f"the logs:              {state}/logs and {state}/vms")
    say('to point clients at it: eval "$(.venv-local/bin/spotwarden local env)"')
