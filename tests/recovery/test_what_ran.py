"""recover_spot over the ports: what was launched is written down whole, once, and never by less."""

from typing import Any

import msgspec
import pytest

from spotwarden.engine.executor import Executor
from spotwarden.engine.log import silent
from spotwarden.layout import CreateScript, ScriptFile
from spotwarden.model.action import RecordLaunched
from spotwarden.model.attempt import AttemptState
from spotwarden.model.outcome import Done
from spotwarden.model.tick import Tick
from tests.fakes.world import SCRIPT

FIRST, SECOND = (f"test-vm/metadata/launched/{number}.json" for number in (1, 2))


@pytest.fixture
def bare(world):
    """A job whose script was never stored; what its developer launched is on record."""
    name = world.layout.build(CreateScript(job="test-vm"))
    world.cloud.store.delete(name, generation=world.cloud.store.read(name).generation)
    world.settle()
    return world


class PreemptedBetween:
    """Compute Engine, where the VM is taken, and gone, after its instance was read and before its disk is."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self.taken = False

    def __getattr__(self, call: str) -> Any:
        return getattr(self._world.cloud.compute, call)

    def resource(self, zone: str, instance_id: str) -> Any:
        """As `Compute.resource`."""
        found = self._world.cloud.compute.resource(zone, instance_id)
        self.taken = True
        self._world.preempt()
        self._world.wait(minutes=1)
        return found


def test_a_preemption_between_an_instance_and_its_disk_leaves_no_half_record(bare):
    """The job comes back from what ran before; half a record would have hidden that."""
    bare.preempt()
    bare.sweep()
    bare.wait(minutes=1)
    between = PreemptedBetween(bare)
    ports = msgspec.structs.replace(bare.cloud.ports(), compute=between)
    for _ in range(3):
        bare.sweep_over(bare.cloud.ports() if between.taken else ports)
        bare.wait(seconds=20)
    assert between.taken
    assert SECOND not in bare.names("test-vm/")
    bare.sweep_until_quiet()
    assert [(one.number, one.state) for one in bare.attempts()][-1] == (3, AttemptState.RUNNING)


def test_a_record_of_what_ran_is_never_replaced(bare):
    """A sweep that was held up saw the VM when half of it was gone."""
    before = bare.cloud.store.read(FIRST).data
    tick = Tick(function="recover_spot", sweep="late", now=bare.cloud.clock.now())
    executor = Executor(bare.cloud.ports(), bare.layout, bare.policy, tick, write_line=silent)
    late = RecordLaunched(reason="seen", job="test-vm", attempt=1, ran={"test-vm": None})
    assert executor.apply(late) == Done()
    assert bare.cloud.store.read(FIRST).data == before


def brought_back(world):
    """The records of what ran, once the job was taken and runs again."""
    world.settle()
    world.preempt()
    world.wait(minutes=1)
    world.sweep_until_quiet()
    world.settle()
    assert world.attempts()[-1].state is AttemptState.RUNNING
    return [name for name in world.names("test-vm/") if "/launched/" in name]


def test_what_the_same_script_makes_again_is_on_record_already(world):
    """Nothing is fetched, and nothing is written a second time."""
    assert brought_back(world) == [FIRST]


@pytest.mark.parametrize("thing", [CreateScript(job="test-vm"), ScriptFile(job="test-vm", path="run.sh")])
def test_what_another_script_makes_is_written_down(world, thing):
    """Or the same script, with another file beside it."""
    world.settle()
    world.store(thing, SCRIPT)
    assert brought_back(world) == [FIRST, SECOND]


def test_what_runs_without_a_script_is_written_down_each_time(bare):
    """Nothing else says what it is."""
    assert brought_back(bare) == [FIRST, SECOND]
