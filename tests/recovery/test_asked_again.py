"""A job that is being brought back, which its owner ends by gcloud and asks for again a moment later."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.cli.acting import stopping
from spotwarden.cli.launching.starting import AT_WORK_SECONDS
from spotwarden.layout import AttemptRecord
from spotwarden.model.attempt import AttemptState, Lease
from tests.fakes.fate import ZONES
from tests.fakes.world import GANG, KEPT, load
from tests.recovery.typed_commands import JOB, Typed

AGAIN = {
    "submit --again": ("submit", "create-instance.sh", "--again", "--job", JOB),
    "restart": ("restart", JOB),
}


@pytest.fixture(scope="session")
def reap():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


@pytest.fixture(params=[KEPT, GANG], ids=["a stopped VM", "a gang's survivor"])
def waiting(request, monkeypatch, tmp_path, recover, reap):
    """A job that waits for room anywhere, and of which one VM is still there to be deleted."""
    world = Typed(monkeypatch, tmp_path, recover, reap)
    world.script.write_bytes(request.param)
    assert world.type("submit", str(world.script), "--job", JOB).exit_code == 0
    world.settle(3)
    for zone in ZONES:
        world.cloud.compute.stock_out(zone)
    world.preempt(node=world.instances()[0].name)
    world.wait(minutes=1)
    return world


def in_flight(world):
    """Until the next attempt is on record; then there is room again."""
    world.sweep()
    for zone in ZONES:
        world.cloud.compute.restock(zone)
    return world.attempts()[-1]


def ends(world):
    """Its owner deletes every VM of it that is there."""
    for vm in world.instances():
        world.cloud.compute.owner_deletes(vm.id)
    world.wait(minutes=1)


@pytest.mark.parametrize("words", AGAIN.values(), ids=AGAIN)
def test_the_newer_word_counts(waiting, words):
    """Where the command says that it comes back it does; else it says that nothing was changed yet."""
    assert in_flight(waiting).state is not AttemptState.RUNNING
    ends(waiting)
    said = waiting.type(*words)
    if said.exit_code:
        assert "Nothing was changed" in said.output
        waiting.settle(8)
        said = waiting.type(*words)
    assert said.exit_code == 0, said.output
    waiting.settle(8)
    assert waiting.attempts()[-1].state is AttemptState.RUNNING
    assert sorted(waiting.alive()) == sorted(waiting.attempts()[-1].instances.values())


def test_a_delete_after_it_is_newer_still(waiting):
    """Whoever deletes all of it once it was asked for ends it."""
    in_flight(waiting)
    assert waiting.type(*AGAIN["submit --again"]).exit_code == 0
    ends(waiting)
    waiting.settle(8)
    assert waiting.attempts()[-1].state is AttemptState.STOPPED
    assert not waiting.alive()


def test_a_sweep_that_is_at_work_on_it_is_waited_for(waiting):
    """It would lose what it is about to write, and its lease would hold everybody up."""
    in_flight(waiting)
    ends(waiting)
    before, newest = waiting.cloud.clock.now(), waiting.attempts()[-1]
    lease = Lease(holder="a sweep", until=before + timedelta(minutes=5))
    waiting.store(
        AttemptRecord(job=JOB, attempt=newest.number), msgspec.json.encode(replace(newest, lease=lease))
    )
    waiting.type(*AGAIN["submit --again"])
    assert waiting.attempts()[-1].asked == before
    assert waiting.cloud.clock.now() - before >= timedelta(seconds=AT_WORK_SECONDS)


@pytest.mark.parametrize("first", [True, False], ids=["a stop comes first", "nobody stops it"])
def test_a_restart_that_a_stop_has_overtaken_says_so(waiting, monkeypatch, first):
    """The stop writes a record after that of the attempt which the restart asks for: both are written."""
    in_flight(waiting)
    carry_out = stopping.carry_out

    def overtaken(*arguments):
        monkeypatch.setattr(stopping, "carry_out", carry_out)
        if first:
            waiting.type("stop", JOB, "--yes")  # a VM that begins to run is refused a stop, and runs on
        return carry_out(*arguments)

    monkeypatch.setattr(stopping, "carry_out", overtaken)
    said = waiting.type(*AGAIN["restart"])
    assert waiting.attempts()[1].asked is not None
    assert said.exit_code == (1 if first else 0)
    assert (f"{JOB} is not started" in said.output) == first
    waiting.settle(8)
    wanted = AttemptState.STOPPED if first else AttemptState.RUNNING
    assert waiting.attempts()[-1].state is wanted
