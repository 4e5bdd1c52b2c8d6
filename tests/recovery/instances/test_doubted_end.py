"""A status code is a hint: Compute Engine's facts must agree, or the owner is told."""

from datetime import timedelta

import pytest

from spotwarden.model.attempt import AttemptState

LIMIT = timedelta(minutes=5)
SECOND = timedelta(seconds=1)


@pytest.fixture
def seen(world):
    """A job that a sweep has seen run."""
    world.settle()
    return world


def states(world):
    """The states of all attempts, oldest first."""
    return [attempt.state for attempt in world.attempts()]


def test_a_status_does_not_close_the_ledger_while_the_vm_runs(seen):
    """A forged marker makes a sweep look; the job stays on record as one that runs."""
    seen.ended()
    seen.store("preempted-jobs/test-vm", b"")
    seen.settle(10)
    assert states(seen) == [AttemptState.RUNNING]
    assert seen.names("spotwarden/open/") == ["spotwarden/open/test-vm.json"]
    assert seen.names("preempted-jobs/") == []
    assert len(seen.vms()) == 1


@pytest.mark.parametrize("marker", [True, False])
def test_of_a_status_long_before_its_vm_was_taken_the_owner_is_told(seen, marker):
    """Nothing is launched against it, and nobody is left without a word."""
    seen.ended()
    seen.wait(minutes=20)
    if marker:
        seen.preempt()
    else:
        seen.cloud.compute.preempt("test-vm")
    seen.settle(6)
    assert seen.notices() == ["end_doubted"]
    assert states(seen) == [AttemptState.ENDED]
    assert (seen.names("preempted-jobs/"), seen.names("spotwarden/open/"), seen.vms()) == ([], [], [])


@pytest.mark.parametrize(("before", "told"), [(LIMIT, False), (LIMIT + SECOND, True)])
def test_a_status_up_to_five_minutes_before_the_vm_was_taken_is_its_own(seen, before, told):
    """A job may be preempted while it copies its last files."""
    seen.ended()
    seen.cloud.clock.advance(before)
    seen.preempt()
    seen.settle(6)
    assert ("end_doubted" in seen.notices()) is told
    assert states(seen) == [AttemptState.ENDED]


@pytest.mark.parametrize(("after", "told"), [(LIMIT, False), (LIMIT + SECOND, True)])
def test_a_status_that_comes_when_no_vm_of_the_job_runs_is_doubted(seen, after, told):
    """Its successor waits for a place meanwhile, and is not asked for any more."""
    for zone in seen.cloud.compute.zones:
        seen.cloud.compute.stock_out(zone)
    seen.preempt()
    seen.wait(seconds=31)
    seen.sweep()
    seen.cloud.clock.advance(after - timedelta(seconds=31))
    seen.ended()
    seen.sweep()
    assert ("end_doubted" in seen.notices()) is told
    assert states(seen)[-1] is AttemptState.ENDED


def test_what_was_started_again_stands_on_the_record_that_a_status_ends(kept):
    """Any job VM may write that status: what goes on is known to be the job's, and is not an orphan."""
    kept.settle()
    [vm] = kept.instances()
    kept.preempt()
    kept.wait(seconds=31)
    kept.sweep()
    kept.ended()
    kept.settle(3)
    newest = kept.attempts()[-1]
    assert (newest.state, newest.instances) == (AttemptState.ENDED, {"test-vm": vm.id})


@pytest.mark.parametrize("how", ["owner_deletes", "owner_stops", "power_off"])
def test_a_vm_that_goes_by_itself_or_by_somebody_long_after_its_status_needs_no_word(seen, how):
    """Compute Engine did not take it: a job that has ended is tidied up so."""
    seen.ended()
    seen.wait(minutes=20)
    getattr(seen.cloud.compute, how)("test-vm")
    seen.settle(4)
    assert states(seen) == [AttemptState.ENDED]
    assert seen.notices() == []


def test_while_the_log_lags_an_old_status_waits_for_it(seen):
    """Then the log tells that Compute Engine took the VM."""
    seen.ended()
    seen.wait(minutes=20)
    seen.cloud.compute.let_the_log_lag(timedelta(minutes=8))
    seen.preempt()
    seen.settle(6)
    assert states(seen) == [AttemptState.RUNNING]
    seen.settle(6)
    assert states(seen) == [AttemptState.ENDED]
    assert seen.notices() == ["end_doubted"]


def test_a_gang_with_a_status_is_not_over_while_a_node_of_it_runs(gang):
    """The first node writes it for all; who was first to go does not end the others' record."""
    gang.settle()
    gang.ended()
    gang.cloud.compute.owner_deletes("gang-2", user="job@p.iam.gserviceaccount.com")
    gang.settle(4)
    assert states(gang) == [AttemptState.RUNNING]
    gang.cloud.compute.owner_deletes("gang-1", user="job@p.iam.gserviceaccount.com")
    gang.settle(4)
    assert states(gang) == [AttemptState.ENDED]
