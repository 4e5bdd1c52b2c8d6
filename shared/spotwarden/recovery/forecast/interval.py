"""How often to save: the interval that keeps most work of a life, over all ages at which a VM may be lost.

Young's and Daly's formulas take losses to come at one rate. They come in bursts: a VM that has lived for an
hour is safer than one that has just come. So the kept work is added up over the ages themselves.
"""

import math
from collections.abc import Sequence

import msgspec

from spotwarden.recovery.forecast.hazards import risk

SHORTEST, LONGEST = 1 / 30, 24.0
STEP = 1.12
"""From one interval that is tried to the next."""
TERMS = 240
"""Saves of one life that are added one by one; those after them lie so close that an integral will do."""
STRIPS = 16


class Saving(msgspec.Struct, frozen=True, kw_only=True):
    """What an interval is judged by: a save takes `save` hours, a start `setup`, and `work` is left."""

    save: float
    rates: tuple[float, ...]
    setup: float
    work: float


def best_interval(job: Saving) -> float:
    """The interval, in hours, that keeps most."""
    longest = max(SHORTEST, min(LONGEST, job.work))
    steps = int(math.log(longest / SHORTEST, STEP)) + 1
    tried = [SHORTEST * STEP**step for step in range(steps)]
    return max(tried, key=lambda interval: kept(interval, job))


def kept(interval: float, job: Saving) -> float:
    """Hours of work that a life keeps, on average, if it saves so often."""
    cycle, most = interval + job.save, job.work / interval
    found = 0.0
    for turn in range(1, min(TERMS, math.ceil(most)) + 1):
        found += _survival(job.rates, job.setup + turn * cycle) * min(1.0, most - turn + 1)
    if most > TERMS:
        found += _area(job.rates, job.setup + TERMS * cycle, job.setup + most * cycle) / cycle
    return interval * found


def _survival(rates: Sequence[float], age: float) -> float:
    return math.exp(-risk(rates, 0.0, age))


def _area(rates: Sequence[float], start: float, end: float) -> float:
    """The area under the survival between two ages, by Simpson's rule."""
    width = (end - start) / STRIPS
    inner = sum(
        (4 if strip % 2 else 2) * _survival(rates, start + strip * width) for strip in range(1, STRIPS)
    )
    return (_survival(rates, start) + inner + _survival(rates, end)) * width / 3
