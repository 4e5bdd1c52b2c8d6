"""How VMs come about: one by one, or many of them together or none."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from spotwarden.model.instance import Instance, Operation, Status
from spotwarden.ports import RejectedError
from tests.fakes.fate import Fate, is_flexible
from tests.fakes.vms import SYSTEM, Vm, asks_for_spot
from tests.fakes.wanted import Wanted, names_of, zones_of

STOCKOUT = (
    "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: The zone does not have enough resources available"
    " to fulfill the request. [reason=resource_availability]"
)
Made = tuple[Vm, Operation]
FLEXIBLE_LOOK = timedelta(seconds=30)
"""How long a Flex-start VM waits where there is room, and after how long it is looked for again."""


class Creating(Fate):
    """Carries out create requests. `caller` is who the operations say has asked."""

    caller = "spotwarden@p.iam.gserviceaccount.com"

    def _create(self, wanted: Wanted, request_id: str) -> Operation:
        """Begin to create what is wanted; a name that is taken refuses all of it."""
        refused = self._without_notice.get(machine_of(wanted.body))
        if refused and "preemptionNoticeDuration" in wanted.body.get("scheduling", {}):
            raise refused
        zone = self._roomiest(wanted)
        taken = {vm.seen.name for vm in self.vms.living.values() if vm.seen.zone == zone}
        names = names_of(wanted, taken)
        for name in names:
            if name in taken:
                what = f"zones/{zone}/instances/{name}"
                raise RejectedError("alreadyExists", f"The resource '{what}' already exists")
        if not wanted.bulk:
            return self._insert(zone, names[0], wanted.body, request_id)[1]
        group = f"group-{len(self.vms.log)}"
        whole = self.vms.log_new(
            "bulkInsert", wanted.place, wanted.place, "", self.caller, request_id=request_id, group=group
        )
        made = [self._insert(zone, name, wanted.body, request_id, group) for name in names]
        self.vms.later(self._timings.start, lambda: self._end_bulk(whole, wanted, made))
        return whole

    def _roomiest(self, wanted: Wanted) -> str:
        """The first zone with room for all, else the one with most of it."""
        zones = zones_of(wanted, self.zones)
        if not zones:
            raise RejectedError("invalid", f"no zone of {wanted.place} may be used")
        machine, spot = machine_of(wanted.body), asks_for_spot(wanted.body)
        out = {zone for zone in zones if (zone, machine) in self._without}
        out |= self._without_spot if spot else set()
        room = {zone: 0 if zone in out else self._left.get(zone, wanted.count) for zone in zones}
        return next((zone for zone in zones if room[zone] >= wanted.count), max(zones, key=lambda z: room[z]))

    def _insert(
        self, zone: str, name: str, body: Mapping[str, Any], request_id: str, group: str = ""
    ) -> Made:
        """Begin to make one VM. Where there is no room it is listed all the same, until that is known.

        An insert of a bulk insert's bears its group, and no request id of its own.
        """
        seen = instance(self.vms.next_id(), name, zone, body, self.clock.now())
        vm = Vm(seen=seen, body=body, launch=request_id)
        asked = {"group": group} if group else {"request_id": request_id}
        operation = self.vms.begin("insert", seen, self.caller, **asked)
        if is_flexible(body):
            self._queue(vm, operation)
            return vm, operation
        room = self._take_room(zone, machine_of(body), spot=vm.is_spot)
        self.vms.add(vm)
        if room:
            self.vms.later(self._timings.start, lambda: self._settle(vm, operation, Status.RUNNING))
        else:
            self.vms.later(self._timings.refuse, lambda: self._refuse(vm, operation))
        return vm, operation

    def _queue(self, vm: Vm, operation: Operation) -> None:
        """Have a Flex-start VM that waits for room, until its request expires.

        Google does not say whether its insert is done while it waits: that of every other one is.
        """
        vm.seen = msgspec.structs.replace(vm.seen, status=Status.PENDING, started=None)
        self.vms.add(vm)
        if int(vm.seen.id) % 2:
            self.vms.end(operation)
        valid = vm.body.get("params", {}).get("requestValidForDuration", {})
        expires = self.clock.now() + timedelta(seconds=int(valid.get("seconds", 0)))
        self.vms.later(FLEXIBLE_LOOK, lambda: self._look_for_room(vm, operation, expires))

    def _look_for_room(self, vm: Vm, operation: Operation, expires: datetime) -> None:
        if vm.seen.id not in self.vms.living or vm.seen.status is not Status.PENDING:
            if not self.vms.log[operation.name].done:
                self.vms.end(operation, f"RESOURCE_NOT_FOUND: The resource '{vm.seen.name}' was not found")
            return
        if self._take_room(vm.seen.zone, machine_of(vm.body)):
            self.vms.become(vm.seen.id, Status.PROVISIONING)
            self.vms.later(self._timings.start, lambda: self._settle(vm, operation, Status.RUNNING))
        elif self.clock.now() >= expires:
            self._expire(vm, operation)
        else:
            self.vms.later(FLEXIBLE_LOOK, lambda: self._look_for_room(vm, operation, expires))

    def _expire(self, vm: Vm, operation: Operation) -> None:
        """Delete it; where its insert is done, only the log of deletions can tell."""
        if self.vms.log[operation.name].done:
            self.vms.end(self.vms.begin("delete", vm.seen, SYSTEM))
            self.vms.remove(vm.seen.id)
        else:
            self._refuse(vm, operation)

    def _settle(self, vm: Vm, operation: Operation, status: Status, error: str = "") -> None:
        """End a start or an insert; a VM that was taken down meanwhile stays so."""
        if vm.seen.id in self.vms.living and vm.seen.status is Status.PROVISIONING:
            self.vms.become(vm.seen.id, status)
        self.vms.end(operation, error)

    def _refuse(self, vm: Vm, operation: Operation) -> None:
        if vm.seen.id in self.vms.living:
            self.vms.remove(vm.seen.id)
        self.vms.end(operation, STOCKOUT)

    def _end_bulk(self, whole: Operation, wanted: Wanted, made: Sequence[Made]) -> None:
        """Keep what was made if that is enough; else delete it again, and fail once all of it is gone."""
        good = [vm for vm, insert in made if not self.vms.log[insert.name].error]
        if len(good) >= wanted.least:
            self.vms.end(whole)
            return
        for vm in good:
            if vm.seen.id in self.vms.living:
                undo = self.vms.begin("delete", vm.seen, self.caller)
                self.vms.take_down(vm, undo, self._timings.stop, remove=True)
        why = f"VM_MIN_COUNT_NOT_REACHED: Requested minimum count of {wanted.least} VMs could not be created."
        self.vms.later(self._timings.stop, lambda: self.vms.end(whole, why))


def machine_of(body: Mapping[str, Any]) -> str:
    """The name of the machine type that is asked for."""
    return str(body.get("machineType", "")).rpartition("/")[2]


def instance(vm_id: str, name: str, zone: str, body: Mapping[str, Any], now: datetime) -> Instance:
    """A VM of this request that is being made."""
    labels = body.get("labels", {})
    return Instance(
        id=vm_id,
        name=name,
        zone=zone,
        status=Status.PROVISIONING,
        created=now,
        started=now,
        job=labels.get("spotwarden-job"),
        attempt=_number(labels, "spotwarden-attempt"),
        turn=_number(labels, "spotwarden-try"),
        notice="preemptionNoticeDuration" in body.get("scheduling", {}),
    )


def _number(labels: Mapping[str, str], key: str) -> int | None:
    value = str(labels.get(key, ""))
    return int(value) if value.isascii() and value.isdigit() else None
