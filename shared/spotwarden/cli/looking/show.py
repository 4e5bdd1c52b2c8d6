"""`spotwarden show`: how one job stands, how it came there, and what to do next."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from shlex import join

import click
import msgspec

from spotwarden import clock
from spotwarden.cli.completing import job_names
from spotwarden.cli.context import Context, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.looking.costs import costs
from spotwarden.cli.looking.details import Details, cases_of, read_details
from spotwarden.cli.looking.forecasts import OPEN, forecast
from spotwarden.cli.looking.ladders import ladder_lines
from spotwarden.cli.looking.members import changes, counted, members
from spotwarden.cli.looking.rows import FOUND, STALL
from spotwarden.cli.looking.signals import seen_of, signal_table
from spotwarden.cli.looking.waiting import held
from spotwarden.cli.looking.what_next import WAITING, JobDetails, next_step
from spotwarden.cli.table import duration, plain
from spotwarden.governance.cases.history import standing
from spotwarden.governance.cases.observation import acts_from
from spotwarden.governance.signals.shown import rows
from spotwarden.layout import SweepTurn
from spotwarden.model.case import Case
from spotwarden.model.heartbeat import Measured
from spotwarden.model.placement import AvoidedPlace
from spotwarden.ports import BrokenError
from spotwarden.recovery.folder.standing import (
    JobSummary,
    experiment,
    left_running,
    over,
    timeline,
    worded,
)
from spotwarden.recovery.forecast.text import told
from spotwarden.recovery.kinds.machines import on_machine
from spotwarden.recovery.places import avoiding
from spotwarden.recovery.places.memory import read_avoided
from spotwarden.report.model.experiments import MetricSummary

METRICS = 8
"""So many stand on a screen with the rest; --json has all."""


@click.command()
@click.argument("job", shell_complete=job_names)
@click.option("--signals", "with_signals", is_flag=True, help="Also show the newest signals of each node.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(job: str, *, as_json: bool, with_signals: bool) -> None:
    """Show a job's status, cost, progress and history.

    \b
    Examples:
      spotwarden show my-job
      spotwarden show my-job --json
      spotwarden show my-job --signals
    """
    context = open_context()
    details = read_details(context, job)
    now = clock.now()
    cases = tuple(cases_of(context, details.facts))
    stalled = any(case.rule == STALL and case.state in FOUND for case in cases)
    instances = context.cloud.compute.instances().items
    row = experiment(details.facts, instances, now, stalled=stalled, tags=details.tags)
    bill = costs(context, details, now)
    shown = JobDetails(
        experiment=row,
        details=details,
        costs=bill,
        forecast=forecast(context, details, bill, row.status, now),
        cases=cases,
        timeline=tuple(timeline(details.facts)),
        now=now,
        swept=_swept(context),
        left=tuple(left_running(details.facts, instances)),
        held=held(context, details.facts, instances) if row.status in WAITING else (),
        members=members(details.facts, context.agreed().placement.block, now),
        avoided=_avoided(context, now) if row.status in WAITING else (),
        ladder=tuple(ladder_lines(context, details.facts, now)) if row.status in OPEN else (),
        signals=seen_of(context, job) if with_signals else None,
    )
    if as_json:
        click.echo(json_text(_fields(shown)))
        return
    for line in lines(shown, now):
        click.echo(line)
    if shown.signals is not None:
        click.echo(f"\n{signal_table(shown.signals, now)}")


def _avoided(context: Context, now: datetime) -> tuple[AvoidedPlace, ...]:
    """The zones that no job is launched in now."""
    named: tuple[AvoidedPlace, ...] = ()
    try:
        named = read_avoided(context.cloud.store, context.settings.layout).places
    except BrokenError as problem:
        click.echo(f"zones avoided by command: {problem}", err=True)
    return tuple(avoiding.current((*context.agreed().placement.avoid, *named), now))


def _swept(context: Context) -> datetime | None:
    """When a sweep last took or gave back the turn of looking at everything."""
    turn = context.cloud.store.read(context.settings.layout.build(SweepTurn(function="recover_spot")))
    return turn.updated if turn else None


def lines(shown: JobDetails, now: datetime) -> Iterator[str]:
    """The page of a job, line by line."""
    row = shown.experiment
    facts = shown.details.facts
    yield f"{row.job}: {worded(row)}, {counted(facts)}{changes(facts)}"
    for word, said in _facts(shown, now):
        if said:
            yield plain(f"  {word:<10} {said}")
    for moment in shown.timeline:
        since = duration(moment.at - shown.timeline[0].at)
        yield f"  {moment.at:%Y-%m-%d %H:%M:%S} UTC  +{since:>8}  {plain(moment.what)}"


def _facts(shown: JobDetails, now: datetime) -> Iterator[tuple[str, str]]:
    row, details = shown.experiment, shown.details
    run = details.run
    yield "owner", row.owner
    yield "tags", ", ".join(f"{name}={value}" for name, value in row.tags.items())
    yield "command", join(run.command) if run else ""
    yield from (("input", item) for item in (run.inputs if run else ()))
    yield "started", f"{row.started:%Y-%m-%d %H:%M:%S} UTC, {_ran(row)}" if row.started else ""
    yield "ended", over(shown.details.facts)
    yield "deadline", _deadline(row, details.facts.file.deadline, now)
    yield "up", f"{duration(timedelta(hours=shown.costs.hours))} on its VMs" if shown.costs.hours else ""
    yield "zones", ", ".join(_zones(details, machines=True))
    yield "nodes", shown.members
    yield "avoids", avoiding.said(shown.avoided)
    yield from (("ladder", rung) for rung in shown.ladder)
    yield "cost", f"{shown.costs.cost} ({shown.costs.basis})" if shown.costs.cost else ""
    yield "progress", _progress(details, now)
    if shown.forecast is not None:
        yield from told(shown.forecast, shown.costs.usd)
    yield from ((measure.name, _measured(measure)) for measure in details.measures[:METRICS])
    left = len(details.measures) - METRICS
    yield "", f"and {left} more metrics; --json has them" if left > 0 else ""
    yield "problem", details.facts.file.problem
    yield from (("case", _case(case, now)) for case in shown.cases)
    yield "next", next_step(shown)


def _deadline(row: JobSummary, deadline: datetime | None, now: datetime) -> str:
    """When an open job must be done, and how long that is from now."""
    if deadline is None or row.ended:
        return ""
    span = duration(abs(deadline - now))
    return f"{deadline:%Y-%m-%d %H:%M} UTC, {f'in {span}' if deadline > now else f'{span} ago'}"


def _ran(row: JobSummary) -> str:
    if row.runtime is not None:
        return f"ran for {duration(row.runtime)}"
    return "no VM of it ran" if row.ended else "no VM of it runs yet"


def _zones(details: Details, *, machines: bool = False) -> list[str]:
    """Where it lived, in order, and on which other machine type."""
    attempts = [
        recorded.attempt
        for recorded in details.facts.ledger
        if recorded.attempt.instances and recorded.attempt.tries
    ]
    tries = [attempt.tries[-1] for attempt in attempts]
    return list(dict.fromkeys(f"{tried.place}{on_machine(tried) if machines else ''}" for tried in tries))


def _progress(details: Details, now: datetime) -> str:
    if details.beat_at is None:
        return ""
    beat = details.beat
    parts = []
    if beat and beat.step is not None:
        of = f" of {beat.steps:g}" if beat.steps else ""
        share = f" ({beat.share:.0%})" if beat.share is not None else ""
        parts.append(f"step {beat.step:g}{of}{share}")
    if beat and beat.checkpoint:
        parts.append(f"checkpoint {beat.checkpoint}")
    if details.progress_at and details.progress_at < details.beat_at:
        parts.append(f"last progress {duration(now - details.progress_at)} ago")
    parts.append(f"last seen {duration(now - details.beat_at)} ago")
    return ", ".join(parts)


def _measured(metric: MetricSummary) -> str:
    best = f" (best {figure(metric.best)})" if metric.best is not None and metric.best != metric.last else ""
    return figure(metric.last) + best


def figure(value: Measured | None) -> str:
    """A measured value in up to six figures."""
    return f"{value:.6g}" if isinstance(value, int | float) else value or ""


def _case(case: Case, now: datetime) -> str:
    from_then = acts_from(case)
    due = f", due {from_then:%Y-%m-%d %H:%M} UTC" if from_then else ""
    how = f"`spotwarden cases show {case.rule} {case.key}`"
    return f"{case.rule}: {case.reason}, {standing(case, now)}{due}; {how}"


def _fields(shown: JobDetails) -> dict[str, object]:
    details = shown.details
    return {
        **msgspec.to_builtins(shown.experiment),
        "zones": _zones(details),
        "hours_up": shown.costs.hours,
        "cost": shown.costs.cost,
        "prices": shown.costs.basis,
        "heard": details.beat_at,
        "moved": details.progress_at,
        "progress": details.beat,
        "metrics": details.measures,
        "run": details.run,
        "cases": shown.cases,
        **({"nodes": shown.members} if shown.members else {}),
        **({"avoids": shown.avoided} if shown.avoided else {}),
        **({"ladder": shown.ladder} if shown.ladder else {}),
        **({"forecast": shown.forecast} if shown.forecast else {}),
        "over": over(details.facts),
        "next": next_step(shown),
        "timeline": shown.timeline,
        **({"signals": rows(shown.signals)} if shown.signals is not None else {}),
    }
