"""What the Compute Engine in memory says of its spot capacity: its room, and what its zones have seen."""

import re
from collections import Counter
from collections.abc import Collection
from datetime import date, timedelta

from spotwarden.model.advice import CapacityAdvice, CapacityHistory
from spotwarden.model.placement import region_of
from spotwarden.ports import RejectedError
from tests.fakes.clock import VirtualClock
from tests.fakes.governed import Governed
from tests.fakes.vms import Timings

NO_ADVICE = re.compile(r"(?:[a-z0-9]+-)?custom-.+|(?:ct|tpu)[0-9].*")
PREEMPTED = "compute.instances.preempted"
STOPS = {PREEMPTED, "compute.instances.guestTerminate", "delete", "stop", "suspend"}
DAYS = 30
HIGH = CapacityAdvice(obtainability=0.9, uptime=timedelta(hours=1))
MEDIUM = CapacityAdvice(obtainability=0.5, uptime=timedelta(minutes=10))
LOW = CapacityAdvice(obtainability=0.1, uptime=timedelta(minutes=1))


class Advising(Governed):
    """Advice. Failures are ordered from `trouble`; `advise` overrides what the room would say."""

    def __init__(self, clock: VirtualClock, timings: Timings, zones: Collection[str]) -> None:
        super().__init__(clock, timings, zones)
        self.advised: dict[str, CapacityAdvice] = {}
        self.advice_forbidden = False

    def advice(self, machine: str, place: str, size: int) -> CapacityAdvice:
        """As `Compute.advice`."""
        return self.trouble.around("advice", place, self._advice, machine, place, size)

    def _advice(self, machine: str, place: str, size: int) -> CapacityAdvice:
        zones = self._asked(machine, place, "capacity")
        if place in self.advised:
            return self.advised[place]
        room = max(self._left.get(zone, size) for zone in zones)
        return HIGH if room >= size else MEDIUM if room else LOW

    def capacity_history(self, machine: str, place: str) -> CapacityHistory:
        """As `Compute.capacity_history`; there are no prices."""
        return self.trouble.around("capacity_history", place, self._history, machine, place)

    def _history(self, machine: str, place: str) -> CapacityHistory:
        zones = self._asked(machine, place, "capacityHistory")
        preempted, stopped = Counter[date](), Counter[date]()
        for operation in self.vms.log.values():
            if operation.kind in STOPS and operation.zone in zones and operation.at:
                stopped[operation.at.date()] += 1
                preempted[operation.at.date()] += operation.kind == PREEMPTED
        today = self.clock.now().date()
        days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
        return CapacityHistory(preemption=tuple(preempted[day] / (stopped[day] or 1) for day in days))

    def _asked(self, machine: str, place: str, method: str) -> list[str]:
        """The zones that are asked about, where the caller and the machine may."""
        self.vms.catch_up()
        if self.advice_forbidden:
            raise RejectedError("forbidden", f"Required 'compute.advice.{method}' permission (403)")
        zones = [zone for zone in self.zones if place in {zone, region_of(zone)}]
        if NO_ADVICE.fullmatch(machine) or not zones:
            raise RejectedError("invalid", f"Invalid value: {machine!r} in {place!r} (400)")
        return zones
