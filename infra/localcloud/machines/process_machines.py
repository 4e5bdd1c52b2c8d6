"""All virtual machines of the local cloud: the `Machines` port, with processes behind it."""

import asyncio
import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import psutil
from starlette.routing import BaseRoute

from localcloud.clock import Clock
from localcloud.machines.agents import Agents
from localcloud.machines.host import Host, nobody
from localcloud.machines.machine import Machine
from localcloud.machines.shell import Shells, Start
from localcloud.ports import Audit, Measure, Resource
from localcloud.standins import install

STANDINS = "standins"


class ProcessMachines:
    """Runs each instance as processes of this computer; see the README beside for what that can do.

    `folder` holds one folder for each machine; `environment` is asked at each boot for the settings that
    point clients at the local cloud; `on_poweroff` is told the id of an instance whose guest ran `shutdown`;
    `write` gets what their scripts print, as entries of Logging.
    """

    def __init__(
        self,
        *,
        folder: Path,
        clock: Clock,
        environment: Callable[[], Mapping[str, str]],
        measure: Measure,
        on_poweroff: Callable[[str], None],
        metric_period: timedelta,
        write: Audit = nobody,
        umask: int = -1,
    ) -> None:
        self.agents = Agents()
        self._host = Host(
            folder=folder,
            standins=folder / STANDINS,
            clock=clock,
            cloud=environment,
            environment=dict(os.environ),
            measure=measure,
            on_poweroff=on_poweroff,
            metric_period=metric_period,
            agents=self.agents,
            write=write,
            umask=umask,
        )
        self._machines: dict[str, Machine] = {}

    async def boot(self, instance: Resource) -> None:
        """Start the instance's startup script; return once it runs."""
        install(self._host.standins)
        machine = self._machines.setdefault(str(instance["id"]), Machine(instance, self._host))
        await machine.boot(instance)

    async def shut_down(self, instance_id: str, grace: timedelta) -> None:
        """Run the shutdown script for at most `grace`, then end every process; return when none is left."""
        if machine := self._machines.get(instance_id):
            await machine.shut_down(grace)

    async def suspend(self, instance_id: str) -> None:
        """Let every process stand still; return when all do."""
        if machine := self._machines.get(instance_id):
            machine.suspend()

    async def resume(self, instance_id: str) -> None:
        """Let the processes of a suspended instance go on."""
        if machine := self._machines.get(instance_id):
            machine.resume()

    async def kill(self, instance_id: str) -> None:
        """End every process at once; return when none is left."""
        if machine := self._machines.get(instance_id):
            await machine.kill()

    def update(self, instance: Resource) -> None:
        """Let the instance's metadata server answer from the resource as it is now."""
        if machine := self._machines.get(str(instance["id"])):
            machine.update(instance)

    def forget(self, instance_id: str) -> None:
        """Drop what is in memory of a deleted instance that is off; its folder stays."""
        machine = self._machines.get(instance_id)
        if machine and machine.is_off:
            del self._machines[instance_id]

    def admin_routes(self) -> list[BaseRoute]:
        """The knobs of what is in a machine."""
        return [*self.agents.admin_routes(), *Shells(self._shell).admin_routes()]

    def _shell(self, name_or_id: str) -> Start | None:
        """Where a command is started in the machine of this name or id that is awake; None for none."""
        for instance_id, machine in self._machines.items():
            if name_or_id in {instance_id, machine.name} and machine.is_awake:
                return machine.start
        return None

    def console(self, instance_id: str) -> str:
        """The newest mebibyte of what the instance wrote to its serial port; "" if it is not known."""
        machine = self._machines.get(instance_id)
        return machine.console() if machine else ""

    def guest_attributes(self, instance_id: str) -> Mapping[str, Mapping[str, str]]:
        """What the guest has written about itself, by namespace and key; it outlasts a stop."""
        machine = self._machines.get(instance_id)
        return machine.guest.values if machine else {}

    def processes(self, instance_id: str) -> list[psutil.Process]:
        """The processes alive in the instance."""
        machine = self._machines.get(instance_id)
        return machine.processes() if machine else []

    async def close(self) -> None:
        """Kill all machines; return when no process is left."""
        await asyncio.gather(*(machine.kill() for machine in self._machines.values()))
