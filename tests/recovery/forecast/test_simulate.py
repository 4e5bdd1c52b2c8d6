"""Jobs that are played on: against sums that are known, and where there is no end."""

import math
from random import Random
from statistics import mean

import pytest
from msgspec.structs import replace

from spotwarden.recovery.forecast.markets import Reach, SpotMarket
from spotwarden.recovery.forecast.on_demand import DeadlinePlan, Line
from spotwarden.recovery.forecast.simulate import RUNS, Doubt, Prospect, play

SURE = Doubt(losses=1e6, waits=1e6, at_most=1e6)
CALM = SpotMarket(vms=1, reach=Reach.ZONE, rates=(0.0,) * 5, waits=(0.0,), back=(0.0,))
STEADY = SpotMarket(vms=1, reach=Reach.ZONE, rates=(0.1,) * 5, waits=(1.0,), back=(1.0,))
JOB = Prospect(market=STEADY, doubt=SURE, left=20.0, setup=0.0, up=0.0, interval=0.0)


def played(job, runs=RUNS):
    """All ways in which it may go."""
    return list(play(job, Random(7), runs))


def test_without_losses_it_takes_its_work_and_its_start():
    """Of a start that has half passed the other half."""
    calm = replace(JOB, market=CALM, setup=1.0)
    assert {run.hours for run in played(calm)} == {21.0}
    assert {run.hours for run in played(replace(calm, up=0.5))} == {20.5}
    assert {run.spot for run in played(replace(calm, up=30.0))} == {20.0}


def test_each_loss_costs_its_wait():
    """20 h of work at a loss in ten hours: two waits of an hour, on average."""
    runs = played(JOB, 1000)
    assert mean(run.hours for run in runs) == pytest.approx(22.0, abs=0.2)
    assert mean(run.spot for run in runs) == pytest.approx(20.0)


def test_each_loss_costs_its_start():
    """Lives end at a rate: each start of half an hour is made again when it is itself cut short."""
    runs = played(replace(JOB, setup=0.5, market=replace(STEADY, waits=(0.0,))), 1000)
    # Of 20 h of work and its starts: with a rate r and a start s the time is (work + s)·… = work·e^(rs) + s'.
    assert mean(run.hours for run in runs) == pytest.approx(20 * math.exp(0.05) + 0.51, rel=0.02)


def test_work_since_the_last_save_is_done_again():
    """Half an interval for each loss, of which there are then more."""
    runs = played(replace(JOB, interval=2.0, market=replace(STEADY, waits=(0.0,))), 1000)
    assert mean(run.hours for run in runs) == pytest.approx(20 * (1 + 0.1 * 0.93), rel=0.03)


def test_a_job_that_keeps_nothing_needs_one_life_that_is_long_enough():
    """(e^(work/mean) - 1) · mean hours, the classical sum: 10 h at a loss in ten hours are 17 h."""
    runs = played(replace(JOB, left=10.0, total=10.0, market=replace(STEADY, waits=(0.0,))), 1500)
    assert mean(run.hours for run in runs) == pytest.approx(10 * (math.e - 1), rel=0.06)


def test_what_cannot_end_never_ends():
    """A hundred hours in one piece, where no VM lives for one."""
    harsh = replace(STEADY, rates=(5.0,) * 5)
    assert all(math.isinf(run.hours) for run in played(replace(JOB, total=100.0, left=100.0, market=harsh)))
    assert all(math.isinf(run.hours) for run in played(replace(JOB, setup=9.0, market=harsh)))


def test_very_long_work_goes_on_at_the_pace_of_its_first_lives():
    """A thousand losses are not played one by one."""
    runs = played(replace(JOB, left=10_000.0))
    assert mean(run.hours for run in runs) == pytest.approx(11_000, rel=0.03)


