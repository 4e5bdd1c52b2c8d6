"""How often to save: the interval that keeps most work of a life, over all ages at which a VM may be lost.

Young's and Daly's formulas take losses to come at one rate. They come in bursts: a VM that has lived for an
hour is safer than one that has just come. So the kept work is added up over the ages themselves.
"""

import math

import msgspec

from spotwarden.recovery.forecast.hazards import AGES, risk

SHORTEST, LONGEST = 1 / 30, 24.0
STEP = 1.12
"""From one interval that is tried to the next."""


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
    saves = math.ceil(most)
    young = min(saves, max(0, math.ceil((AGES[-1] - job.setup) / cycle) - 1))
    found = sum(_survival(job, turn * cycle) for turn in range(1, young + 1))
    if saves > young:
        found += _survival(job, (young + 1) * cycle) * _sum_of(saves - young, job.rates[-1] * cycle)
    # The last of them saves what is left of the work.
    return interval * (found - _survival(job, saves * cycle) * (saves - most))


def _survival(job: Saving, worked: float) -> float:
    return math.exp(-risk(job.rates, 0.0, job.setup + worked))


def _sum_of(count: int, falls: float) -> float:
    """One, and the survivals of the saves after it: from the last age on the rate does not change."""
    return math.expm1(-falls * count) / math.expm1(-falls) if falls else float(count)
