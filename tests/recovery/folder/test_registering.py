"""The id of a node's VM, where the job's own scripts look for it."""

import pytest

from spotwarden.engine.executor import Executor
from spotwarden.layout import InstanceId
from spotwarden.model.action import RegisterInstance
from spotwarden.model.outcome import Done, Lost
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick

NODE = InstanceId(job="test-vm", node="test-vm")


@pytest.fixture
def register(world):
    """Register an id in the place of this generation; gives what came of it."""

    def do(instance_id, generation):
        tick = Tick(function="recover_spot", sweep="s", now=world.cloud.clock.now())
        policy = Policy(version="test", mode=Mode.ENFORCE)
        executor = Executor(world.cloud.ports(), world.layout, policy, tick, write_line=lambda *_, **__: None)
        return executor.apply(
            RegisterInstance(
                reason="it is there",
                job="test-vm",
                node="test-vm",
                instance_id=instance_id,
                generation=generation,
            )
        )

    return do


def registered(world):
    """What stands there, and its generation."""
    stored = world.cloud.store.read(world.layout.build(NODE))
    return stored.data.decode(), stored.generation


def test_an_id_takes_the_place_of_what_was_read(world, register):
    """The VM before it is gone."""
    _, generation = registered(world)
    assert isinstance(register("2002", generation), Done)
    assert registered(world)[0] == "2002"


def test_a_sweep_that_slept_does_not_write_over_a_newer_vm(world, register):
    """It knows of an older attempt than whoever has registered since."""
    _, generation = registered(world)
    world.store(NODE, b"3003")
    assert isinstance(register("2002", generation), Lost)
    assert registered(world)[0] == "3003"


def test_a_vm_that_has_registered_itself_meanwhile_is_registered(world, register):
    """Its own startup script may be quicker; nothing is lost, and nothing is written again."""
    _, generation = registered(world)
    newer = world.store(NODE, b"2002\n")
    assert register("2002", generation) == Done(generation=newer)


def test_a_recovered_job_registers_over_what_its_developer_wrote(world):
    """The generation is the one that was read with the job."""
    first, _ = registered(world)
    world.settle()
    world.preempt()
    world.settle(6)
    assert registered(world)[0] == world.attempts()[-1].instances["test-vm"] != first
