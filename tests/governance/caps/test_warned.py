"""`cap_runtime` stops what its owner was warned of, and nothing that came later."""

from datetime import timedelta

import pytest

from spotwarden.model.governance import JobCap, OwnerCap, Remedy
from tests.fakes.world import load
from tests.governance.caps.cap_world import CapWorld

HOUR = timedelta(hours=1)


@pytest.fixture(scope="session")
def module():
    """functions/cap_runtime/main.py."""
    return load("cap_runtime")


@pytest.fixture
def world(module):
    """A project in which a job may be up for ten hours, and an owner may use two GPU-hours a day."""
    return CapWorld(module, job_cap=JobCap(max_runtime=10 * HOUR))


def test_an_owner_is_warned_of_the_stop_itself_with_the_vms_that_it_is_for(world):
    """At 80 and 95 percent nothing is chosen yet; the warning that counts is the one at 100."""
    world.set_policy(owner_cap=OwnerCap(gpu_hours_day=2.0, remedy=Remedy.STOP))
    vm = world.job()
    world.sweep_for(hours=2, minutes=10)
    assert world.asked() == []
    *_, last = world.notices()
    assert last.evidence["instances"] == vm
    assert "it will be stopped" in last.then
    world.sweep_for(minutes=5)
    assert world.asked() == [("stop", vm)]


def test_a_job_that_an_owner_over_his_limit_begins_is_warned_of_before_it_is_stopped(world):
    """His other jobs' warning is not about it."""
    world.set_policy(owner_cap=OwnerCap(gpu_hours_day=2.0, remedy=Remedy.STOP))
    world.job("first")
    world.sweep_for(hours=2, minutes=10)
    second = world.job("second")
    world.sweep_for(minutes=10)
    assert ("stop", second) not in world.asked()


def test_a_job_that_was_started_again_at_its_limit_is_warned_of_anew(world):
    """The same VM, stopped and started between two looks: the old run's warning is not the new one's."""
    vm = world.job()
    world.sweep_for(hours=9, minutes=57, every=timedelta(minutes=3))
    world.wait(minutes=4)
    world.stop(vm)
    world.wait(seconds=10)
    world.start(vm)
    world.sweep_for(minutes=14)
    assert world.asked() == []
    assert world.kinds() == ["job_cap_warning"] * 3
    world.sweep_for(minutes=15)
    assert world.asked() == [("stop", vm)]
