"""Two launches of one job at once: whoever launches it, its VM finds that one's code and create script."""

import tarfile
from io import BytesIO

import pytest

from spotwarden.layout import Code, CreateScript
from tests.fakes.world import SCRIPT, load
from tests.long import some
from tests.recovery.interrupting import Interruption, killed
from tests.recovery.typed_commands import JOB, Stood, Typed

MOST_CALLS = 150


@pytest.fixture(scope="session")
def reap():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


class Team(Typed):
    """Ada and Bob, each with a create script and code of their own for the same job's name."""

    def write(self):
        """Their files; each script says in its machine type whose it is."""
        for who, text in {
            "ada": SCRIPT,
            "bob": SCRIPT + b"\n# bob's\n",
            "old": SCRIPT + b"\n# old\n",
        }.items():
            (self._folder / f"{who}.sh").write_bytes(text)
            (self._folder / who).mkdir(exist_ok=True)
            (self._folder / who / "train.py").write_text(who)

    def submits(self, who, *words, interruption=None):
        """Submit it as this person."""
        return self.type(
            "submit", str(self._folder / f"{who}.sh"), "--job", JOB, *words, interruption=interruption
        )

    def code(self):
        """Whose code the job has; "" for none."""
        stored = self.cloud.store.read(self.layout.build(Code(job=JOB)))
        if stored is None:
            return ""
        with tarfile.open(fileobj=BytesIO(stored.data)) as tar:
            return tar.extractfile("train.py").read().decode()

    def script_of(self):
        """Whose create script the job has; "" for none."""
        stored = self.cloud.store.read(self.layout.build(CreateScript(job=JOB)))
        if stored is None:
            return ""
        return "bob" if b"bob's" in stored.data else "old" if b"# old" in stored.data else "ada"


def before(world, first):
    """The job as it stands before both: unknown, or ended with files of its own."""
    world.write()
    if first:
        return
    assert world.submits("old", "--code", str(world._folder / "old")).exit_code == 0
    world.settle(3)
    world.ended("1")
    world.cloud.compute.delete("us-central1-a", world.vms()[0], "00000000-0000-4000-8000-000000000001")
    world.wait(minutes=1)


@pytest.fixture(params=[True, False], ids=["a new job", "--again"])
def worlds(request, monkeypatch, tmp_path, recover, reap):
    """As many worlds as a test wants, and whether the job is new in them."""
    stood = Stood()

    def build():
        with monkeypatch.context() as patch:
            world = Team(patch, tmp_path, recover, reap)
            world.stand(lambda: before(world, request.param), stood)
            yield world, request.param

    return build


def at_every_call(worlds, happen, *, after_work):
    """Ada submits; for every n: a new world in which that happens at her n-th call."""
    # A command reads more often than it changes anything: each change is looked at.
    calls = range(1, MOST_CALLS)
    for call in calls if after_work else some(calls):
        for world, first in worlds():
            again = () if first else ("--again",)
            interruption = Interruption(
                call, lambda world=world, call=call: happen(world, call), after_work=after_work
            )
            done = world.submits(
                "ada", "--code", str(world._folder / "ada"), *again, interruption=interruption
            )
            if not interruption.came:
                assert call > (4 if after_work else 15), "such a command makes more calls"
                return
            yield call, world, done, first
    raise AssertionError("the command makes more calls than that")


def launched(done):
    """Whether the command says that the job runs by it."""
    return done is not None and done.exit_code == 0 and " runs in " in done.output


BOBS = {"with code": True, "without code": False}


@pytest.mark.parametrize("with_code", BOBS.values(), ids=BOBS)
@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after a change"])
@pytest.mark.parametrize("pause", [0, 11], ids=["at once", "after eleven minutes"])
def test_the_vm_has_the_files_of_whoever_launched_it(worlds, pause, after_work, with_code):
    """Bob submits the same name, from any call of Ada's on, also where her laptop slept: never a mixture."""
    winners, said = set(), {}

    def bob(world, call):
        world.wait(minutes=pause)
        if pause:
            for _ in range(3):
                world.sweep()
        words = ("--code", str(world._folder / "bob")) if with_code else ()
        said[call] = world.submits("bob", *words, "--again")

    for call, world, done, first in at_every_call(worlds, bob, after_work=after_work):
        if "was interrupted while it replaced" in said[call].output:
            assert not with_code, call
            assert pause, call
            said[call] = world.submits("bob", "--code", str(world._folder / "bob"), "--again")
            assert (launched(said[call]), world.code()) == (True, "bob"), (call, said[call].output)
            continue
        winner = "bob" if launched(said[call]) else "ada"
        assert launched(done) == (winner == "ada"), (call, done.output, said[call].output)
        kept = "" if first else "old"
        assert world.script_of() == winner, (call, done.output)
        assert world.code() == ("ada" if winner == "ada" else "bob" if with_code else kept), call
        assert len(world.alive()) == 1, call
        loser = done if winner == "bob" else said[call]
        assert loser.exit_code == 1, (call, loser.output)
        assert any(
            words in loser.output
            for words in ("somebody else", "is already running", "another create script", "beside it")
        ), (call, loser.output)
        winners.add(winner)
    assert winners == {"ada", "bob"}


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after a change"])
def test_a_kill_leaves_no_half_of_a_launch_to_the_next(worlds, after_work):
    """From any call on that Ada's submit is killed at, sweeps pass, and Bob's brings all of his own."""
    for call, world, _, _first in at_every_call(worlds, lambda *_: killed(), after_work=after_work):
        world.swept()
        if world.alive():
            assert (world.script_of(), world.code()) == ("ada", "ada"), call
            continue
        done = world.submits("bob", "--code", str(world._folder / "bob"), "--again")
        assert launched(done), (call, done.output)
        assert (world.script_of(), world.code()) == ("bob", "bob"), call
        assert world.cloud.store.entries(world.layout.staged(JOB)) == [], call


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after a change"])
def test_a_restart_takes_no_half_of_a_launch(worlds, after_work):
    """Where Ada's submit was killed among the files that it put in place, it says so and launches nothing."""
    refused = 0
    for call, world, _, _first in at_every_call(worlds, lambda *_: killed(), after_work=after_work):
        world.swept()
        if world.alive():
            continue
        done = world.type("restart", JOB)
        if done.exit_code == 0:
            world.settle(3)
            assert (world.script_of(), world.code()) == ("old", "old"), call
        refused += "files were in place" in done.output
    assert refused


def test_an_attempt_under_way_is_gone_on_with_by_the_same_files_only(worlds):
    """With other code the second command says so and replaces nothing; with the same it goes on at once."""
    for world, _first in worlds():
        interruption = Interruption(
            next(
                call
                for call, other, _, _ in at_every_call(worlds, lambda *_: killed(), after_work=False)
                if other.attempts() and other.attempts()[-1].staged
            ),
            killed,
            after_work=False,
        )
        again = () if _first else ("--again",)
        world.submits("ada", "--code", str(world._folder / "ada"), *again, interruption=interruption)
        other = world.submits("ada", "--code", str(world._folder / "bob"), "--again")
        assert other.exit_code == 1
        assert "other files than these" in other.output
        assert world.alive() == []
        same = world.submits("ada", "--code", str(world._folder / "ada"), "--again")
        assert (world.script_of(), world.code()) == ("ada", "ada")
        assert same.exit_code == 0 or "still being created" in same.output
