"""recover_spot over the ports: what an event looks at, and what a tick does."""

import pytest
from msgspec.structs import replace

from spotwarden.engine.turn import take_turn
from spotwarden.layout import AttemptRecord, CreateScript, InstanceId, SweepTurn
from spotwarden.model.attempt import AttemptState
from spotwarden.model.tick import Tick
from spotwarden.recovery.look.storms import CROWD
from tests.fakes.trouble import unanswered


@pytest.fixture
def two(world):
    """A second job beside the first one, both preempted a minute ago."""
    script = world.cloud.store.read("test-vm/metadata/create-instance.sh").data.replace(b"test-vm", b"other")
    world.store(CreateScript(job="other"), script)
    (number,) = world.launch_by_hand(script).values()
    world.store(InstanceId(job="other", node="other"), number.encode())
    world.wait(minutes=5)
    world.preempt()
    world.preempt(node="other")
    world.wait(minutes=1)
    return world


def ledgers(world):
    """The jobs that have one."""
    return {name.split("/")[0] for name in world.names("") if "/attempts/" in name}


def test_an_event_brings_back_the_job_that_it_is_about_and_no_other(two):
    """The other one's own event is on its way."""
    two.sweep(about="other")
    assert ledgers(two) == {"other"}
    two.sweep(about="test-vm")
    assert ledgers(two) == {"other", "test-vm"}


def test_a_tick_brings_back_all(two):
    """Whatever became of their events."""
    two.sweep()
    assert ledgers(two) == {"other", "test-vm"}


def test_several_workers_bring_back_what_one_does(two):
    """Each job by itself, however many are worked on at a time."""
    two.settings = replace(two.settings, workers=4)
    two.sweep_until_quiet()
    assert ledgers(two) == {"other", "test-vm"}
    assert sorted(one.name for one in two.instances()) == ["other", "test-vm"]
    assert two.names("preempted-jobs/") == []


def test_an_event_about_one_node_answers_the_whole_gang(gang):
    """The markers of the other nodes are read with it."""
    for node in ("gang-1", "gang-2"):
        gang.preempt(node=node)
    gang.wait(minutes=1)
    gang.sweep(about="gang-2")
    assert set(gang.attempts()[-1].markers) == {"gang-1", "gang-2"}


@pytest.mark.parametrize("marked", [True, False])
def test_the_audit_logs_event_brings_a_job_back_without_a_marker(world, marked):
    """It is enough to know the instance's name; a marker that is there as well is answered with it."""
    world.settle()
    world.cloud.compute.preempt("test-vm")
    if marked:
        world.store("preempted-jobs/test-vm", b"")
    world.wait(minutes=1)
    for _ in range(6):
        world.sweep(about="test-vm", lost=True)
        world.wait(seconds=10)
    newest = world.attempts()[-1]
    assert (newest.number, newest.state) == (2, AttemptState.RUNNING)
    assert world.names("preempted-jobs/") == []


def test_the_audit_logs_event_about_somebody_elses_vm_changes_nothing(world):
    """A project holds many VMs that are no jobs."""
    world.settle()
    before = world.names("")
    world.sweep(about="their-vm", lost=True)
    assert world.names("") == before


def test_an_event_that_must_wait_asks_to_come_back(world):
    """The VM is still stopping: soon, another look sees more."""
    world.preempt()
    swept = world.sweep(about="test-vm")
    assert swept.soon
    assert "stopping" in swept.waiting[0]


@pytest.mark.parametrize(("others", "alone"), [(CROWD - 1, True), (CROWD, False)])
def test_an_event_in_a_storm_looks_at_everything(two, others, alone):
    """With more markers than a crowd, one sweep over all of them beats one for each."""
    for number in range(others - 1):
        two.store(f"preempted-jobs/nobody-{number}", b"")
    two.sweep(about="other")
    assert (ledgers(two) == {"other"}) is alone


def turn_of(world, sweep="other-sweep"):
    """Another sweep that takes the turn now."""
    tick = Tick(function="recover_spot", sweep=sweep, now=world.cloud.clock.now())
    return take_turn(world.cloud.store, world.layout, tick)


def test_a_tick_whose_turn_is_taken_leaves_the_work_to_the_other(two):
    """It reads and changes nothing else."""
    assert turn_of(two)
    two.cloud.compute.trouble.order("instances", unanswered(after_work=False))
    assert two.sweep().waiting == ("another sweep is running",)
    assert ledgers(two) == set()


def test_a_turn_is_over_after_half_a_minute_at_most(two):
    """A sweep that died keeps nobody from looking."""
    turn_of(two)
    two.wait(seconds=29)
    assert two.sweep().waiting == ("another sweep is running",)
    two.wait(seconds=1)
    two.sweep()
    assert ledgers(two) == {"other", "test-vm"}


def test_an_event_needs_no_turn(two):
    """It looks at one job only."""
    turn_of(two)
    two.sweep(about="test-vm")
    assert ledgers(two) == {"test-vm"}


def test_a_turn_is_given_back_at_the_end(world):
    """With the moment at which everything was looked at last."""
    world.sweep()
    turn = world.read(world.layout.build(SweepTurn(function="recover_spot")))
    assert turn["holder"] == ""
    assert turn["swept"] == world.cloud.clock.now().isoformat().replace("+00:00", "Z")
    assert turn_of(world)


@pytest.mark.parametrize("silent", [True, False])
def test_a_sweep_that_got_no_answer_about_a_job_has_not_looked_at_everything(world, silent):
    """One whose record is broken does not count here: until it is mended each sweep would read more."""
    world.settle()
    earlier = world.read(world.layout.build(SweepTurn(function="recover_spot")))["swept"]
    world.cloud.compute.preempt("test-vm")
    if silent:
        world.cloud.store.trouble.order("entries", unanswered(after_work=False), about="^test-vm/metadata/")
    else:
        world.store(world.layout.build(AttemptRecord(job="test-vm", attempt=1)), b"{")
    assert len(world.sweep().failures) == 1
    turn = world.read(world.layout.build(SweepTurn(function="recover_spot")))
    assert (turn["holder"], turn["swept"] == earlier) == ("", silent)


def test_two_turns_are_never_taken_at_once(world):
    """The second finds it taken, or is too late to write."""
    assert turn_of(world, "one")
    assert turn_of(world, "two") is None
