"""Losses by age: what comes together between two ages, and where so much of it has."""

import math

import pytest

from spotwarden.recovery.forecast.hazards import AGES, age_at, mean_life, risk

RATES = (3.0, 1.5, 1.0, 0.5, 0.1)


def test_each_age_adds_its_own_rate():
    """Ten minutes at 3, twenty at 1.5, thirty at 1, two hours at 0.5, an hour at 0.1."""
    assert risk(RATES, 0.0, 4.0) == pytest.approx(0.5 + 0.5 + 0.5 + 1.0 + 0.1)
    assert risk(RATES, 3.5, 4.0) == pytest.approx(0.05)
    assert risk(RATES, 2.0, 2.0) == 0.0


@pytest.mark.parametrize("start", [0.0, 0.1, *AGES[1:], 2.0, 50.0])
@pytest.mark.parametrize("wanted", [0.01, 0.6, 1.7, 9.0])
def test_an_age_is_where_so_much_has_come_together(start, wanted):
    """Forth and back give the same."""
    assert risk(RATES, start, age_at(RATES, start, wanted)) == pytest.approx(wanted)


def test_what_is_never_lost_reaches_no_age():
    """Nor what is safe once it is old."""
    assert age_at((0.0,) * 5, 0.0, 0.1) == math.inf
    assert age_at((1.0, 0.0, 0.0, 0.0, 0.0), 0.0, 0.5) == math.inf
    assert age_at((1.0, 0.0, 0.0, 0.0, 0.0), 0.0, 0.1) == pytest.approx(0.1)


def test_a_vm_lives_for_the_mean_of_all_lives():
    """At one rate for its inverse; half a loss in the first ten minutes takes four tenths of them then."""
    assert mean_life((0.1,) * 5) == pytest.approx(10.0)
    first = (1 - math.exp(-0.5)) / 3.0
    assert mean_life((3.0, 0.1, 0.1, 0.1, 0.1)) == pytest.approx(first + math.exp(-0.5) * 10.0)
    assert mean_life((1.0, 0.0, 0.0, 0.0, 0.0)) == math.inf
