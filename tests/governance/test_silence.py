"""One function sees that another does not sweep any more, and tells ops: once a day, and nobody else."""

from datetime import timedelta

import msgspec
import pytest

from spotwarden.engine.turn import Turn
from spotwarden.governance.silence import SILENT, silent
from spotwarden.layout import SweepTurn
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.tick import Tick
from tests.fakes.trouble import unanswered
from tests.fakes.world import load
from tests.governance.caps.cap_world import CapWorld

KIND = "function_silent"
SECOND = timedelta(seconds=1)


@pytest.fixture
def world():
    """A project under cap_runtime, which has swept ten minutes ago, and whose ops are known."""
    world = CapWorld(load("cap_runtime"), governance=GovernanceLimits(ops="ops@example.com"))
    world.sweep()
    world.wait(minutes=10)
    return world


def swept(world, function, at, **more):
    """Write down when a function has come to its end."""
    turn = Turn(swept=at, **more)
    world.store(SweepTurn(function=function), msgspec.json.encode(turn))


def told(world):
    """The notices about silence."""
    return [one for one in world.notices() if one.kind == KIND]


@pytest.mark.parametrize(("ago", "count"), [(SILENT, 0), (SILENT + SECOND, 1)])
def test_an_hour_of_silence_is_told(world, ago, count):
    """To ops, with since when."""
    swept(world, "reap_vms", world.now - ago)
    world.sweep()
    assert len(told(world)) == count
    for notice in told(world):
        assert (notice.owner, notice.job) == ("ops@example.com", "")
        assert notice.evidence["last sweep"].startswith("reap_vms at ")


def test_it_is_told_once_a_day(world):
    """Each sweep finds the same; the next day is another."""
    swept(world, "reap_vms", world.now - 2 * SILENT)
    published = world.cloud.notices.messages
    world.sweep_for(hours=2)
    assert len(published) == 1
    world.sweep_for(hours=24)
    assert len(published) == 2


@pytest.mark.parametrize(("slept", "count"), [(SILENT, 1), (SILENT + SECOND, 0)])
def test_a_watcher_that_has_just_woken_accuses_nobody(world, slept, count):
    """A laptop that slept, a Scheduler that was paused: the others wake with it, or are told of."""
    world.sweep()
    swept(world, "reap_vms", world.now - 2 * SILENT)
    world.wait(seconds=slept.total_seconds())
    world.sweep()
    assert len(told(world)) == count
    world.wait(minutes=10)
    world.sweep()
    assert len(told(world)) == 1


def test_a_new_watcher_accuses_nobody_at_its_first_sweep():
    """It has not seen anybody's tick come and go yet."""
    new = CapWorld(load("cap_runtime"), governance=GovernanceLimits(ops="ops@example.com"))
    swept(new, "reap_vms", new.now - 2 * SILENT)
    new.sweep()
    assert told(new) == []
    new.wait(minutes=10)
    new.sweep()
    assert len(told(new)) == 1


def test_one_more_that_falls_silent_is_told_at_once(world):
    """It is news."""
    swept(world, "reap_vms", world.now - 2 * SILENT)
    world.sweep()
    swept(world, "recover_spot", world.now - 2 * SILENT)
    world.sweep()
    assert [one.evidence["last sweep"].count(" at ") for one in told(world)] == [1, 2]


def test_who_has_never_swept_is_not_known_to_be_silent(world):
    """The first tick of a new deployment is ten minutes away; Monitoring tells of one that never comes."""
    swept(world, "flag_idle_gpus", None)
    world.store(SweepTurn(function="check_compliance_event"), b"{}")
    world.store(SweepTurn(function="recover_spot"), b"no turn at all")
    world.sweep()
    assert told(world) == []


def test_a_function_does_not_tell_of_itself(world):
    """It sweeps, by being asked."""
    world.sweep()
    world.wait(hours=5)
    world.sweep()
    assert told(world) == []


def test_what_cannot_be_read_fails_and_stops_nothing(world):
    """The turn is given back, and says that this function has swept."""
    world.cloud.store.trouble.order("entries", unanswered(after_work=False), about="/turns/")
    with pytest.raises(ExceptionGroup):
        world.sweep()
    stored = world.cloud.store.read(world.layout.build(SweepTurn(function="cap_runtime")))
    assert msgspec.json.decode(stored.data, type=Turn).swept == world.now


@pytest.mark.parametrize(("waited", "lists"), [(SILENT / 2, 1), (SILENT / 2 + SECOND, 2)])
def test_turns_are_listed_again_only_where_somebody_may_be_silent(world, waited, lists):
    """Who has swept within half an hour is not silent within the next half."""
    listed, entries = [], world.cloud.store.entries

    def counted(prefix, **how):
        listed.append(prefix)
        return entries(prefix, **how)

    world.cloud.store.entries = counted
    swept(world, "reap_vms", world.now)
    world.sweep()
    world.wait(seconds=waited.total_seconds())
    world.sweep()
    assert listed.count(world.layout.turns()) == lists


def test_who_falls_silent_after_it_was_seen_is_told_as_soon(world):
    """Its last sweep is remembered for half an hour, and no longer."""
    swept(world, "reap_vms", world.now)
    world.sweep_for(hours=1)
    assert told(world) == []
    world.sweep_for(minutes=5)
    assert len(told(world)) == 1


def test_several_are_one_notice(world):
    """Ops get one message when the Scheduler stops, not five."""
    at = world.now - 2 * SILENT
    notice = silent(
        {"a": at, "b": at, "c": world.now},
        world.policy,
        Tick(function="cap_runtime", sweep="s", now=world.now),
    )
    assert notice.id.endswith("/a+b")
    assert "2 functions" in notice.what
