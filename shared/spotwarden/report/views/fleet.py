"""The fleet as a page."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import msgspec
from markupsafe import Markup, escape

from spotwarden.governance.costs import unpriced
from spotwarden.report.model.experiments import Money
from spotwarden.report.model.fleet import By, FleetReport, Slice, Spans
from spotwarden.report.views.drawing import Picture
from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.job import left_out
from spotwarden.report.views.outages import outages
from spotwarden.report.views.rendering import render
from spotwarden.report.views.stacks import across, along
from spotwarden.report.views.text import NONE, Words

PARTS = ("Useful", "Starting", "Idle", "Lost", "After end", "Unknown")
"""What time is split into, in the order of its columns."""
MOST_CASES = 200
"""Open cases that are listed, those due first."""
MOST_ROWS = 100
"""Rows of one table; those beyond are one row together, so that it still adds up."""
_ORDER = (By.DAY, By.OWNER, By.TEAM, By.MACHINE, By.ZONE, By.JOB)
_NOBODY = {
    By.OWNER: "no owner",
    By.TEAM: "no team",
    By.MACHINE: "unknown",
    By.ZONE: "unknown",
    By.DAY: "unknown",
}
Figure = tuple[str, Markup, Markup | str]


class FleetTable(msgspec.Struct, frozen=True, kw_only=True):
    """One table of the fleet."""

    by: str
    nobody: str
    rows: tuple[Slice, ...]
    rest: Slice | None = None
    rest_name: str = ""
    picture: Picture | None = None


def fleet(view: FleetReport, frame: PageFrame, unit: str = "gpu", owner: str = "") -> str:
    """The page, in GPU-hours or VM-hours (`vm`); `owner` is whose jobs the view is of, "" for all."""
    frame = frame.at("fleet")
    unit = "vm" if unit == "vm" else "gpu"
    say = Words(zone=frame.zone)
    spans = _spans(unit)
    days = [("first", str(view.first)), ("last", str(view.last))]
    asked = [*days, *([("unit", "vm")] if unit == "vm" else []), *([("owner", owner)] if owner else [])]
    return render(
        "fleet",
        frame,
        fleet=view,
        unit=unit,
        hours="VM-hours" if unit == "vm" else "GPU-hours",
        asked=asked,
        owner=owner,
        of=lambda name: frame.to("fleet", [*(part for part in asked if part[0] != "owner"), ("owner", name)]),
        cases=view.cases[:MOST_CASES],
        cases_left_out=left_out(len(view.cases) - MOST_CASES, "case"),
        top=tuple(_figures(view, spans(view.total), say)),
        tables=tuple(_table(by, view.tables.get(by, ()), spans) for by in _ORDER),
        parts=PARTS,
        spans=spans,
        split=split,
        outages=outages(view.outages, say),
    )


def split(spans: Spans) -> tuple[timedelta, ...]:
    """The times of `PARTS`."""
    return (spans.useful, spans.starting, spans.idle, spans.lost, spans.after, spans.unknown)


def _spans(unit: str) -> Callable[[Slice], Spans]:
    return (lambda part: part.vm) if unit == "vm" else (lambda item: item.gpu)


def _table(by: By, rows: Sequence[Slice], spans: Callable[[Slice], Spans]) -> FleetTable:
    # Days stay whole, the newest first; of the others the large ones come first.
    rows = rows[::-1] if by is By.DAY else rows
    shown = rows if by is By.DAY or len(rows) <= MOST_ROWS else rows[: MOST_ROWS - 1]
    rest = rows[len(shown) :]
    draw = across if by is By.DAY else along
    nobody = _NOBODY.get(by, "unknown")
    return FleetTable(
        by=by.value,
        nobody=nobody,
        rows=tuple(shown),
        rest=_sum(rest) if rest else None,
        rest_name=f"{len(rest):,} others",
        picture=draw(f"Hours by {by.value}", [(row.key or nobody, spans(row)) for row in rows]),
    )


def _sum(rows: Sequence[Slice]) -> Slice:
    """Rows as one. A job that stands in several of them is counted in each: the sum is at most that."""
    return Slice(
        key="",
        jobs=sum(row.jobs for row in rows),
        gpu=_add([row.gpu for row in rows]),
        vm=_add([row.vm for row in rows]),
        cost=_money([row.cost for row in rows]),
        on_demand=_money([row.on_demand for row in rows]),
        saved=_money([row.saved for row in rows]),
        waste=_money([row.waste for row in rows]),
        preemptions=sum(row.preemptions for row in rows),
    )


def _add(spans: Sequence[Spans]) -> Spans:
    return Spans(
        **{
            name: sum((getattr(span, name) for span in spans), timedelta(0))
            for name in Spans.__struct_fields__
        }
    )


def _money(sums: Sequence[Money]) -> Money:
    return Money(
        micros=sum(money.micros for money in sums),
        priced=sum((total.priced for total in sums), timedelta(0)),
        unpriced=sum((item.unpriced for item in sums), timedelta(0)),
        oldest=min((candidate.oldest for candidate in sums if candidate.oldest), default=None),
    )


def _figures(view: FleetReport, spans: Spans, say: Words) -> Iterator[Figure]:
    total, recovery = view.total, view.total.recovery
    yield "Used", say.hours(spans.used) + " h", f"{total.jobs:,} {'job' if total.jobs == 1 else 'jobs'}"
    yield "Goodput", say.share(spans.goodput), "useful share of known time"
    yield "Idle", say.hours(spans.idle) + " h", "GPUs below the policy's threshold"
    yield "Lost", say.hours(spans.lost) + " h", "work after the last checkpoint, lost at a preemption"
    yield "Waiting", say.hours(spans.waiting) + " h", "no VM was available; costs nothing"
    yield "Cost", _usd(total.cost, say), _dated(total.cost)
    yield "Saved", _usd(total.saved, say), "compared with on-demand VMs"
    yield "Waste", _usd(total.waste, say), "cost of idle, lost and after-end time"
    if recovery.count:
        note = Markup("median of {}; 90% within {}, 99% within {}, longest {}").format(
            f"{recovery.count:,}", say.span(recovery.p90), say.span(recovery.p99), say.span(recovery.longest)
        )
        yield "Recovery", say.span(recovery.median), note
    else:
        yield "Recovery", NONE, "no VM was replaced"
    due = sum(case.due is not None for case in view.cases)
    yield "Open cases", escape(f"{len(view.cases):,}"), f"{due:,} with an action due"


def _usd(money: Money, say: Words) -> Markup:
    return say.usd(money) + (" USD" if money.usd is not None else "")


def _dated(money: Money) -> str:
    oldest = f"oldest price of {money.oldest}" if money.oldest else ""
    return "; ".join(part for part in (unpriced(money.unpriced), oldest) if part)
