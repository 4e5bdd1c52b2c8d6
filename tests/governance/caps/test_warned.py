"""`cap_runtime` stops what its owner was warned of, and nothing that came later."""

from datetime import timedelta

import pytest

from spotwarden.model.case import CaseState
from spotwarden.model.governance import Remedy
from spotwarden.model.rule_limits import JobCap, OwnerCap
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


@pytest.mark.parametrize("minutes", [1, 60])
def test_a_vm_that_is_started_again_over_its_owners_limit_is_warned_of_anew(world, minutes):
    """The warning before its first stop is not the new run's, however soon after the stop it begins."""
    world.set_policy(owner_cap=OwnerCap(gpu_hours_day=2.0, remedy=Remedy.STOP))
    vm = world.job()
    world.sweep_for(hours=2, minutes=15)
    assert world.asked() == [("stop", vm)]
    world.sweep_for(minutes=minutes, every=timedelta(minutes=5))
    world.stop(vm)
    world.start(vm)
    world.sweep_for(minutes=14)
    assert world.asked() == [("stop", vm)]
    world.sweep_for(minutes=15)
    assert world.asked() == [("stop", vm)] * 2


def test_a_stop_for_an_owners_limit_has_worked_once_the_vm_stands_still(world):
    """What was used stays used, and is found on; it is no failure of the stop, and no ops hear of one."""
    world.set_policy(owner_cap=OwnerCap(gpu_hours_day=2.0, remedy=Remedy.STOP))
    vm = world.job()
    world.sweep_for(hours=2, minutes=15)
    for _ in range(3):
        world.stop(vm)
        world.sweep_for(hours=1)
        case = world.case("owner_cap", "ada%40example.com")
        assert (case.state, case.failures) == (CaseState.WARNED, 0)
        world.start(vm)
        world.sweep_for(minutes=25)
    assert world.asked() == [("stop", vm)] * 4
    assert {*world.kinds()} == {"owner_cap_warning", "owner_cap_acted"}
