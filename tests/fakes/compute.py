"""Compute Engine in memory, as far as the port goes; time passes with a virtual clock."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from spotwarden.model.instance import Instances, Operation, Operations, Status
from spotwarden.model.placement import MachineZones
from spotwarden.model.request import Request
from spotwarden.ports import RejectedError
from tests.fakes.clock import VirtualClock
from tests.fakes.creating import STOCKOUT, machine_of
from tests.fakes.fate import ZONES
from tests.fakes.governed import BEING_MADE
from tests.fakes.groups import GROUP_IDS, Grouping
from tests.fakes.resource import disk_of, resource
from tests.fakes.vms import Timings, Vm
from tests.fakes.wanted import read


class MemoryCompute(Grouping):
    """`Compute`. Failures are ordered from `trouble`, everything else from the knobs of `Fate`."""

    def __init__(
        self,
        *,
        clock: VirtualClock | None = None,
        timings: Timings = Timings(),
        zones: Collection[str] = ZONES,
    ) -> None:
        super().__init__(clock or VirtualClock(), timings, zones)

    def instances(self, *, names: Collection[str] = (), job: str = "") -> Instances:
        """As `Compute.instances`."""
        return self.trouble.around("instances", job, self._instances, names, job)

    def _instances(self, names: Collection[str], job: str) -> Instances:
        self.vms.catch_up()
        shown = [
            one
            for vm in self.vms.living.values()
            if (one := vm.seen).zone not in self._hidden
            and ((not names and not job) or one.name in names or (job and one.job == job))
        ]
        shown.sort(key=lambda one: (one.zone, one.name))
        return Instances(items=tuple(shown), unreachable=tuple(sorted(self._hidden)))

    def operations(self, since: datetime) -> Operations:
        """As `Compute.operations`."""
        return self.trouble.around("operations", "", self._operations, since)

    def _operations(self, since: datetime) -> Operations:
        self.vms.catch_up()
        told = [one for one in self.vms.log.values() if one.target_id or one.kind == "bulkInsert"]
        told = [one for one in told if one.kind != "insert" or not one.target_id.startswith(GROUP_IDS)]
        logged = [one for one in told if one.at and one.at >= since]
        lagged = self.clock.now() - self._log_lag
        shown = tuple(one for one in logged if one.zone not in self._hidden and one.at and one.at <= lagged)
        return Operations(items=shown, unreachable=tuple(sorted(self._hidden)))

    def launch(self, request: Request, request_id: str, *, before: datetime | None = None) -> Operation:
        """As `Compute.launch`."""

        def launch() -> Operation:
            self._in_time(before)
            return self.make_part(request, request_id) or self._create(read(request), request_id)

        return self.trouble.around("launch", request.path, self._ask, request_id, launch)

    def start(
        self, zone: str, instance_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """As `Compute.start`; one that runs goes on, one being made or stopped, or suspended, is refused."""

        def start() -> Operation:
            self._in_time(before)
            return self._start(self._there(zone, instance_id))

        return self.trouble.around("start", instance_id, self._ask, request_id, start)

    def _start(self, vm: Vm) -> Operation:
        if vm.seen.status in {*BEING_MADE, Status.STOPPING}:
            raise RejectedError("resourceNotReady", f"{vm.seen.name} is {vm.seen.status.value}")
        if vm.seen.status is Status.SUSPENDED:
            raise RejectedError("unsupportedOperation", f"{vm.seen.name} is suspended; resume it")
        operation = self.vms.begin("start", vm.seen, self.caller)
        if vm.seen.status is Status.RUNNING:
            self.vms.end(operation)
            return operation
        vm.leaves = False
        self.vms.become(vm.seen.id, Status.PROVISIONING)
        if self._take_room(vm.seen.zone, machine_of(vm.body), spot=vm.is_spot):
            self.vms.later(self._timings.start, lambda: self._settle(vm, operation, Status.RUNNING))
        else:
            self.vms.later(
                self._timings.refuse, lambda: self._settle(vm, operation, Status.TERMINATED, STOCKOUT)
            )
        return operation

    def delete(
        self, zone: str, instance_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """As `Compute.delete`; the name is taken until the operation is done."""

        def delete() -> Operation:
            self._in_time(before)
            vm = self._there(zone, instance_id)
            operation = self.vms.begin("delete", vm.seen, self.caller, request_id=request_id)
            self.vms.take_down(vm, operation, self._while_stopping(vm), remove=True)
            return operation

        return self.trouble.around("delete", instance_id, self._once, request_id, delete)

    def _while_stopping(self, vm: Vm) -> timedelta:
        runs = vm.seen.status is Status.RUNNING
        return self._timings.stop if runs else self._timings.refuse

    def operation(self, place: str, name: str) -> Operation:
        """As `Compute.operation`."""
        return self.trouble.around("operation", name, self._operation, place, name)

    def _operation(self, place: str, name: str) -> Operation:
        self.vms.catch_up()
        found = self.vms.log.get(name)
        if found is None or found.zone != place or name in self._forgotten:
            raise RejectedError("notFound", f"The resource 'zones/{place}/operations/{name}' was not found")
        return found

    def resource(self, zone: str, instance_id: str) -> Mapping[str, Any] | None:
        """As `Compute.resource`."""

        def look() -> Mapping[str, Any] | None:
            found = self.find(zone, instance_id)
            return None if found is None else resource(found)

        return self.trouble.around("resource", instance_id, look)

    def disk(self, link: str) -> Mapping[str, Any] | None:
        """As `Compute.disk`; a disk goes with its VM."""

        def look() -> Mapping[str, Any] | None:
            self.vms.catch_up()
            made = (disk_of(vm, link) for vm in self.vms.living.values())
            return next((disk for disk in made if disk is not None), None)

        return self.trouble.around("disk", link, look)

    def offers(self, machine: str, accelerators: Collection[str]) -> MachineZones:
        """As `Compute.offers`."""
        return self.trouble.around("offers", machine, self._offered, {machine, *accelerators})

    def _offered(self, kinds: Collection[str]) -> MachineZones:
        everywhere = frozenset(self.zones)
        offered = everywhere.intersection(*(self._offers.get(kind, everywhere) for kind in kinds))
        return MachineZones(offered - self._hidden, frozenset(self._hidden))

    def kinds_offered(self, zone: str) -> frozenset[str]:
        """As `Compute.kinds_offered`; of the kinds that a test has named."""
        return self.trouble.around("kinds_offered", zone, self._kinds_of, zone)

    def _kinds_of(self, zone: str) -> frozenset[str]:
        if zone not in self.zones:
            raise RejectedError("notFound", f"The resource 'zones/{zone}' was not found")
        return frozenset(kind for kind, zones in self._offers.items() if zone in zones)
