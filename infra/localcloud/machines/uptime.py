"""A virtual machine from power-on to power-off: its metadata server and the processes of its scripts."""

import asyncio
import contextlib
import subprocess
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any

import psutil

from localcloud import supervisor
from localcloud.clock import machine_now
from localcloud.http import Listener
from localcloud.machines.agent import Agent
from localcloud.machines.console import Console
from localcloud.machines.download import download
from localcloud.machines.environment import guest_environment
from localcloud.machines.folder import Folder
from localcloud.machines.gpus import Meter, cards_of
from localcloud.machines.gpus.meter import GpuReport
from localcloud.machines.guest_calls import GuestCalls
from localcloud.machines.host import Host
from localcloud.machines.measuring import CpuReport, LogReport, Report, labels, tell
from localcloud.machines.metadata import RULES, MetadataServer
from localcloud.machines.metadata.guest_attributes import GuestAttributes
from localcloud.machines.metadata.tree import attributes
from localcloud.machines.sleeping import freeze, thaw
from localcloud.machines.telling import send
from localcloud.machines.tpus import TpuReport, chips_of, worked_on
from localcloud.ports import Resource

AT_ONCE = timedelta(0)


class PoweredOffError(Exception):
    """The machine was switched off while something was about to be started in it."""


class Uptime:
    """Made at each boot. `power` is called with what the guest asks for: an action and a delay in seconds."""

    def __init__(
        self,
        instance: Resource,
        host: Host,
        *,
        console: Console,
        guest: GuestAttributes,
        power: Callable[[str, float], None],
    ) -> None:
        self.cards = cards_of(instance)
        self.power = power
        self._instance = instance
        self._host = host
        self._folder = Folder.of(instance, host.folder)
        self._console = console
        self._agent = Agent(self._folder, start=self.start, fetch=self._fetch, say=self._say)
        self._metadata = MetadataServer(instance, now=machine_now, guest=guest)
        self._listener = Listener(GuestCalls(self, self._metadata), rules=RULES)
        self._supervisors: list[supervisor.Supervised] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._changing = asyncio.Lock()
        self._on = True
        self._off = asyncio.Event()
        self._shutting_down = False
        self.awake = True
        self._frozen: list[psutil.Process] = []

    async def begin(self) -> None:
        """Switch on; return once the first startup script runs, if there is one."""
        async with self._changing:
            if not self._on:
                return
            self._folder.prepare()
            await self._listener.start()
            self._keep(self._agent.run("startup", attributes(self._instance)))
            name = str(self._instance["name"])
            self._keep(tell(name, self._reports(), self._host, awake=lambda: self.awake))
        await self._agent.begun.wait()

    async def shut_down(self, grace: timedelta) -> None:
        """Run the shutdown scripts, then ask all processes to end, then kill them; all within the grace."""
        if self._shutting_down:
            await self._off.wait()
            return
        self._shutting_down = True
        try:
            await self._wind_down(grace)
        finally:
            self._shutting_down = False

    async def end(self) -> None:
        """Switch off at once; return when no process is left and nothing listens."""
        self._on = False
        self._agent.begun.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        async with self._changing:
            await asyncio.gather(*(supervised.kill() for supervised in self._supervisors))
            await self._listener.stop(grace=AT_ONCE)
            await self._metadata.close()
            self._agent.close()
        self._off.set()

    def suspend(self) -> None:
        """Let every process stand still; those that are being born meanwhile, too."""
        self.awake = False
        self._frozen += freeze(self.processes)

    def resume(self) -> None:
        """Let them go on."""
        thaw(self._frozen)
        self._frozen.clear()
        self.awake = True

    def update(self, instance: Resource) -> None:
        """Tell the guest of a change."""
        self._instance = instance
        self._metadata.update(instance)

    def processes(self) -> list[psutil.Process]:
        """All processes of the machine."""
        return [process for supervised in self._supervisors for process in supervised.processes()]

    def _reports(self) -> list[Report]:
        found: list[Report] = [GpuReport(self.meter(), labels(self._instance))] if self.cards else []
        if chips := chips_of(self._instance):
            found.append(TpuReport(Meter(chips, self.processes, worked_on), labels(self._instance)))
        return [
            *found,
            CpuReport(self.processes, self._instance),
            LogReport(lambda: self._console.lines, self._instance),
        ]

    def meter(self) -> Meter:
        """A meter of the GPUs that starts now."""
        return Meter(self.cards, self.processes)

    async def _wind_down(self, grace: timedelta) -> None:
        deadline = asyncio.get_running_loop().time() + grace.total_seconds()
        await self._run_shutdown_scripts(deadline)
        left = timedelta(seconds=max(0.0, deadline - asyncio.get_running_loop().time()))
        await asyncio.gather(*(supervised.terminate(left) for supervised in self._supervisors))
        await self.end()

    async def _run_shutdown_scripts(self, deadline: float) -> None:
        try:
            async with asyncio.timeout_at(deadline):
                await self._agent.run("shutdown", attributes(self._instance))
        except TimeoutError:
            self._say("systemd[1]", "The shutdown script did not end in time.")
        except PoweredOffError:
            return  # somebody lost patience and killed the machine

    async def start(
        self, argv: Sequence[str], output: int, errors: int = subprocess.STDOUT
    ) -> supervisor.Supervised:
        """Start a command in the machine, with its output to a file descriptor; `PoweredOffError`."""
        async with self._changing:
            if not self._on:
                raise PoweredOffError(f"{self._instance['name']} was switched off")
            environment = self._environment()
            supervised = await supervisor.start(
                argv,
                env=environment,
                cwd=self._folder.path,
                stdout=output,
                stderr=errors,
                umask=self._host.umask,
            )
            self._supervisors.append(supervised)
            return supervised

    async def _fetch(self, url: str) -> str:
        return await download(url, storage=self._environment().get("STORAGE_EMULATOR_HOST", ""))

    def _environment(self) -> dict[str, str]:
        return guest_environment(
            self._instance,
            self._folder,
            host=self._host,
            metadata=self._listener.url.removeprefix("http://"),
        )

    def _say(self, process: str, message: str) -> None:
        now = self._host.clock.now()
        self._console.write(now, process, message)
        send(self._host, self._instance, now, process, message)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=f"machine {self._instance['name']}")
        task.add_done_callback(self._tell_failure)
        self._tasks.append(task)

    def _tell_failure(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            with contextlib.suppress(OSError):
                self._say("systemd[1]", f"{type(error).__name__}: {error}")
            task.get_loop().call_exception_handler({"message": "a machine failed", "exception": error})
