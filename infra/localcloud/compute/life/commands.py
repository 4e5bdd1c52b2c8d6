"""What callers ask of an instance: checked, written down as an operation, then carried out."""

from collections.abc import Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import Any

from localcloud.compute.build import Built
from localcloud.compute.build.machine import has_tpu
from localcloud.compute.life.ask import SYSTEM_ASK, Ask, begin
from localcloud.compute.life.steps import Steps
from localcloud.compute.life.table import Event
from localcloud.compute.life.tasks import Tasks
from localcloud.compute.local_ssd import has_local_ssd
from localcloud.compute.operations import Running
from localcloud.compute.refusals import Failure, internal_failure, not_ready, unsupported
from localcloud.compute.registry import Vm
from localcloud.compute.site import Site
from localcloud.errors import ApiError

Work = Callable[[Vm], Coroutine[Any, Any, Failure | None]]

PROTECTED = "Invalid resource usage: 'Resource cannot be deleted if it's protected against deletion.'."
UNDECIDED_LOCAL_SSD = (
    "VM has a Local SSD attached but an undefined value for `discard-local-ssd`. If using gcloud, please add "
    "`--discard-local-ssd=false` or `--discard-local-ssd=true` to your command."
)
UNSUSPENDABLE = {
    "STOPPING": "You cannot suspend an instance that is stopped or terminated.",
    "TERMINATED": "You cannot suspend an instance that is stopped or terminated.",
    "SUSPENDING": "You cannot suspend an already suspended instance.",
    "SUSPENDED": "You cannot suspend an already suspended instance.",
}
"""By status ("Troubleshoot suspending or resuming")."""
WITH_GPUS = "You cannot suspend an instance that has GPUs attached."
ASLEEP = "The instance is suspended; resume it."
""""instances.start" starts what "instances.stop" has stopped; Google's own words are not known."""
SPOT_TPU = "A Spot VM with TPUs cannot be restarted; delete it and create it again."
""""Request TPU Spot VMs"; Google's own words are not known."""
NOT_ASLEEP = "You can only resume an instance that is suspended."
_COMING = ("PENDING", "PROVISIONING", "STAGING")


