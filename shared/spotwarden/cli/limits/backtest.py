"""`spotwarden backtest`: what another policy would have done with what the sweeps saw."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
from msgspec.structs import replace

from spotwarden import clock, typed
from spotwarden.cli.context import Context, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.limits.backtest_words import told
from spotwarden.cli.times import SpanParam
from spotwarden.engine.policy_file.reading import PolicyError, read_policy
from spotwarden.governance.backtest.aftermath import ended_well
from spotwarden.governance.backtest.model import Compared, Played, Replayed
from spotwarden.governance.backtest.replay import Replay
from spotwarden.governance.backtest.sums import sums
from spotwarden.governance.caps import rule as capping
from spotwarden.governance.caps.facts import CapFacts
from spotwarden.governance.compliance import rule as compliance
from spotwarden.governance.compliance.facts import ComplianceFacts
from spotwarden.governance.idle import rule as idleness
from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.price_file import read_prices
from spotwarden.governance.reap import rules as reaping
from spotwarden.governance.recording import read
from spotwarden.governance.signals.facts import ReapFacts
from spotwarden.layout import StatusCode
from spotwarden.model.brief import Brief
from spotwarden.model.finding import Judged
from spotwarden.model.policy import Policy
from spotwarden.model.prices import PriceTable
from spotwarden.model.seen import RecordedSweep, Unreadable

SUCCESS = b"0"


class Replayable(NamedTuple):
    """What a function's sweeps saw, and how it judges."""

    facts: type[msgspec.Struct]
    judge: Callable[[Any, Brief], Judged]


FUNCTIONS: Mapping[str, Replayable] = {
    "reap_vms": Replayable(ReapFacts, reaping.judge),
    "flag_idle_gpus": Replayable(IdleFacts, idleness.judge),
    "cap_runtime": Replayable(CapFacts, capping.judge),
    "check_compliance": Replayable(ComplianceFacts, compliance.judge),
}

typed.prepare(
    RecordedSweep[ReapFacts],
    RecordedSweep[IdleFacts],
    RecordedSweep[CapFacts],
    RecordedSweep[ComplianceFacts],
)


@click.command()
@click.option(
    "--policy",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The policy to try.",
)
@click.option("--since", "span", type=SpanParam(), default="7d", show_default=True, help="How far back.")
@click.option(
    "--function",
    "functions",
    type=click.Choice(list(FUNCTIONS)),
    multiple=True,
    help="Only this function's rules; may be said again.",
)
@click.option("--all", "everything", is_flag=True, help="Print every VM that would be acted upon.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object for each function.")
def backtest(
    file: Path, *, span: timedelta, functions: tuple[str, ...], everything: bool, as_json: bool
) -> None:
    """Replay recorded sweeps under another policy: what it would warn, stop and save.

    Both this policy and the present one are taken as if they enforced. Wrong kills come first: VMs that
    worked later, or that somebody wanted.

    \b
    Examples:
      spotwarden backtest --policy new-policy.toml
      spotwarden backtest --policy new-policy.toml --since 30d --function flag_idle_gpus
    """  # noqa: D301 — \b is click's mark for lines that stay as they are
    context, new = open_context(), _policy(file)
    now = _policy(context.settings.policy_file) if context.settings.policy_file.exists() else None
    since = clock.now() - span
    results = [compare(context, name, since, new, now) for name in functions or FUNCTIONS]
    if as_json:
        click.echo(json_text(results))
        return
    click.echo("\n\n".join(told(result, everything=everything) for result in results))


def _policy(file: Path) -> Policy:
    try:
        return read_policy(file)
    except PolicyError as error:
        raise click.ClickException(str(error)) from error


def compare(context: Context, function: str, since: datetime, new: Policy, now: Policy | None) -> Compared:
    """Show each record to both policies, then ask what became of the jobs."""
    settings, store = context.settings, context.cloud.store
    replayable = FUNCTIONS[function]
    replays = [Replay(function, replayable.judge, one) for one in (new, now) if one is not None]
    versions, unreadable = set(), []
    for seen in read(store, settings.layout, function, since, replayable.facts):
        if isinstance(seen, Unreadable):
            unreadable.append(seen)
            continue
        versions.add(seen.policy)
        for replay in replays:
            replay.look(seen)
    prices = read_prices(settings.prices_file)
    played = [_played(context, replay.result(), prices) for replay in replays]
    return Compared(
        function=function,
        recorded_under=tuple(sorted(versions)),
        unreadable=tuple(unreadable),
        new=played[0],
        now=played[1] if now is not None else None,
    )


def _played(context: Context, replayed: Replayed, prices: PriceTable) -> Played:
    ends = _good_ends(context, {remedy.job for remedy in replayed.remedies if remedy.job})
    replayed = replace(replayed, remedies=tuple(ended_well(replayed.remedies, ends)))
    return Played(replayed=replayed, sums=tuple(sums(replayed, prices)))


def _good_ends(context: Context, jobs: Iterable[str]) -> dict[str, datetime]:
    """When each of these jobs wrote the status of success, if it did."""
    store, layout = context.cloud.store, context.settings.layout
    statuses = {job: store.read(layout.build(StatusCode(job=job))) for job in sorted(jobs)}
    return {
        job: status.updated for job, status in statuses.items() if status and status.data.strip() == SUCCESS
    }
