"""Sums of cells: plain numbers side by side, for ten thousand jobs have a hundred thousand cells."""

from collections.abc import Iterable
from datetime import date, timedelta
from operator import add

from spotwarden.model.prices import VmKind
from spotwarden.report.figures.counting import AFTER, IDLE, LOST, WAITING
from spotwarden.report.figures.money import Till
from spotwarden.report.model.experiments import Money
from spotwarden.report.model.fleet import Spans
from spotwarden.report.model.kept import Seconds

PARTS = len(Seconds._fields)
WASTE = (IDLE, LOST, AFTER)
SUMS = ("cost", "on_demand", "saved", "waste")
Numbers = tuple[int, ...]
NOTHING: Numbers = (0,) * (2 * PARTS + 3 * len(SUMS))
"""VM seconds of each part, GPU seconds of each part; of each sum micros, priced and unpriced seconds."""


class Tally:
    """What belongs to one key."""

    __slots__ = ("dates", "jobs", "numbers")

    def __init__(self) -> None:
        self.numbers: Iterable[int] = NOTHING
        self.jobs: set[str] = set()
        self.dates: set[date] = set()

    def add(self, job: str, numbers: Numbers, dates: Iterable[date]) -> None:
        """Count this, too."""
        self.numbers = tuple(map(add, self.numbers, numbers))
        self.jobs.add(job)
        self.dates.update(dates)

    def merge(self, other: "Tally") -> None:
        """Count all of another, too."""
        self.numbers = tuple(map(add, self.numbers, other.numbers))
        self.jobs |= other.jobs
        self.dates |= other.dates

    def spans(self) -> tuple[Spans, Spans]:
        """VM time and GPU time."""
        numbers = tuple(self.numbers)
        return _spans(numbers[:PARTS]), _spans(numbers[PARTS : 2 * PARTS])

    def money(self) -> dict[str, Money]:
        """Each sum by its name."""
        numbers, oldest = tuple(self.numbers), min(self.dates, default=None)
        found = {}
        for place, name in enumerate(SUMS):
            micros, priced, unpriced = numbers[2 * PARTS + 3 * place :][:3]
            found[name] = Money(
                micros=micros,
                priced=timedelta(seconds=priced),
                unpriced=timedelta(seconds=unpriced),
                oldest=oldest if priced else None,
            )
        return found


def _spans(seconds: Iterable[int]) -> Spans:
    named = zip(Seconds._fields, seconds, strict=True)
    return Spans(**{name: timedelta(seconds=value) for name, value in named})


def used(seconds: Seconds) -> int:
    """All of it but the waiting."""
    return sum(seconds) - seconds[WAITING]


def numbers(kind: VmKind, seconds: Seconds, till: Till) -> tuple[Numbers, tuple[date, ...]]:
    """A cell as numbers, and the days of its prices."""
    up = used(seconds)
    bill = till.bill(kind)
    return (
        *seconds,
        *(kind.gpus * second for second in seconds),
        *bill.cost(up),
        *bill.on_demand(up),
        *bill.saved(up),
        *bill.cost(sum(seconds[part] for part in WASTE)),
    ), bill.dates if up else ()
