"""How long Compute Engine takes from an insert until the VM runs."""

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import timedelta

from localcloud.limits.settings import Limits

RECORDED: Sequence[tuple[float, float]] = (
    (0.0, 5.0),
    (0.1, 10.9),
    (0.5, 20.5),
    (0.9, 38.7),
    (0.99, 75.5),
    (1.0, 113.0),
)
"""Seconds by the part of the inserts that took no longer: 1,442 preemptible VMs in a public trace of 2019.

Below the half nothing was published: there it is the upper half's spread, mirrored.
"""


class InsertTimes:
    """Draws from what was recorded, from the seed of the limits, and scales it."""

    def __init__(self, limits: Callable[[], Limits]) -> None:
        self._limits = limits
        self._seed: int | None = None
        self._dice = random.Random()

    def draw(self) -> timedelta:
        """How long the next insert takes; nothing without the limit."""
        limits = self._limits()
        if not limits.insert_times:
            return timedelta(0)
        if limits.seed != self._seed:
            self._seed = limits.seed
            self._dice = random.Random(limits.seed)
        return timedelta(seconds=recorded(self._dice.random()) * limits.insert_times)


def recorded(part: float) -> float:
    """The seconds within which this part of the recorded inserts was done, between the known ones in line."""
    high = min(bisect_right(RECORDED, (part, float("inf"))), len(RECORDED) - 1)
    (before, least), (after, most) = RECORDED[high - 1], RECORDED[high]
    return least + (most - least) * (part - before) / (after - before)
