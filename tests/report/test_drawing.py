"""The report's pictures: places and words, before they are SVG."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotwarden.report.model.experiments import Experiment
from spotwarden.report.model.fleet import OutageHour, Spans
from spotwarden.report.model.job import Bar, BarEnd, Curve, CurvePoint, GpuLoad, JobReport, Mark, MarkKind
from spotwarden.report.views import curving
from spotwarden.report.views.drawing import nice, ticks
from spotwarden.report.views.loads import MOST_SLOTS, pieces
from spotwarden.report.views.outages import outages
from spotwarden.report.views.stacks import across, along
from spotwarden.report.views.text import Words
from spotwarden.report.views.timeline import MOST_ROWS, timeline

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)
HOUR = timedelta(hours=1)
START = NOW - 10 * HOUR


def report(**other):
    """A job's report with only these parts."""
    said = {"at": NOW, "experiment": Experiment(job="j"), "start": START, "end": NOW}
    return JobReport(**{**said, **other})


def drawn(**other):
    """Its timeline."""
    return timeline(report(**other), Words())


def bar(number=1, start=START, end=NOW, **other):
    """A VM's stay."""
    return Bar(**{"attempt": 1, "node": f"vm-{number}", "zone": "z", "start": start, "end": end, **other})


def kinds(picture):
    """The kinds of areas that it has, without its grid."""
    return [area.kind for area in picture.areas if area.kind != "grid"]


def test_nothing_on_record_is_no_picture():
    """Rather than an empty one."""
    assert drawn(start=None, end=None) is None
    assert drawn(start=NOW, end=NOW) is None


def test_work_lost_is_drawn_from_the_checkpoint_on():
    """Only of a VM that was taken away, and only where its job tells of checkpoints."""
    kept = START + 8 * HOUR
    assert kinds(drawn(bars=(bar(fate=BarEnd.PREEMPTED, kept=kept),))) == ["used", "lost"]
    assert kinds(drawn(bars=(bar(fate=BarEnd.PREEMPTED),))) == ["used"]
    assert kinds(drawn(bars=(bar(fate=BarEnd.ENDED, kept=kept),))) == ["used"]
    picture = drawn(bars=(bar(fate=BarEnd.LOST, kept=kept),))
    says = [area.says for area in picture.areas if area.kind == "lost"]
    assert says == ["Lost: 2 h since the last checkpoint"]


def test_vms_of_one_zone_share_a_row_where_none_covers_another():
    """One after the other in one row, two at once in two: the picture is a row higher."""
    one = drawn(bars=(bar(1, end=START + HOUR), bar(2, start=START + HOUR)))
    two = drawn(bars=(bar(1, end=START + HOUR), bar(2, start=START + HOUR / 2)))
    assert two.height - one.height == 20


def test_a_large_gang_is_drawn_in_part_and_says_so():
    """As many rows as have room; the table below has all."""
    fits = drawn(bars=tuple(bar(n) for n in range(MOST_ROWS)))
    large = drawn(bars=tuple(bar(n) for n in range(MOST_ROWS + 5)))
    assert kinds(fits).count("used") == kinds(large).count("used") == MOST_ROWS
    assert fits.note == ""
    assert large.note == "5 more VMs are only in the table"


def test_each_zone_of_a_large_gang_has_its_share():
    """A gang that moved is seen in each zone that it lived in."""
    moved = tuple(bar(n, zone=zone) for zone in "abc" for n in range(MOST_ROWS))
    picture = drawn(bars=moved)
    assert kinds(picture).count("used") == MOST_ROWS
    assert {"a", "b", "c"} <= {text.text for text in picture.texts}


def test_marks_closer_than_a_few_pixels_are_one():
    """Thousands of checkpoints are as many as can be seen apart."""
    marks = tuple(Mark(at=START + n * HOUR / 500, kind=MarkKind.CHECKPOINT, what="c") for n in range(5000))
    assert 100 < kinds(drawn(marks=marks)).count("mark-checkpoint") < 400