def test_who_waits_now_waits_first():
    """Without VMs a wait comes before the first life."""
    calm = replace(JOB, market=replace(CALM, waits=(3.0,)))
    assert all(run.hours == pytest.approx(23.0, abs=0.1) for run in played(replace(calm, up=None)))


def test_who_comes_to_a_closed_place_comes_in_the_middle_of_a_wait():
    """And long waits take most of the time: of one hour and nine, nine times as often the latter."""
    calm = replace(JOB, up=None, first=True, market=replace(CALM, waits=(1.0, 9.0)))
    waited = [run.hours - 20.0 for run in played(calm, 1000)]
    assert mean(waited) == pytest.approx(0.1 * 0.5 + 0.9 * 4.5, rel=0.1)
    assert max(waited) < 9.1


def test_the_deadline_is_made_on_on_demand_vms():
    """From when only the work and the reserve are left, after the first loss."""
    runs = played(replace(JOB, plan=DeadlinePlan(last=25.0), market=replace(STEADY, waits=(50.0,))))
    assert all(run.hours <= 26.0 for run in runs)
    turned = [run for run in runs if run.other]
    assert turned
    assert all(run.hours == pytest.approx(25.0) for run in turned)
    assert all(run.hours == run.spot == 20.0 for run in runs if not run.other)


def parts(job):
    """Its hours, those on spot and those on on-demand VMs, in tenths."""
    return {(round(run.hours, 1), round(run.spot, 1), round(run.other, 1)) for run in played(job)}


LINE = DeadlinePlan(last=99.0, line=Line(due=0.0, pace=0.0, back=98.0, quiet=1.0))


def test_a_job_that_is_behind_its_line_works_on_on_demand_vms_until_a_place_has_spot_again():
    """Instead of waiting for ten hours; it asks once an hour."""
    outages = replace(STEADY, waits=(10.0,), back=(10.0,), rates=(0.05,) * 5)
    waits = played(replace(JOB, market=outages, plan=replace(LINE, line=None)))
    works = played(replace(JOB, market=outages, plan=LINE))
    assert not any(run.other for run in waits)
    assert mean(run.hours for run in works) < mean(run.hours for run in waits) - 3
    lost = [run for run in works if run.other]
    assert any(8.0 < run.other < 10.5 and run.spot for run in lost)
    # Until each place has been asked once it has no VM at all.
    assert all(20.0 < run.hours < 21.0 for run in lost)


def test_a_spot_vm_that_comes_within_a_round_is_taken():
    """Though the job is behind: all places are asked for one first."""
    assert not any(
        run.other for run in played(replace(JOB, market=replace(STEADY, waits=(0.09,)), plan=LINE))
    )


def test_who_is_on_an_on_demand_vm_for_now_goes_back_to_spot():
    """Who has no time for that stays."""
    there = replace(JOB, spot=False, market=replace(CALM, back=(2.5,)), up=0.5, plan=LINE)
    assert parts(there) == {(20.0, 17.5, 2.5)}
    late = replace(there, plan=replace(LINE, line=Line(due=0.0, pace=0.0, back=19.0, quiet=1.0)))
    assert parts(late) == {(20.0, 0.0, 20.0)}


def test_a_return_is_paid_for_in_both_vms_as_a_restart():
    """Half an hour of the new one's start: it trains on neither."""
    there = replace(JOB, spot=False, setup=0.5, market=replace(CALM, back=(2.5,)), up=0.5, plan=LINE)
    assert parts(there) == {(20.5, 18.0, 3.0)}
    assert parts(replace(there, market=replace(CALM, back=(99.0,)))) == {(20.0, 0.0, 20.0)}


def test_openings_between_two_requests_do_not_end_the_time_on_on_demand_vms():
    """A place is open again after half an hour, and found so after five."""
    flaps = replace(STEADY, waits=(0.5,), back=(5.0,), rates=(0.05,) * 5)
    works = played(replace(JOB, market=flaps, plan=LINE))
    assert any(4.5 < run.other < 5.0 for run in works)
    # Who is not behind its line takes that opening.
    ahead = replace(LINE, line=Line(due=50.0, pace=0.0, back=98.0, quiet=1.0))
    assert not any(run.other for run in played(replace(JOB, market=flaps, plan=ahead)))


