"""`spotwarden backtest`: what another policy would have done with what the sweeps saw."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
from msgspec.structs import replace

from spotwarden import clock, typed
from spotwarden.cli.context import Context, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.table import duration, render
from spotwarden.cli.times import SpanParam
from spotwarden.engine.policy_file.reading import PolicyError, read_policy
from spotwarden.governance.backtest.aftermath import ended_well
from spotwarden.governance.backtest.model import Compared, Played, Replayed, ReplayedRemedy, Stopped, Sum
from spotwarden.governance.backtest.replay import Replay
from spotwarden.governance.backtest.sums import sums
from spotwarden.governance.caps import rule as capping
from spotwarden.governance.caps.facts import CapFacts
from spotwarden.governance.compliance import rule as compliance
from spotwarden.governance.compliance.facts import ComplianceFacts
from spotwarden.governance.idle import rule as idleness
from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.reap import rules as reaping
from spotwarden.governance.recording import read
from spotwarden.governance.signals.facts import ReapFacts
from spotwarden.layout import StatusCode
from spotwarden.model.brief import Brief
from spotwarden.model.finding import Judged
from spotwarden.model.policy import Policy
from spotwarden.model.prices import PriceTable
from spotwarden.model.seen import RecordedSweep, Unreadable
from spotwarden.recovery.folder.job_folder import read_status
from spotwarden.recovery.kinds.price_file import read_prices

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
    help="Policy file to try.",
)
@click.option(
    "--since", "span", type=SpanParam(), default="7d", show_default=True, help="How far to look back."
)
@click.option(
    "--function",
    "functions",
    type=click.Choice(list(FUNCTIONS)),
    multiple=True,
    help="Only this function's rules; repeatable.",
)
@click.option("--all", "everything", is_flag=True, help="Print every VM that would be acted on.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object for each function.")
def backtest(
    file: Path, *, span: timedelta, functions: tuple[str, ...], everything: bool, as_json: bool
) -> None:
    """Replay recorded sweeps under another policy.

    It compares this policy with the current one, as if both enforced. Wrong kills are printed first: VMs
    that worked later, or that someone wanted to keep.

    \b
    Examples:
      spotwarden backtest --policy new-policy.toml
      spotwarden backtest --policy new-policy.toml --since 30d --function flag_idle_gpus
    """
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
    replays = [Replay(function, replayable.judge, policy) for policy in (new, now) if policy is not None]
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
    statuses = {job: read_status(store, layout.build(StatusCode(job=job))) for job in sorted(jobs)}
    return {
        job: status.updated for job, status in statuses.items() if status and status.data.strip() == SUCCESS
    }


HEAD = (
    "POLICY", "RULE", "CASES", "UNKNOWN", "WARNINGS", "ACTED ON", "WRONG", "VM-HOURS", "GPU-HOURS", "MONEY",
)  # fmt: skip
SHOWN = 10
"""VMs that are listed one by one; `--all` lists every one."""


def told(compared: Compared, *, everything: bool) -> str:
    """One function's back-test."""
    return "\n".join(_lines(compared, everything=everything))


def _lines(compared: Compared, *, everything: bool) -> Iterator[str]:
    replayed = compared.new.replayed
    yield f"{compared.function}: {_basis(compared)}"
    for item in compared.unreadable[:1]:
        yield f"  {len(compared.unreadable)} records cannot be read; the first: {item.name}: {item.why}"
    if not replayed.sweeps:
        return
    yield from _wrong(replayed, everything=everything)
    policies = [("new", compared.new), *([("present", compared.now)] if compared.now else [])]
    rows = [_cells(_called(name, played), row) for name, played in policies for row in played.sums]
    if rows:
        yield render(HEAD, rows)
    else:
        yield ("  neither policy would act on anything" if compared.now else "  it would act on nothing")
    yield from (_stop(stopped) for stopped in replayed.stopped[:SHOWN])
    yield from _listed([action for action in replayed.remedies if not action.wrong], everything=everything)


def _basis(compared: Compared) -> str:
    replayed = compared.new.replayed
    if replayed.first is None or replayed.last is None:
        return "no recorded sweeps in this time"
    versions = ", ".join(compared.recorded_under)
    first, last = (f"{moment:%Y-%m-%d %H:%M}" for moment in (replayed.first, replayed.last))
    return f"{replayed.sweeps} sweeps from {first} to {last} UTC, recorded under policy {versions}"


def _wrong(replayed: Replayed, *, everything: bool) -> Iterator[str]:
    """The wrong kills, or how little it means that there are none."""
    wrong = [remedy for remedy in replayed.remedies if remedy.wrong]
    if not replayed.remedies:
        yield f"  policy {replayed.policy} would have acted on nothing"
        return
    if not wrong:
        yield f"  WRONG KILLS: none seen among {len(replayed.remedies)}"
        return
    yield f"  WRONG KILLS: {len(wrong)} of {len(replayed.remedies)}"
    yield from _listed(wrong, everything=everything)


def _listed(remedies: list[ReplayedRemedy], *, everything: bool) -> Iterator[str]:
    shown = remedies if everything else remedies[:SHOWN]
    yield from (_line(remedy) for remedy in shown)
    if len(shown) < len(remedies):
        yield f"  … and {len(remedies) - len(shown)} more; --all lists them"


def _line(remedy: ReplayedRemedy) -> str:
    who = ", ".join(part for part in (remedy.job, remedy.owner) if part)
    what = f"  {remedy.at:%Y-%m-%d %H:%M} {remedy.remedy.value} {remedy.target.name} {remedy.target.id}"
    about = f"{what} ({who})" if who else what
    if remedy.wrong:
        when = f" {duration((remedy.turned or remedy.seen) - remedy.at)} later" if remedy.turned else ""
        return f"{about}: {remedy.how}{when}"
    return f"{about}: {remedy.rule}, {remedy.hours:.1f} VM-hours"


def _stop(stopped: Stopped) -> str:
    when = f"{stopped.at:%Y-%m-%d %H:%M}"
    return f"  {when} {stopped.rule}: {stopped.vms} more VMs than one sweep may act on; they wait"


def _called(name: str, played: Played) -> str:
    return f"{name} ({played.replayed.policy})"


def _cells(policy: str, row: Sum) -> tuple[str, ...]:
    return (
        policy,
        row.rule,
        str(row.cases),
        str(row.unknown),
        str(row.told),
        str(row.remedies),
        str(row.wrong),
        f"{row.vm_hours:.1f}",
        f"{row.gpu_hours:.1f}",
        row.money,
    )
