"""How much a job may still have, on both sides of every limit."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import EndWatch, LaunchInstances, Tell, WriteAttempt
from spotwarden.model.attempt import AttemptState, Removal
from spotwarden.model.jobfile import JobFile, SavedProgress
from spotwarden.recovery.attempts import next_step
from spotwarden.recovery.kinds.bounds import LONGEST, remaining_work, time_left, time_up, work_left
from spotwarden.recovery.observed.fates import Fate

HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
PREEMPTED = Fate.PREEMPTED.value


def gives_up(steps):
    """Whether a person is told, and it is written down that we stopped."""
    kinds = [type(one) for one in steps]
    return kinds[:2] == [Tell, WriteAttempt] and steps[1].record.state is AttemptState.GAVE_UP


def restarted(some, times, fate=Fate.SILENT):
    """The ledger of a job that we have started so often, after ends like this."""
    numbers = range(2, times + 2)
    again = [some.attempt(one, lost=some.marker().written, fate=fate.value) for one in numbers]
    return (some.attempt(1, instances={"test-vm": "1001"}), *again)


@pytest.fixture
def ends(some):
    """A job with this ledger and file, whose newest VM went without a word, or was taken as `fate` says."""
    kinds = {Fate.PREEMPTED: "compute.instances.preempted", Fate.HOST_ERROR: "compute.instances.hostError"}

    def build(ledger, file=JobFile(), fate=Fate.SILENT):
        history = (some.operation(kinds[fate]),) if fate in kinds else ()
        return some.job(ledger=ledger, file=file, nodes=(some.node(history=history),))

    return build


@pytest.mark.parametrize("said", [None, 3, 0])
def test_as_many_restarts_are_made_as_policy_or_job_say(some, ends, walk, claimed, limits, said):
    """The last one is made, one more is not; the job's own word comes first."""
    most = limits.max_restarts if said is None else said
    file = JobFile(max_restarts=said)
    if most:
        assert claimed(ends(restarted(some, most - 1), file)).number == most + 1
    steps, _ = walk(ends(restarted(some, most), file))
    assert gives_up(steps)
    assert steps[1].record.number == most + 2
    assert f"restarted {most} times" in steps[1].record.reason


@pytest.mark.parametrize("taken", [Fate.PREEMPTED, Fate.HOST_ERROR])
def test_what_compute_engine_takes_uses_up_no_restart(some, ends, claimed, limits, taken):
    """Neither the losses before nor this one, however many: a healthy job may lose one each hour."""
    before = restarted(some, 10 * limits.max_restarts, taken)
    assert claimed(ends(before)).number == len(before) + 1
    assert claimed(ends(before, fate=taken)).number == len(before) + 1
    spent = restarted(some, limits.max_restarts)
    assert claimed(ends(spent, fate=taken)).number == len(spent) + 1


@pytest.mark.parametrize("taken", [Fate.PREEMPTED, Fate.HOST_ERROR])
@pytest.mark.parametrize("said", ["policy", "job"])
def test_preemptions_have_a_bound_of_their_own_where_somebody_sets_it(some, ends, policy, tick, said, taken):
    """The last one is made, one more is not; ends of the job's own do not count toward it."""
    file = JobFile(max_preemptions=3 if said == "job" else None)
    recovery = replace(policy.recovery, max_preemptions=1000 if said == "job" else 3)
    bounded = replace(policy, recovery=recovery)

    def begins(times):
        known = replace(ends(restarted(some, times, taken), file, taken), surveyed=True)
        return next_step(known, bounded, tick)

    assert begins(2).record.state is AttemptState.PLACING
    assert isinstance(begins(3), Tell)
    assert "3 times after preemptions" in begins(3).reason
    own = replace(ends(restarted(some, 3), file, taken), surveyed=True)
    assert next_step(own, bounded, tick).record.state is AttemptState.PLACING


def test_a_job_that_its_developer_launched_again_starts_to_count_anew(some, ends, claimed, limits):
    """What we did for the former launch is over."""
    ledger = restarted(some, limits.max_restarts)
    number = len(ledger) + 1
    by_hand = some.attempt(number, seen=True, instances={"test-vm": "1001"})
    assert claimed(ends((*ledger, by_hand))).number == number + 1


def test_a_job_that_is_given_up_leaves_the_list_and_keeps_its_marker_answered(some, walk):
    """Nothing is looked at any more."""
    steps, facts = walk(some.job(file=JobFile(max_preemptions=0)))
    assert isinstance(steps[-1], EndWatch)
    assert facts.newest.markers == {"test-vm": 11}


