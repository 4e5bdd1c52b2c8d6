"""What happens to instances though nobody asked: preemption, host errors, power-off, time limits.

Wordings and operation types are those of "Viewing system events" and of operation lists of real projects.
"""

from collections.abc import Mapping

from localcloud.compute.build import scheduling
from localcloud.compute.life.ask import SYSTEM_ASK, Ask, subject_of
from localcloud.compute.life.commands import Commands
from localcloud.compute.life.steps import Steps
from localcloud.compute.life.tasks import Tasks
from localcloud.compute.operations import Order, Running
from localcloud.compute.registry import Vm
from localcloud.compute.site import Site
from localcloud.errors import ApiError

MESSAGES: Mapping[str, str] = {
    "preempted": "Instance was preempted.",
    "hostError": "Instance terminated by Compute Engine due to a host error.",
    "guestTerminate": "Instance terminated by guest OS shutdown.",
    "automaticRestart": "Instance automatically restarted by Compute Engine.",
    "terminateOnHostMaintenance": "Instance terminated during Compute Engine maintenance.",
    "migrateOnHostMaintenance": "Instance migrated during Compute Engine maintenance.",
}


class Events:
    """Lets things happen to instances."""

    def __init__(self, site: Site, tasks: Tasks, steps: Steps, commands: Commands) -> None:
        self._site = site
        self._tasks = tasks
        self._steps = steps
        self._commands = commands
        steps.expired = self._expired

    def preempt(self, vm: Vm, action: str = "", *, called_off: bool = False) -> None:
        """Take a spot instance away. `action` (STOP, DELETE) overrides what its scheduling says.

        The metadata value `instance/preempted` is set at once: some time before the shutdown where the
        instance has `preemptionNoticeDuration`. Where it is `called_off`, the value is FALSE again after
        that time, and nothing else happens.

        Raises:
            ApiError: 400 when it is no spot instance, does not run, or is being preempted already; and when
                it is to be called off without a notice.
        """
        if not vm.is_spot:
            raise _refused(f"{vm.name} is no spot VM: Compute Engine never preempts it.")
        self._need_running(vm, "preempted")
        if vm.preempted:
            raise _refused(f"{vm.name} is being preempted already.")
        if called_off and "preemptionNoticeDuration" not in vm.resource["scheduling"]:
            raise _refused(f"{vm.name} has no preemption notice that could be called off.")
        vm.preempted = True
        self._steps.tell(vm)
        self._tasks.spawn(self._preempt(vm, vm.lives, action, called_off=called_off))

    async def _preempt(self, vm: Vm, life: int, action: str, *, called_off: bool) -> None:
        options = vm.resource["scheduling"]
        if "preemptionNoticeDuration" in options:
            # The instance may be stopped or deleted meanwhile, so its turn is not held.
            asked_for = scheduling.duration(options["preemptionNoticeDuration"])
            await self._site.pace.pause(min(asked_for, self._site.timings.preemption_notice))
        async with vm.turn:
            if not _alive(vm, life):
                return
            if called_off:
                vm.preempted = False
                self._steps.tell(vm)
                return
            self._record(vm, "preempted")
            grace = self._site.timings.preemption_grace
            if (action or options.get("instanceTerminationAction", "STOP")) == "DELETE":
                await self._steps.destroy(vm, grace)
            else:
                await self._steps.halt(vm, grace)

    def tell(self, vm: Vm) -> None:
        """Let the machine of an instance know that its resource was changed."""
        self._steps.tell(vm)

    def host_error(self, vm: Vm) -> None:
        """Let the host of an instance fail: its processes are gone at once, with no shutdown script.

        Raises:
            ApiError: 400 when it does not run.
        """
        self._need_running(vm, "hit by a host error")
        self._tasks.spawn(self._host_error(vm, vm.lives))

    async def _host_error(self, vm: Vm, life: int) -> None:
        async with vm.turn:
            if _alive(vm, life):
                self._record(vm, "hostError")
                await self._steps.crash(vm)
                await self._restart(vm)

    def maintain(self, vm: Vm, ask: Ask) -> Running:
        """Let the host of an instance be maintained (`simulateMaintenanceEvent`).

        Raises:
            ApiError: 400 when it does not run.
        """
        self._need_running(vm, "maintained")
        running = self._commands.note("simulateMaintenanceEvent", vm, ask)
        self._tasks.spawn(self._maintain(vm, vm.lives))
        return running

    async def _maintain(self, vm: Vm, life: int) -> None:
        async with vm.turn:
            if not _alive(vm, life):
                return
            if vm.resource["scheduling"]["onHostMaintenance"] == "MIGRATE":
                self._record(vm, "migrateOnHostMaintenance")
                return
            self._record(vm, "terminateOnHostMaintenance")
            await self._steps.halt(vm, self._site.timings.stop_grace)
            await self._restart(vm)

    async def _restart(self, vm: Vm) -> None:
        """Start a terminated instance again if it says so, and if there are resources for it."""
        if not vm.resource["scheduling"]["automaticRestart"]:
            return
        await self._site.pace.pause(self._site.timings.restarting)
        self._record(vm, "automaticRestart")
        self._steps.revive(vm)
        if await self._steps.provision(vm):
            self._steps.turn_away(vm)
        else:
            await self._steps.run(vm)

    def guest_poweroff(self, instance_id: str) -> None:
        """The guest shut itself down. Nothing happens when there is no such instance any more."""
        vm = self._site.registry.by_id(instance_id)
        if vm:
            self._tasks.spawn(self._poweroff(vm, vm.lives))

    async def _poweroff(self, vm: Vm, life: int) -> None:
        async with vm.turn:
            if _alive(vm, life):
                self._record(vm, "guestTerminate")
                await self._steps.halt(vm, self._site.timings.stop_grace)

    async def _expired(self, vm: Vm, life: int) -> None:
        """End an instance whose limited run time is over; one that is protected is stopped, not deleted.

        Google does not document how the operation is called; here it is a `stop` or `delete` by `system`.
        """
        if not _alive(vm, life):
            return
        action = vm.resource["scheduling"].get("instanceTerminationAction")
        delete = action == "DELETE" and not vm.resource["deletionProtection"]
        (self._commands.delete if delete else self._commands.stop)(vm, SYSTEM_ASK)

    def _need_running(self, vm: Vm, what: str) -> None:
        if vm.status != "RUNNING":
            raise _refused(f"{vm.name} is {vm.status}; only a RUNNING instance can be {what}.")

    def _record(self, vm: Vm, kind: str) -> None:
        """Write it down: operation and audit log; later where `event` says so."""
        if self._site.timings.event:
            self._tasks.spawn(self._record_later(vm, kind))
        else:
            self._write(vm, kind)

    async def _record_later(self, vm: Vm, kind: str) -> None:
        await self._site.pace.pause(self._site.timings.event)
        self._write(vm, kind)

    def _write(self, vm: Vm, kind: str) -> None:
        order = Order(
            kind=f"compute.instances.{kind}", scope=f"zones/{vm.zone}", target=vm.path, target_id=vm.id
        )
        running = self._site.operations.record(order, MESSAGES[kind])
        self._site.audit.happened(running, subject_of(vm))


def _alive(vm: Vm, life: int) -> bool:
    """Whether it still runs, and was not stopped and started since."""
    return not vm.gone and vm.status == "RUNNING" and vm.lives == life


def _refused(message: str) -> ApiError:
    return ApiError(400, "invalid", message)