class Commands:
    """Every method gives the operation, which ends when the work is done."""

    def __init__(self, site: Site, tasks: Tasks, steps: Steps) -> None:
        self._site = site
        self._tasks = tasks
        self._steps = steps

    def insert(self, built: Built, ask: Ask, *, acquired: bool = False) -> Running:
        """Create the instance; it exists, PROVISIONING or PENDING, when this returns.

        Google does not say how the operation stands while an instance is PENDING; here it is RUNNING, and
        ends with the reason when the wait was in vain, or the instance was deleted. For one that has
        `acquired` its resources somebody has taken them from the zone already.
        """
        vm = self._steps.admit(built)
        return self._begin("insert", vm, ask, partial(self._insert, wait=built.wait, acquired=acquired))

    def delete(self, vm: Vm, ask: Ask) -> Running:
        """Delete it, in whatever status it is; what goes on with it is ended first.

        Raises:
            ApiError: 412 when it is protected.
        """
        if vm.resource["deletionProtection"]:
            raise ApiError(412, "conditionNotMet", PROTECTED)
        return self._begin("delete", vm, ask, self._delete)

    def stop(self, vm: Vm, ask: Ask) -> Running:
        """Stop it; one that is stopped already stays so.

        Raises:
            ApiError: 400 when it is only just being created, or has a local SSD and the call does not say
                whether that is to be discarded.
        """
        self._refuse_while(vm, *_COMING, "SUSPENDING")
        if vm.status == "SUSPENDED":
            message = "The local cloud does not stop an instance that is suspended."
            raise ApiError(501, "notImplemented", message)
        if vm.status != "TERMINATED":
            _check_local_ssd(vm, ask)
        return self._begin("stop", vm, ask, self._stop if ask.discard_local_ssd is not False else self._save)

    def suspend(self, vm: Vm, ask: Ask) -> Running:
        """Suspend it.

        Raises:
            ApiError: 400 when it does not run, has GPUs, or has a local SSD and the call does not say whether
                that is to be discarded.
        """
        self._refuse_while(vm, *_COMING)
        if vm.status in UNSUSPENDABLE:
            raise unsupported(UNSUSPENDABLE[vm.status])
        if vm.resource.get("guestAccelerators"):
            raise unsupported(WITH_GPUS)
        _check_local_ssd(vm, ask)
        return self._begin(
            "suspend", vm, ask, self._doze if ask.discard_local_ssd is not False else self._keep
        )

    def resume(self, vm: Vm, ask: Ask) -> Running:
        """Let it go on after it was suspended.

        Raises:
            ApiError: 400 when it is not suspended.
        """
        if vm.status != "SUSPENDED":
            raise unsupported(NOT_ASLEEP)
        return self._begin("resume", vm, ask, self._resume)

    def start(self, vm: Vm, ask: Ask) -> Running:
        """Start it again; one that runs goes on.

        Raises:
            ApiError: 400 when it is being created or stopped, or suspended, or is a spot VM with TPUs.
        """
        self._refuse_while(vm, *_COMING, "STOPPING", "SUSPENDING")
        if vm.status == "TERMINATED" and vm.resource["scheduling"]["preemptible"] and self._has_tpu(vm):
            raise unsupported(SPOT_TPU)
        if vm.status == "SUSPENDED":
            raise unsupported(ASLEEP)
        return self._begin("start", vm, ask, self._start)

    def reset(self, vm: Vm, ask: Ask) -> Running:
        """Start its machine anew, with no shutdown.

        Raises:
            ApiError: 400 when it does not run.
        """
        self._refuse_while(vm, *_COMING, "STOPPING", "TERMINATED", "SUSPENDING", "SUSPENDED")
        return self._begin("reset", vm, ask, self._reset)

    def note(self, method: str, vm: Vm, ask: Ask) -> Running:
        """Write down a change that is already made, such as new labels."""
        return self._begin(method, vm, ask, self._settle)

    def _has_tpu(self, vm: Vm) -> bool:
        return has_tpu(self._site, vm.resource)

    def _refuse_while(self, vm: Vm, *statuses: str) -> None:
        if vm.status in statuses:
            raise not_ready(f"projects/{self._site.project}/{vm.path}")

    def _begin(self, method: str, vm: Vm, ask: Ask, work: Work) -> Running:
        running = begin(self._site, method, vm, ask)
        self._tasks.spawn(self._carry_out(running, vm, work))
        return running

    async def _carry_out(self, running: Running, vm: Vm, work: Work) -> None:
        try:
            await self._site.pace.pause(self._site.timings.accepting)
            running.start()
            # Nothing is awaited between the end of the work and the end of the operation: a name is free
            # at the very moment its delete operation is done.
            running.end(await work(vm))
        except Exception as error:
            running.end(internal_failure(error))
            raise

    async def _insert(self, vm: Vm, wait: timedelta, *, acquired: bool) -> Failure | None:
        short = await self._steps.acquire(vm, wait) if wait else None
        async with vm.turn:
            if vm.gone or vm.status not in _COMING:
                return self._gone(vm)
            failure = short or await self._steps.provision(vm, acquired=acquired or bool(wait))
            if failure:
                self._steps.discard(vm)
                return failure
            await self._steps.run(vm)
        return None

    async def _delete(self, vm: Vm) -> Failure | None:
        async with vm.turn:
            # Somebody else's delete may have come first: what was asked for is the case.
            if not vm.gone:
                await self._steps.destroy(vm, self._site.timings.stop_grace)
        return None

    async def _stop(self, vm: Vm, *, save_local_ssd: bool = False) -> Failure | None:
        async with vm.turn:
            if vm.gone:
                return self._gone(vm)
            if vm.status == "RUNNING":
                await self._steps.halt(vm, self._site.timings.stop_grace, save_local_ssd=save_local_ssd)
        return None

    async def _save(self, vm: Vm) -> Failure | None:
        return await self._stop(vm, save_local_ssd=True)

    async def _doze(self, vm: Vm, *, save_local_ssd: bool = False) -> Failure | None:
        async with vm.turn:
            if vm.gone or vm.status != "RUNNING":
                return self._gone(vm)
            await self._steps.suspend(vm, save_local_ssd=save_local_ssd)
        return None

    async def _keep(self, vm: Vm) -> Failure | None:
        return await self._doze(vm, save_local_ssd=True)

    async def _resume(self, vm: Vm) -> Failure | None:
        async with vm.turn:
            if vm.gone or vm.status != "SUSPENDED":
                return self._gone(vm)
            self._steps.rouse(vm)
            failure = await self._steps.provision(vm)
            if failure:
                self._steps.turn_away(vm, Event.LEFT_ASLEEP)
                return failure
            await self._steps.wake(vm)
        return None

    async def _start(self, vm: Vm) -> Failure | None:
        async with vm.turn:
            if vm.gone:
                return self._gone(vm)
            if vm.status == "RUNNING":
                return None
            self._steps.revive(vm)
            failure = await self._steps.provision(vm)
            if failure:
                self._steps.turn_away(vm)
                return failure
            await self._steps.run(vm)
        return None

    async def _reset(self, vm: Vm) -> Failure | None:
        async with vm.turn:
            if vm.gone or vm.status != "RUNNING":
                return self._gone(vm)
            await self._steps.restart(vm)
        return None

    async def _settle(self, _vm: Vm) -> Failure | None:
        await self._site.pace.pause(self._site.timings.changing)
        return None

    def _gone(self, vm: Vm) -> Failure:
        """The instance was taken away or stopped while the command waited for its turn."""
        path = f"projects/{self._site.project}/{vm.path}"
        return Failure(
            code="RESOURCE_NOT_FOUND", message=f"The resource '{path}' was not found", http_status=404
        )


def _check_local_ssd(vm: Vm, ask: Ask) -> None:
    """A caller says what becomes of a local SSD; Compute Engine itself need not.

    Raises:
        ApiError: 400.
    """
    said = ask is SYSTEM_ASK or ask.discard_local_ssd is not None
    if not said and has_local_ssd(vm.resource):
        raise ApiError(400, "badRequest", UNDECIDED_LOCAL_SSD)
