"""Metric curves: one picture for each metric, and the data from which a script draws it closer."""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from spotwarden.model.heartbeat import number
from spotwarden.notify.templates.text import clean
from spotwarden.report.model.job import Curve, JobReport
from spotwarden.report.views.drawing import STROKE, Area, DrawnText, Picture, Scale, line, nice
from spotwarden.report.views.text import plain

MOST_CURVES = 4
"""Curves of one picture: as many as can be told apart without colours."""
MOST_PICTURES = 24
_HUGE = 1e100
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 900, 260, 70, 12, 10, 36

Points = tuple[tuple[float, float | None], ...]


class CurveLine(msgspec.Struct, frozen=True, kw_only=True):
    """One curve: its points in the order of x, None where the value is no number."""

    name: str
    points: Points


class Curves(msgspec.Struct, frozen=True, kw_only=True):
    """One metric's picture, and its data."""

    picture: Picture
    data: dict[str, Any]


def of_job(report: JobReport) -> tuple[Curves, ...]:
    """The curves of one job: a picture for each metric, a curve for each of its first nodes."""
    metrics = list(dict.fromkeys(curve.metric for curve in report.curves))[:MOST_PICTURES]
    return tuple(
        _drawn(metric, [(item.node or metric, item) for item in _of(report, metric)]) for metric in metrics
    )


def of_jobs(reports: Sequence[JobReport]) -> tuple[Curves, ...]:
    """The curves of several jobs: a picture for each metric that any of them has, a curve for each job."""
    counts: dict[str, int] = {}
    for report in reports:
        for metric in dict.fromkeys(curve.metric for curve in report.curves):
            counts[metric] = counts.get(metric, 0) + 1
    metrics = sorted(counts, key=lambda metric: -counts[metric])[:MOST_PICTURES]
    return tuple(
        _drawn(
            metric,
            [(report.experiment.job, _of(report, metric)[0]) for report in reports if _of(report, metric)],
        )
        for metric in metrics
    )


def _of(report: JobReport, metric: str) -> list[Curve]:
    return [curve for curve in report.curves if curve.metric == metric]


def _drawn(metric: str, named: Sequence[tuple[str, Curve]]) -> Curves:
    left = len(named) - MOST_CURVES
    named = named[:MOST_CURVES]
    steps = all(point.step is not None for _, curve in named for point in curve.points)
    lines = [CurveLine(name=clean(name, 120), points=_points(curve, steps=steps)) for name, curve in named]
    by = "step" if steps else "hours"
    note = f"by {'step' if steps else 'hours since the first value'}" + (
        f", {left} more not drawn" if left > 0 else ""
    )
    return Curves(
        picture=_picture(metric, lines, by, note),
        data={
            "x": by,
            "curves": [
                {
                    "name": curve_line.name,
                    "x": [x for x, _ in curve_line.points],
                    "y": [y for _, y in curve_line.points],
                }
                for curve_line in lines
            ],
        },
    )


def _points(curve: Curve, *, steps: bool) -> Points:
    """By step, or by hours; of a step that was done more than once the newest value counts."""
    found: dict[float, float | None] = {}
    for point in curve.points:
        value = number(point.value)
        hours = (point.at - curve.points[0].at) / timedelta(hours=1)
        x = point.step if steps and point.step is not None else round(hours, 4)
        if _drawable(x):
            found[x] = value if _drawable(value) else None
    return tuple(sorted(found.items()))


def _drawable(value: float) -> bool:
    """Whether it has a place in a picture: differences between larger numbers are no numbers any more."""
    return math.isfinite(value) and abs(value) < _HUGE


def _picture(metric: str, lines: Sequence[CurveLine], by: str, note: str) -> Picture:
    xs = [x for curve in lines for x, _ in curve.points]
    ys = [y for curve_line in lines for _, y in curve_line.points if y is not None]
    if not xs or not ys:
        text = DrawnText(x=_LEFT, y=_HEIGHT / 2, text="No value is a number.", kind="quiet")
        return Picture(
            width=_WIDTH, height=_HEIGHT, title=metric, says="No value is a number.", note=note, texts=(text,)
        )
    heights = nice(min(ys), max(ys))
    widths = nice(min(xs), max(xs), 8) if max(xs) > min(xs) else [min(xs)]
    across = Scale(low=min(xs), high=max(xs), start=_LEFT, end=_WIDTH - _RIGHT)
    up = Scale(low=heights[0], high=heights[-1], start=_HEIGHT - _BOTTOM, end=_TOP)
    widths = [x for x in widths if min(xs) <= x <= max(xs)]
    grid = [Area(d=line([(_LEFT, up(y)), (_WIDTH - _RIGHT, up(y))]), kind="grid") for y in heights]
    axis = [DrawnText(x=_LEFT - 8, y=up(y) + 4, text=plain(y), kind="quiet end") for y in heights]
    below = [
        DrawnText(x=across(x), y=_HEIGHT - _BOTTOM + 18, text=plain(x), kind="quiet mid") for x in widths
    ]
    unit = DrawnText(x=_WIDTH - _RIGHT, y=_HEIGHT - 4, text=by, kind="quiet end")
    drawn = [
        Area(d=d, kind=f"curve c{place}", says=item.name)
        for place, item in enumerate(lines, 1)
        for d in _pieces(item.points, across, up)
    ]
    return Picture(
        width=_WIDTH,
        height=_HEIGHT,
        title=metric,
        says=" ".join(_says(candidate) for candidate in lines),
        note=note,
        areas=(*grid, *drawn),
        texts=(*axis, *below, unit),
        key=tuple((f"curve c{place}", each.name, STROKE) for place, each in enumerate(lines, 1)),
    )


def _pieces(points: Points, across: Scale, up: Scale) -> Iterator[str]:
    """The curve without the places where its value is no number; a single value is a short line."""
    piece: list[tuple[float, float]] = []
    for x, y in (*points, (0.0, None)):
        if y is not None:
            piece.append((across(x), up(y)))
        elif piece:
            yield line(piece if len(piece) > 1 else _dash(*piece[0]))
            piece = []


def _dash(x: float, y: float) -> Iterable[tuple[float, float]]:
    return ((x - 2, y), (x + 2, y))


def _says(curve_line: CurveLine) -> str:
    values = [y for _, y in curve_line.points if y is not None]
    if not values:
        return f"{curve_line.name}: no value is a number."
    span = f"lowest {plain(min(values))}, highest {plain(max(values))}"
    return (
        f"{curve_line.name}: from {plain(values[0])} to {plain(values[-1])}, {span}, {len(values):,} values."
    )
