"""Whether a move pays, whose turn it is, and whether a deadline leaves time for it."""

from datetime import UTC, datetime, timedelta

import pytest

from spotwarden.model.attempt import Try
from spotwarden.model.ladder import VmModel
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import PlaceEvent, PlacementRecord, PlaceNews
from spotwarden.model.watch import Watch, Watched
from spotwarden.recovery.places.moving import (
    BESIDE,
    TURNS,
    WORTH,
    Bill,
    CheaperPlace,
    cheaper,
    has_time,
    model_of,
    turns,
)
from spotwarden.recovery.places.placement import learn
from tests.recovery.facts import attempt, launch

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
HERE, THERE, AWAY = "us-central1-a", "us-east4-a", "us-west1-a"
LIMITS = PlacementLimits(restart_cost=HOUR / 2, fragile=HOUR, deadline_restarts=2.0)
EMPTY = PlacementRecord(machine="m")
PRICES = {HERE: 3.0, THERE: 2.0}
PAYS_FROM = WORTH * 2.5 * HOUR
"""Half an hour of both VMs costs 2.50, and each hour there saves 1."""


def found(left=10 * HOUR, *, paid=3.0, prices=PRICES, record=EMPTY, places=(HERE, THERE, AWAY)):
    """Where a job that runs here should be."""
    return cheaper(places, record, NOW, LIMITS, Bill(here=HERE, paid=paid, prices=prices, left=left))


def news(event, ago, place=THERE):
    """What is remembered after this."""
    return learn(EMPTY, [PlaceNews(place=place, event=event, at=NOW - ago)], LIMITS)


def test_a_move_pays_where_it_saves_more_than_it_costs():
    """A second more than what costs as much as it saves, twice over."""
    assert found(PAYS_FROM) is None
    assert found(PAYS_FROM + SECOND) == CheaperPlace(place=THERE, price=2.0, paid=3.0)


def test_a_job_on_demand_moves_to_spot_where_it_runs_dearer():
    """What it pays counts, not what spot would cost there."""
    assert found(paid=9.0, prices={HERE: 2.0, THERE: 2.0}) == CheaperPlace(place=THERE, price=2.0, paid=9.0)


@pytest.mark.parametrize("prices", [{HERE: 3.0, THERE: 3.0}, {HERE: 3.0}], ids=["as much", "unknown"])
def test_nobody_moves_for_no_known_saving(prices):
    """A price that nobody knows is not a low one."""
    assert found(1000 * HOUR, prices=prices) is None


@pytest.mark.parametrize("event", [PlaceEvent.STOCKOUT, PlaceEvent.PREEMPTED])
def test_a_place_must_have_been_quiet_for_as_long_as_it_is_fragile(event):
    """The other side of the limit, but for the trouble that fades besides."""
    assert found(record=news(event, HOUR - SECOND)) is None
    assert found(record=news(event, 2 * HOUR)) is not None


@pytest.mark.parametrize(("places", "times"), [((HERE, THERE), BESIDE), ((HERE,), 1)])
def test_beside_its_on_demand_vm_a_job_with_other_zones_waits_longer_for_quiet(places, times):
    """Who has one zone only has nothing else to ask."""
    bill = Bill(here=HERE, paid=9.0, prices={HERE: 2.0}, left=100 * HOUR, beside=True)
    quiet = times * HOUR

    def at(ago):
        return cheaper(places, news(PlaceEvent.PREEMPTED, ago, HERE), NOW, LIMITS, bill)

    assert at(quiet - SECOND) is None
    assert at(quiet) == CheaperPlace(place=HERE, price=2.0, paid=9.0)


def test_the_cheapest_place_in_trouble_gives_way_to_the_next():
    """Two cheaper places, one of which ran out; there is enough to do for either."""
    record = news(PlaceEvent.STOCKOUT, HOUR / 2)
    assert found(20 * HOUR, prices={**PRICES, AWAY: 2.5}, record=record) == CheaperPlace(
        place=AWAY, price=2.5, paid=3.0
    )


def test_a_deadline_must_leave_time_to_lose_the_vm_after_the_move():
    """One restart for the move, two of the limits: an hour and a half."""
    deadline = NOW + 10 * HOUR
    assert has_time(8.5 * HOUR - SECOND, deadline, NOW, LIMITS)
    assert not has_time(8.5 * HOUR, deadline, NOW, LIMITS)
    assert has_time(1000 * HOUR, None, NOW, LIMITS)


def open_job(number, *, movable=True, moving=False):
    """An entry of the list of open jobs."""
    watch = Watch(job=f"job-{number}", movable=movable, moving=moving)
    return Watched(watch=watch, generation=1, since=NOW)


def test_each_job_has_one_turn_in_ten_minutes():
    """However many there are."""
    jobs = [open_job(number) for number in range(100)]
    had = [job for minute in range(TURNS) for job in turns(jobs, NOW + minute * timedelta(minutes=1), 100)]
    assert sorted(had) == sorted(entry.watch.job for entry in jobs)


def test_no_more_jobs_have_a_turn_than_may_be_moved():
    """Those on their way count; each minute others are drawn."""
    jobs = [open_job(number) for number in range(1000)]
    under_way = [open_job(number, moving=True, movable=False) for number in range(3)]
    drawn = [turns([*jobs, *under_way], NOW + minute * timedelta(minutes=10), 5) for minute in range(20)]
    assert {len(some) for some in drawn} == {2}
    assert len({job for some in drawn for job in some}) > 20
    assert turns([*jobs, *under_way], NOW, 3) == []


def test_a_job_that_cannot_be_moved_has_no_turn():
    """It is never looked at for that."""
    jobs = [open_job(number, movable=False) for number in range(100)]
    assert not any(turns(jobs, NOW + minute * timedelta(minutes=1), 100) for minute in range(TURNS))


@pytest.mark.parametrize(
    ("last", "model"),
    [
        ({"spot": False}, VmModel.STANDARD),
        ({}, VmModel.SPOT),
        ({"model": VmModel.FLEX}, VmModel.FLEX),
    ],
)
def test_what_a_job_runs_on_is_what_was_asked_for_last(last, model):
    """By the ledger: a script that says spot may have become on-demand."""
    asked = Try(place=HERE, request_id="r", at=NOW, **last)
    assert model_of(attempt(tries=(asked,)).attempt, launch()) is model


def test_what_a_developer_launched_is_what_the_script_says():
    """It has no tries."""
    assert model_of(attempt().attempt, launch()) is VmModel.SPOT
