"""Commands that are interrupted or killed before and after every call: nothing is lost, nothing is double."""

from collections import defaultdict

import pytest

from spotwarden.model.attempt import AttemptState
from tests.fakes.world import load
from tests.long import some
from tests.recovery.interrupting import Interruption, ctrl_c, killed, offline
from tests.recovery.typed_commands import JOB, RUN_WORDS, Stood, Typed

MOST_CALLS = 150
ENDS = {"SIGINT": ctrl_c, "SIGKILL": killed}


@pytest.fixture(scope="session")
def reap():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


@pytest.fixture
def worlds(monkeypatch, tmp_path, recover, reap):
    """As many worlds as a test wants, each with the things as they stand before the command."""
    stood = defaultdict(Stood)

    def build(before):
        with monkeypatch.context() as patch:
            world = Typed(patch, tmp_path, recover, reap)
            world.stand(lambda: before(world), stood[before])
            yield world

    return build


def nothing(_world):
    """A project without a job."""


COMMANDS = {
    "submit": (nothing, ("submit", "create-instance.sh")),
    "submit --again": (Typed.left, ("submit", "create-instance.sh", "--again")),
    "run": (nothing, RUN_WORDS),
    "restart": (Typed.left, ("restart", JOB)),
}


@pytest.fixture(params=COMMANDS)
def launching(request):
    """What stands before, and a command that launches."""
    return COMMANDS[request.param]


def at_every_call(worlds, command, happen, *, after_work):
    """For every n: a new world in which that happens at the command's n-th call."""
    before, words = command
    # A command reads more often than it changes anything: each change is looked at.
    calls = range(1, MOST_CALLS)
    for call in calls if after_work else some(calls[1:]):
        for world in worlds(before):
            interruption = Interruption(call, lambda world=world: happen(world), after_work=after_work)
            done = world.type(*words, interruption=interruption)
            if not interruption.came:
                assert call > (4 if after_work else 15), "such a command makes more calls"
                return
            yield call, world, done
    raise AssertionError("the command makes more calls than that")


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after a change"])
@pytest.mark.parametrize("end", ENDS)
def test_sweeps_alone_bring_an_interrupted_launch_to_the_end_that_was_told(
    worlds, launching, end, after_work
):
    """It runs once it is on record with its files in place; before that it is at rest, never queued."""
    ends = set()
    for call, world, done in at_every_call(worlds, launching, lambda _: ENDS[end](), after_work=after_work):
        number = len(world.attempts())
        placed = not number or not world.attempts()[-1].staged
        if done is not None and number:
            assert world.attempts()[-1].lease is None, (call, "the lease was not given back")
        world.swept()
        assert world.runs() or world.is_at_rest(), (call, world.attempts(), world.entry())
        ends.add(world.runs())
        if done is not None:
            assert_told(call, world, done)
        recorded = number > len([one for one in world.attempts() if one.state is AttemptState.ENDED])
        assert world.runs() == (recorded and placed), (call, number, world.attempts())
    assert ends == {False, True}


