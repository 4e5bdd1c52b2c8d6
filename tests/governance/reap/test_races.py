"""The world changes while `reap_vms` looks at it: between any two of its calls."""

from datetime import timedelta
from itertools import count

import msgspec
import pytest

from spotwarden.governance.reap import rules as reaping
from spotwarden.layout import StatusCode
from spotwarden.model.attempt import AttemptState
from spotwarden.model.brief import Brief
from spotwarden.model.finding import Reading
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.rule_limits import LeftoverLimits, OrphanLimits, StallLimits
from spotwarden.model.tick import Tick
from tests.fakes.store import MemoryStore
from tests.fakes.world import load
from tests.governance.reap.reap_world import Calls, ReapWorld

SECOND = timedelta(seconds=1)
NOTHING = timedelta(0)


@pytest.fixture(scope="session")
def module():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


@pytest.fixture
def new_world(module):
    """Worlds without any guard of age: only the order of the look protects what changes meanwhile."""

    def make():
        return ReapWorld(
            module,
            governance=GovernanceLimits(launch_grace=NOTHING),
            orphan=OrphanLimits(after=SECOND),
            leftover=LeftoverLimits(after=SECOND),
            stall=StallLimits(after=timedelta(hours=1)),
        )

    return make


def quiet_job(world):
    """A job that runs, and beats."""
    world.job()
    world.beat()


def preempted(world):
    """A job whose VM was taken, and whose disk is free until it is back."""
    world.attempt(instances={"test-vm": "1"})
    world.watch("test-vm", {"test-vm": "1"})
    world.cloud.compute.leave("data", job="test-vm", age=timedelta(days=2))


def nothing(world):
    """Another job that runs."""
    world.job("other")
    world.beat("other", job="other")


def launched(world):
    """Written down before it is asked for, then made, then written down with its id."""
    world.attempt(number=1, state=AttemptState.PLACING, created=world.now, updated=world.now)
    vm = world.vm(age=NOTHING)
    # A disk that was made before its job was thought of.
    world.cloud.compute.leave("data", job="test-vm", age=timedelta(days=2))
    world.attempt(number=1, instances={"test-vm": vm}, created=world.now, updated=world.now)
    world.watch("test-vm", {"test-vm": vm})


def launched_by_hand(world):
    """Made, then registered by its own start-up script; recovery sees it later."""
    vm = world.vm(labelled=False, age=NOTHING)
    world.register("test-vm", vm)


def replaced(world):
    """Taken, and started again as attempt 2."""
    old = next(iter(world.cloud.compute.vms.living))
    world.cloud.compute.vms.living.pop(old)
    again(world, old)


def replaced_early(world):
    """Attempt 2 runs while the first VM still does, for a moment."""
    again(world, next(iter(world.cloud.compute.vms.living)))


def brought_back(world):
    """A job whose VM was gone is back as attempt 2, and uses its disk again."""
    world.cloud.compute.left.clear()
    again(world, "1")


def again(world, old):
    """Attempt 2 stands in for a VM."""
    facts = {"replaces": {"test-vm": old}, "created": world.now, "updated": world.now}
    world.attempt(number=2, state=AttemptState.PLACING, **facts)
    new = world.vm(attempt=2, age=NOTHING)
    world.attempt(number=2, instances={"test-vm": new}, started=world.now, **facts)
    world.watch("test-vm", {"test-vm": new}, number=2)


def ended(world):
    """It writes its status, is closed, and deletes itself last."""
    world.end()
    world.attempt(state=AttemptState.ENDED, instances={}, updated=world.now)
    world.unwatch("test-vm")
    world.cloud.compute.vms.living.clear()
    world.cloud.compute.leave("data", job="test-vm")


def stopped(world):
    """Its owner stops it: the VM stays, and recovery closes the job."""
    for vm in list(world.cloud.compute.vms.living.values()):
        world.cloud.compute.owner_stops(vm.seen.id)
    world.attempt(state=AttemptState.STOPPED, updated=world.now)
    world.unwatch("test-vm")


