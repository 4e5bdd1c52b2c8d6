"""The hand of fate: what befalls VMs and zones, whoever owns them."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

import msgspec

from spotwarden.model.instance import Operation, Status
from spotwarden.ports import RejectedError
from tests.fakes.clock import VirtualClock
from tests.fakes.vms import SYSTEM, Timings, Vm, Vms

NOBODY = "somebody@example.com"
"""Who a developer is."""
ZONES = ("us-central1-a", "us-central1-b", "us-central1-c")


def is_flexible(body: Mapping[str, Any]) -> bool:
    """Whether a request asks for a Flex-start VM."""
    return bool(body.get("scheduling", {}).get("provisioningModel") == "FLEX_START")


class Fate:
    """The knobs of a Compute Engine in memory. A VM is named by its name or its id."""

    def __init__(self, clock: VirtualClock, timings: Timings, zones: Collection[str] = ZONES) -> None:
        self.clock = clock
        self.vms = Vms(clock)
        self.zones = tuple(zones)
        self._timings = timings
        self._left: dict[str, int] = {}
        self._without: set[tuple[str, str]] = set()
        self._without_spot: set[str] = set()
        self._without_notice: dict[str, RejectedError] = {}
        self._hidden: set[str] = set()
        self._log_lag = timedelta(0)
        self._offers: dict[str, frozenset[str]] = {}

    def stock_out(self, zone: str, *, left: int = 0) -> None:
        """Have room for so many VMs more in a zone, and then for none."""
        self._left[zone] = left

    def restock(self, zone: str) -> None:
        """Have room in a zone again."""
        self._left.pop(zone, None)

    def run_out_of(self, machine: str, zone: str) -> None:
        """Have no room in a zone for this machine type."""
        self._without.add((zone, machine))

    def have_again(self, machine: str, zone: str) -> None:
        """Have room in a zone for this machine type again."""
        self._without.discard((zone, machine))

    def have_no_spot(self, zone: str) -> None:
        """Have room in a zone for on-demand VMs alone."""
        self._without_spot.add(zone)

    def have_spot(self, zone: str) -> None:
        """Have room in a zone for spot VMs again."""
        self._without_spot.discard(zone)

    def has_room(self, zone: str, machine: str = "") -> bool:
        """Whether nobody has said that a zone runs out, or runs out of this machine type."""
        out = zone in self._left or zone in self._without_spot
        return not out and (zone, machine) not in self._without

    def refuse_notice(self, machine: str, error: RejectedError | None) -> RejectedError | None:
        """Refuse VMs of this type that ask for a notice of their preemption, or not; gives how it was."""
        before = self._without_notice.pop(machine, None)
        if error is not None:
            self._without_notice[machine] = error
        return before

    def _take_room(self, zone: str, machine: str, *, spot: bool = False) -> bool:
        """Whether there is room for one more; it is then taken."""
        if (zone, machine) in self._without or (spot and zone in self._without_spot):
            return False
        left = self._left.get(zone)
        if left is None:
            return True
        self._left[zone] = max(left - 1, 0)
        return left > 0

    def hide(self, zone: str) -> None:
        """Leave a zone out of the lists, and say so."""
        self._hidden.add(zone)

    def show(self, zone: str) -> None:
        """List a zone again."""
        self._hidden.discard(zone)

    def let_the_log_lag(self, behind: timedelta) -> None:
        """Show operations in lists only once they are so old; an operation by its name is shown at once."""
        self._log_lag = behind

    @property
    def lags(self) -> bool:
        """Whether the log shows operations late."""
        return bool(self._log_lag)

    def offer(self, kind: str, zones: Collection[str]) -> None:
        """Offer a machine or accelerator type in these zones only; one never named is offered everywhere."""
        self._offers[kind] = frozenset(zones)

    def give_notice(self, name: str) -> None:
        """Have a VM that hears of a preemption before it is stopped, as if it had been created so."""
        vm = self.vms.named(name)
        vm.seen = msgspec.structs.replace(vm.seen, notice=True)

    def preempt(self, name: str) -> None:
        """Take a VM away, as its termination action says; one that is not spot is at its time limit."""
        vm = self.vms.named(name)
        if is_flexible(vm.body):
            expiry = self.vms.begin("delete" if vm.deletes_itself else "stop", vm.seen, SYSTEM)
            self.vms.take_down(vm, expiry, self._timings.stop, remove=vm.deletes_itself)
            return
        operation = self.vms.begin("compute.instances.preempted", vm.seen, SYSTEM)
        self.vms.take_down(vm, operation, self._timings.stop, remove=vm.deletes_itself)

    def fail_host(self, name: str) -> None:
        """Let a VM's host fail, without a warning."""
        vm = self.vms.named(name)
        operation = self.vms.begin("compute.instances.hostError", vm.seen, SYSTEM)
        self.vms.take_down(vm, operation, self._timings.refuse, remove=vm.deletes_itself)

    def power_off(self, name: str) -> None:
        """Let a VM's guest shut itself down; it stays, TERMINATED."""
        vm = self.vms.named(name)
        operation = self.vms.begin("compute.instances.guestTerminate", vm.seen, SYSTEM)
        self.vms.take_down(vm, operation, self._timings.refuse, remove=False)

    def owner_deletes(self, name: str, *, user: str = NOBODY) -> None:
        """Delete a VM as its owner would; its name is taken until it is gone."""
        vm = self.vms.named(name)
        self.vms.take_down(vm, self.vms.begin("delete", vm.seen, user), self._timings.stop, remove=True)

    def owner_stops(self, name: str, *, user: str = NOBODY) -> None:
        """Stop a VM as its owner would; it stays, TERMINATED."""
        vm = self.vms.named(name)
        self.vms.take_down(vm, self.vms.begin("stop", vm.seen, user), self._timings.stop, remove=False)

    def owner_starts(self, name: str, *, user: str = NOBODY) -> None:
        """Start a stopped VM as its owner would; it runs a little later."""
        vm = self.vms.named(name)
        operation = self.vms.begin("start", vm.seen, user)
        vm.leaves = False
        self.vms.become(vm.seen.id, Status.PROVISIONING)
        self.vms.later(self._timings.start, lambda: self._started(vm, operation))

    def _started(self, vm: Vm, operation: Operation) -> None:
        if vm.seen.id in self.vms.living and vm.seen.status is Status.PROVISIONING:
            self.vms.become(vm.seen.id, Status.RUNNING)
        self.vms.end(operation)

    def find(self, zone: str, vm_id: str) -> Vm | None:
        """The VM of this id, where it is in this zone."""
        self.vms.catch_up()
        vm = self.vms.living.get(vm_id)
        return vm if vm is not None and vm.seen.zone == zone else None