def test_a_time_of_which_no_gpu_reported_is_a_gap():
    """It is not drawn as 0 %."""
    assert kinds(drawn(loads=(load(90.0, None, None, 80.0),))) == ["util", "util"]


def load(*values, vm="1", start=START, step=HOUR):
    """What a VM's GPUs reported."""
    return GpuLoad(instance_id=vm, start=start, step=step, values=values)


def told(*loads):
    """The values that are drawn, each for its hour after the start."""
    return [((at - START) / HOUR, value) for piece in pieces(loads, START, NOW) for at, value in piece[::2]]


def test_gpus_are_drawn_as_they_were_reported():
    """Each value over its time; what nobody reported is left out."""
    assert told(load(10.0, None, 90.0)) == [(0.0, 10.0), (2.0, 90.0)]


def test_vms_at_one_time_are_drawn_as_their_mean():
    """And each alone where it was alone: curves over each other are no picture any more."""
    assert told(load(10.0, 20.0), load(40.0, 80.0, vm="2", start=START + HOUR)) == [(0, 10), (1, 30), (2, 80)]


def test_long_reports_of_gpus_are_drawn_as_means_of_a_few():
    """Two weeks at ten minutes each are as many values as there is room for."""
    values = tuple(float(number % 2 * 100) for number in range(2016))
    (piece,) = pieces([load(*values, step=HOUR / 6)], START, START + 336 * HOUR)
    assert len(piece) == 2 * MOST_SLOTS
    assert all(30 < value < 70 for _, value in piece)


def test_the_picture_is_told_in_words():
    """For whom it cannot be seen."""
    says = drawn(bars=(bar(fate=BarEnd.PREEMPTED),)).says
    assert "attempts: 1; zones: z; VMs preempted or lost: 1; waits: 0" in says


@pytest.mark.parametrize(
    ("start", "labels"),
    [
        # Clocks go back in Berlin at 01:00 UTC on 25 October, and forth on 29 March.
        (datetime(2026, 10, 24, 16, tzinfo=UTC), ["24 Oct 18:00", "25 Oct 00:00", "06:00", "12:00", "18:00"]),
        (datetime(2026, 3, 28, 17, tzinfo=UTC), ["28 Mar 18:00", "29 Mar 00:00", "06:00", "12:00", "18:00"]),
    ],
)
def test_labels_are_round_by_the_clocks_of_the_zone_where_they_are_set(start, labels):
    """00:00, 06:00, 12:00 on a day of 25 hours and on one of 23; moments rise."""
    found = list(ticks(start, start + 25 * HOUR, "Europe/Berlin", most=5))
    assert [label for _, label in found] == labels
    assert [at for at, _ in found] == sorted(at for at, _ in found)


@given(
    st.datetimes(
        NOW.replace(year=2000, tzinfo=None), NOW.replace(year=2037, tzinfo=None), timezones=st.just(UTC)
    ),
    st.timedeltas(timedelta(minutes=1), timedelta(days=200)),
)
def test_there_are_never_more_labels_than_have_room(start, length):
    """From minutes to months; all of them lie within."""
    found = [at for at, _ in ticks(start, start + length, "America/New_York")]
    assert len(found) <= 11
    assert all(start <= at <= start + length for at in found)


@given(st.floats(-1e99, 1e99), st.floats(0, 1e99))
def test_an_axis_holds_all_values(low, more):
    """Its first label is at most the lowest value, its last at least the highest."""
    values = nice(low, low + more)
    assert 2 <= len(values) <= 14
    assert values[0] <= low + abs(low) * 1e-9
    assert values[-1] >= (low + more) - abs(low + more) * 1e-9


def curve(*points, metric="loss", node=""):
    """A curve of (step, value), a minute apart."""
    return Curve(
        metric=metric,
        node=node,
        points=tuple(CurvePoint(at=START + n * HOUR, step=x, value=y) for n, (x, y) in enumerate(points)),
    )


