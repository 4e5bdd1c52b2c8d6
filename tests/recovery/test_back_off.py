"""How long an attempt waits where no place is open."""

from datetime import timedelta

import pytest

from spotwarden.model.action import KeepWatch, LaunchInstances, RegisterInstance, Survey, Wait
from spotwarden.model.attempt import AttemptState
from spotwarden.model.jobfile import JobFile
from spotwarden.model.outcome import Rejected
from spotwarden.recovery.steps.asking import TRIES_KEPT, back_off_until
from tests.recovery.facts import NOW

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
STOCKOUT = "ZONE_RESOURCE_POOL_EXHAUSTED: no"
NONE_NOW = {LaunchInstances: Rejected(code="ZONE_RESOURCE_POOL_EXHAUSTED", message="no")}


@pytest.fixture
def waiting(some, asked):
    """A job whose second attempt backs off."""

    def build(*, tries=None, **facts):
        tries = (asked(error=STOCKOUT),) if tries is None else tries
        given = {"tries": tries, "replaces": {"test-vm": "1001"}, "created": NOW - MINUTE}
        attempt = {**given, **facts.pop("attempt", {})}
        record = some.attempt(2, AttemptState.BACKING_OFF, **attempt)
        return some.job(**{"ledger": (record,), "nodes": (), **facts})

    return build


@pytest.fixture
def wait_of(some, asked, limits, tick):
    """How long a job waits after its so-manieth try."""

    def wait(turn, job="test-vm"):
        attempt = some.attempt(2, job=job, tries=(asked(turn=turn),)).attempt
        return back_off_until(attempt, limits, tick.now) - tick.now

    return wait


@pytest.mark.parametrize(("turn", "times"), [(1, 1), (2, 2), (3, 4), (5, 16), (6, 20), (50, 20), (9999, 20)])
def test_a_back_off_doubles_up_to_its_ceiling(wait_of, limits, turn, times):
    """30 s, 60 s, 120 s … never more than the longest; up to a fifth is added, so that jobs spread."""
    base = limits.first_backoff * times
    assert base <= wait_of(turn) < base * 1.2


def test_jobs_do_not_come_back_all_at_once(wait_of):
    """The same job and turn always wait the same; another job waits otherwise."""
    assert wait_of(3) == wait_of(3)
    assert len({wait_of(3, f"job-{number}") for number in range(50)}) > 40


def test_an_attempt_that_asked_nobody_waits_for_the_first_span(some, limits, tick):
    """No place was open: that is the first turn."""
    until = back_off_until(some.attempt(2).attempt, limits, tick.now)
    assert limits.first_backoff <= until - tick.now < limits.first_backoff * 1.2


def test_an_attempt_that_backs_off_holds_no_lease(some, walk):
    """Whoever comes by when it is over goes on at once."""
    claimed = some.attempt(2, AttemptState.CLAIMED, replaces={"test-vm": "1001"})
    _, facts = walk(some.job(ledger=(claimed,), nodes=()), NONE_NOW)
    assert (facts.newest.state, facts.newest.lease) == (AttemptState.BACKING_OFF, None)


def test_a_back_off_is_waited_out_to_the_second(waiting, walk, step, tick):
    """One second early waits; on time asks again, under the next turn and a new request id."""
    assert isinstance(step(waiting(attempt={"not_before": tick.now + SECOND})), Wait)
    _, facts = walk(waiting(attempt={"not_before": tick.now}))
    first, second = facts.newest.tries
    assert (first.turn, second.turn) == (1, 2)
    assert first.request_id != second.request_id


@pytest.mark.parametrize(("left", "soon"), [(MINUTE - SECOND, True), (MINUTE, False)])
def test_only_a_back_off_that_ends_before_the_next_tick_is_asked_about_again(waiting, step, tick, left, soon):
    """An event need not come back for what a tick sees anyway."""
    waits = step(waiting(attempt={"not_before": tick.now + left}))
    assert waits.soon is soon
    assert STOCKOUT in waits.reason


def test_a_place_that_was_waited_for_is_asked_though_its_block_is_not_over(waiting, walk, asked, tick, some):
    """The one that was asked longest ago comes first."""
    tries = (
        asked(place="us-central1-b", error=STOCKOUT, at=tick.now - 2 * MINUTE),
        asked(error=STOCKOUT, at=tick.now - MINUTE, turn=2),
    )
    _, facts = walk(waiting(tries=tries, launch=some.launch("us-central1-b")))
    assert facts.newest.tries[-1].place == "us-central1-b"