def test_who_has_looked_for_spot_for_hours_is_not_in_a_short_search():
    """Half of all last for an hour, the others for up to nine: after two hours it is one of these."""
    searches = replace(CALM, back=(1.0, 1.0, 9.0))
    there = replace(JOB, spot=False, market=searches, up=0.5, plan=LINE)
    new = [run.other for run in played(there, 1000)]
    long = [run.other for run in played(replace(there, waited=2.0), 1000)]
    assert mean(new) == pytest.approx((1.0 + 5.0) / 2, rel=0.1)
    assert mean(long) == pytest.approx(7.0 / 2, rel=0.1)
    # It has outlasted all that were seen: it may well take as long again.
    longest = [run.other for run in played(replace(there, waited=10.0), 1000)]
    assert sorted(longest)[500] == pytest.approx(10.0 * (2**0.5 - 1), rel=0.1)


def test_who_has_waited_for_its_first_vm_for_hours_came_to_a_long_wait():
    """Of one hour and nine, the latter."""
    calm = replace(JOB, up=None, first=True, waited=2.0, market=replace(CALM, waits=(1.0, 9.0)))
    waited = [run.hours - 20.0 for run in played(calm, 1000)]
    assert mean(waited) == pytest.approx(7.0 / 2, rel=0.1)


def test_how_long_spot_is_looked_for_is_less_sure_than_how_long_a_place_is_full():
    """Where nobody has seen it: in some runs it is hardly found at all."""
    market = replace(STEADY, back=(2.0,))
    going = replace(JOB, market=market, spot=False, plan=LINE)
    unsure = replace(going, doubt=replace(SURE, back=1.0))
    sure, most = (sorted(run.other for run in played(one))[270] for one in (going, unsure))
    assert most > 2 * sure


def test_what_would_go_on_for_ever_ends_on_on_demand_vms_by_the_deadline():
    """No VM lives for its start: at the last moment it works without a loss."""
    harsh = replace(JOB, setup=1.0, market=replace(STEADY, rates=(50.0,) * 5, waits=(0.001,)))
    runs = played(replace(harsh, plan=DeadlinePlan(last=50.0)))
    assert all(run.hours == pytest.approx(51.0, abs=0.5) for run in runs)
    assert all(run.other == pytest.approx(21.0) for run in runs)


def test_vms_that_are_not_preempted_end_on_time():
    """All of it as on-demand hours."""
    assert {(run.hours, run.spot, run.other) for run in played(replace(JOB, spot=False))} == {
        (20.0, 0.0, 20.0)
    }


def test_its_own_losses_count():
    """Twice as many as were to be expected, of fifty: the estimate goes most of the way."""
    doubt = Doubt(losses=10, waits=10, at_most=20)
    assert replace(JOB, doubt=doubt, lost=100, risk=50.0).hard == pytest.approx(110 / 60)
    assert replace(JOB, doubt=doubt).hard == 1.0
    worse = replace(JOB, doubt=doubt, lost=100, risk=50.0)
    assert mean(run.hours for run in played(worse)) > mean(run.hours for run in played(JOB))


def test_doubt_widens_and_learning_is_bounded():
    """A thousand losses make nothing sure: places change."""

    def width(**facts):
        hours = sorted(run.hours for run in played(replace(JOB, left=500.0, **facts)))
        return hours[270] / hours[150]

    unsure = Doubt(losses=4, waits=4, at_most=8)
    assert width(doubt=unsure) > width(doubt=SURE)
    learnt = width(doubt=unsure, lost=1000, risk=1000.0, waits=1000)
    assert width(doubt=SURE) < learnt < width(doubt=unsure)
