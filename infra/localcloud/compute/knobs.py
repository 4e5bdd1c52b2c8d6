"""What the cloud does to people, as plain methods; `api.admin` offers them over HTTP."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from localcloud.compute import fleet
from localcloud.compute.build.images import home
from localcloud.compute.build.scheduling import MODELS
from localcloud.compute.capacity import Stockout
from localcloud.compute.history import Change
from localcloud.compute.life import Events, Steps
from localcloud.compute.notices import NoticeRefusal
from localcloud.compute.quotas import METRICS
from localcloud.compute.rates import GROUPS, Rates
from localcloud.compute.refusals import STOCKOUT_REASONS
from localcloud.compute.registry import Vm
from localcloud.compute.resource_types import IMAGES, furnish, make
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site
from localcloud.errors import ApiError


class Knobs:
    """Every method raises `ApiError` 400 or 404, in words, for what cannot be."""

    def __init__(self, site: Site, steps: Steps, events: Events) -> None:
        self._site = site
        self._steps = steps
        self._events = events
        self._part = 0.0
        self._usual_lag = timedelta(0)

    def preempt(self, name_or_id: str, action: str = "", *, called_off: bool = False) -> None:
        """Preempt a spot instance; `action` (STOP, DELETE) overrides what the instance says.

        Where it is `called_off`, the instance has its notice, and is not preempted after it.
        """
        self._events.preempt(self._one(name_or_id), action, called_off=called_off)

    def host_error(self, name_or_id: str) -> None:
        """Let an instance's host fail."""
        self._events.host_error(self._one(name_or_id))

    def _one(self, name_or_id: str) -> Vm:
        found = self._site.registry.anywhere(name_or_id)
        if not found:
            raise ApiError(
                404,
                "notFound",
                f"There is no instance {name_or_id!r} in any zone. To list them: spotwarden local status",
            )
        if len(found) > 1:
            zones = ", ".join(sorted(vm.zone for vm in found))
            message = f"There are instances {name_or_id!r} in {zones}; give the id of the one that is meant."
            raise ApiError(400, "invalid", message)
        return found[0]

    def begin_stockout(
        self,
        zone: str,
        machine: str = "",
        model: str = "",
        *,
        lasting: timedelta | None = None,
        left: int = 0,
        reason: str = STOCKOUT_REASONS[0],
    ) -> None:
        """Let a zone have only `left` more machines of a type, or of any; `lasting` None: until ended.

        `model` keeps it to one provisioning model: spot VMs run out where on-demand VMs are still to be had.
        """
        self._check_zone(zone)
        if model and model not in MODELS:
            raise ApiError(400, "invalid", f"There is no model {model!r}; there are {', '.join(MODELS)}.")
        if machine and self._site.catalog.machine(machine, zone) is None:
            raise ApiError(400, "invalid", f"There is no machine type {machine!r} in {zone}.")
        if reason not in STOCKOUT_REASONS:
            words = ", ".join(STOCKOUT_REASONS)
            raise ApiError(400, "invalid", f"There is no reason {reason!r}; there are {words}.")
        self._site.stock.begin(zone, machine, model, lasting=lasting, left=left, reason=reason)

    def end_stockout(self, zone: str, machine: str = "", model: str = "") -> None:
        """Let a zone have machines again: of this type and model, or of all that it had run out of."""
        self._check_zone(zone)
        if not self._site.stock.end(zone, machine, model):
            what = " ".join(filter(None, (model, machine))) or "anything"
            raise ApiError(404, "notFound", f"{zone} has not run out of {what}; GET /local/stockout tells.")

    def stockouts(self) -> Sequence[Stockout]:
        """The stockouts in force."""
        return self._site.stock.current()

    def refuse_notice(self, machine: str, how: NoticeRefusal | None) -> None:
        """Refuse spot VMs of a machine type that ask for a preemption notice; None takes them again."""
        catalog = self._site.catalog
        if not any(catalog.machine(machine, zone) for zone in catalog.zones):
            raise ApiError(400, "invalid", f"There is no machine type {machine!r}.")
        if how is None:
            self._site.without_notice.pop(machine, None)
        else:
            self._site.without_notice[machine] = how

    def set_quota(self, metric: str, limit: float | None, region: str = "") -> None:
        """Limit what the project may have, in a region or over all (""); None lifts the limit."""
        if metric not in METRICS:
            raise ApiError(400, "invalid", f"There is no metric {metric!r}; there are {', '.join(METRICS)}.")
        if region and region not in self._site.catalog.regions:
            raise ApiError(400, "invalid", f"There is no region {region!r}.")
        self._site.quotas.set(metric, limit, region)

    def quotas(self) -> Mapping[tuple[str, str], float]:
        """The limits in force, by metric and region."""
        return self._site.quotas.limits

    @property
    def rates(self) -> Rates:
        """The calls that were counted, and the limits on them."""
        return self._site.rates

    def limit_rate(self, metric: str, limit: int | None) -> None:
        """Limit a group of calls to so many a minute in each region; None lifts it; "": as published."""
        if metric and metric not in GROUPS:
            raise ApiError(400, "invalid", f"There is no group {metric!r}; there are {', '.join(GROUPS)}.")
        if metric:
            self.rates.limit(metric, limit)
        else:
            self.rates.limit_as_published()

    def limit_rates(self, part: float) -> None:
        """Limit every group to this part of what Google published; 0 lifts all limits.

        What was limited by `limit_rate` stays so until the part is another one.
        """
        if part != self._part:
            self._part = part
            self.rates.limit_as_published(part)

    def timings(self) -> Mapping[str, float]:
        """How long the steps take, in seconds."""
        return self._site.timings.seconds()

    def set_timings(self, changes: Mapping[str, Any]) -> Mapping[str, float]:
        """Change some of them, from the next step on; values are seconds. Return all."""
        self._site.timings = self._site.timings.with_seconds(changes)
        return self.timings()

    def lose(self, zone: str, lasting: timedelta) -> None:
        """Let lists not reach a zone for so long; zero ends it."""
        self._check_zone(zone)
        self._site.reach.lose(zone, lasting)

    def let_lists_lag(self, behind: timedelta) -> None:
        """Let the lists of instances and operations show what was so long ago; zero ends it."""
        self._site.registry.shelf.lag(behind)
        self.let_the_log_lag(behind)

    def let_the_log_lag(self, behind: timedelta) -> None:
        """Let the list of operations alone show what was so long ago; an operation by its name is current."""
        self._site.operations.shelf.lag(behind)

    def let_the_log_lag_as_usual(self, behind: timedelta) -> None:
        """The same; what `let_the_log_lag` said stays so until this is another time."""
        if behind != self._usual_lag:
            self._usual_lag = behind
            self.let_the_log_lag(behind)

    def create_fleet(self, wanted: fleet.Fleet) -> int:
        """Create instances with nothing behind them; return how many instances there are then."""
        furnish(self._site)
        return fleet.create(self._site, wanted)

    def dissolve_fleet(self) -> int:
        """Let all instances without machines be gone; return how many they were."""
        return fleet.dissolve(self._site, self._steps)

    def add_image(self, name: str, family: str = "", project: str = "") -> None:
        """Let a project, ours or another, have an image of this name, in a family or in none."""
        site, owner = self._site, project or self._site.project
        given = {"name": name, **({"family": family} if family else {})}
        made = make(site, IMAGES, home(site, owner), given)
        link = site.links.link(f"global/images/{name}", project=owner)
        site.things["images"].put(home(site, owner), name, {**made, "selfLink": link})

    def instances(self) -> Iterator[Resource]:
        """The resources of all instances."""
        return self._site.registry.resources()

    def history(self) -> Sequence[Change]:
        """What instances went through, oldest first."""
        return self._site.registry.history.changes()

    def _check_zone(self, zone: str) -> None:
        if zone not in self._site.catalog.zones:
            raise ApiError(400, "invalid", f"There is no zone {zone!r}.")
