"""The line to a deadline: who is behind it takes an on-demand VM, if it may come back to spot."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.attempt import AttemptState
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.limits import PlacementLimits, RecoveryLimits
from spotwarden.model.placement import PlaceEvent, PlacementRecord, PlaceNews
from spotwarden.recovery.places.deadline_line import aside, behind, waits_until, why_behind
from spotwarden.recovery.places.placement import learn
from tests.recovery.test_back_off import NONE_NOW

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
A, B, C, FAR = "us-central1-a", "us-central1-b", "us-central1-c", "us-east4-a"
EMPTY = PlacementRecord(machine="m")


def late(left, *, gone=6 * HOUR):
    """How far behind a job of 10 h is that began so long ago, and had 20 h."""
    began = NOW - gone
    return behind(whole=10 * HOUR, left=left, began=began, deadline=began + 20 * HOUR, now=NOW)


@pytest.mark.parametrize(
    ("left", "expected"), [(10 * HOUR, 3 * HOUR), (7 * HOUR, timedelta()), (HOUR, -6 * HOUR)]
)
def test_after_three_tenths_of_the_time_three_tenths_of_the_work_should_be_done(left, expected):
    """What is not done of that it is behind."""
    assert late(left) == expected


@pytest.mark.parametrize(("gone", "expected"), [(40 * HOUR, 10 * HOUR), (-HOUR, timedelta())])
def test_past_the_deadline_all_is_due_and_before_the_launch_nothing(gone, expected):
    """Clocks may be off."""
    assert late(10 * HOUR, gone=gone) == expected


def test_with_no_time_at_all_everything_is_due():
    """A deadline that was before the launch."""
    assert behind(whole=HOUR, left=HOUR, began=NOW, deadline=NOW, now=NOW) == HOUR


@pytest.mark.parametrize("left", [10 * HOUR, 7 * HOUR, HOUR])
def test_it_waits_until_so_much_of_what_is_due_is_not_done(left):
    """The moment is that at which it is so far behind; at the latest the deadline."""
    began, most = NOW - 6 * HOUR, HOUR / 2
    until = waits_until(whole=10 * HOUR, left=left, began=began, deadline=began + 20 * HOUR, late=most)
    assert late(left, gone=until - began) == most


@pytest.mark.parametrize(("whole", "late"), [(timedelta(), HOUR), (HOUR, 9 * HOUR)])
def test_who_can_never_be_so_far_behind_waits_until_the_deadline(whole, late):
    """Work of an hour is never nine behind."""
    known = {"whole": whole, "left": whole, "began": NOW - HOUR, "deadline": NOW + HOUR}
    assert waits_until(**known, late=late) == NOW + HOUR


def knowing(*events):
    """A memory of what places did, so many hours ago."""
    news = [PlaceNews(place=place, event=event, at=NOW - ago * HOUR) for place, event, ago in events]
    return learn(EMPTY, news, PlacementLimits())


@pytest.mark.parametrize(
    ("record", "place"),
    [
        (EMPTY, C),
        (knowing((C, PlaceEvent.GAVE, 9)), B),
        (knowing((A, PlaceEvent.GAVE, 3), (B, PlaceEvent.PREEMPTED, 1), (C, PlaceEvent.GAVE, 2)), A),
        (knowing((A, PlaceEvent.STOCKOUT, 1), (B, PlaceEvent.GAVE, 1), (C, PlaceEvent.GAVE, 1)), A),
    ],
    ids=["nobody knows", "the last had some", "all had some", "one refuses"],
)
def test_the_on_demand_vm_stands_where_spot_was_longest_ago(record, place):
    """In its place no spot VM can be asked for; the others of its region are left for that, home first."""
    assert aside([A, B, C, FAR], {}, record) == place


def test_it_stands_where_it_costs_least():
    """Of two that cost the same, and one that costs more."""
    assert aside([A, B, C], {A: 1.0, B: 1.0, C: 1.5}, EMPTY) == B


@pytest.fixture
def late_job(some, policy, tick):
    """A job of 10 h in 40 that every place refuses, so much more than a restart behind its line."""

    def build(over=SECOND, *, places=(B,), **file):
        # A quarter of an hour of work is due for each hour, and an hour is done.
        gone = 4 * (HOUR + policy.placement.restart_cost + over)
        began, lost = tick.now - gone, tick.now - gone + HOUR
        given = JobFile(work=10 * HOUR, deadline=began + 40 * HOUR, handover=True)
        first = some.attempt(created=began, started=began, instances={"test-vm": "1001"})
        second = some.attempt(2, AttemptState.CLAIMED, created=lost, lost=lost, replaces={"test-vm": "1001"})
        return some.job(
            ledger=(first, second), nodes=(), file=replace(given, **file), launch=some.launch(*places)
        )

    return build


@pytest.fixture
def asks(walk):
    """The places that a sweep asks for it, and whether for spot VMs."""

    def found(facts):
        _, known = walk(facts, NONE_NOW)
        return [(tried.place, tried.spot) for tried in known.newest.tries]

    return found


SPOT = [(A, True), (B, True)]


def test_once_spot_is_refused_a_job_that_is_behind_asks_for_on_demand_vms(late_job, asks):
    """In the place that it would miss least first."""
    assert asks(late_job()) == [*SPOT, (B, False), (A, False)]


def test_who_is_no_more_than_a_restart_behind_waits(late_job, asks):
    """The other side of the limit."""
    assert asks(late_job(timedelta())) == SPOT


def test_who_has_one_place_waits_as_long_as_it_can(late_job, asks):
    """Its on-demand VM would have the name there."""
    assert asks(late_job(places=())) == SPOT[:1]


def test_who_would_be_stopped_on_demand_waits(late_job, asks):
    """Compliance allows its spot VMs only: an on-demand VM would be gone an hour later."""
    assert asks(replace(late_job(), stopped=frozenset({VmModel.STANDARD}))) == SPOT


@pytest.mark.parametrize(
    "file",
    [
        {"handover": False},
        {"move": False},
        {"deadline": None},
        {"work": None},
        {"ladder": (Rung(model=VmModel.SPOT),)},
    ],
    ids=["no hand-over", "no move", "no deadline", "work unknown", "a ladder"],
)
def test_who_could_not_come_back_waits_as_long_as_it_can(late_job, asks, file):
    """An on-demand VM that nobody moves runs to the end; a ladder says itself what comes when."""
    assert {spot for _, spot in asks(late_job(**file))} == {True}


@pytest.mark.parametrize(
    "changes",
    [{"placement": PlacementLimits(move=False)}, {"recovery": RecoveryLimits(handover=False)}],
    ids=["no moves", "no hand-over"],
)
def test_where_the_policy_moves_nothing_nobody_is_asked_to_wait_less(late_job, policy, tick, changes):
    """One fact apart from the job that is behind."""
    assert "h of work behind an even pace to the deadline" in why_behind(late_job(), policy, tick)
    assert not why_behind(late_job(), replace(policy, **changes), tick)


def test_a_person_who_launches_it_anew_begins_a_new_line(late_job, policy, tick, some):
    """What was not done weeks ago is no reason to hurry."""
    facts = late_job()
    anew = some.attempt(3, created=tick.now - HOUR, started=tick.now - HOUR)
    assert not why_behind(replace(facts, ledger=(*facts.ledger, anew)), policy, tick)