@pytest.fixture
def short(some, limits, tick):
    """A job of two lives, each shorter than the limit by so much; how each ended may be said."""

    def build(by=SECOND, fates=(Fate.SILENT.value, Fate.SILENT), moved=None):
        lived = limits.short_life - by
        second = tick.now - HOUR
        first = second - HOUR
        ledger = (
            some.attempt(1, started=first),
            some.attempt(2, started=second, lost=first + lived, fate=fates[0], instances={"test-vm": "1001"}),
        )
        kind = {Fate.PREEMPTED: "compute.instances.preempted", Fate.HOST_ERROR: "compute.instances.hostError"}
        history = (some.operation(kind[fates[1]], at=second + lived),) if fates[1] in kind else ()
        node = some.node(history=history, marker=some.marker(written=second + lived))
        at = None if moved is None else first + moved
        return some.job(ledger=ledger, nodes=(node,), progress=SavedProgress(at=at))

    return build


def test_two_short_lives_in_a_row_are_a_crash_loop(short, walk):
    """A job that does not survive its own start is not started for ever."""
    steps, _ = walk(short())
    assert gives_up(steps)
    assert "crashes" in steps[1].record.reason


def test_lives_as_long_as_the_limit_are_none(short, claimed):
    """One second longer, and it is started again."""
    assert claimed(short(by=timedelta(0))).number == 3


@pytest.mark.parametrize("taken", [Fate.PREEMPTED, Fate.HOST_ERROR])
def test_a_life_that_compute_engine_ended_says_nothing_about_the_job(short, claimed, taken):
    """Neither the earlier one nor the newest."""
    assert claimed(short(fates=(taken.value, Fate.SILENT))).number == 3
    assert claimed(short(fates=(Fate.SILENT.value, taken))).number == 3


def test_a_job_that_moved_since_is_no_crash_loop(short, walk, claimed):
    """Progress after the start of the first short life counts, progress before it does not."""
    assert claimed(short(moved=SECOND)).number == 3
    assert gives_up(walk(short(moved=timedelta(0)))[0])


def test_one_short_life_is_no_loop(some, claimed, tick):
    """Anything may fail once."""
    ledger = (some.attempt(1, started=tick.now - timedelta(minutes=11), instances={"test-vm": "1001"}),)
    assert claimed(some.job(ledger=ledger, nodes=(some.node(history=()),))).number == 2


@pytest.fixture
def lived(some, tick):
    """The ledger of a job: up for one hour, down for five, and up again for so long."""

    def build(up):
        started = tick.now - up
        lost = started - 5 * HOUR
        first = some.attempt(1, started=lost - HOUR)
        return (
            first,
            some.attempt(2, started=started, lost=lost, fate=PREEMPTED, instances={"test-vm": "1001"}),
        )

    return build


def test_the_time_it_was_down_does_not_count(some, lived, tick):
    """Only what its VMs were up, over all attempts."""
    assert time_up(some.job(ledger=lived(2 * HOUR)), tick.now) == 3 * HOUR


def test_an_attempt_that_was_closed_ends_when_it_was(some, tick):
    """A job that its owner stopped and launched again a day later was not up for a day."""
    stopped = some.attempt(
        1, AttemptState.STOPPED, started=tick.now - 21 * HOUR, updated=tick.now - 20 * HOUR
    )
    again = some.attempt(2, seen=True, created=tick.now - HOUR, started=tick.now - HOUR)
    assert time_up(some.job(ledger=(stopped, again)), tick.now) == 2 * HOUR


def test_an_attempt_whose_end_was_seen_late_ends_when_its_vm_went(some, tick):
    """Its record was closed an hour after somebody deleted the VM, since a list was incomplete."""
    deleted = Removal(instance_id="1001", operation="op-8", kind="delete", at=tick.now - HOUR)
    ended = some.attempt(
        1,
        AttemptState.ENDED,
        started=tick.now - 3 * HOUR,
        updated=tick.now,
        instances={"test-vm": "1001"},
        removed={"test-vm": deleted},
    )
    assert time_up(some.job(ledger=(ended,)), tick.now) == 2 * HOUR


def test_an_attempt_that_was_launched_again_before_its_end_was_seen_ends_with_its_status(some, tick):
    """No sweep has seen how its VM went; the job's own word stands."""
    ended = some.attempt(
        1, AttemptState.ENDED, started=tick.now - 3 * HOUR, updated=tick.now, ended=tick.now - 2 * HOUR
    )
    assert time_up(some.job(ledger=(ended,)), tick.now) == HOUR


def test_an_attempt_begins_no_earlier_than_what_it_replaces_was_lost(some, tick):
    """A sweep that slept for half an hour finished it, and dated its start by its own beginning."""
    first = some.attempt(1, started=tick.now - 2 * HOUR)
    second = some.attempt(2, started=tick.now - HOUR, lost=tick.now - HOUR / 2)
    assert time_up(some.job(ledger=(first, second)), tick.now) == 2 * HOUR


