"""A forecast in words: two ends with their bills, how often to save, and what it rests on."""

from collections.abc import Iterator
from datetime import timedelta

from spotwarden.model.moment import Moment
from spotwarden.model.spans import moment, span
from spotwarden.recovery.forecast.forecast import Outlook

WORTH = 0.02
"""Another interval is worth a word where it keeps so much more work."""


def told(seen: Outlook, spent: float | None) -> Iterator[tuple[str, str]]:
    """Each line behind its word; `spent` is what the job has cost so far, None where nobody knows."""
    if seen.unknown:
        yield "forecast", f"unknown: {seen.unknown}"
        return
    if seen.trouble:
        yield "forecast", seen.trouble
    yield "ends", "; ".join(ends(seen, spent))
    if words := saves(seen):
        yield "saves", words
    yield "basis", basis(seen)


def ends(seen: Outlook, spent: float | None) -> Iterator[str]:
    """The end that half of such jobs make, and the one that nine in ten make."""
    for name, at, cost in (("P50", seen.half, seen.half_cost), ("P90", seen.most, seen.most_cost)):
        yield f"{'by ' if at else ''}{_end(at, cost, spent)} ({name})"


def _end(at: Moment | None, cost: float | None, spent: float | None) -> str:
    if at is None:
        return "it can't end at this rate"
    bill = f", ${cost + spent:,.2f} in all" if cost is not None and spent is not None else ""
    return f"{moment(at)}{bill}"


def cells(seen: Outlook) -> tuple[str, str, str]:
    """Both ends and what is still to pay, for a row of a table."""
    if seen.unknown:
        return "unknown", "unknown", "unknown"
    cost = "unknown" if seen.most_cost is None else f"${seen.most_cost:,.2f}"
    return _end(seen.half, None, None), _end(seen.most, None, None), cost


def saves(seen: Outlook) -> str:
    """The interval that it has against the one that pays most; "" where there is nothing to gain."""
    if seen.best is None:
        return ""
    best = span(timedelta(hours=seen.best))
    if seen.interval is None:
        return f"each {best} is best, if a save takes a minute"
    if seen.gain < WORTH:
        return ""
    has = span(timedelta(hours=seen.interval))
    return f"each {has}; each {best} keeps {seen.gain:.0%} more work, if a save takes a minute"


def basis(seen: Outlook) -> str:
    """What the forecast is made from."""
    work = f"{seen.work:.1f} h of work left"
    if not seen.spot:
        return f"{work}, on VMs that are not preempted"
    where = f"spot VMs in {seen.place}" if seen.place else "spot VMs like these"
    what = where if seen.known else "other spot VMs, since there is no data on these"
    return f"{work}, {seen.losses:.1f} losses a day expected, from its own history and that of {what}"
