"""A few figures of a slice of the fleet, in the words of a message."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

import msgspec

from spotwarden.model.notice import Table
from spotwarden.model.spans import span
from spotwarden.report.figures.money import added
from spotwarden.report.model.experiments import MILLION, NOTHING, Money
from spotwarden.report.model.fleet import Slice, Spans

UNKNOWN = "unknown"
MOST_ROWS = 20
"""Of a table of a message; the rest is one row, so that all of them add up."""
_HOUR = timedelta(hours=1)


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a message's table."""

    name: str
    used: timedelta = NOTHING
    cost: Money = Money()
    saved: Money = Money()
    waste: Money = Money()
    recovered: int = 0


def table(title: str, what: str, slices: Sequence[Slice], *, gpus: bool, nobody: str) -> Table:
    """The slices as they come, those beyond the most as one row, and their sum."""
    lines = [_figures(part, part.key or nobody, gpus=gpus) for part in slices]
    shown = lines[:MOST_ROWS]
    if rest := lines[MOST_ROWS:]:
        shown.append(_sum(f"{len(rest):,} more", rest))
    if len(shown) > 1:
        shown.append(_sum("all", lines))
    columns = (what, "GPU-hours" if gpus else "VM-hours", "cost", "saved", "wasted", "recovered")
    return Table(title=title, columns=columns, rows=tuple(map(_row, shown)))


def _figures(part: Slice, name: str, *, gpus: bool) -> Figures:
    return Figures(
        name=name,
        used=(part.gpu if gpus else part.vm).used,
        cost=part.cost,
        saved=part.saved,
        waste=part.waste,
        recovered=part.recovery.count,
    )


def _sum(name: str, some: Sequence[Figures]) -> Figures:
    return Figures(
        name=name,
        used=sum((item.used for item in some), NOTHING),
        cost=added(item.cost for item in some),
        saved=added(item.saved for item in some),
        waste=added(item.waste for item in some),
        recovered=sum(item.recovered for item in some),
    )


def _row(figures: Figures) -> tuple[str, ...]:
    return (
        figures.name,
        hours(figures.used),
        usd(figures.cost),
        usd(figures.saved),
        usd(figures.waste),
        f"{figures.recovered:,}",
    )


def hours(time: timedelta) -> str:
    """`12.5`; what is less than three minutes is `0.0`."""
    return f"{time / _HOUR:,.1f}"


def usd(money: Money) -> str:
    """`$12.30`, what is at least so much, or that nobody knows."""
    if money.usd is None:
        return UNKNOWN
    amount = abs(money.micros) / MILLION
    sign = "-" if money.micros < 0 else ""
    return f"{'at least ' if money.partial else ''}{sign}${amount:,.2f}"


def percent(share: float | None) -> str:
    """`91 %`, or that nobody knows. Only all of it is 100 %."""
    if share is None:
        return UNKNOWN
    return f"{min(round(share * 100), 100 if share >= 1 else 99)}%"


def parts(spans: Spans, names: Iterable[str]) -> str:
    """Those of the parts that are anything: `idle 4.1 h, lost 2.0 h`."""
    found = ((name, getattr(spans, name)) for name in names)
    return ", ".join(f"{name} {hours(time)} h" for name, time in found if time)


def brief(time: timedelta | None) -> str:
    """`40 s`, `3 min`, `1 h 5 min`."""
    if time is None:
        return UNKNOWN
    return f"{int(time.total_seconds())} s" if time < timedelta(minutes=2) else span(time)
