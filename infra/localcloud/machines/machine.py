"""One virtual machine, on or off."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import psutil

from localcloud.machines.console import Console
from localcloud.machines.folder import Folder
from localcloud.machines.host import Host
from localcloud.machines.metadata.guest_attributes import GuestAttributes
from localcloud.machines.metadata.tree import hostname
from localcloud.machines.uptime import PoweredOffError, Uptime
from localcloud.ports import Resource
from localcloud.supervisor import Supervised

REBOOT_GRACE = timedelta(seconds=90)
"""systemd's own patience with a service that does not stop (`DefaultTimeoutStopSec`)."""


class Machine:
    """Boots, shuts down, is killed, and can boot again in the same folder."""

    def __init__(self, instance: Resource, host: Host) -> None:
        self._instance = instance
        self._host = host
        self._folder = Folder.of(instance, host.folder)
        self._console = Console(self._folder.console, hostname(instance).partition(".")[0])
        self.guest = GuestAttributes()
        self._uptime: Uptime | None = None
        self._wanted = False
        self._rebooting: asyncio.Task[None] | None = None
        self._later: asyncio.TimerHandle | None = None

    async def boot(self, instance: Resource) -> None:
        """Switch on; does nothing if it is on."""
        self._instance = instance
        self._wanted = True
        if self._uptime is None:
            await self._begin()

    async def shut_down(self, grace: timedelta) -> None:
        """Switch off as a person would, in at most the grace; return when no process is left."""
        self._wanted = False
        if self._uptime is not None:
            await self._uptime.shut_down(grace)
        await self._settle()

    def suspend(self) -> None:
        """Close the lid: its processes stand still, and nothing is measured."""
        if self._uptime is not None:
            self._say("PM: suspend entry (deep)")
            self._uptime.suspend()

    def resume(self) -> None:
        """Open the lid."""
        if self._uptime is not None:
            self._uptime.resume()
            self._say("PM: suspend exit")

    async def kill(self) -> None:
        """Cut the power; return when no process is left."""
        self._wanted = False
        if self._uptime is not None:
            await self._uptime.end()
        await self._settle()

    @property
    def is_off(self) -> bool:
        """Whether it neither runs nor is about to end."""
        return self._uptime is None

    @property
    def is_awake(self) -> bool:
        """Whether it is on, and not suspended."""
        return self._uptime is not None and self._uptime.awake

    def update(self, instance: Resource) -> None:
        """Tell the guest of a change."""
        self._instance = instance
        if self._uptime is not None:
            self._uptime.update(instance)

    def console(self) -> str:
        """What it said on its serial port, over all boots."""
        return self._console.read()

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self._instance["name"])

    async def start(self, argv: Sequence[str], output: int, errors: int) -> Supervised:
        """Start a command in it, while it is on; `PoweredOffError`."""
        if self._uptime is None:
            raise PoweredOffError(f"{self.name} is off")
        return await self._uptime.start(argv, output, errors)

    def processes(self) -> list[psutil.Process]:
        """The processes alive in it."""
        return self._uptime.processes() if self._uptime else []

    async def _begin(self) -> None:
        self._folder.prepare()
        self._say("Booting.")
        self._uptime = Uptime(
            self._instance, self._host, console=self._console, guest=self.guest, power=self._power
        )
        await self._uptime.begin()

    async def _settle(self) -> None:
        """Forget what was on; a reboot that was under way has ended or ends now."""
        if self._later:
            self._later.cancel()
        if self._rebooting is not None:
            await asyncio.gather(self._rebooting, return_exceptions=True)
        if self._uptime is not None:
            self._uptime = None
            self._say("Power off.")

    def _power(self, action: str, after_seconds: float) -> None:
        """Do what the guest asks for, now or later; a new request takes the place of an earlier one."""
        if self._later:
            self._later.cancel()
        if action != "cancel":
            do = self._reboot if action == "reboot" else self._power_off
            self._later = asyncio.get_running_loop().call_later(after_seconds, do)

    def _power_off(self) -> None:
        self._host.on_poweroff(str(self._instance["id"]))

    def _reboot(self) -> None:
        self._rebooting = asyncio.create_task(self._off_and_on())

    async def _off_and_on(self) -> None:
        self._say("Rebooting.")
        if self._uptime is not None:
            await self._uptime.shut_down(REBOOT_GRACE)
        if self._wanted:
            await self._begin()

    def _say(self, message: str) -> None:
        self._console.write(self._host.clock.now(), "kernel", message)
