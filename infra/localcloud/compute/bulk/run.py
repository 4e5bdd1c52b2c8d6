"""Carries a bulk request out: one insert operation for each instance, all in one group, and a way back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from localcloud.compute import ids
from localcloud.compute.audit import Subject
from localcloud.compute.build import build, network, scheduling
from localcloud.compute.bulk.flexible import FIELD as POLICY
from localcloud.compute.bulk.flexible import Shape, chosen
from localcloud.compute.bulk.plan import Plan, numbered, spread
from localcloud.compute.life import Ask, Commands, Tasks
from localcloud.compute.links import last
from localcloud.compute.operations import Order, Running
from localcloud.compute.refusals import Failure, internal_failure, invalid_field, min_count_not_reached
from localcloud.compute.site import Site
from localcloud.errors import ApiError

_FOREVER = timedelta(days=365)


class Bulk:
    """Creates instances by plan. If fewer than the least number come about, those are deleted again."""

    def __init__(self, site: Site, tasks: Tasks, commands: Commands) -> None:
        self._site = site
        self._tasks = tasks
        self._commands = commands

    def insert(self, plan: Plan, scope: str, ask: Ask) -> Running:
        """Begin to create them in a scope (`zones/Z` or `regions/R`); give the operation of the whole.

        Raises:
            ApiError: 400, 404 or 409 when not even the first one could be created.
        """
        wanted = self._flexibly(plan, scope) if plan.shapes else self._wanted(plan, self._zones(plan, scope))
        self._check(wanted)
        grouped = replace(ask, group=ids.group_id())
        running = self._begin(scope, grouped)
        self._tasks.spawn(self._run(running, plan, wanted, grouped))
        return running

    def _zones(self, plan: Plan, scope: str) -> Sequence[str]:
        """The zones that come into question."""
        kind, _, name = scope.partition("/")
        if kind == "zones":
            return [name]
        text = plan.properties.get("machineType", "")
        zones = [zone for zone in self._site.catalog.zones_of(name) if zone not in plan.denied]
        offering = [zone for zone in zones if self._site.catalog.machine(last(text), zone)]
        if not offering:
            why = f"No zone of region '{name}' that may be used has this machine type."
            raise invalid_field("bulkInsertInstanceResource.instanceProperties.machineType", text, why)
        return offering

    def _wanted(self, plan: Plan, zones: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
        """The instances to create: zone and request of each."""
        names = self._names(plan, zones)
        machine = last(plan.properties.get("machineType", ""))
        model = scheduling.model(plan.properties)
        places = spread(plan, zones, lambda zone: self._site.stock.left(zone, machine, model))
        return [
            (zone, {**plan.properties, **_own(plan.each.get(name, {})), "name": name})
            for zone, name in zip(places, names, strict=True)
        ]

    def _names(self, plan: Plan, zones: Sequence[str]) -> Sequence[str]:
        taken = {name for zone in zones for name in self._site.registry.names(zone)}
        return plan.names or numbered(plan.pattern, plan.count, taken)

    def _flexibly(self, plan: Plan, scope: str) -> list[tuple[str, dict[str, Any]]]:
        """The same, each as what is preferred of what there is room for; what no zone takes is left out."""
        kind, _, name = scope.partition("/")
        if kind == "zones":
            raise invalid_field(POLICY, "", "It is for regional requests only.")
        zones = [zone for zone in self._site.catalog.zones_of(name) if zone not in plan.denied]
        names = self._names(plan, zones)
        refused: list[ApiError] = []
        offers = {zone: self._taken_in(plan, zone, names[0], refused) for zone in zones}
        offers = {zone: shapes for zone, shapes in offers.items() if shapes}
        if not offers:
            raise refused[-1] if refused else invalid_field(POLICY, "", "No zone may be used.")
        places = chosen(plan.count, plan.shape, offers, partial(self._room, plan))
        return [
            (zone, {**_as(plan, shape), **_own(plan.each.get(node, {})), "name": node})
            for (zone, shape), node in zip(places, names, strict=True)
        ]

    def _taken_in(self, plan: Plan, zone: str, name: str, refused: list[ApiError]) -> list[Shape]:
        """The shapes of which this zone makes such instances; why it does not goes into `refused`."""
        found = []
        for shape in plan.shapes:
            try:
                trial = build(self._site, zone, {**_as(plan, shape), "name": name})
            except ApiError as error:
                refused.append(error)
                continue
            network.release(self._site, zone, trial.resource["networkInterfaces"])
            found.append(shape)
        return found

    def _room(self, plan: Plan, zone: str, machine: str, taken: Mapping[str, int]) -> int | None:
        limits = [self._site.stock.left_beside(zone, machine, scheduling.model(plan.properties), taken)]
        if zone in plan.most:
            limits.append(plan.most[zone] - sum(taken.values()))
        return min((max(limit, 0) for limit in limits if limit is not None), default=None)

    def _check(self, wanted: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Refuse at once what could never work, as the API does."""
        for zone, given in wanted:
            self._site.registry.check_free(zone, given["name"])
        zone, given = next(iter(wanted))
        trial = build(self._site, zone, given)
        network.release(self._site, zone, trial.resource["networkInterfaces"])

    def _begin(self, scope: str, ask: Ask) -> Running:
        site, zonal = self._site, scope.startswith("zones/")
        order = Order(
            kind="bulkInsert",
            scope=scope,
            target=scope,
            target_id="",
            user=ask.caller.email,
            request_id=ask.request_id,
            group=ask.group,
        )
        running = site.operations.begin(order)
        method = f"compute.{'instances' if zonal else 'regionInstances'}.bulkInsert"
        subject = Subject(path=scope, zone=last(scope) if zonal else "")
        site.audit.asked(running, method, subject, ask.caller, ask.body)
        return running

    async def _run(
        self, running: Running, plan: Plan, wanted: Sequence[tuple[str, Mapping[str, Any]]], ask: Ask
    ) -> None:
        try:
            await self._site.pace.pause(self._site.timings.accepting)
            running.start()
            running.end(await self._carry_out(running, plan, wanted, ask))
        except Exception as error:
            running.end(internal_failure(error))
            raise

    async def _carry_out(
        self, running: Running, plan: Plan, wanted: Sequence[tuple[str, Mapping[str, Any]]], ask: Ask
    ) -> Failure | None:
        item = Ask(caller=ask.caller, group=ask.group)
        targets = [zone for zone, _ in wanted]
        running.tell(_progress("CREATING", targets))
        inserts = [self._insert(zone, given, item) for zone, given in wanted]
        begun = [insert for insert in inserts if insert]
        await self._all(begun)
        made = [insert for insert in begun if not insert.failure]
        created = [last(insert.order.scope) for insert in made]
        if len(made) >= plan.least:
            running.tell(_progress("DONE", targets, created))
            return None
        running.tell(_progress("ROLLING_BACK", targets, created))
        await self._all([self._undo(insert, item) for insert in made])
        running.tell(_progress("DONE", targets, created, deleted=created))
        return min_count_not_reached(plan.least)

    def _insert(self, zone: str, given: Mapping[str, Any], ask: Ask) -> Running | None:
        """Begin one insert; None when it is refused, such as for a name taken in the meantime."""
        try:
            self._site.registry.check_free(zone, given["name"])
            built = build(self._site, zone, given)
        except ApiError:
            return None
        return self._commands.insert(built, ask)

    def _undo(self, insert: Running, ask: Ask) -> Running:
        zone, name = last(insert.order.scope), last(insert.order.target)
        vm = self._site.registry.find(zone, name)
        return self._commands.delete(vm, ask)

    async def _all(self, operations: Iterable[Running]) -> None:
        for running in operations:
            await self._site.operations.wait(running.order.scope, running.name, _FOREVER)


def _as(plan: Plan, shape: Shape) -> dict[str, Any]:
    """The properties of an instance that is made as this."""
    return {**plan.properties, **shape.over, "machineType": shape.machine}


def _own(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"hostname": properties["hostname"]} if "hostname" in properties else {}


def _progress(
    status: str, targets: Sequence[str], created: Sequence[str] = (), deleted: Sequence[str] = ()
) -> dict[str, Any]:
    """The metadata of a bulk operation: for each zone how many were planned, made and deleted."""
    return {
        "instancesBulkInsertOperationMetadata": {
            "perLocationStatus": {
                f"zones/{zone}": {
                    "status": status,
                    "targetVmCount": targets.count(zone),
                    "createdVmCount": created.count(zone),
                    "deletedVmCount": deleted.count(zone),
                    "failedToCreateVmCount": 0
                    if status == "CREATING"
                    else targets.count(zone) - created.count(zone),
                }
                for zone in sorted(set(targets))
            }
        }
    }
