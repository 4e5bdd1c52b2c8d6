"""What zones have left: stockouts, and scopes that cannot be reached."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta

from localcloud.compute.catalog import Catalog
from localcloud.compute.links import region_of
from localcloud.compute.refusals import STOCKOUT_REASONS, Shortage

Elapsed = Callable[[], float]


@dataclass(kw_only=True)
class Stockout:
    """A zone that has no machine of a type, or of any type (""), any more. `left` more can still be had.

    `model` is the provisioning model that nothing is left for, such as SPOT; "" is any.
    """

    zone: str
    machine: str
    model: str
    until: float | None
    left: int
    reason: str

    @property
    def scope(self) -> tuple[str, str, str]:
        """What there is none of: zone, machine type, provisioning model."""
        return self.zone, self.machine, self.model


class Stock:
    """The stockouts in force."""

    def __init__(self, *, elapsed: Elapsed, catalog: Catalog) -> None:
        self._elapsed = elapsed
        self._catalog = catalog
        self._stockouts: list[Stockout] = []

    def end(self, zone: str, machine: str = "", model: str = "") -> int:
        """End the stockouts of this zone, machine type and model ("": any); return how many that were."""
        ended = [
            stockout
            for stockout in self._stockouts
            if stockout.zone == zone and machine in ("", stockout.machine) and model in ("", stockout.model)
        ]
        self._stockouts = [item for item in self._stockouts if item not in ended]
        return len(ended)

    def begin(
        self,
        zone: str,
        machine: str = "",
        model: str = "",
        *,
        lasting: timedelta | None = None,
        left: int = 0,
        reason: str = STOCKOUT_REASONS[0],
    ) -> None:
        """Let a zone run out of a machine type, or of all; what was in force for the same ends."""
        until = None if lasting is None else self._elapsed() + lasting.total_seconds()
        begun = Stockout(zone=zone, machine=machine, model=model, until=until, left=left, reason=reason)
        self._stockouts = [*(item for item in self._stockouts if item.scope != begun.scope), begun]

    def current(self) -> list[Stockout]:
        """Those that have not run out."""
        now = self._elapsed()
        self._stockouts = [
            stockout for stockout in self._stockouts if stockout.until is None or now < stockout.until
        ]
        return self._stockouts

    def left(self, zone: str, machine: str, model: str) -> int | None:
        """How many machines of a type a zone still has for this model; None where there is no limit."""
        limits = [stockout.left for stockout in self._hitting(zone, machine, model)]
        return min(limits) if limits else None

    def left_beside(self, zone: str, machine: str, model: str, taken: Mapping[str, int]) -> int | None:
        """The same, beside those of each type that are about to be taken there."""
        limits = [
            stockout.left - (taken.get(machine, 0) if stockout.machine else sum(taken.values()))
            for stockout in self._hitting(zone, machine, model)
        ]
        return max(min(limits), 0) if limits else None

    def take(self, zone: str, machine: str, model: str, attachment: str, count: int = 1) -> Shortage | None:
        """Take so many machines; say what is short when there are fewer, and take none then."""
        short = self.short(zone, machine, model, attachment, count)
        if short is None:
            for stockout in self._hitting(zone, machine, model):
                stockout.left -= count
        return short

    def short(self, zone: str, machine: str, model: str, attachment: str, count: int) -> Shortage | None:
        """What is short when there are fewer machines than so many; nothing is taken."""
        hitting = self._hitting(zone, machine, model)
        short = next((item for item in hitting if item.left < count), None)
        if short is None:
            return None
        return Shortage(
            zone=zone,
            machine=machine,
            attachment=attachment,
            reason=short.reason,
            elsewhere=self._elsewhere(zone, machine, model),
        )

    def _hitting(self, zone: str, machine: str, model: str) -> list[Stockout]:
        return [
            stockout
            for stockout in self.current()
            if stockout.zone == zone and stockout.machine in ("", machine) and stockout.model in ("", model)
        ]

    def _elsewhere(self, zone: str, machine: str, model: str) -> list[str]:
        """The zones of the region that have such a machine."""
        return [
            other
            for other in self._catalog.zones_of(region_of(zone))
            if self._catalog.machine(machine, other) and self.left(other, machine, model) != 0
        ]


class Reach:
    """Zones that lists cannot look into for a while."""

    def __init__(self, *, elapsed: Elapsed) -> None:
        self._elapsed = elapsed
        self._until: dict[str, float] = {}

    def lose(self, zone: str, lasting: timedelta) -> None:
        """Let a zone be unreachable for so long; zero ends it."""
        self._until[zone] = self._elapsed() + lasting.total_seconds()

    def lost(self) -> Collection[str]:
        """The scopes (`zones/Z`) that cannot be reached now."""
        now = self._elapsed()
        self._until = {zone: until for zone, until in self._until.items() if now < until}
        return {f"zones/{zone}" for zone in self._until}