def test_a_clock_that_is_off_takes_no_time_away(some, tick):
    """A loss that was noted before the start is a life of nothing."""
    first = some.attempt(1, started=tick.now - HOUR)
    second = some.attempt(2, lost=tick.now - 2 * HOUR)
    assert time_up(some.job(ledger=(first, second)), tick.now) == timedelta(0)


def test_the_smaller_of_runtime_and_budget_holds(some, lived, tick):
    """Both are of the job over all attempts; a budget without a price says nothing."""
    facts = some.job(ledger=lived(2 * HOUR))

    def left(**said):
        return time_left(some.job(ledger=facts.ledger, file=JobFile(**said)), tick.now)

    assert left() is None
    assert left(budget=10.0) is None
    assert left(max_runtime=4 * HOUR) == HOUR
    assert left(max_runtime=4 * HOUR, budget=10.0, price_per_hour=2.0) == HOUR
    assert left(max_runtime=6 * HOUR, budget=10.0, price_per_hour=2.0) == 2 * HOUR


def test_what_somebody_has_granted_it_is_on_top_of_its_own_limits(some, lived, walk, tick):
    """A preemption takes nothing of it away: the job comes back, for as long as it may still be up."""
    file, lost = JobFile(max_runtime=HOUR, budget=2.0, price_per_hour=1.0), (lost_now(some, tick),)
    facts = some.job(ledger=lived(2 * HOUR), file=file, nodes=lost, granted=4 * HOUR)
    assert time_left(facts, tick.now) == 2 * HOUR
    steps, _ = walk(facts)
    (launch,) = (one for one in steps if isinstance(one, LaunchInstances))
    assert launch.request.body["scheduling"]["maxRunDuration"] == {"seconds": "7200"}
    assert gives_up(walk(replace(facts, granted=timedelta(0)))[0])


def lost_now(some, tick):
    """A node that was preempted this very moment."""
    return some.node(history=(some.operation(at=tick.now),))


@pytest.mark.parametrize(("seconds", "up"), [(30, True), (29, False)])
def test_a_job_is_started_as_long_as_the_least_run_is_left(some, lived, walk, tick, seconds, up):
    """Compute Engine takes no run under 30 s."""
    file = JobFile(max_runtime=3 * HOUR + timedelta(seconds=seconds))
    steps, _ = walk(some.job(ledger=lived(2 * HOUR), nodes=(lost_now(some, tick),), file=file))
    assert gives_up(steps) is not up


def test_what_is_left_is_stamped_on_the_new_vm(some, lived, walk, tick):
    """So that the bound holds even if we are down."""
    file = JobFile(max_runtime=4 * HOUR)
    steps, _ = walk(some.job(ledger=lived(2 * HOUR), nodes=(lost_now(some, tick),), file=file))
    (launch,) = (one for one in steps if isinstance(one, LaunchInstances))
    assert launch.request.body["scheduling"]["maxRunDuration"] == {"seconds": "3600"}


def test_the_work_left_is_told_by_the_heartbeats(some, lived, tick):
    """From the share done, of the work or of the time it took; else from the time it was up."""

    def left(share=None, **said):
        facts = some.job(ledger=lived(2 * HOUR), progress=SavedProgress(share=share), file=JobFile(**said))
        return work_left(facts, tick.now)

    assert left() is None
    assert left(share=0.75) == HOUR
    assert left(share=0.0) is None
    assert left(work=10 * HOUR) == 7 * HOUR
    assert left(work=10 * HOUR, share=0.5) == 5 * HOUR
    assert left(work=HOUR) == timedelta(0)


# --- the work left ---


def test_a_quarter_done_in_an_hour_leaves_three():
    """The rest goes at the speed so far."""
    assert remaining_work(done=0.25, up=timedelta(hours=1)) == timedelta(hours=3)


def test_nothing_is_left_of_a_job_that_is_done():
    """And it is not unknown."""
    assert remaining_work(done=1.0, up=timedelta(hours=1)) == timedelta()


@pytest.mark.parametrize("done", [None, 0.0, -0.5, 1.01, float("nan"), float("inf")])
def test_the_work_left_is_unknown_where_the_fraction_makes_no_sense(done):
    """A heartbeat may hold anything."""
    assert remaining_work(done=done, up=timedelta(hours=1)) is None


def test_the_work_left_is_unknown_before_the_job_ever_ran():
    """No time, no speed."""
    assert remaining_work(done=0.5, up=timedelta()) is None


def test_next_to_nothing_done_is_a_long_time_left_and_not_an_error():
    """The estimate is capped."""
    assert remaining_work(done=5e-324, up=timedelta(days=30)) == LONGEST
