"""The chain is exclusive: of whoever launches, restarts, recovers and stops one job, one comes first."""

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.engine.executor import Executor
from spotwarden.layout import AttemptRecord
from spotwarden.model.action import LaunchInstances, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.base_action import CloseJob
from spotwarden.model.outcome import Done, Lost, Unanswered
from spotwarden.model.request import Request
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.recovery.folder.chain import as_told, told
from tests.fakes.fate import ZONES
from tests.fakes.trouble import unanswered
from tests.fakes.world import load
from tests.recovery.interrupting import Door, Interruption
from tests.recovery.typed_commands import Typed

RECORDS = r"^test-vm/metadata/attempts/"


@pytest.fixture
def executor(world):
    """What carries out the actions of one sweep."""
    tick = Tick(function="recover_spot", sweep="s", now=world.cloud.clock.now())
    return Executor(world.cloud.ports(), world.layout, world.policy, tick, write_line=lambda *_, **__: None)


def record(world, number=1, state=AttemptState.RUNNING, **facts):
    """Put an attempt on record; gives it, and its generation."""
    now = world.cloud.clock.now()
    made = Attempt(job="test-vm", number=number, state=state, created=now, updated=now, **facts)
    return made, world.store(AttemptRecord(job="test-vm", attempt=number), msgspec.json.encode(made))


def following(first, after, **facts):
    """The creation of the next record."""
    made = replace(first, number=first.number + 1, state=AttemptState.CLAIMED, **facts)
    return WriteAttempt(reason="", record=made, generation=0, after=after)


def test_a_record_follows_the_one_that_was_read(world, executor):
    """As it was read: who has read an older state of it comes second."""
    first, generation = record(world)
    assert isinstance(executor.apply(following(first, generation - 1)), Lost)
    assert isinstance(executor.apply(following(first, 0)), Lost)
    assert isinstance(executor.apply(following(first, generation)), Done)
    assert isinstance(executor.apply(following(first, generation)), Lost)
    assert [one.number for one in world.records()] == [1, 2]


def test_the_first_record_follows_none(world, executor):
    """Where there is one by now, somebody else was first."""
    first, _ = record(world)
    again = WriteAttempt(reason="", record=replace(first, number=2), generation=0, after=0)
    assert isinstance(executor.apply(again), Lost)


def test_a_record_whose_predecessor_cannot_be_listed_is_not_written(world, executor):
    """Nothing is gone on with that was not read again, in the same step."""
    first, generation = record(world)
    world.cloud.store.trouble.order("entries", unanswered(after_work=False), about=RECORDS)
    assert isinstance(executor.apply(following(first, generation)), Unanswered)
    assert len(world.records()) == 1


@pytest.fixture
def launching(world):
    """A request of the second attempt, and the generation of its record."""

    def build(generation):
        vm = world.cloud.compute.vms.living[world.first]
        path = "/compute/v1/projects/p/zones/us-central1-b/instances"
        request = Request(method="POST", path=path, query={}, body=vm.body)
        return LaunchInstances(
            reason="", job="test-vm", attempt=1, generation=generation, request=request, request_id="r"
        )

    return build


def test_a_request_is_sent_only_for_the_newest_record_as_it_was_read(world, executor, launching):
    """A stop that came since is the next record."""
    tried = Try(place="us-central1-b", request_id="r", at=world.cloud.clock.now())
    first, generation = record(world, state=AttemptState.PLACING, tries=(tried,))
    assert isinstance(executor.apply(launching(generation - 1)), Lost)
    assert isinstance(executor.apply(CloseJob(reason="by its owner", job="test-vm")), Done)
    assert isinstance(executor.apply(launching(generation)), Lost)
    assert len(world.vms()) == 1
    stopped = world.records()[-1]
    assert (stopped.number, stopped.state, stopped.reason) == (2, AttemptState.STOPPED, "by its owner")
    assert world.records()[0] == first


def test_a_request_whose_record_cannot_be_listed_is_not_sent(world, executor, launching):
    """It may have been stopped meanwhile."""
    _, generation = record(world, state=AttemptState.PLACING)
    world.cloud.store.trouble.order("entries", unanswered(after_work=False), about=RECORDS)
    assert isinstance(executor.apply(launching(generation)), Unanswered)
    assert len(world.vms()) == 1
    assert isinstance(executor.apply(launching(generation)), Done)


def test_a_job_that_is_over_is_not_closed_twice(world, executor):
    """Nor one of which nothing is on record."""
    assert isinstance(executor.apply(CloseJob(reason="", job="nobody")), Done)
    record(world, state=AttemptState.ENDED)
    executor.apply(CloseJob(reason="", job="test-vm"))
    assert [one.state for one in world.records()] == [AttemptState.ENDED]


