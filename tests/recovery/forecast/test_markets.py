"""Which row of the table a job is taken for, and the table that comes with the package."""

import math

import pytest

from spotwarden.recovery.forecast.hazards import AGES, mean_life
from spotwarden.recovery.forecast.markets import (
    ASKED,
    Reach,
    SpotMarket,
    market_of,
    quantile,
    share_below,
    unwatched,
)
from spotwarden.recovery.forecast.table import chance_of, read_markets
from tests.bench.spot_traces.write_markets import SIZES, of_zones

H100 = "a3-highgpu-8g"
SEEN = read_markets()


def test_its_own_place_comes_first():
    """Of as many VMs as possible: for 12 the row of 16 is nearer than that of 8."""
    row = market_of(SEEN, machine=H100, vms=12, reach=Reach.ZONE, place="us-east4-a")
    assert (row.place, row.vms) == ("us-east4-a", 16)


@pytest.mark.parametrize(
    ("machine", "place"), [("g2-standard-8", "us-east4-a"), (H100, "us-south9-a"), (H100, "")]
)
def test_what_nobody_has_watched_is_taken_for_the_mean(machine, place):
    """Another machine in that zone is another market."""
    assert market_of(SEEN, machine=machine, vms=1, reach=Reach.ZONE, place=place).place == ""


@pytest.mark.parametrize("reach", Reach)
@pytest.mark.parametrize("vms", [0, 1, 8, 10**9])
def test_there_is_a_row_for_every_job(reach, vms):
    """However many VMs it wants."""
    assert market_of(SEEN, machine="", vms=vms, reach=reach, place="").reach is reach


@pytest.mark.parametrize("row", SEEN.market, ids=lambda row: f"{row.reach.value} {row.place} {row.vms}")
def test_each_row_can_be_played(row):
    """A rate for each age, waits and ages in order, and nothing below zero."""
    assert len(row.rates) == len(AGES)
    assert all(math.isfinite(rate) and rate >= 0 for rate in row.rates)
    assert sorted(row.waits) == list(row.waits)
    assert sorted(row.ages) == list(row.ages)
    assert sorted(row.back) == list(row.back)
    assert row.waits[0] >= 0
    assert row.back[0] >= ASKED
    assert any(row.rates)
    # Probes are ten minutes apart: what would be lost sooner is a fault of the count.
    assert max(row.rates) < 30


@pytest.mark.parametrize("place", ["us-west1", "us-east4", "us-central1"])
def test_who_asks_once_an_hour_beside_an_on_demand_vm_is_back_later_than_a_place_has_room(place):
    """Most of all where places open for minutes, and one of two has the on-demand VM: it is asked later."""
    row = market_of(SEEN, machine=H100, vms=1, reach=Reach.REGION, place=place)
    assert sum(row.back) > sum(row.waits) + 0.5 * len(row.waits)
    if place == "us-west1":
        assert sum(row.back) > 3 * sum(row.waits)


SEEN_ELSEWHERE = SpotMarket(
    vms=1,
    reach=Reach.ZONE,
    rates=(3.0, 1.0, 1.0, 1.0, 0.1),
    waits=(0.1,) * 9 + (9.1,),
    back=(1.0,) * 9 + (50.0,),
)


def test_waits_that_nobody_has_watched_have_the_mean_of_those_that_were():
    """And are neither as short nor as long."""
    seen, waits = SEEN_ELSEWHERE.waits, unwatched(SEEN_ELSEWHERE).waits
    assert sorted(waits) == list(waits)
    assert sum(waits) / len(waits) == pytest.approx(sum(seen) / len(seen), rel=0.05)
    assert 0.1 < quantile(waits, 0.5) < max(waits) < 9.1


def test_lives_that_nobody_has_watched_depend_less_on_age():
    """Halfway to those that end as often at each age."""
    rates, even = unwatched(SEEN_ELSEWHERE).rates, 1.0 / mean_life(SEEN_ELSEWHERE.rates)
    assert rates[0] == pytest.approx((3.0 + even) / 2)
    assert rates[-1] == pytest.approx((0.1 + even) / 2)
    assert 0.1 < rates[-1] < rates[0] < 3.0


def test_half_of_the_searches_that_nobody_has_watched_end_with_the_wait():
    """Half an hour after it, for who asks once an hour; the others last as long as was seen."""
    found = unwatched(SEEN_ELSEWHERE)
    later = [wait + ASKED / 2 for wait in found.waits]
    assert sorted((*SEEN_ELSEWHERE.back, *later)) == list(found.back)


def test_quantiles_lie_between_their_neighbours():
    """Also of a single one."""
    assert quantile((1.0, 2.0, 4.0), 0.75) == 3.0
    assert quantile((1.0, 2.0, 4.0), 1.0) == 4.0
    assert quantile((7.0,), 0.3) == 7.0


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.75, 0.99])
def test_the_share_below_a_quantile_is_its_own(share):
    """Below the least are none, and from the most on all."""
    values = (1.0, 2.0, 4.0, 9.0)
    assert share_below(values, quantile(values, share)) == pytest.approx(share)
    assert (share_below(values, 0.5), share_below(values, 9.0), share_below((7.0,), 7.0)) == (0.0, 1.0, 1.0)


def test_the_same_job_has_the_same_chances():
    """And another has others."""
    assert chance_of("a").random() == chance_of("a").random() != chance_of("b").random()


def test_its_rows_of_zones_are_what_the_traces_say():
    """They are counted by a program; those of jobs that move depend on our placement as well."""
    assert [row for vms in SIZES for row in of_zones(vms)] == [
        row for row in SEEN.market if row.reach is Reach.ZONE
    ]
