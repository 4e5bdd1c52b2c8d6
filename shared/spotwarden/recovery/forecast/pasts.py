"""What spot VMs of our own jobs went through: how often they were lost, and how long others were waited for.

Added up by place, so that the past of a thousand jobs costs a forecast no more than that of one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

from spotwarden.model.placement import region_of
from spotwarden.recovery.forecast.hazards import AGES

SHORT_WAIT = 0.1
"""Hours: all waits that are shorter are about the same."""
REGION, ELSEWHERE = 0.5, 0.2
"""What an hour in another zone of the region, and in another region, tells of a zone, of one in itself."""


class SpotPast(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hours at each age of `hazards.AGES`, losses, and waits with the sum of their logarithms."""

    hours: tuple[float, ...] = (0.0,) * len(AGES)
    lost: float = 0.0
    waits: float = 0.0
    logs: float = 0.0

    def risk(self, rates: Sequence[float]) -> float:
        """How many losses were to be expected at these rates."""
        return sum(rate * hours for rate, hours in zip(rates, self.hours, strict=True))


PastByPlace = Mapping[str, SpotPast]


def past_of(lost: Sequence[float], others: Sequence[float], waits: Sequence[float]) -> SpotPast:
    """The past of VMs that lived so many hours, lost ones and others, with the waits after losses."""
    lives = (*lost, *others)
    return SpotPast(
        hours=tuple(
            sum(max(0.0, min(life, last) - first) for life in lives)
            for first, last in pairwise((*AGES, math.inf))
        ),
        lost=float(len(lost)),
        waits=float(len(waits)),
        logs=sum(math.log(wait + SHORT_WAIT) for wait in waits),
    )


def together(parts: Iterable[tuple[float, SpotPast]]) -> SpotPast:
    """All of them, each as many times as it counts."""
    hours, lost, waits, logs = [0.0] * len(AGES), 0.0, 0.0, 0.0
    for weight, past in parts:
        hours = [had + weight * more for had, more in zip(hours, past.hours, strict=True)]
        lost, waits, logs = lost + weight * past.lost, waits + weight * past.waits, logs + weight * past.logs
    return SpotPast(hours=tuple(hours), lost=lost, waits=waits, logs=logs)


def told_of(place: str, pasts: PastByPlace) -> SpotPast:
    """What the past of jobs in all places tells of this one."""
    return together((_weight(place, other), past) for other, past in pasts.items())


def _weight(place: str, other: str) -> float:
    if other == place:
        return 1.0
    return REGION if region_of(other) == region_of(place) else ELSEWHERE
