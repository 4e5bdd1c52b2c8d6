"""Capacity advice of Compute Engine: what is asked, and what the answers mean to us.

It is in preview (November 2026), and in v1. Shapes from the discovery document of revision 20261106; bounds
from "View the availability of Spot VMs" and "View the preemption rate and pricing for Spot VMs".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec

from spotwarden import typed
from spotwarden.gcp.calls import Calls, decode
from spotwarden.gcp.wire import utc
from spotwarden.model.advice import CapacityAdvice, CapacityHistory, SpotPrice
from spotwarden.model.placement import region_of
from spotwarden.ports import UnansweredError

PATIENCE = timedelta(seconds=5)
"""For each piece of an answer; where it takes longer, places stay in the order that they have."""
MOST_VMS = 1000
"""More are not advised on."""
_DURATION = re.compile(r"(\d+)(?:\.\d+)?s")
_PLACE = re.compile(r"[a-z]+-[a-z]+\d+(-[a-z])?")
_MACHINE = re.compile(r"[a-z][-a-z0-9]{0,62}")
_NANOS = 10**9
_SPOT = {"provisioningModel": "SPOT"}
_EARLIEST = datetime.min.replace(tzinfo=UTC)


class WireScores(msgspec.Struct, frozen=True, rename="camel"):
    """The scores of a recommendation."""

    obtainability: float | None = None
    estimated_uptime: str = ""


class WireRecommendation(msgspec.Struct, frozen=True):
    """A recommendation; its shards say no more than what was asked for: one place, one machine type."""

    scores: WireScores = WireScores()


class WireAdvice(msgspec.Struct, frozen=True):
    """The answer of `advice.capacity`; there is one recommendation."""

    recommendations: Sequence[WireRecommendation] = ()


class WireInterval(msgspec.Struct, frozen=True, rename="camel"):
    """When something held; what holds has no end."""

    start_time: datetime | None = None
    end_time: datetime | None = None


class WireMoney(msgspec.Struct, frozen=True, rename="camel"):
    """An amount (`google.type.Money`): an int64 as text, and billionths of a unit; zeros are left out."""

    currency_code: str = ""
    units: int | str = 0
    nanos: int = 0


class WirePreemption(msgspec.Struct, frozen=True, rename="camel"):
    """The rate of a day; JSON leaves a rate of zero out."""

    interval: WireInterval = WireInterval()
    preemption_rate: float = 0.0


class WirePrice(msgspec.Struct, frozen=True, rename="camel"):
    """The price of an interval."""

    interval: WireInterval = WireInterval()
    list_price: WireMoney = WireMoney()


class WireHistory(msgspec.Struct, frozen=True, rename="camel"):
    """The answer of `advice.capacityHistory`."""

    preemption_history: Sequence[WirePreemption] = ()
    price_history: Sequence[WirePrice] = ()


typed.prepare(WireAdvice, WireHistory)

Answer = TypeVar("Answer", WireAdvice, WireHistory)
Dated = TypeVar("Dated", WirePreemption, WirePrice)


class Advised(Calls):
    """What Google expects of spot capacity. A question is asked once: whoever asks can do without."""

    def advice(self, machine: str, place: str, size: int) -> CapacityAdvice:
        """As `Compute.advice`; `ValueError` where these can be no machine type and no place."""
        path = self._asked("capacity", machine, place)
        zones = {} if region_of(place) == place else {"zones": [{"zone": f"zones/{place}"}]}
        body = {
            "instanceProperties": {"scheduling": _SPOT},
            "instanceFlexibilityPolicy": {"instanceSelections": {"machine": {"machineTypes": [machine]}}},
            "distributionPolicy": {**zones, "targetShape": "ANY_SINGLE_ZONE"},
            "size": min(max(size, 1), MOST_VMS),
        }
        answer = _read(self._rest.ask(path, body, PATIENCE), WireAdvice)
        scores = answer.recommendations[0].scores if answer.recommendations else WireScores()
        return CapacityAdvice(obtainability=scores.obtainability, uptime=_duration(scores.estimated_uptime))

    def capacity_history(self, machine: str, place: str) -> CapacityHistory:
        """As `Compute.capacity_history`; `ValueError` as `advice`. A price that is not in USD is left out."""
        path = self._asked("capacityHistory", machine, place)
        regional = region_of(place) == place
        where: Mapping[str, Any] = {} if regional else {"locationPolicy": {"location": f"zones/{place}"}}
        body = {
            "types": ["PREEMPTION", "PRICE"] if regional else ["PREEMPTION"],
            "instanceProperties": {"machineType": machine, "scheduling": _SPOT},
            **where,
        }
        answer = _read(self._rest.ask(path, body, PATIENCE), WireHistory)
        return CapacityHistory(
            preemption=tuple(day.preemption_rate for day in _in_order(answer.preemption_history)),
            prices=tuple(
                SpotPrice(since=since, until=utc(price.interval.end_time), per_hour=_usd(price.list_price))
                for price in _in_order(answer.price_history)
                if (since := utc(price.interval.start_time)) and price.list_price.currency_code == "USD"
            ),
        )

    def _asked(self, method: str, machine: str, place: str) -> str:
        if not (_MACHINE.fullmatch(machine) and _PLACE.fullmatch(place)):
            raise ValueError(f"No machine type in a zone or region: {machine!r} in {place!r}")
        return f"/compute/v1/projects/{self._project}/regions/{region_of(place)}/advice/{method}"


def _read(answer: bytes, kind: type[Answer]) -> Answer:
    """The answer as data; one of another shape is no answer: what is in preview may change."""
    try:
        return decode(answer, kind)
    except msgspec.ValidationError as error:
        raise UnansweredError(f"capacity advice of an unknown shape: {error}") from error


def _in_order(items: Iterable[Dated]) -> list[Dated]:
    return sorted(items, key=lambda item: utc(item.interval.start_time) or _EARLIEST)


def _duration(text: str) -> timedelta | None:
    found = _DURATION.fullmatch(text)
    return timedelta(seconds=int(found[1])) if found else None


def _usd(money: WireMoney) -> float:
    return int(money.units) + money.nanos / _NANOS