def test_a_step_that_was_done_again_has_its_newest_value():
    """After a preemption a job repeats what it lost; the curve does not run backwards."""
    (found,) = curving.of_job(report(curves=(curve((1, 9.0), (2, 8.0), (3, 7.0), (2, 8.5), (3, 7.5)),)))
    assert found.data["x"] == "step"
    assert found.data["curves"] == [{"name": "loss", "x": [1, 2, 3], "y": [9.0, 8.5, 7.5]}]


def test_without_steps_a_curve_is_by_hours():
    """One point that does not say its step is enough."""
    (found,) = curving.of_job(report(curves=(curve((1, 9.0), (None, 8.0)),)))
    assert found.data["x"] == "hours"
    assert found.data["curves"][0]["x"] == [0.0, 1.0]


def test_what_is_no_number_is_a_gap():
    """NaN, infinity and what is next to it interrupt the curve, and reach no JSON."""
    points = ((1, 9.0), (2, "nan"), (3, "inf"), (4, 1e308), (5, 6.0), (6, 5.0))
    (found,) = curving.of_job(report(curves=(curve(*points),)))
    assert found.data["curves"][0]["y"] == [9.0, None, None, None, 6.0, 5.0]
    assert sum(area.kind.startswith("curve") for area in found.picture.areas) == 2


def test_a_metric_that_never_was_a_number_says_so():
    """Instead of an axis that would be made up."""
    (found,) = curving.of_job(report(curves=(curve((1, "nan")),)))
    assert found.picture.says == "No value is a number."


def test_of_many_nodes_the_first_four_are_drawn():
    """And the picture says how many are not."""
    curves = tuple(curve((1, 1.0), (2, 2.0), node=f"n{n}") for n in range(6))
    (found,) = curving.of_job(report(curves=curves))
    assert len(found.data["curves"]) == 4
    assert found.picture.note == "by step, 2 more not drawn"


def test_jobs_are_compared_by_the_metrics_that_most_of_them_have():
    """A curve for each job that has it; the names are those of the jobs."""
    both = [
        JobReport(
            at=NOW, experiment=Experiment(job="a"), curves=(curve((1, 1.0), metric="acc"), curve((1, 2.0)))
        ),
        JobReport(at=NOW, experiment=Experiment(job="b"), curves=(curve((1, 3.0)),)),
    ]
    loss, acc = curving.of_jobs(both)
    assert [one["name"] for one in loss.data["curves"]] == ["a", "b"]
    assert [one["name"] for one in acc.data["curves"]] == ["a"]


def test_bars_of_time_stand_on_each_other():
    """Useful, the rest, idle and lost time; none where there is none of it."""
    spans = Spans(useful=2 * HOUR, lost=HOUR)
    for draw in (across, along):
        assert kinds(draw("Hours", [("2026-11-20", spans)])) == ["used", "lost"]
        assert draw("Hours", [("2026-11-20", Spans(waiting=HOUR))]) is None


def test_outages_are_by_the_hours_of_the_reader():
    """15:00 UTC is midnight in Tokyo; two days at that hour count together, the worst hour stands out."""
    hours = [
        OutageHour(zone="a", hour=NOW, preempted=2, granted=1),
        OutageHour(zone="a", hour=NOW - 24 * HOUR, stockouts=1),
        OutageHour(zone="a", hour=NOW - HOUR, preempted=1),
        OutageHour(zone="b", hour=NOW, granted=5),
    ]
    a, b = outages(hours, Words(zone="Asia/Tokyo"))
    assert (a.hours[0].count, a.hours[0].level, a.hours[23].count, a.hours[23].level) == (3, 3, 1, 1)
    assert (a.preempted, a.stockouts, a.granted) == (3, 1, 1)
    assert {cell.level for cell in b.hours} == {0}
