"""Aligners and reducers, held against plain models and against what their documentation says."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

import pytest
from google.api import distribution_pb2
from hypothesis import given
from hypothesis import strategies as st

from localcloud.monitoring.align import ALIGNERS, MINUTE, Window, aligned, windows
from localcloud.monitoring.distribution import merged, percentile
from localcloud.monitoring.reduce import REDUCERS, reduced
from localcloud.monitoring.series import SeriesIdentity, Track

HOUR = 60 * MINUTE


def track(
    points: Sequence[tuple[float, Any]],
    *,
    kind: str = "GAUGE",
    value_type: str = "DOUBLE",
    starts: Sequence[float] | None = None,
    **labels: str,
) -> Track:
    """A series of points at so many minutes."""
    ends = [int(at * MINUTE) for at, _ in points]
    return Track(
        identity=SeriesIdentity(
            metric="m", metric_labels={}, resource="gce_instance", resource_labels=labels
        ),
        kind=kind,
        value_type=value_type,
        starts=ends if starts is None else [int(at * MINUTE) for at in starts],
        ends=ends,
        values=[value for _, value in points],
    )


def align(
    name: str, series: Track, end: float = 60, period: float = 10, start: float = 0
) -> dict[float, Any]:
    """What an aligner makes of a series: values by the minute of their time."""
    periods = windows(int(start * MINUTE), int(end * MINUTE), int(period * MINUTE))
    found = aligned(series, ALIGNERS[name], periods)
    return {at / MINUTE: value for at, value in zip(found.ends, found.values, strict=True)}


def test_periods_end_at_the_end_of_the_interval_and_go_back():
    """The last is whole; the first may begin before the interval."""
    assert windows(0, 25 * MINUTE, 10 * MINUTE) == [
        Window(low=-5 * MINUTE, high=5 * MINUTE),
        Window(low=5 * MINUTE, high=15 * MINUTE),
        Window(low=15 * MINUTE, high=25 * MINUTE),
    ]


def test_a_point_at_the_start_of_a_period_belongs_to_the_one_before():
    """Periods are open at their start and closed at their end, as intervals are."""
    assert align("ALIGN_SUM", track([(10, 1.0), (10.001, 2.0), (20, 4.0)])) == {10: 1.0, 20: 6.0}


def test_a_period_without_points_has_no_value():
    """There is no zero where nothing was measured."""
    assert align("ALIGN_MEAN", track([(5, 1.0), (35, 2.0)])) == {10: 1.0, 40: 2.0}


MODELS = {
    "ALIGN_MIN": min,
    "ALIGN_MAX": max,
    "ALIGN_MEAN": statistics.fmean,
    "ALIGN_SUM": sum,
    "ALIGN_COUNT": len,
    "ALIGN_STDDEV": statistics.pstdev,
    "ALIGN_NEXT_OLDER": lambda values: values[-1],
}

POINTS = st.lists(
    st.tuples(st.integers(-20, 80), st.floats(-1e6, 1e6)), max_size=60, unique_by=lambda point: point[0]
).map(sorted)


@pytest.mark.parametrize("name", sorted(MODELS))
@given(points=POINTS, end=st.integers(1, 60), period=st.integers(1, 30))
def test_an_aligner_does_to_each_period_what_its_name_says(name: str, points, end: int, period: int):
    """The model looks at every point and every period, one by one."""
    expected = {}
    high = end
    while high > 0:
        inside = [value for at, value in points if high - period < at <= high]
        if inside:
            expected[high] = MODELS[name](inside)
        high -= period
    found = align(name, track(points), end=end, period=period)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ALIGN_COUNT_TRUE", 2), ("ALIGN_COUNT_FALSE", 1), ("ALIGN_FRACTION_TRUE", 2 / 3), ("ALIGN_COUNT", 3)],
)
def test_booleans_are_counted(name: str, expected: float):
    """How many were true, false, and of how many."""
    series = track([(1, True), (2, False), (3, True)], value_type="BOOL")
    assert align(name, series, end=10) == {10: pytest.approx(expected)}


def test_interpolation_lies_on_the_line_between_the_neighbours():
    """Nothing is said before the first point or after the last."""
    series = track([(5, 0.0), (25, 20.0)])
    assert align("ALIGN_INTERPOLATE", series, end=30) == {10: 5.0, 20: 15.0}


def test_interpolation_of_whole_numbers_gives_whole_numbers():
    """The value type stays."""
    series = track([(5, 0), (16, 10)], value_type="INT64")
    assert align("ALIGN_INTERPOLATE", series, end=10) == {10: 5}


def test_the_delta_of_a_counter_is_its_growth_in_each_period():
    """A stretch across a boundary is shared out evenly."""
    series = track([(5, 10), (15, 20), (20, 30)], kind="CUMULATIVE", value_type="INT64", starts=[0, 0, 0])
    assert align("ALIGN_DELTA", series, end=20) == {10: 15, 20: 15}


def test_a_period_with_no_points_gets_its_share_of_the_growth_around_it():
    """`by interpolation`, says the documentation of ALIGN_DELTA."""
    series = track([(0, 0.0), (40, 40.0)], kind="CUMULATIVE", starts=[-1, -1])
    assert align("ALIGN_DELTA", series, end=40) == pytest.approx({10: 10, 20: 10, 30: 10, 40: 10})


def test_a_counter_that_was_reset_goes_on_from_zero():
    """A new start time is a reset: nothing is negative and nothing is counted twice."""
    series = track([(5, 50.0), (10, 60.0), (20, 7.0)], kind="CUMULATIVE", starts=[0, 0, 10])
    assert align("ALIGN_DELTA", series, end=20) == pytest.approx({10: 60, 20: 7})


def test_a_rate_is_growth_per_second():
    """600 in ten minutes is one a second."""
    series = track([(0, 0.0), (10, 600.0), (20, 1800.0)], kind="CUMULATIVE", starts=[-1, -1, -1])
    assert align("ALIGN_RATE", series, end=20) == pytest.approx({10: 1.0, 20: 2.0})


def test_a_rate_divides_by_the_time_that_is_known():
    """A counter that began in the middle of a period is not taken for a slow one."""
    series = track([(10, 300.0)], kind="CUMULATIVE", starts=[5])
    assert align("ALIGN_RATE", series, end=10) == pytest.approx({10: 1.0})


def test_the_rate_of_a_delta_series():
    """Each point is the growth in its own interval."""
    series = track([(5, 300.0), (10, 300.0)], kind="DELTA", starts=[0, 5])
    assert align("ALIGN_RATE", series, end=10) == pytest.approx({10: 1.0})


@given(
    st.lists(st.integers(0, 1000), min_size=2, max_size=30),
    st.integers(1, 20),
)
def test_the_deltas_of_all_periods_add_up_to_the_growth(steps: list[int], period: int):
    """Wherever the boundaries fall, nothing is lost or counted twice."""
    total, points = 0.0, []
    for number, step in enumerate(steps):
        total += step
        points.append((number, total))
    series = track(points, kind="CUMULATIVE", starts=[-1] * len(points))
    found = align("ALIGN_DELTA", series, start=-1, end=len(steps) - 1, period=period)
    assert sum(found.values()) == pytest.approx(total)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [(50.0, 75.0, 50.0), (0.0, 5.0, math.inf), (0.0, 0.0, 0.0), (80.0, 20.0, -75.0)],
)
def test_percent_change_compares_the_ends_of_a_period(before: float, after: float, change: float):
    """The means of the last ten minutes at both ends."""
    series = track([(10, before), (70, after)])
    assert align("ALIGN_PERCENT_CHANGE", series, start=10, end=70, period=60) == {70: pytest.approx(change)}


def test_percent_change_takes_values_below_zero_for_missing():
    """And smooths the others over ten minutes."""
    series = track([(10, 50.0), (62, 60.0), (65, -900.0), (70, 90.0)])
    found = align("ALIGN_PERCENT_CHANGE", series, start=10, end=70, period=60)
    assert found == {70: pytest.approx(50.0)}


def test_percent_change_says_nothing_without_a_value_to_compare_with():
    """A series that has just begun has not changed."""
    assert align("ALIGN_PERCENT_CHANGE", track([(70, 5.0)]), start=10, end=70, period=60) == {}


def distribution(counts: list[int], *, mean: float = 0.0) -> Any:
    """Values counted in buckets with bounds at 0, 10, 20 and so on."""
    found = distribution_pb2.Distribution(count=sum(counts), mean=mean, bucket_counts=counts)
    found.bucket_options.linear_buckets.num_finite_buckets = 10
    found.bucket_options.linear_buckets.width = 10
    return found


@pytest.mark.parametrize(
    ("counts", "percent", "value"),
    [
        ([0, 10], 50, 5.0),
        ([0, 10], 99, 9.9),
        ([0, 5, 5], 50, 10.0),
        ([0, 5, 0, 5], 95, 29.0),
        ([10], 50, 0.0),
        ([0] * 11 + [7], 50, 100.0),
    ],
)
def test_a_percentile_lies_evenly_inside_its_bucket(counts: list[int], percent: float, value: float):
    """Beyond the outermost bounds it is the bound."""
    assert percentile(distribution(counts), percent) == pytest.approx(value)


def test_the_percentile_of_a_period_is_that_of_all_its_values_together():
    """Distributions are merged first."""
    series = track([(1, distribution([0, 8])), (2, distribution([0, 0, 2]))], value_type="DISTRIBUTION")
    assert align("ALIGN_PERCENTILE_95", series, end=10) == {10: pytest.approx(17.5)}


def test_an_empty_distribution_has_no_percentile():
    """And the period has no point."""
    series = track([(1, distribution([]))], value_type="DISTRIBUTION")
    assert align("ALIGN_PERCENTILE_50", series, end=10) == {}


@given(st.lists(st.lists(st.floats(-100, 100), min_size=1, max_size=10), min_size=1, max_size=5))
def test_merged_distributions_have_the_mean_and_deviation_of_all_values(samples: list[list[float]]):
    """As if all values had been in one from the start."""

    def of(values: list[float]) -> Any:
        mean = statistics.fmean(values)
        deviation = sum((value - mean) ** 2 for value in values)
        return distribution_pb2.Distribution(count=len(values), mean=mean, sum_of_squared_deviation=deviation)

    found = merged([of(sample) for sample in samples])
    everything = [value for sample in samples for value in sample]
    assert found.count == len(everything)
    assert found.mean == pytest.approx(statistics.fmean(everything), abs=1e-6)
    wanted = statistics.pvariance(everything) * len(everything)
    assert found.sum_of_squared_deviation == pytest.approx(wanted, abs=1e-4)


def reduce(name: str, tracks: list[Track], *fields: str) -> dict[tuple[str, ...], dict[float, Any]]:
    """What a reducer makes of series, by their labels."""
    found = reduced(tracks, REDUCERS[name], [("resource", field) for field in fields])
    return {
        tuple(each.identity.resource_labels.get(field, "") for field in fields): {
            at / MINUTE: value for at, value in zip(each.ends, each.values, strict=True)
        }
        for each in found
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("REDUCE_MEAN", 4.0),
        ("REDUCE_MIN", 1.0),
        ("REDUCE_MAX", 8.0),
        ("REDUCE_SUM", 12.0),
        ("REDUCE_COUNT", 3),
        ("REDUCE_STDDEV", statistics.pstdev([1, 3, 8])),
        ("REDUCE_PERCENTILE_50", 3.0),
        ("REDUCE_PERCENTILE_95", 7.5),
    ],
)
def test_a_reducer_combines_the_values_of_one_moment(name: str, expected: float):
    """All series become one."""
    tracks = [track([(10, value)], instance_id=str(value)) for value in (1.0, 3.0, 8.0)]
    assert reduce(name, tracks) == {(): {10: pytest.approx(expected)}}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("REDUCE_COUNT_TRUE", 2), ("REDUCE_COUNT_FALSE", 1), ("REDUCE_FRACTION_TRUE", 2 / 3)],
)
def test_a_reducer_counts_booleans(name: str, expected: float):
    """How many series were true at that moment."""
    tracks = [track([(10, value)], value_type="BOOL") for value in (True, False, True)]
    assert reduce(name, tracks) == {(): {10: pytest.approx(expected)}}


def test_series_are_grouped_by_the_fields_and_by_nothing_else():
    """Each group is a series with just these labels."""
    tracks = [
        track([(10, 1.0)], zone="a", instance_id="1"),
        track([(10, 2.0)], zone="a", instance_id="2"),
        track([(10, 4.0)], zone="b", instance_id="3"),
    ]
    assert reduce("REDUCE_SUM", tracks, "zone") == {("a",): {10: 3.0}, ("b",): {10: 4.0}}
    (first, _) = reduced(tracks, REDUCERS["REDUCE_SUM"], [("resource", "zone")])
    assert first.identity.resource_labels == {"zone": "a"}


def test_a_series_that_has_no_value_at_a_moment_is_left_out_of_it():
    """It does not count as zero."""
    tracks = [track([(10, 1.0), (20, 1.0)]), track([(20, 3.0)])]
    assert reduce("REDUCE_MEAN", tracks) == {(): {10: 1.0, 20: 2.0}}
