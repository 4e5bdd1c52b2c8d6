"""Jobs whose marker was lost: missed first, and started again once the log has had its time."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import KeepWatch, Tell, Wait
from spotwarden.model.attempt import AttemptState
from spotwarden.recovery.attempts import next_step
from spotwarden.recovery.observed.fates import Fate

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@pytest.fixture
def gone(some):
    """A job whose VM is not in the list, and nobody has said a word."""

    def build(*, history=(), since=None, **facts):
        node = some.node(marker=None, history=history, missing_since=since)
        return some.job(**{"nodes": (node,), **facts})

    return build


def test_a_missing_vm_is_first_noted_as_missing(gone, step, tick):
    """From the last look on, when it was still there; under the generation of the entry that was read."""
    last = tick.now - MINUTE
    noted = step(gone(last_sweep=last))
    assert isinstance(noted, KeepWatch)
    assert (noted.watch.whole, noted.watch.gone, noted.generation) == (last, True, 31)


def test_without_a_last_look_it_is_missed_since_its_entry_was_written(gone, step, tick):
    """Nothing newer is known."""
    assert step(gone()).watch.whole == tick.now - timedelta(hours=1)


def test_a_vm_that_is_noted_as_missing_is_waited_for(some, gone, step, tick):
    """The log gets its time, and the entry is not written again."""
    entry = some.watched(whole=tick.now - MINUTE, gone=True)
    assert isinstance(step(gone(watched=entry, since=tick.now - MINUTE)), Wait)


@pytest.mark.parametrize(("late", "lost"), [(timedelta(0), True), (SECOND, False)])
def test_a_missing_vm_is_lost_once_the_log_has_had_its_time(gone, claim_of, limits, tick, late, lost):
    """To the second; nobody deleted it, so it is started again."""
    one = claim_of(gone(since=tick.now - limits.log_delay + late))
    assert (not isinstance(one, Wait)) is lost
    if lost:
        assert (one.record.state, one.record.fate) == (AttemptState.PLACING, Fate.SILENT.value)
        assert "lost" in one.reason


def test_a_preemption_in_the_log_needs_no_wait(some, gone, claimed):
    """A lost marker costs the time to the next tick, no more."""
    record = claimed(gone(history=(some.operation(),)))
    assert record.markers == {}
    assert record.fate == Fate.PREEMPTED.value


@pytest.mark.parametrize("kind", ["delete", "stop", "compute.instances.guestTerminate"])
def test_a_vm_that_its_owner_removed_is_not_lost(some, gone, walk, kind):
    """The job is closed and its owner told, as with a marker."""
    steps, facts = walk(gone(history=(some.operation(kind),)))
    assert isinstance(steps[0], Tell)
    assert facts.newest.state is AttemptState.STOPPED


def test_an_entry_that_is_behind_the_ledger_is_brought_up_to_date_first(some, gone, step):
    """It says nothing of the newer attempt, which may have been lost at any time since it was asked for."""
    newer = some.attempt(2, instances={"test-vm": "1001"})
    noted = step(gone(ledger=(newer,), watched=some.watched(whole=newer.attempt.created)))
    assert isinstance(noted, KeepWatch)
    assert noted.watch.attempt == 2
    assert noted.watch.whole == newer.attempt.created


def test_a_vm_that_is_hidden_is_not_gone(some, walk, tick):
    """Its entry keeps from when on the log is to be read; then it is waited for, however long it takes."""
    hides = "unreachable: us-central1-a"
    for since in (None, tick.now - timedelta(days=1)):
        hidden = some.node(marker=None, history=(), unsure=hides, missing_since=since)
        steps, facts = walk(some.job(nodes=(hidden,), unsure=hides))
        assert isinstance(steps[-1], Wait)
        assert facts.newest.number == 1
        assert not facts.watched.watch.gone


def test_a_vm_that_was_hidden_is_missed_from_the_first_complete_list_on(some, gone, step, tick):
    """The log gets its time from then; from when on it must be read stays."""
    whole = tick.now - timedelta(hours=1)
    noted = step(gone(watched=some.watched(whole=whole)))
    assert isinstance(noted, KeepWatch)
    assert (noted.watch.whole, noted.watch.gone) == (whole, True)


def test_a_vm_that_is_back_is_whole_again(some, policy, tick):
    """The entry forgets that it was missed."""
    missed = some.watched(whole=some.marker().written, gone=True)
    whole = next_step(some.quiet(watched=missed), policy, replace(tick, patient=False))
    assert isinstance(whole, KeepWatch)
    assert whole.watch == replace(missed.watch, whole=None, gone=False, recorded=False)
