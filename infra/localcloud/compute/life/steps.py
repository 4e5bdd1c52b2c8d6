"""The steps of which an instance's life consists. Whoever takes one holds the instance's `turn`."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from localcloud.clock import pacific
from localcloud.compute import attachments, local_ssd
from localcloud.compute.build import network, scheduling
from localcloud.compute.build.instance import Built
from localcloud.compute.build.machine import attachment
from localcloud.compute.catalog import UNKNOWN_PLATFORM
from localcloud.compute.life.table import Event, follow
from localcloud.compute.life.tasks import Tasks
from localcloud.compute.links import last
from localcloud.compute.refusals import Failure
from localcloud.compute.registry import Vm
from localcloud.compute.site import Site

Expired = Callable[[Vm, int], Awaitable[None]]

_UNLIMITED: dict[str, Any] = {"scheduling": {}}
"""The `resourceStatus` of an instance that may run for ever: one for all of them."""


class Steps:
    """Moves instances from status to status and does what goes with it."""

    def __init__(self, site: Site, tasks: Tasks) -> None:
        self._site = site
        self._tasks = tasks
        self.expired: Expired | None = None
        """Called with an instance and the number of its life when its limited run time is over."""

    def admit(self, built: Built, *, empty: bool = False) -> Vm:
        """Let a new instance exist, PROVISIONING or PENDING, with its disks."""
        vm = Vm(resource=built.resource, empty=empty)
        site = self._site
        for disk in built.disks:
            site.things["disks"].put(f"zones/{vm.zone}", disk["name"], disk)
        for attached in vm.resource["disks"]:
            attachments.use(site, attached, vm.resource["selfLink"])
        network.occupy(site, vm.resource)
        site.registry.add(vm)
        return vm

    def move(self, vm: Vm, event: Event, fields: dict[str, Any] | None = None) -> None:
        """Change the status as the table says, and other fields along with it."""
        self._site.registry.change(vm, {"status": follow(vm.status, event), **(fields or {})})

    async def acquire(self, vm: Vm, wait: timedelta) -> Failure | None:
        """PENDING to PROVISIONING once there is room and quota; say what is short when the wait is over.

        Its turn is not held meanwhile: one that waits may be deleted.
        """
        site = self._site
        until = site.pace.elapsed() + wait.total_seconds()
        while vm.status == "PENDING" and (failure := self._over_quota(vm) or self._take(vm)):
            left = until - site.pace.elapsed()
            if left <= 0:
                return failure
            await site.pace.pause(min(site.timings.waiting, timedelta(seconds=left)))
        if vm.status == "PENDING":
            self.move(vm, Event.ACQUIRED)
        return None

    async def provision(self, vm: Vm, *, acquired: bool = False) -> Failure | None:
        """Allocate resources: PROVISIONING to STAGING, or say why there are none; the status stays then.

        One that has `acquired` its resources has waited for them.
        """
        site = self._site
        if not acquired and (failure := self._over_quota(vm)):
            return failure
        await site.pace.pause(site.timings.provisioning)
        if not acquired and (failure := self._take(vm)):
            return failure
        self.move(vm, Event.PROVISIONED)
        return None

    def _over_quota(self, vm: Vm) -> Failure | None:
        site = self._site
        others = (other for other in site.registry.resources() if other["id"] != vm.id)
        return site.quotas.refuse(vm.resource, others)

    def _take(self, vm: Vm) -> Failure | None:
        site = self._site
        machine, model = last(vm.resource["machineType"]), scheduling.model(vm.resource)
        short = site.stock.take(vm.zone, machine, model, attachment(vm.resource))
        return short.failure(site.project) if short else None

    async def run(self, vm: Vm) -> None:
        """STAGING to RUNNING, and start the machine. If it does not start, the instance is TERMINATED."""
        site = self._site
        await site.pace.pause(site.timings.staging + site.insert_time())
        started = site.clock.now()
        machine = site.catalog.machine(last(vm.resource["machineType"]), vm.zone)
        vm.lives += 1
        vm.preempted = False
        self.move(
            vm,
            Event.BOOTED,
            {
                "lastStartTimestamp": site.now(),
                "cpuPlatform": machine.platform if machine else UNKNOWN_PLATFORM,
                "resourceStatus": self._limit(vm, started),
            },
        )
        try:
            await self._boot(vm)
        except Exception:
            self.move(vm, Event.CRASHED, self._stopped(vm))
            raise
        self._watch(vm, started)

    async def suspend(self, vm: Vm, *, save_local_ssd: bool = False) -> None:
        """RUNNING to SUSPENDED: its processes stand still, and go on when it is resumed.

        Local SSDs lose what is on them unless it is to be saved.
        """
        self._unwatch(vm)
        self.move(vm, Event.SUSPEND)
        if not vm.empty:
            await self._site.machines.suspend(vm.id)
        await self._site.pace.pause(self._site.timings.suspending)
        saved = {"disks": local_ssd.saved(vm.resource)} if save_local_ssd else {}
        self.move(
            vm,
            Event.SUSPENDED,
            {
                "lastSuspendedTimestamp": self._site.now(),
                "networkInterfaces": network.without_ephemeral(self._site, vm.resource),
                "resourceStatus": _UNLIMITED,
                **saved,
            },
        )

    async def wake(self, vm: Vm) -> None:
        """STAGING to RUNNING, for one that was suspended: its processes go on where they stood."""
        site = self._site
        await site.pace.pause(site.timings.staging)
        started = site.clock.now()
        vm.lives += 1
        vm.preempted = False
        self.move(
            vm,
            Event.BOOTED,
            {
                "lastStartTimestamp": site.now(),
                "resourceStatus": self._limit(vm, started),
                "disks": local_ssd.restored(vm.resource),
            },
        )
        if not vm.empty:
            await site.machines.resume(vm.id)
        self._watch(vm, started)

    async def _boot(self, vm: Vm) -> None:
        if not vm.empty:
            await self._site.machines.boot(vm.resource)
        vm.booted = True
        if vm.preempted:
            self.tell(vm)

    def tell(self, vm: Vm) -> None:
        """Let the machine know its instance's resource as it is now."""
        if vm.booted and not vm.empty:
            self._site.machines.update({**vm.resource, "preempted": vm.preempted})

    async def halt(self, vm: Vm, grace: timedelta, *, save_local_ssd: bool = False) -> None:
        """RUNNING to TERMINATED: the shutdown script has `grace`, then everything is killed.

        Local SSDs lose what is on them unless it is to be saved.
        """
        self._unwatch(vm)
        self.move(vm, Event.STOP)
        await self._shut_down(vm, grace)
        await self._site.pace.pause(self._site.timings.stopping)
        saved = {"disks": local_ssd.saved(vm.resource)} if save_local_ssd else {}
        self.move(vm, Event.STOPPED, {**self._stopped(vm), **saved})

    async def restart(self, vm: Vm) -> None:
        """End every process and boot again; the instance is RUNNING all the time."""
        await self._cut(vm)
        await self._boot(vm)

    async def crash(self, vm: Vm) -> None:
        """RUNNING to TERMINATED with no warning to anybody."""
        self._unwatch(vm)
        await self._cut(vm)
        self.move(vm, Event.CRASHED, self._stopped(vm))

    async def destroy(self, vm: Vm, grace: timedelta) -> None:
        """RUNNING, TERMINATED, SUSPENDED or PENDING to gone; the name is free when this returns."""
        self._unwatch(vm)
        asleep = vm.status == "SUSPENDED"
        self.move(vm, Event.DELETE)
        await (self._cut(vm) if asleep else self._shut_down(vm, grace))
        await self._site.pace.pause(self._site.timings.deleting)
        self.discard(vm)

    def revive(self, vm: Vm) -> None:
        """TERMINATED to PROVISIONING, with new external addresses for those that were not reserved."""
        cards = network.with_ephemeral(self._site, vm.resource)
        disks = local_ssd.restored(vm.resource)
        self.move(vm, Event.START, {"networkInterfaces": cards, "disks": disks})

    def rouse(self, vm: Vm) -> None:
        """SUSPENDED to PROVISIONING, with new external addresses as `revive` gives them."""
        cards = network.with_ephemeral(self._site, vm.resource)
        self.move(vm, Event.RESUME, {"networkInterfaces": cards})

    def turn_away(self, vm: Vm, event: Event = Event.TURNED_AWAY) -> None:
        """PROVISIONING back to TERMINATED or, with LEFT_ASLEEP, to SUSPENDED."""
        self.move(vm, event, {"networkInterfaces": network.without_ephemeral(self._site, vm.resource)})

    def discard(self, vm: Vm) -> None:
        """Let the instance be gone, with its addresses and the disks that are deleted with it."""
        site = self._site
        site.registry.remove(vm)
        network.vacate(site, vm.resource)
        for attached in vm.resource["disks"]:
            attachments.release(site, attached, vm.resource["selfLink"], delete=attached["autoDelete"])
        if vm.lives and not vm.empty:
            site.machines.forget(vm.id)

    async def _shut_down(self, vm: Vm, grace: timedelta) -> None:
        if vm.resource["scheduling"].get("skipGuestOsShutdown"):
            await self._cut(vm)
        if vm.booted and not vm.empty:
            await self._site.machines.shut_down(vm.id, grace)
        vm.booted = False

    async def _cut(self, vm: Vm) -> None:
        """Let its processes be gone at once."""
        if not vm.empty:
            await self._site.machines.kill(vm.id)
        vm.booted = False

    def _stopped(self, vm: Vm) -> dict[str, Any]:
        return {
            "lastStopTimestamp": self._site.now(),
            "networkInterfaces": network.without_ephemeral(self._site, vm.resource),
            "resourceStatus": _UNLIMITED,
            "cpuPlatform": UNKNOWN_PLATFORM,
        }

    def _limit(self, vm: Vm, started: datetime) -> dict[str, Any]:
        end = scheduling.ends_at(vm.resource["scheduling"], started)
        return {"scheduling": {"terminationTimestamp": pacific(end)}} if end else _UNLIMITED

    def _watch(self, vm: Vm, started: datetime) -> None:
        end = scheduling.ends_at(vm.resource["scheduling"], started)
        if end:
            vm.timer = self._tasks.spawn(self._expire(vm, max(end - self._site.clock.now(), timedelta(0))))

    async def _expire(self, vm: Vm, left: timedelta) -> None:
        life = vm.lives
        await self._site.pace.pause(left)
        vm.timer = None
        if self.expired:
            await self.expired(vm, life)

    def _unwatch(self, vm: Vm) -> None:
        if vm.timer:
            vm.timer.cancel()
            vm.timer = None