def test_a_place_that_nobody_asked_comes_before_those_that_refused(waiting, walk, some):
    """Once the wait is over."""
    _, facts = walk(waiting(launch=some.launch("us-central1-b")))
    assert facts.newest.tries[-1].place == "us-central1-b"


def deadline(tick, policy, *, before):
    """A file whose deadline lets a job wait for spot for so long yet: an hour of work is left."""
    needed = HOUR + policy.placement.deadline_restarts * policy.placement.restart_cost
    return JobFile(work=HOUR, deadline=tick.now + needed + before)


@pytest.mark.parametrize(("before", "cut"), [(20 * SECOND, True), (40 * SECOND, False), (-HOUR, False)])
def test_a_deadline_cuts_the_back_off(some, walk, policy, tick, before, cut):
    """To the moment from which only on-demand VMs make it; once that is past, these are asked for anyway."""
    file = deadline(tick, policy, before=before)
    facts = some.job(
        ledger=(some.attempt(2, AttemptState.CLAIMED, replaces={"test-vm": "1001"}),), nodes=(), file=file
    )
    steps, known = walk(facts, NONE_NOW)
    assert isinstance(steps[-1], Wait)
    assert (known.newest.not_before == tick.now + before) is cut
    assert known.newest.not_before > tick.now
    assert known.newest.tries[-1].spot is (before > timedelta(0))


def test_a_job_that_waits_for_weeks_keeps_a_small_record(waiting, walk, asked):
    """The newest tries are kept, and the turn goes on counting."""
    tries = tuple(asked(error=STOCKOUT, turn=turn) for turn in range(1, TRIES_KEPT + 1))
    _, facts = walk(waiting(tries=tries))
    assert len(facts.newest.tries) == TRIES_KEPT
    assert facts.newest.tries[-1].turn == TRIES_KEPT + 1


def test_a_job_that_nobody_watches_is_put_on_the_list_while_it_waits(waiting, step):
    """A tick must come back to it."""
    assert isinstance(step(waiting(watched=None)), KeepWatch)


@pytest.mark.parametrize(
    "by_hand",
    [{"id": "3003"}, {"id": "1001", "job": "test-vm", "attempt": 1}],
    ids=["launched anew", "started again"],
)
def test_a_job_that_its_developer_revives_is_taken_as_it_runs(some, waiting, walk, tick, by_hand):
    """Nothing is asked for any more, even before the back-off is over."""
    alive = some.instance(**by_hand)
    facts = waiting(instances=(alive,), fetched=some.ran(alive), attempt={"not_before": tick.now + HOUR})
    steps, known = walk(facts, some.surveyed(alive))
    assert [type(one) for one in steps][:2] == [Survey, RegisterInstance]
    assert (known.newest.state, known.newest.instances) == (AttemptState.RUNNING, {"test-vm": by_hand["id"]})


def test_a_launch_that_was_cut_off_takes_the_vm_that_a_person_has_started_since(some, waiting, walk):
    """`submit --again` replaces nothing, and yet a second VM of the job must not be made beside the first."""
    over = some.attempt(1, AttemptState.STOPPED, instances={"test-vm": "1001"})
    asked_for = some.attempt(2, AttemptState.CLAIMED, replaces={}, lost=None, tries=())
    alive = some.instance(id="1001", job="test-vm", attempt=1)
    steps, known = walk(waiting(ledger=(over, asked_for), instances=(alive,)), some.surveyed(alive))
    assert LaunchInstances not in [type(step) for step in steps]
    assert (known.newest.state, known.newest.instances) == (AttemptState.RUNNING, {"test-vm": "1001"})


@pytest.mark.parametrize(
    "other",
    [{"job": "another"}, {"name": "their-vm"}, {"job": "test-vm", "attempt": 1}],
    ids=["another job's", "another name", "an older attempt's"],
)
def test_another_instance_is_no_revival(some, waiting, step, tick, other):
    """The back-off goes on."""
    theirs = some.instance(**{"id": "3003", **other})
    assert isinstance(step(waiting(instances=(theirs,), attempt={"not_before": tick.now + HOUR})), Wait)


def test_a_revival_that_is_gone_again_is_none(some, waiting, walk, tick):
    """The list is read anew before anything is written down."""
    by_hand = some.instance(id="3003")
    facts = waiting(instances=(by_hand,), fetched=some.ran(by_hand), attempt={"not_before": tick.now + HOUR})
    steps, _ = walk(facts, some.surveyed())
    assert [type(one) for one in steps] == [Survey, Wait]
