"""Compute Engine in memory, as far as the port goes; time passes with a virtual clock."""

import re
from datetime import datetime
from typing import Any

from spotwarden.model.instance import Instance, Instances, Operation, Operations, Status
from spotwarden.model.request import Request
from spotwarden.ports import RejectedError
from tests.fakes.clock import VirtualClock
from tests.fakes.trouble import Trouble
from tests.fakes.vms import SYSTEM, Timings, Vm, Vms

_INSERT = re.compile(r"/compute/\w+/projects/(?P<project>[^/]+)/zones/(?P<zone>[^/]+)/instances")
STOCKOUT = (
    "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: The zone does not have enough resources available"
    " to fulfill the request. [reason=resource_availability]"
)
NOBODY = "somebody@example.com"


class MemoryCompute:
    """`Compute`, for requests that insert one instance. Failures are ordered from `trouble`."""

    def __init__(self, *, clock: VirtualClock | None = None, timings: Timings = Timings()) -> None:  # noqa: B008
        self.clock = clock or VirtualClock()
        self.trouble = Trouble()
        self._timings = timings
        self._vms = Vms(self.clock)
        self._requests: dict[str, str] = {}
        self._stockouts: set[str] = set()
        self._hidden: set[str] = set()

    def instances(self) -> Instances:
        """As `Compute.instances`."""
        return self.trouble.around("instances", "", self._instances)

    def _instances(self) -> Instances:
        self._vms.catch_up()
        seen = sorted((vm.seen for vm in self._vms.living.values()), key=lambda one: (one.zone, one.name))
        shown = tuple(one for one in seen if one.zone not in self._hidden)
        return Instances(items=shown, unreachable=tuple(sorted(self._hidden)))

    def operations(self, since: datetime) -> Operations:
        """As `Compute.operations`."""
        return self.trouble.around("operations", "", lambda: self._operations(since))

    def _operations(self, since: datetime) -> Operations:
        self._vms.catch_up()
        logged = [one for one in self._vms.log.values() if one.at is not None and one.at >= since]
        shown = tuple(one for one in logged if one.zone not in self._hidden)
        return Operations(items=shown, unreachable=tuple(sorted(self._hidden)))

    def launch(self, request: Request, request_id: str) -> Operation:
        """As `Compute.launch`."""
        return self.trouble.around("launch", request.path, lambda: self._launch(request, request_id))

    def _launch(self, request: Request, request_id: str) -> Operation:
        self._vms.catch_up()
        if request_id in self._requests:
            return self._vms.log[self._requests[request_id]]
        path = _INSERT.fullmatch(request.path)
        if path is None:
            raise RejectedError("notFound", f"the fake knows no {request.path}")
        self._refuse_taken(path["zone"], request.body["name"])
        operation = self._insert(path["zone"], request.body)
        self._requests[request_id] = operation.name
        return operation

    def _refuse_taken(self, zone: str, name: str) -> None:
        for vm in self._vms.living.values():
            if (vm.seen.zone, vm.seen.name) == (zone, name):
                raise RejectedError(
                    "alreadyExists", f"The resource 'zones/{zone}/instances/{name}' already exists"
                )

    def _insert(self, zone: str, body: Any) -> Operation:
        seen = _instance(self._vms.next_id(), zone, body, self.clock.now())
        operation = self._vms.begin("insert", seen, NOBODY)
        if zone in self._stockouts:
            self._vms.later(self._timings.refuse, lambda: self._vms.end(operation, STOCKOUT))
            return operation
        deletes = body.get("scheduling", {}).get("instanceTerminationAction") == "DELETE"
        self._vms.living[seen.id] = Vm(seen=seen, deletes_itself=deletes)
        self._vms.later(self._timings.start, lambda: self._started(operation))
        return operation

    def _started(self, operation: Operation) -> None:
        vm = self._vms.living.get(operation.target_id)
        if vm is not None and vm.seen.status is Status.PROVISIONING:
            self._vms.become(operation.target_id, Status.RUNNING)
        self._vms.end(operation)

    def operation(self, place: str, name: str) -> Operation:
        """As `Compute.operation`."""
        return self.trouble.around("operation", name, lambda: self._operation(place, name))

    def _operation(self, place: str, name: str) -> Operation:
        self._vms.catch_up()
        found = self._vms.log.get(name)
        if found is None or found.zone != place:
            raise RejectedError("notFound", f"The resource 'zones/{place}/operations/{name}' was not found")
        return found

    def stock_out(self, zone: str) -> None:
        """Have nothing left in a zone."""
        self._stockouts.add(zone)

    def restock(self, zone: str) -> None:
        """Have room in a zone again."""
        self._stockouts.discard(zone)

    def hide(self, zone: str) -> None:
        """Leave a zone out of the lists, and say so."""
        self._hidden.add(zone)

    def show(self, zone: str) -> None:
        """List a zone again."""
        self._hidden.discard(zone)

    def preempt(self, name: str) -> None:
        """Take a VM away, as its termination action says."""
        vm = self._vms.named(name)
        operation = self._vms.begin("compute.instances.preempted", vm.seen, SYSTEM)
        self._vms.take_down(vm, operation, self._timings.stop, remove=vm.deletes_itself)

    def fail_host(self, name: str) -> None:
        """Let a VM's host fail, without a warning."""
        vm = self._vms.named(name)
        operation = self._vms.begin("compute.instances.hostError", vm.seen, SYSTEM)
        self._vms.take_down(vm, operation, self._timings.refuse, remove=vm.deletes_itself)

    def delete(self, name: str, *, user: str = NOBODY) -> None:
        """Delete a VM as its owner would; its name is taken until it is gone."""
        vm = self._vms.named(name)
        self._vms.take_down(vm, self._vms.begin("delete", vm.seen, user), self._timings.stop, remove=True)

    def stop(self, name: str, *, user: str = NOBODY) -> None:
        """Stop a VM as its owner would; it stays, TERMINATED."""
        vm = self._vms.named(name)
        self._vms.take_down(vm, self._vms.begin("stop", vm.seen, user), self._timings.stop, remove=False)


def _instance(vm_id: str, zone: str, body: Any, now: datetime) -> Instance:
    labels = body.get("labels", {})
    attempt = labels.get("spotwarden-attempt")
    return Instance(
        id=vm_id,
        name=body["name"],
        zone=zone,
        status=Status.PROVISIONING,
        created=now,
        started=now,
        job=labels.get("spotwarden-job"),
        attempt=None if attempt is None else int(attempt),
    )