def assert_told(call, world, done):
    """What Ctrl-C said is what came; where the command was done, it had nothing to say."""
    if "interrupted" not in done.output:
        assert done.exit_code == 0, (call, done.output)
        return
    assert done.exit_code == 130, (call, done.output)
    if "each minute's tick continues it" in done.output:
        assert world.runs(), (call, done.output)
    if "nothing was stored or launched" in done.output or "nothing was changed" in done.output:
        assert world.is_at_rest(), (call, done.output)


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after a change"])
@pytest.mark.parametrize("end", ENDS)
def test_the_same_command_again_goes_on(worlds, launching, end, after_work):
    """At once: it runs, on one VM, and no attempt more than was asked for."""
    before, words = launching
    for call, world, _ in at_every_call(worlds, launching, lambda _: ENDS[end](), after_work=after_work):
        world.wait(seconds=5)
        again = world.type(*words)
        assert (
            again.exit_code == 0
            or "is already running" in again.output
            or "still being created" in again.output
        ), (
            call,
            again.output,
        )
        world.swept()
        assert world.runs(), (call, world.attempts())
        assert len(world.attempts()) == (1 if before is nothing else 2), call


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after a change"])
@pytest.mark.parametrize("pause", [0, 11], ids=["at once", "after eleven minutes"])
def test_sweeps_between_any_two_calls_disturb_no_launch(worlds, launching, pause, after_work):
    """A laptop that sleeps for eleven minutes finds its launch undone, or brought to its end."""

    def meanwhile(world):
        world.wait(minutes=pause)
        for _ in range(3):
            world.sweep()

    for call, world, done in at_every_call(worlds, launching, meanwhile, after_work=after_work):
        assert done.exit_code == 0 or pause, (call, done.output)
        said = ("meanwhile", "somebody else", "still being created")
        assert done.exit_code == 0 or any(words in done.output for words in said), (call, done.output)
        world.swept()
        assert world.runs() or (done.exit_code and world.is_at_rest()), (call, done.output, world.attempts())


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after a change"])
def test_a_command_that_is_offline_from_any_call_on_says_what_holds(worlds, launching, after_work):
    """One line on why, one on how to go on, status 1; the sweeps bring the job to its end all the same."""
    words = ("nothing", "on record", "again", "`spotwarden show")
    for call, world, done in at_every_call(worlds, launching, lambda _: offline(), after_work=after_work):
        if done.exit_code == 0:
            assert world.runs(), (call, done.output)
            continue
        assert (done.exit_code, type(done.exception)) == (1, SystemExit), (call, done.output, done.exception)
        assert any(word in done.output for word in words), (call, done.output)
        world.swept()
        assert world.runs() or world.is_at_rest(), (call, world.attempts())


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after a change"])
def test_a_stop_between_any_two_calls_of_a_launch_is_not_lost(worlds, launching, after_work):
    """Where it says that it closes the job, nothing brings it back, and the same stop again finds it over."""
    said = []

    def stop(world):
        entry = world.entry() or {}
        is_begun = entry.get("attempt", 0) > len(world.attempts())
        said.append(world.type("stop", JOB, "--yes").output)
        assert "closed as stopped" in said[-1] or not is_begun

    for call, world, _ in at_every_call(worlds, launching, stop, after_work=after_work):
        world.swept()
        if "closed as stopped" in said[-1]:
            assert world.attempts()[-1].state is AttemptState.STOPPED, (call, said[-1])
            # A request that was sent only after the stop had looked makes a VM that stands on no record.
            assert world.type("stop", JOB, "--yes").exit_code == 0
            world.swept()
            assert world.is_at_rest(), (call, said[-1], world.attempts())
        else:
            assert world.runs(), (call, said[-1])
    assert any("closed as stopped" in text for text in said)


STOPS = {"stop": (Typed.launched, ("stop", JOB, "--yes"))}


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after a change"])
@pytest.mark.parametrize("end", ENDS)
def test_an_interrupted_stop_is_not_undone_and_is_finished_by_the_same_command(worlds, end, after_work):
    """Once it is in the ledger nothing brings the job back; what it says is so."""
    for call, world, done in at_every_call(
        worlds, STOPS["stop"], lambda _: ENDS[end](), after_work=after_work
    ):
        closed = world.attempts()[-1].state is AttemptState.STOPPED
        if done is not None and "interrupted" in done.output:
            assert done.exit_code == 130
            assert closed or "nothing was changed" in done.output or "we couldn't check" in done.output, call
        world.swept()
        assert (world.attempts()[-1].state is AttemptState.STOPPED) == closed, call
        again = world.type("stop", JOB, "--yes")
        assert again.exit_code == 0, (call, again.output)
        world.swept()
        assert world.attempts()[-1].state is AttemptState.STOPPED, call
        assert world.is_at_rest(), call
        assert len(world.attempts()) == 1, call
