"""A gang that bends, and sweeps that are killed at each of their calls: no node twice, nobody made anew."""

from collections import Counter

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import JobFileName
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.marker import MarkerBody
from tests.fakes.beats import kit_beat
from tests.fakes.world import GANG
from tests.recovery.interrupting import Door, Interruption, KilledError, killed

FOUR = GANG.replace(b"gang-1,gang-2", b"gang-1,gang-2,gang-3,gang-4")
ALL = ["gang-1", "gang-2", "gang-3", "gang-4"]
MOST_CALLS = 60
"""More than any sweep over this gang makes."""


def cut(world, interruption):
    """The cloud as a sweep sees it that is killed."""
    ports = world.cloud.ports()
    return replace(
        ports,
        store=Door(ports.store, interruption),
        compute=Door(ports.compute, interruption),
        notices=Door(ports.notices, interruption),
    )


def holds(world):
    """What must be so at every moment: one living VM for each node, and one record that names each member."""
    alive = Counter(vm.name for vm in world.instances() if vm.status is Status.RUNNING)
    assert not [name for name, count in alive.items() if count > 1]
    newest = world.attempts()[-1]
    assert len({*newest.instances.values()}) == len(newest.instances)
    assert not set(newest.instances) & set(newest.lacking)
    assert newest.state is AttemptState.RUNNING


def ready(world):
    """Whatever runs says that it has been set up."""
    for vm in world.instances():
        kit_beat(world.cloud.store, vm.name, job="gang", instance_id=vm.id, status="waiting")


def minutes(world, count, call=0, *, after_work=False):
    """So many minutes, a sweep each; each is killed at this call."""
    came = 0
    for _ in range(count):
        interruption = Interruption(call, killed, after_work=after_work)
        try:
            world.sweep_over(cut(world, interruption) if call else world.cloud.ports())
        except KilledError:
            came += 1
        holds(world)
        ready(world)
        world.wait(minutes=1)
    return came


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", range(1, MOST_CALLS, 2))
def test_a_gang_bends_once_for_each_loss_whatever_call_its_sweeps_are_killed_at(new_world, call, after_work):
    """Two losses, eight minutes of sweeps that die, then well ones: the two others are the same VMs."""
    world = new_world("gang", FOUR)
    world.store(JobFileName(job="gang"), b'nodes = "2:4"')
    world.settle()
    kept = {vm.name: vm.id for vm in world.instances() if vm.name in {"gang-1", "gang-3"}}
    for node in ("gang-2", "gang-4"):
        instance = next(vm.id for vm in world.instances() if vm.name == node)
        world.preempt(node=node, body=msgspec.json.encode(MarkerBody(instance_id=instance)))
        minutes(world, 4, call, after_work=after_work)
    minutes(world, 25)
    assert sorted(vm.name for vm in world.instances() if vm.status is Status.RUNNING) == ALL
    assert kept.items() <= {vm.name: vm.id for vm in world.instances()}.items()
    newest = world.attempts()[-1]
    assert {vm.name: vm.id for vm in world.instances()} == newest.instances
    assert world.done("DeleteInstance") == 0
    assert world.names("preempted-jobs/") == []
    # A loss, or a refill, of both at once is one record.
    assert 3 <= newest.number <= 5


def test_the_calls_of_a_sweep_over_a_gang_that_bends_are_fewer_than_are_cut(new_world):
    """Or the end of a sweep would never be cut."""
    world = new_world("gang", FOUR)
    world.store(JobFileName(job="gang"), b'nodes = "2:4"')
    world.settle()
    world.preempt(node="gang-2")
    assert minutes(world, 8, MOST_CALLS) == 0
