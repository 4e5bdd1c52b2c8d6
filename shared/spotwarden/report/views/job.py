"""The page of one job."""

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import quote

from markupsafe import Markup, escape

from spotwarden.governance.costs import unpriced
from spotwarden.notify.templates.text import count
from spotwarden.recovery.forecast.text import told
from spotwarden.report.model.experiments import Money
from spotwarden.report.model.job import JobReport, Mark, MarkKind
from spotwarden.report.views import curving
from spotwarden.report.views.actions import action, outcome
from spotwarden.report.views.experiments import links, progress
from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.loads import means, noun_of
from spotwarden.report.views.rendering import render
from spotwarden.report.views.text import UNKNOWN, Words
from spotwarden.report.views.timeline import timeline

MOST_MARKS = 400
"""Rows of the table of events: more than that and the checkpoints between the others go."""
MOST_BARS = 500
"""Rows of the table of VMs, the newest."""
MOST_SIGNALS = 500
"""Rows of the table of signals."""
Figure = tuple[str, Markup, Markup | str]


def job(report: JobReport, frame: PageFrame) -> str:
    """The page."""
    row = report.experiment
    frame = frame.at(f"jobs/{quote(row.job, safe='')}", 1)
    say = Words(zone=frame.zone)
    marks = shown_marks(report.marks)
    busy = means(report)
    return render(
        "job",
        frame,
        report=report,
        row=row,
        top=tuple(_figures(report, say)),
        facts=tuple(_facts(report, say)),
        links=tuple(links(row, frame)),
        picture=timeline(report, say),
        marks=marks,
        marks_left_out=left_out(len(report.marks) - len(marks), "event"),
        bars=report.bars[-MOST_BARS:],
        bars_left_out=left_out(len(report.bars) - MOST_BARS, "stay"),
        noun=noun_of(report),
        busy=lambda bar: say.share(_part(busy.get(bar.instance_id))),
        signals=report.signals[:MOST_SIGNALS],
        signals_left_out=left_out(len(report.signals) - MOST_SIGNALS, "signal"),
        drawn=curving.of_job(report),
        shown={entry.id: place for place, entry in enumerate(report.entries, 1)},
        action=action,
        outcome=outcome,
    )


def left_out(number: int, noun: str) -> str:
    """What a table has no room for."""
    are = "is" if number == 1 else "are"
    return f"{count(number, f'more {noun}')} {are} only in the JSON download." if number > 0 else ""


def shown_marks(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """All marks; of very many the checkpoints are thinned out, the newest of them stays."""
    checkpoints = [mark for mark in marks if mark.kind is MarkKind.CHECKPOINT]
    room = max(1, MOST_MARKS - (len(marks) - len(checkpoints)))
    every = -(-len(checkpoints) // room)
    kept = {id(checkpoint) for checkpoint in checkpoints[::-1][:: max(1, every)]}
    others = [mark for mark in marks if mark.kind is not MarkKind.CHECKPOINT or id(mark) in kept]
    return tuple(others[-MOST_MARKS:])


def _figures(report: JobReport, say: Words) -> Iterator[Figure]:
    row = report.experiment
    yield "Runtime", say.span(row.runtime), "from start to end, or to now"
    machines = ", ".join(row.machines[-2:])
    yield "VMs up", _hours(say, row.up_time), count(row.nodes, "VM") + " at a time" if row.nodes else ""
    if row.gpus != 0:
        yield "GPU time", _hours(say, row.gpu_time), count(row.gpus, "GPU") if row.gpus else ""
    known = row.up_time is not None
    missing = unpriced(row.cost.unpriced) if known else ""
    yield "Cost", _usd(row.cost, say) if known else UNKNOWN, missing or machines
    yield "On demand", _usd(row.on_demand, say) if known else UNKNOWN, "cost of the same time on demand"
    if known and row.saved.priced:
        yield "Saved", _usd(row.saved, say), "compared with on demand"
    tries = escape(f"{row.attempts:,}") if row.attempts else UNKNOWN
    yield "Attempts", tries, f"{row.preemptions:,} preempted" if row.attempts else ""
    at = row.advance.at
    yield (
        "Done",
        progress(row.advance),
        Markup("last seen {}").format(say.when(at)) if at else "no progress seen yet",
    )


def _part(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _hours(say: Words, time: timedelta | None) -> Markup:
    return say.hours(time) + (" h" if time is not None else "")


def _usd(money: Money, say: Words) -> Markup:
    return say.usd(money) + (" USD" if money.usd is not None else "")


def _facts(report: JobReport, say: Words) -> Iterator[tuple[str, Markup]]:
    row = report.experiment
    yield "Owner", say.text(row.owner, "no owner")
    if row.team:
        yield "Team", say.text(row.team)
    yield "Started", say.when(row.started)
    if row.ended:
        yield "Ended", say.when(row.ended)
    yield "Zones", say.text(", ".join(row.zones))
    yield "Machines", say.text(", ".join(row.machines))
    if row.advance.step is not None:
        steps = Markup(" of {}").format(say.number(row.advance.steps)) if row.advance.steps else ""
        yield "Step", say.number(row.advance.step) + steps
    if row.advance.checkpoint:
        yield "Checkpoint", say.text(row.advance.checkpoint)
    if report.forecast:
        spent = None if row.cost.unpriced else row.cost.usd
        yield from ((word.capitalize(), say.text(said)) for word, said in told(report.forecast, spent))
    if row.tags:
        yield (
            "Tags",
            say.text(", ".join(f"{name}={value}" if value else name for name, value in row.tags.items())),
        )
