"""What governance sees of the Compute Engine in memory, and what it may do to it."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from spotwarden.gcp.managed import manager_of
from spotwarden.model.fleet import Fleet, Leftover, Machine
from spotwarden.model.instance import Operation, Status
from spotwarden.ports import RejectedError
from tests.fakes.answering import Answering
from tests.fakes.clock import VirtualClock
from tests.fakes.creating import instance
from tests.fakes.vms import Timings, Vm

BEING_MADE = {Status.PENDING, Status.PROVISIONING, Status.STAGING}
AT_REST = {Status.TERMINATED, Status.STOPPED}
_PLACES = {"disk": "zones/{}/disks/{}", "address": "regions/{}/addresses/{}"}


class Governed(Answering):
    """Fleet, labels, stop and leftovers."""

    def __init__(self, clock: VirtualClock, timings: Timings, zones: Collection[str]) -> None:
        super().__init__(clock, timings, zones)
        self.left: dict[str, Leftover] = {}
        self._machines: dict[str, tuple[object, object, Machine]] = {}
        self._used: set[str] = set()

    def fleet(self, *, ids: Collection[str] = ()) -> Fleet:
        """As `Compute.fleet`."""
        return self.trouble.around("fleet", " ".join(ids), lambda: self._fleet(ids))

    def _fleet(self, ids: Collection[str]) -> Fleet:
        self.vms.catch_up()
        shown = [
            self._machine(vm)
            for vm in self.vms.living.values()
            if vm.seen.zone not in self._hidden and (not ids or vm.seen.id in ids)
        ]
        shown.sort(key=lambda one: (one.zone, one.name))
        return Fleet(items=tuple(shown), unreachable=tuple(sorted(self._hidden)))

    def _machine(self, vm: Vm) -> Machine:
        """The VM as it was made before, unless it has changed since."""
        seen, body, made = self._machines.get(vm.seen.id, (None, None, None))
        if made is None or seen is not vm.seen or body is not vm.body:
            made = machine(vm)
            self._machines[vm.seen.id] = (vm.seen, vm.body, made)
        return made

    def stop(
        self,
        zone: str,
        instance_id: str,
        request_id: str,
        *,
        discard_local_ssd: bool = False,
        before: datetime | None = None,
    ) -> Operation:
        """As `Compute.stop`."""

        def stop() -> Operation:
            self._in_time(before)
            vm = self._there(zone, instance_id)
            if vm.seen.status in BEING_MADE:
                raise RejectedError("resourceNotReady", f"{vm.seen.name} is {vm.seen.status.value}")
            if _local_ssds(vm) and not discard_local_ssd:
                raise RejectedError(
                    "badRequest", f"{vm.seen.name} has local SSDs; say whether to discard them"
                )
            operation = self.vms.begin("stop", vm.seen, self.caller, request_id=request_id)
            if vm.seen.status in AT_REST:
                self.vms.end(operation)
            else:
                self.vms.take_down(vm, operation, self._timings.stop, remove=False)
            return operation

        return self.trouble.around("stop", instance_id, lambda: self._once(request_id, stop))

    def label(self, zone: str, instance_id: str, labels: Mapping[str, str]) -> Operation:
        """As `Compute.label`; they are there at once."""

        def label() -> Operation:
            self.vms.catch_up()
            vm = self._there(zone, instance_id)
            self._relabel(vm, labels)
            operation = self.vms.begin("setLabels", vm.seen, self.caller)
            self.vms.end(operation)
            return self.vms.log[operation.name]

        return self.trouble.around("label", instance_id, label)

    def relabel(self, name: str, labels: Mapping[str, str]) -> None:
        """Change a VM's labels as a person would; an empty value takes one off."""
        self._relabel(self.vms.named(name), labels)

    def _relabel(self, vm: Vm, labels: Mapping[str, str]) -> None:
        mixed = {**vm.body.get("labels", {}), **labels}
        kept = {key: value for key, value in mixed.items() if value or key not in labels}
        vm.body = {**vm.body, "labels": kept}
        attempt = kept.get("spotwarden-attempt", "")
        vm.seen = msgspec.structs.replace(
            vm.seen, job=kept.get("spotwarden-job"), attempt=int(attempt) if attempt.isdecimal() else None
        )

    def leftovers(self) -> tuple[tuple[Leftover, ...], tuple[str, ...]]:
        """As `Compute.leftovers`."""
        return self.trouble.around("leftovers", "", self._leftovers)

    def _leftovers(self) -> tuple[tuple[Leftover, ...], tuple[str, ...]]:
        shown = [
            one
            for one in self.left.values()
            if one.link not in self._used and not any(f"/{zone}/" in one.link for zone in self._hidden)
        ]
        return tuple(sorted(shown, key=lambda one: one.link)), tuple(sorted(self._hidden))

    def remove(self, link: str, request_id: str, *, before: datetime | None = None) -> Operation:
        """As `Compute.remove`; one that is used by now is refused."""

        def remove() -> Operation:
            self._in_time(before)
            if link not in self.left:
                raise RejectedError("notFound", f"The resource '{link}' was not found")
            if link in self._used:
                raise RejectedError("resourceInUseByAnotherResource", f"The resource '{link}' is in use")
            gone = self.left.pop(link)
            place = link.split("/")[3] if "/global/" not in link else "global"
            operation = self.vms.log_new("delete", place, gone.name, "", self.caller)
            self.vms.end(operation)
            return self.vms.log[operation.name]

        return self.trouble.around("remove", link, lambda: self._once(request_id, remove))

    def leave(
        self,
        name: str,
        *,
        job: str,
        kind: str = "disk",
        place: str = "us-central1-a",
        age: timedelta = timedelta(0),
        size_gb: int = 10,
        labels: Mapping[str, str] | None = None,
    ) -> str:
        """Have a disk, address or snapshot that nothing uses; gives its link, which names it by its id."""
        path = _PLACES.get(kind, "global/snapshots/{1}").format(place, self.vms.next_id())
        link = f"projects/p/{path}"
        self.left[link] = Leftover(
            kind=kind,
            name=name,
            link=link,
            job=job,
            created=self.clock.now() - age,
            size_gb=0 if kind == "address" else size_gb,
            labels={"spotwarden-job": job, **(labels or {})},
            manager=manager_of(labels or {}),
        )
        return link

    def use(self, link: str) -> None:
        """Let something use it: it is left over no more."""
        self._used.add(link)

    def add(
        self,
        name: str,
        *,
        zone: str = "us-central1-a",
        age: timedelta = timedelta(0),
        machine_type: str = "e2-small",
        gpus: int = 0,
        gpu: str = "nvidia-l4",
        provisioning: str = "STANDARD",
        local_ssds: int = 0,
        labels: Mapping[str, str] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> str:
        """Have a VM that runs since `age` ago, whoever made it; gives its id."""
        body: dict[str, Any] = {
            "name": name,
            "machineType": f"zones/{zone}/machineTypes/{machine_type}",
            "labels": dict(labels or {}),
            "scheduling": {"provisioningModel": provisioning},
            "disks": [{"type": "PERSISTENT", "boot": True}, *[{"type": "SCRATCH"}] * local_ssds],
        }
        if metadata:
            body["metadata"] = {"items": [{"key": key, "value": value} for key, value in metadata.items()]}
        if gpus:
            kind = f"zones/{zone}/acceleratorTypes/{gpu}"
            body["guestAccelerators"] = [{"acceleratorType": kind, "acceleratorCount": gpus}]
        made = instance(self.vms.next_id(), name, zone, body, self.clock.now() - age)
        self.vms.add(Vm(seen=msgspec.structs.replace(made, status=Status.RUNNING), body=body, launch=""))
        return made.id


def machine(vm: Vm) -> Machine:
    """The VM as governance sees it."""
    cards = vm.body.get("guestAccelerators", ())
    scheduling = vm.body.get("scheduling", {})
    spot = "SPOT" if scheduling.get("preemptible") else "STANDARD"
    return Machine(
        id=vm.seen.id,
        name=vm.seen.name,
        zone=vm.seen.zone,
        status=vm.seen.status,
        created=vm.seen.created,
        started=vm.seen.started,
        machine_type=_last(vm.body.get("machineType", "n1-standard-1")),
        gpus=sum(int(card.get("acceleratorCount", 0)) for card in cards),
        gpu=_last(cards[0].get("acceleratorType", "")) if cards else "",
        provisioning=str(scheduling.get("provisioningModel", spot)),
        local_ssds=_local_ssds(vm),
        labels=dict(vm.body.get("labels", {})),
        manager=manager_of(
            vm.body.get("labels", {}), [item["key"] for item in vm.body.get("metadata", {}).get("items", ())]
        ),
    )


def _local_ssds(vm: Vm) -> int:
    return sum(disk.get("type") == "SCRATCH" for disk in vm.body.get("disks", ()))


def _last(path: object) -> str:
    return str(path).rpartition("/")[2]
