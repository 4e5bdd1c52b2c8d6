"""The interval that is advised, against Young's where that holds, and else against every other."""

import math
from itertools import pairwise

import pytest
from msgspec.structs import replace

from spotwarden.recovery.forecast.interval import LONGEST, SHORTEST, STEP, Saving, best_interval, kept

STEADY = (0.05,) * 5
BURSTS = (6.0, 4.0, 1.0, 0.1, 0.01)
JOB = Saving(save=1 / 60, rates=STEADY, setup=0.2, work=100.0)


def test_where_losses_come_at_one_rate_it_is_youngs():
    """The root of twice the save's time by the mean life: 20 h and a minute make 49."""
    assert best_interval(replace(JOB, work=1000.0)) == pytest.approx(math.sqrt(2 * 20 / 60), rel=STEP - 1)


@pytest.mark.parametrize("rates", [STEADY, BURSTS])
def test_no_other_keeps_more(rates):
    """Neither a longer one nor a shorter one."""
    job = replace(JOB, rates=rates)
    best = best_interval(job)
    assert all(kept(best * factor, job) <= kept(best, job) * 1.001 for factor in (0.5, 0.8, 1.25, 2.0))


def test_more_losses_and_quicker_saves_make_it_shorter():
    """And never shorter than two minutes, nor longer than a day or the work."""
    ordinary = best_interval(JOB)
    assert best_interval(replace(JOB, rates=(0.2,) * 5)) < ordinary
    assert best_interval(replace(JOB, save=1 / 600)) < ordinary
    assert best_interval(replace(JOB, rates=(90.0,) * 5)) == SHORTEST
    assert best_interval(replace(JOB, save=1.0, rates=(1e-9,) * 5, work=500.0)) <= LONGEST
    assert best_interval(replace(JOB, work=0.001)) == SHORTEST


def test_many_saves_are_added_up_as_an_area():
    """Where the sum is cut off nothing jumps."""
    amounts = [kept(0.02 * 1.05**step, replace(JOB, save=0.0)) for step in range(40)]
    assert all(abs(later / earlier - 1) < 0.01 for earlier, later in pairwise(amounts))
