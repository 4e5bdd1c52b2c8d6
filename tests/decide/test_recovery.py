"""The truth table of recovery, row by row and on both sides of every limit."""

from datetime import timedelta

import pytest

from spotwarden.decide.recovery import TABLE, Fate, Now, Verdict, judge
from spotwarden.model.instance import Status

LATER = timedelta(seconds=1)


def test_every_pair_of_facts_has_a_verdict():
    """The table leaves no case open."""
    for fate in Fate:
        for now in Now:
            assert any(row.fate in {None, fate} and row.now in {None, now} for row in TABLE), (fate, now)


def test_no_row_is_shadowed():
    """Each row decides at least one case that no row above it decides."""
    cases = [(fate, now) for fate in Fate for now in Now]
    for row in TABLE:
        mine = [case for case in cases if row.fate in {None, case[0]} and row.now in {None, case[1]}]
        cases = [case for case in cases if case not in mine]
        assert mine, row


@pytest.mark.parametrize("kind", ["compute.instances.preempted", "compute.instances.hostError"])
def test_an_instance_taken_by_compute_engine_is_recovered(some, limits, tick, kind):
    """A preemption or a host error, and the instance gone: start the job again."""
    facts = some.node(history=(some.operation(kind),))
    assert judge(facts, limits, tick).verdict is Verdict.RECOVER


def test_a_preemption_followed_by_its_own_delete_is_recovered(some, limits, tick):
    """With the termination action DELETE the log holds both, and the preemption counts."""
    facts = some.node(history=(some.operation("delete"), some.operation()))
    assert judge(facts, limits, tick).verdict is Verdict.RECOVER


@pytest.mark.parametrize("kind", ["delete", "stop", "compute.instances.guestTerminate"])
def test_an_instance_that_somebody_deleted_is_not_brought_back(some, limits, tick, kind):
    """A shutdown marker of a VM that its owner removed closes the job."""
    facts = some.node(history=(some.operation(kind),))
    assert judge(facts, limits, tick).verdict is Verdict.CLOSE


def test_an_instance_that_is_still_stopping_waits(some, limits, tick):
    """The name is taken until the old instance is really gone."""
    facts = some.node(instance=some.instance(status=Status.STOPPING))
    assert judge(facts, limits, tick).verdict is Verdict.WAIT


def test_a_stopped_instance_that_keeps_its_name_waits(some, limits, tick):
    """A preempted instance with the action STOP cannot be created anew."""
    facts = some.node(instance=some.instance(status=Status.TERMINATED))
    assert judge(facts, limits, tick).verdict is Verdict.WAIT


def test_an_incomplete_list_waits_and_says_what_is_missing(some, limits, tick):
    """Not in the list is not gone, while a zone did not answer."""
    judgement = judge(some.node(unsure="unreachable: us-central1-a"), limits, tick)
    assert judgement.verdict is Verdict.WAIT
    assert "us-central1-a" in judgement.why


def test_an_instance_that_is_seen_alive_counts_even_in_an_incomplete_list(some, limits, tick):
    """What a list does show is true."""
    facts = some.node(instance=some.instance(), history=(), unsure="unreachable: europe-west4-a")
    assert judge(facts, limits, tick).verdict is Verdict.CLEAR


def test_a_rebooted_instance_clears_its_marker_from_the_settle_time_on(some, limits, tick):
    """Alive for the whole settle time after marker and start: it was a reboot."""
    settled = tick.now - limits.settle
    facts = some.node(
        instance=some.instance(started=settled), marker=some.marker(written=settled), history=()
    )
    assert judge(facts, limits, tick).verdict is Verdict.CLEAR


@pytest.mark.parametrize("young", ["started", "written"])
def test_a_rebooted_instance_one_second_short_of_the_settle_time_waits(some, limits, tick, young):
    """Neither a fresh marker nor a fresh start is trusted yet."""
    old, fresh = tick.now - timedelta(hours=1), tick.now - limits.settle + LATER
    facts = some.node(
        instance=some.instance(started=fresh if young == "started" else old),
        marker=some.marker(written=fresh if young == "written" else old),
        history=(),
    )
    assert judge(facts, limits, tick).verdict is Verdict.WAIT


def test_another_instance_of_the_same_name_counts_as_the_node(some, limits, tick):
    """A node that is alive under a newer id is not started a second time."""
    facts = some.node(namesakes=(some.instance(id="2002"),))
    assert judge(facts, limits, tick).verdict is Verdict.CLEAR


def test_a_silent_log_is_waited_for(some, limits, tick):
    """One second before the log's time is up, nothing is concluded from its silence."""
    facts = some.node(history=(), marker=some.marker(written=tick.now - limits.log_delay + LATER))
    assert judge(facts, limits, tick).verdict is Verdict.WAIT


def test_a_log_that_stays_silent_means_recovery(some, limits, tick):
    """Gone, marked, and nobody deleted it in all the time the log had."""
    facts = some.node(history=(), marker=some.marker(written=tick.now - limits.log_delay))
    assert judge(facts, limits, tick).verdict is Verdict.RECOVER
