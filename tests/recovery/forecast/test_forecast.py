"""What is told of a job: when it ends, for how much, and what would make it cheaper."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from msgspec.structs import replace

from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.policy import Policy
from spotwarden.recovery.forecast.course import Course
from spotwarden.recovery.forecast.forecast import (
    Rates,
    holds_to_line,
    needs_others,
    outlook,
    reach_of,
    share_of,
)
from spotwarden.recovery.forecast.markets import Reach
from spotwarden.recovery.forecast.pasts import past_of
from spotwarden.recovery.forecast.table import read_markets

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
RATES = Rates(spot=10.0, other=30.0)
JOB = Course(
    place="us-east4-a", machine="a3-highgpu-8g-nvidia-h100-80gb", whole=100.0, left=50.0,
    setup=0.2, interval=0.5, since=NOW - HOUR,
)  # fmt: skip
CENTRAL = replace(JOB, place="us-central1-a")
UNLUCKY = replace(CENTRAL, lives=(0.25,) * 60)
STAYS = PlacementLimits(move=False)


def told(job=JOB, limits=STAYS, rates=RATES):
    """The forecast, with the same chances for all."""
    return outlook(job, read_markets(), limits, rates, now=NOW, chance=Random(1))


def test_half_of_all_ends_come_before_nine_in_ten():
    """None before the work is done."""
    seen = told()
    assert NOW + 50 * HOUR <= seen.half < seen.most < NOW + 500 * HOUR
    assert 500.0 <= seen.half_cost < seen.most_cost
    assert seen.trouble == seen.unknown == ""


def test_who_moves_ends_sooner_than_who_stays():
    """In all regions there is always room somewhere."""
    moves = told(limits=PlacementLimits(regions=("us-central1", "us-west1")))
    assert moves.most < told().most


def test_losses_of_its_own_make_it_later():
    """Sixty lives of a quarter of an hour, where most VMs live for days."""
    assert told(UNLUCKY).half > told(CENTRAL).half
    assert told(UNLUCKY).losses > 2 * told(CENTRAL).losses


def test_long_waits_of_its_own_make_it_later():
    """As long as a day each, as often as it lost its VMs."""
    assert (
        told(replace(JOB, lives=(2.0,) * 9, waits=(24.0,) * 9)).half
        > told(replace(JOB, lives=(2.0,) * 9)).half
    )


def test_a_machine_that_nobody_has_watched_is_less_sure():
    """It is taken for the mean of all zones, widely, and no place is named."""
    other = told(replace(JOB, machine="g2-standard-8"))
    assert other.place == ""
    assert told().place == "us-east4-a"
    assert other.most - other.half > told().most - told().half


OTHER = replace(JOB, machine="g2-standard-8")
CALM = {"us-east4-a": past_of((), (400.0,), ())}
HARSH = {"us-east4-a": past_of((0.5,) * 40, (), (3.0,) * 40)}


def beside(others, job=OTHER):
    """The forecast of a job beside others."""
    return outlook(job, read_markets(), STAYS, RATES, now=NOW, chance=Random(1), others=others)


def test_other_jobs_tell_what_the_table_does_not():
    """Where they ran for weeks it ends sooner and surer, where they were lost after minutes much later."""
    alone, calm, harsh = beside({}), beside(CALM), beside(HARSH)
    assert calm.most < alone.most < harsh.most
    assert calm.losses < alone.losses < harsh.losses
    assert calm.most - calm.half < alone.most - alone.half


def test_what_the_table_knows_other_jobs_do_not_tell():
    """It has watched that zone for two weeks."""
    assert beside(HARSH, JOB) == beside({}, JOB)


@pytest.mark.parametrize(
    ("job", "counts"),
    [
        (OTHER, True),
        (JOB, False),
        (replace(JOB, place="us-south9-a"), True),
        (replace(OTHER, unknown="?"), False),
    ],
    ids=["another machine", "in the table", "another zone", "without progress"],
)
def test_other_jobs_are_asked_for_where_they_count(job, counts):
    """As the forecast then says."""
    assert needs_others(job, read_markets(), STAYS) is counts
    assert (beside(HARSH, job) != beside({}, job)) is counts


def test_a_job_that_has_looked_for_spot_for_long_pays_more():
    """It has been on an on-demand VM for a day, in a region that is often full."""
    going = {"spot": False, "returns": True, "began": NOW - 30 * HOUR, "deadline": NOW + 60 * HOUR}
    job = replace(JOB, place="us-west1-a", whole=80.0, lives=(5.0,), **going)
    new = told(replace(job, without=NOW - HOUR), PlacementLimits())
    long = told(replace(job, without=NOW - 24 * HOUR), PlacementLimits())
    assert long.half_cost > new.half_cost


def test_what_is_unknown_stays_unknown():
    """With the reason, and without a number."""
    seen = told(replace(JOB, unknown="it tells no progress"))
    assert seen.unknown == "it tells no progress"
    assert (seen.half, seen.most, seen.best, seen.half_cost) == (None, None, None, None)


def test_without_a_price_there_is_an_end_and_no_bill():
    """Not even where only the on-demand price is missing that a deadline may need."""
    seen = told(rates=Rates(other=30.0))
    assert seen.half is not None
    assert seen.half_cost is seen.most_cost is None


def test_on_demand_vms_end_when_the_work_does():
    """At their own price, with no loss, and no advice to save."""
    seen = told(replace(JOB, spot=False))
    assert seen.half == seen.most == NOW + 50 * HOUR
    assert seen.half_cost == pytest.approx(1500.0)
    assert (seen.losses, seen.best) == (0.0, None)


def test_a_job_that_saves_nothing_is_told_so_at_once():
    """However lucky it may be."""
    seen = told(replace(JOB, whole=48.5, left=40.0, restarts=True))
    assert seen.trouble == "it starts over after each lost VM, and needs 48.5 h without one"
    assert seen.half_cost > 1.5 * told(replace(JOB, whole=48.5, left=40.0)).half_cost


def test_where_no_end_is_in_sight_none_is_told():
    """Two hundred hours in one piece, in a zone that takes VMs each few hours."""
    seen = told(replace(JOB, place="us-west1-b", vms=16, whole=2000.0, left=2000.0, restarts=True))
    assert (seen.half, seen.most, seen.most_cost) == (None, None, None)
    slow = told(replace(JOB, place="us-west1-b", vms=16, interval=100.0, left=2000.0, whole=2000.0))
    assert slow.trouble == "it loses VMs faster than it saves its work"


def test_a_deadline_is_made_for_more_money():
    """On-demand VMs cost three times as much."""
    hard = replace(JOB, place="us-west1-b", vms=16, deadline=NOW + 60 * HOUR)
    seen = told(hard)
    assert seen.most <= NOW + 60 * HOUR
    assert seen.half_cost > told().half_cost


def test_a_job_that_holds_to_a_line_ends_sooner_and_pays_more():
    """It does not wait until only the work is left, in a region that is often full."""
    hard = replace(JOB, place="us-west1-b", whole=50.0, began=NOW - HOUR, deadline=NOW + 150 * HOUR)
    waits, holds = told(hard, PlacementLimits()), told(replace(hard, returns=True), PlacementLimits())
    assert holds.most < waits.most
    assert holds.most_cost > 2 * waits.most_cost


@pytest.mark.parametrize(
    ("file", "policy", "holds"),
    [
        ({}, {}, True),
        ({"deadline": None}, {}, False),
        ({"places": ()}, {}, False),
        ({"handover": False}, {}, False),
        ({"ladder": (Rung(model=VmModel.SPOT),)}, {}, False),
        ({}, {"placement": PlacementLimits(move=False)}, False),
    ],
    ids=["as it is", "no deadline", "one zone", "no hand-over", "a ladder", "no moves"],
)
def test_whether_a_job_holds_to_a_line_is_what_recovery_says(some, file, policy, holds):
    """By its script alone: which other zones there are nobody has looked up."""
    given = JobFile(**{"deadline": NOW, "work": HOUR, "handover": True, **file})
    facts = some.job(launch=some.launch(), file=given, nodes=())
    assert holds_to_line(facts, Policy(version="test", **policy)) is holds
    assert not holds_to_line(replace(facts, launch=None), Policy(version="test", **policy))


def test_the_advice_is_shorter_where_more_is_lost():
    """And tells what the job has now beside it."""
    assert told(UNLUCKY).best < told(CENTRAL).best
    assert told().interval == 0.5


@pytest.mark.parametrize("left", [0.0, 1e-9, 87_600.0])
@pytest.mark.parametrize("interval", [None, 0.0, 1e-9, 1e12])
@pytest.mark.parametrize("lives", [(), (0.0,) * 200, (1e6,) * 200])
def test_nothing_that_a_job_can_say_breaks_it(left, interval, lives):
    """Nor makes it long: each is a number or none."""
    seen = told(
        replace(JOB, left=left, whole=87_600.0, interval=interval, lives=lives, waits=lives, spread=1.0)
    )
    assert seen.unknown == ""
    assert seen.half is None or seen.half >= NOW


@pytest.mark.parametrize(
    ("places", "limits", "reach"),
    [
        (None, PlacementLimits(), Reach.REGION),
        (None, PlacementLimits(regions=("us-east4",)), Reach.REGION),
        (None, PlacementLimits(regions=("us-west1",)), Reach.REGIONS),
        ((), PlacementLimits(regions=("us-west1",)), Reach.ZONE),
        (("us-east4-b",), PlacementLimits(regions=("us-west1",)), Reach.REGION),
        (("us-west1-a",), PlacementLimits(), Reach.REGIONS),
        (("us-west1-a",), PlacementLimits(move=False), Reach.ZONE),
    ],
)
def test_the_job_file_says_how_far_it_moves_before_the_policy_does(places, limits, reach):
    """An empty list keeps it where it is."""
    assert reach_of(replace(JOB, places=places), limits) is reach


def test_a_share_is_the_least_value_that_so_many_do_not_exceed():
    """Of ten the ninth is nine in ten."""
    assert [share_of(range(1, 11), share) for share in (0.5, 0.9, 1.0)] == [5, 9, 10]