def moved(world):
    """It goes on to give signs of life."""
    world.beat()
    world.produce()


def as_it_is(world):
    """The bucket of this moment, whatever becomes of it."""
    kept = MemoryStore(clock=world.cloud.clock)
    for entry in world.cloud.store.entries(""):
        stored = world.cloud.store.read(entry.name)
        kept.write(entry.name, stored.data, generation=0)
    return kept


CHANGES = [
    (nothing, launched),
    (nothing, launched_by_hand),
    (quiet_job, replaced),
    (quiet_job, replaced_early),
    (quiet_job, ended),
    (quiet_job, stopped),
    (quiet_job, moved),
    (preempted, brought_back),
]


def bad(world, facts, now):
    """What would be warned about."""
    tick = Tick(function="reap_vms", sweep="s", now=now)
    brief = Brief(policy=world.policy, tick=tick, steady=now - timedelta(days=9))
    return [one.reason for one in reaping.judge(facts, brief).findings if one.reading is Reading.BAD]


@pytest.mark.parametrize(("before", "change"), CHANGES, ids=lambda one: one.__name__)
def test_whatever_changes_between_two_calls_nothing_is_wrong(new_world, before, change):
    """Before and after the change all is as it should be; so it is wherever in the look the change falls."""
    for place in count():
        world = new_world()
        before(world)
        counted = Calls(world.cloud.ports(), before=place, happen=lambda world=world: change(world))
        facts = world.look(cloud=counted.cloud)
        assert bad(world, facts, world.now) == [], f"after {counted.made[:place]}"
        if place >= len(counted.made):
            break
    assert place >= 3


def test_the_other_order_would_take_a_new_vm_for_an_orphan(new_world):
    """Records that are older than the list of VMs know nothing of what was made between the two."""
    world = new_world()
    nothing(world)
    old = as_it_is(world)
    launched(world)
    cloud = msgspec.structs.replace(world.cloud.ports(), store=old)
    facts = world.look(cloud=cloud)
    tick = Tick(function="reap_vms", sweep="s", now=world.now)
    brief = Brief(policy=world.policy, tick=tick, steady=world.now)
    assert any("nothing left of" in one.reason for one in reaping.judge(facts, brief).findings)


def test_the_other_order_would_take_a_disk_of_a_new_job_for_a_leftover(new_world):
    """A record that is older than the list of disks says that the job is over, or not there."""
    world = new_world()
    nothing(world)
    old = as_it_is(world)
    launched(world)
    world.cloud.compute.vms.living.clear()
    facts = world.look(cloud=msgspec.structs.replace(world.cloud.ports(), store=old))
    assert any("nothing left" in one for one in bad(world, facts, world.now))


@pytest.mark.parametrize("place", range(1, 8))
def test_a_job_that_ends_while_it_is_read_is_no_more_stalled_at_the_second_look(new_world, place):
    """Its signs stand still because it is over; what is acted upon was looked at twice."""
    world = new_world()
    quiet_job(world)
    world.wait(hours=2)
    counted = Calls(world.cloud.ports(), before=place, happen=world.end)
    world.look(cloud=counted.cloud)
    assert not any("moved" in one for one in bad(world, world.look(), world.now))


def test_an_end_that_was_taken_back_is_no_end(new_world):
    """The status was listed, and is gone when it is read: the job was submitted anew."""
    world = new_world()
    quiet_job(world)
    world.end()
    world.look()
    world.wait(hours=1)
    world.beat()
    listed = 5
    counted = Calls(
        world.cloud.ports(), before=listed, happen=lambda: world.remove(StatusCode(job="test-vm"))
    )
    facts = world.look(cloud=counted.cloud)
    assert counted.made[listed - 1] == ("entries", "test-vm/metadata/")
    assert facts.jobs["test-vm"].status_code is None
    assert bad(world, facts, world.now) == []