def test_a_stop_belongs_to_the_attempt_that_it_ends(world):
    """So people see it; what nobody launched before it stands for itself."""
    first, _ = record(world, instances={"test-vm": "1"})
    stop = replace(first, number=2, state=AttemptState.STOPPED, instances={}, reason="wrong data")
    [seen] = told([first, stop])
    assert (seen.number, seen.state, seen.reason) == (1, AttemptState.STOPPED, "wrong data")
    assert (seen.instances, told([stop])) == (first.instances, (stop,))
    over = replace(first, state=AttemptState.ENDED)
    assert told([over, stop]) == (over, stop)


def test_facts_that_are_shown_keep_what_they_know(some):
    """Only the records that end another are folded into it."""
    one = some.attempt(1, instances={"test-vm": "1001"})
    stop = some.attempt(2, AttemptState.STOPPED, reason="by ada")
    facts = as_told(some.job(ledger=(one, stop)))
    assert [(item.number, item.state) for item in [each.attempt for each in facts.ledger]] == [
        (1, AttemptState.STOPPED)
    ]
    assert as_told(some.job()) == some.job()


# --- whole commands, at every moment of one another ---


@pytest.fixture(scope="module")
def reap():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


@pytest.fixture
def typed(monkeypatch, tmp_path, recover, reap):
    """As many new projects as a test wants, each with a developer at a shell."""

    def build():
        with monkeypatch.context() as patch:
            yield Typed(patch, tmp_path, recover, reap)

    return build


SUBMIT = ("submit", "create-instance.sh")


def told_of(world):
    """What a command says of the attempt that runs."""
    [vm] = world.instances()
    return f"test-vm: attempt 1 runs in {vm.zone} as instance {vm.id}"


def test_two_submits_at_once_make_one_vm(typed):
    """Whenever the second comes: the window of the upload included."""
    for call in range(1, 60):
        for world in typed():
            others = []
            interruption = Interruption(
                call, lambda world=world, to=others: to.append(world.type(*SUBMIT)), after_work=False
            )
            done = world.type(*SUBMIT, interruption=interruption)
            if not interruption.came:
                assert call > 15
                return
            world.swept()
            assert len(world.alive()) == 1, call
            assert [one.number for one in world.attempts()] == [1], call
            said = [line for one in (done, *others) if one.exit_code == 0 for line in one.output.splitlines()]
            assert {line for line in said if "runs in" in line} <= {told_of(world)}, call


def test_a_submit_of_another_script_does_not_go_on_with_somebody_elses_launch(typed):
    """It would store its own script over the one that is being launched."""
    for world in typed():
        for zone in ZONES:
            world.cloud.compute.stock_out(zone)
        stored = world.script.read_bytes()
        world.type(*SUBMIT)
        world.script.write_bytes(stored.replace(b"g2-standard-4", b"g2-standard-8"))
        refused = world.type(*SUBMIT)
        assert refused.exit_code == 1
        assert "is being launched from another create script" in refused.output
        kept = world.cloud.store.read("test-vm/metadata/create-instance.sh")
        assert kept.data == stored


def test_a_stop_at_any_moment_of_a_claim_that_fails_then_keeps_the_job_stopped(new_world):
    """The claim's look at the chain fails, or its sweep dies: the next sweep brings nothing back."""
    for call in range(1, 40):
        world = new_world()
        world.settle(2)
        world.preempt()
        world.wait(seconds=40)

        def stop(world=world):
            tick = Tick(function="cli_stop", sweep="stop", now=world.cloud.clock.now())
            ports = world.cloud.ports()
            Executor(ports, world.layout, world.policy, tick, write_line=lambda *_, **__: None).apply(
                CloseJob(reason="by its owner", job="test-vm")
            )
            for asked in ("read", "entries"):
                world.cloud.store.trouble.order(asked, unanswered(after_work=False), about=RECORDS)

        interruption = Interruption(call, stop, after_work=False)
        world.sweep_over(_through(world, interruption))
        if not interruption.came:
            assert call > 10
            return
        world.cloud.store.trouble.calm()
        placed = [one for one in world.records() if one.tries]
        world.wait(minutes=6)
        world.settle(12)
        assert world.records()[-1].state is AttemptState.STOPPED, call
        living = [one for one in world.instances() if one.attempt is not None]
        assert living == [] or placed, call


def _through(world, interruption):
    ports = world.cloud.ports()
    return Cloud(
        store=Door(ports.store, interruption),
        compute=Door(ports.compute, interruption),
        notices=Door(ports.notices, interruption),
        metrics=ports.metrics,
        mailer=ports.mailer,
    )
