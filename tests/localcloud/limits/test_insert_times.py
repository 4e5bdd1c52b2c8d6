"""How long an instance takes until it runs."""

from datetime import timedelta

import pytest

from localcloud.limits import OFF, InsertTimes, Limits
from localcloud.limits.inserts import recorded


def seconds(limits: Limits, count: int = 10_000) -> list[float]:
    """So many draws, the shortest first."""
    times = InsertTimes(lambda: limits)
    return sorted(times.draw().total_seconds() for _ in range(count))


@pytest.mark.parametrize(
    ("part", "took"), [(0, 5), (0.5, 20.5), (0.7, 29.6), (0.9, 38.7), (0.99, 75.5), (0.995, 94.25), (1, 113)]
)
def test_the_recorded_times_are_met(part: float, took: float) -> None:
    """In between they are drawn in line."""
    assert recorded(part) == pytest.approx(took)


def test_half_of_all_inserts_take_20_seconds_and_one_in_a_hundred_75() -> None:
    """None longer than the longest one recorded."""
    drawn = seconds(Limits())
    assert drawn[5000] == pytest.approx(20.5, rel=0.03)
    assert drawn[9900] == pytest.approx(75.5, rel=0.1)
    assert 5 <= drawn[0] < drawn[-1] <= 113


def test_a_part_of_them_is_shorter_by_that_and_the_same_seed_draws_the_same() -> None:
    """As in the stories."""
    assert seconds(Limits(insert_times=0.5)) == [
        pytest.approx(time / 2, abs=1e-5) for time in seconds(Limits())
    ]
    assert seconds(Limits(seed=1)) != seconds(Limits())


def test_without_the_limit_no_time_is_added() -> None:
    """Then the timings alone count."""
    assert InsertTimes(lambda: OFF).draw() == timedelta(0)
