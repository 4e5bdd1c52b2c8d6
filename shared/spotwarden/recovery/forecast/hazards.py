"""How likely a spot VM is lost by its age: a rate of losses for each span of ages.

Rates are losses an hour; ages and times are hours.
"""

import math
from collections.abc import Sequence

AGES = (0.0, 1 / 6, 0.5, 1.0, 3.0)
"""Where each rate begins to hold: what has just come is lost soonest."""
_SPANS = tuple(zip(AGES, (*AGES[1:], math.inf), strict=True))


def risk(rates: Sequence[float], start: float, end: float) -> float:
    """How many losses to expect between two ages, were each followed by another VM of the same age."""
    found = 0.0
    for rate, (first, last) in zip(rates, _SPANS, strict=True):
        if rate and start < last and end > first:
            found += rate * (min(end, last) - max(start, first))
    return found


def age_at(rates: Sequence[float], start: float, wanted: float) -> float:
    """The age at which so much risk has come together since `start`; infinite where it never does."""
    for rate, (first, last) in zip(rates, _SPANS, strict=True):
        if start >= last:
            continue
        begin = max(start, first)
        there = rate * (last - begin) if rate else 0.0
        if there >= wanted:
            return begin + wanted / rate if rate else begin
        wanted -= there
    return math.inf


def mean_life(rates: Sequence[float]) -> float:
    """How long a VM lives on average; infinite where it is not lost once it is old."""
    mean, alive = 0.0, 1.0
    for rate, (first, last) in zip(rates, _SPANS, strict=True):
        stays = math.exp(-rate * (last - first)) if rate else 1.0
        mean += alive * ((1.0 - stays) / rate if rate else last - first)
        alive *= stays
    return mean
