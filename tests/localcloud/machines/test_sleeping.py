"""A suspended machine: its processes stand still, nothing is heard of it, and it goes on where it stood."""

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta

import psutil

from localcloud.machines.measuring import CPU, tell
from localcloud.ports import Point

COUNTING = "i=0; while :; do i=$((i+1)); echo $i > count; done"


def test_processes_stand_still_and_go_on_where_they_stood(run, vm, eventually):
    """All of them, those in the background as well; the count goes on from what it was."""

    async def scene():
        machine = await vm(startup_script=f"sleep 300 & {COUNTING}")
        await eventually(lambda: machine.read("count").strip())
        await machine.machines.suspend(machine.id)
        await eventually(
            lambda: {process.status() for process in machine.processes} == {psutil.STATUS_STOPPED}
        )
        stood = int(machine.read("count") or 0)
        await machine.machines.resume(machine.id)
        await eventually(lambda: int(machine.read("count").strip() or 0) > stood)
        return machine.messages

    assert run(scene())[-2:] == ["PM: suspend entry (deep)", "PM: suspend exit"]


def test_what_the_guest_had_stopped_itself_is_not_woken(run, vm, eventually):
    """A process under job control stays as its owner left it."""

    async def scene():
        machine = await vm(startup_script="sleep 300 & kill -STOP $!; echo $! > stopped; sleep 301")
        await eventually(lambda: machine.read("stopped").strip())
        still = psutil.Process(int(machine.read("stopped")))
        await eventually(lambda: still.status() == psutil.STATUS_STOPPED)
        await machine.machines.suspend(machine.id)
        await machine.machines.resume(machine.id)
        others = [process for process in machine.processes if process != still]
        await eventually(lambda: all(other.status() != psutil.STATUS_STOPPED for other in others))
        return still.status()

    assert run(scene()) == psutil.STATUS_STOPPED


def test_a_suspended_machine_takes_no_commands(run, machines, vm):
    """As one whose guest does not answer; once resumed it does."""

    async def scene():
        machine = await vm(startup_script="sleep 300")
        await machines.suspend(machine.id)
        asleep = machines._shell(machine.id)
        await machines.resume(machine.id)
        return asleep, machines._shell(machine.id)

    asleep, awake = run(scene())
    assert asleep is None
    assert awake is not None


def test_a_suspended_machine_ends_when_it_is_killed(run, vm):
    """As it does when its instance is deleted."""

    async def scene():
        machine = await vm(startup_script="sleep 300")
        await machine.machines.suspend(machine.id)
        processes = machine.processes
        await machine.machines.kill(machine.id)
        return [process for process in processes if process.is_running()]

    assert run(scene()) == []


class Counted:
    """A report of one point each time, which counts how often it was asked."""

    by_agent = False

    def __init__(self) -> None:
        self.asked = 0

    def points(self, now: datetime):
        """One."""
        self.asked += 1
        yield Point(metric=CPU, resource="gce_instance", value=self.asked, at=now)


class Around:
    """What `tell` needs of a host."""

    metric_period = timedelta(milliseconds=1)

    def __init__(self) -> None:
        self.clock = self.agents = self
        self.sent: list[float] = []

    def now(self) -> datetime:
        """Any time."""
        return datetime(2026, 1, 1, tzinfo=UTC)

    def runs(self, _name: str) -> bool:
        """Every machine has an agent."""
        return True

    def measure(self, point: Point) -> None:
        """Keep it."""
        self.sent.append(point.value)


def test_nothing_is_measured_while_it_is_suspended(run, eventually):
    """Its points are missing, not zero; afterwards they come again."""
    around, report, awake = Around(), Counted(), [True]

    async def scene():
        telling = asyncio.create_task(tell("vm", [report], around, awake=lambda: awake[0]))
        await eventually(lambda: around.sent)
        awake[0] = False
        before, asked = len(around.sent), report.asked
        await eventually(lambda: report.asked > asked + 3)
        silent = len(around.sent) == before
        awake[0] = True
        await eventually(lambda: len(around.sent) > before)
        telling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await telling
        return silent

    assert run(scene())
