"""What is done together stands together in the audit: few objects, and nothing left out."""

import threading

import pytest

from spotwarden.engine.executor import Executor
from spotwarden.engine.executor.apply import AUDITED_TOGETHER
from spotwarden.model.action import StoreObject, Survey
from spotwarden.model.outcome import Done
from spotwarden.model.policy import Mode, Policy
from tests.fakes.trouble import unanswered
from tests.recovery.crowd_world import Crowded


@pytest.fixture
def executor(world, tick):
    """An executor over an empty cloud that logs nothing."""
    policy = Policy(version="test", mode=Mode.ENFORCE)
    return Executor(world.cloud.ports(), world.layout, policy, tick, write_line=lambda *_, **__: None)


def action(number):
    """Something that may be done."""
    return StoreObject(reason="a test", name=f"spotwarden/placement/m-{number}.json", data=b"{}", job="")


def audited(world):
    """How many entries each object of the audit has."""
    return [len(world.read(name)) for name in world.names("spotwarden/audit/")]


def test_as_many_as_one_object_holds_are_one_object(world, executor):
    """To the entry: one more is a second object."""
    with executor.together() as apply:
        for number in range(AUDITED_TOGETHER):
            apply(action(number))
    assert audited(world) == [AUDITED_TOGETHER]
    with executor.together() as apply:
        for number in range(AUDITED_TOGETHER + 1):
            apply(action(number))
    assert audited(world) == [AUDITED_TOGETHER, AUDITED_TOGETHER, 1]


def test_what_was_done_before_an_end_by_an_error_is_written_down(world, executor):
    """Whatever ended it."""

    def end():
        with executor.together() as apply:
            apply(action(1))
            raise KeyError

    with pytest.raises(KeyError):
        end()
    assert audited(world) == [1]


def test_a_question_is_answered_and_not_written_down(world, executor, tick):
    """The audit is of what was done."""
    with executor.together() as apply:
        assert isinstance(apply(Survey(job="test-vm", names=("test-vm",), since=tick.now)), Done)
    assert audited(world) == []


def test_several_threads_lose_and_double_nothing(world, executor):
    """Each entry stands in one object, whichever thread fills it."""
    with executor.together() as apply:
        begins = [range(start, start + 40) for start in range(0, 320, 40)]
        threads = [
            threading.Thread(target=lambda of=of: [apply(action(n)) for n in of], daemon=True)
            for of in begins
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    names = [entry["detail"]["name"] for entry in world.audit()]
    assert len(names) == len(set(names)) == 320
    assert max(audited(world)) == AUDITED_TOGETHER


def test_a_storm_costs_the_audit_an_object_for_dozens_of_actions(world):
    """Not one for each."""
    crowd = Crowded(world)
    crowd.preempt(*crowd.jobs(20))
    before = len(world.names("spotwarden/audit/"))
    world.sweep_until_quiet()
    assert world.done("LaunchInstances") == 20
    assert len(world.names("spotwarden/audit/")) - before <= 12


def test_an_audit_that_cannot_be_written_stops_no_job_of_the_batch(world):
    """It is raised at the end of the sweep, and each job goes as far as it would have gone."""
    crowd = Crowded(world)
    crowd.preempt(*crowd.jobs(3))
    world.wait(minutes=1)
    world.cloud.store.trouble.order("write", unanswered(after_work=False), about="spotwarden/audit/")
    swept = world.sweep()
    assert len(swept.failures) == 1
    assert len(world.vms()) == 4
