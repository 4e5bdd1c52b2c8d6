"""The heartbeats of one node in one attempt → what the report keeps of them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from spotwarden.model.heartbeat import Beat, Measured, number
from spotwarden.report.model.experiments import Advance, MetricSummary
from spotwarden.report.model.job import Curve, CurvePoint
from spotwarden.report.model.kept import NodeMetrics, Sources

POINTS = 240
"""Of a curve in one attempt; more than a screen shows, and 200 metrics of it still fit into a summary."""
CURVES = 40
CHECKPOINTS = 200
NAME, TEXT = 100, 200
"""Characters of a metric's name, and of a checkpoint's: all jobs share one index, and none may fill it."""
LESS_IS_BETTER = re.compile(
    r"loss|error|perplexity|divergence|cross_?entropy"
    r"|(?<![a-z])(err|ppl|r?mse|mae|nll|wer|cer|fid|kl)(?![a-z])"
)
"""Abbreviations stand alone: `val_wer` is one, `answer_accuracy` and `confidence` have none."""


def line(node: str, attempt: int, beats: Iterable[Beat], generation: int = 0) -> NodeMetrics:
    """What they say, oldest first; one without a moment only tells what it measures."""
    heard = list(beats)
    moments = [beat.at for beat in heard if beat.at]
    return NodeMetrics(
        node=node,
        attempt=attempt,
        generation=generation,
        first=min(moments, default=None),
        saved=tuple(_saved(heard, attempt))[-CHECKPOINTS:],
        last=heard[-1] if heard else None,
        curves=tuple(_curves(node, attempt, heard)),
    )


def _saved(beats: Sequence[Beat], attempt: int) -> Iterator[tuple[datetime, str]]:
    """When a checkpoint was first heard of; a restart's first beat has the one that it began with."""
    known = beats[0].checkpoint if beats and attempt > 1 else ""
    for beat in beats:
        if beat.checkpoint and beat.checkpoint != known and beat.at:
            yield beat.at, beat.checkpoint[:TEXT]
        known = beat.checkpoint or known


def _curves(node: str, attempt: int, beats: Sequence[Beat]) -> Iterator[Curve]:
    found: dict[str, list[CurvePoint]] = defaultdict(list)
    for beat in beats:
        if beat.at is None:
            continue
        for name, value in _short(beat):
            found[name].append(CurvePoint(at=beat.at, step=beat.step, value=value, attempt=attempt))
    for name in sorted(found)[:CURVES]:
        yield Curve(metric=name, node=node, points=thinned(found[name], POINTS))


def _short(beat: Beat) -> Iterator[tuple[str, Measured]]:
    """What it measures, but for what has a name that nobody could read."""
    return ((name, value) for name, value in beat.metrics.items() if len(name) <= NAME)


def thinned(points: Sequence[CurvePoint], most: int) -> tuple[CurvePoint, ...]:
    """At most so many: of each stretch its first, its lowest and its highest value, and the last of all."""
    if len(points) <= most:
        return tuple(points)
    stretches = max(1, (most - 1) // 3)
    size = -(-len(points) // stretches)
    kept: list[CurvePoint] = []
    for first in range(0, len(points), size):
        some = points[first : first + size]
        chosen = {id(item): item for item in (some[0], min(some, key=_value), max(some, key=_value))}
        kept += [item for item in some if id(item) in chosen]
    return (*kept, points[-1]) if kept[-1] is not points[-1] else tuple(kept)


def _value(point: CurvePoint) -> tuple[bool, float]:
    """What is no number counts as more than any, so that it is seen."""
    value = number(point.value)
    return value != value, value  # noqa: PLR0124 — only *not a number* is not itself


def joined(lines: Sequence[NodeMetrics]) -> tuple[Curve, ...]:
    """Each metric over all attempts, of the node that says the most of it."""
    found: dict[tuple[str, str], list[CurvePoint]] = defaultdict(list)
    for metrics in sorted(lines, key=lambda line: line.attempt):
        for curve in metrics.curves:
            kept = found[curve.metric, metrics.node]
            found[curve.metric, metrics.node] = [*_until(kept, curve.points), *curve.points]
    best: dict[str, tuple[int, str]] = {}
    for (metric, node), points in sorted(found.items()):
        if len(points) > best.get(metric, (0, ""))[0]:
            best[metric] = len(points), node
    return tuple(
        Curve(metric=metric, node=node, points=thinned(found[metric, node], 2 * POINTS))
        for metric, (_, node) in sorted(best.items())
    )


def _until(points: Sequence[CurvePoint], later: Sequence[CurvePoint]) -> Iterator[CurvePoint]:
    """What was lost with the attempt is done again by the next one: no step is in the curve twice."""
    first = later[0].step if later else None
    return (point for point in points if first is None or point.step is None or point.step < first)


def measures(curves: Iterable[Curve], beat: Beat | None) -> tuple[MetricSummary, ...]:
    """The last, lowest and highest value of each metric; the newest heartbeat may know one more."""
    return measures_with((_measure(curve) for curve in curves if curve.points), beat or Beat())


def measures_with(known: Iterable[MetricSummary], newest: Beat) -> tuple[MetricSummary, ...]:
    """What is known of metrics, with the newest heartbeat's."""
    found = {measure.name: measure for measure in known}
    for name, value in _short(newest):
        found[name] = _newer(found.get(name), name, value, newest)
    return tuple(found[name] for name in sorted(found)[:CURVES])


def _measure(curve: Curve) -> MetricSummary:
    last = curve.points[-1]
    return _with_bounds(
        MetricSummary(name=curve.metric, last=last.value, at=last.at, step=last.step),
        [number(point.value) for point in curve.points],
    )


def _newer(known: MetricSummary | None, name: str, value: Measured, beat: Beat) -> MetricSummary:
    if known is not None and known.at and (beat.at is None or beat.at <= known.at):
        return known
    bounds = [item for item in (known.lowest, known.highest) if item is not None] if known else []
    newest = MetricSummary(name=name, last=value, at=beat.at, step=beat.step)
    return _with_bounds(newest, [*bounds, number(value)])


def _with_bounds(measure: MetricSummary, values: Sequence[float]) -> MetricSummary:
    real = [value for value in values if value - value == 0]
    if not real:
        return measure
    low, high = min(real), max(real)
    less = LESS_IS_BETTER.search(measure.name.lower())
    return msgspec.structs.replace(measure, lowest=low, highest=high, best=low if less else high)


def advance(sources: Sources, lines: Sequence[NodeMetrics]) -> Advance:
    """How far the job is, by its newest heartbeat; one that says nothing still says when."""
    said = [line.last for line in lines if line.last and line.last.at]
    newest = max(said, key=lambda beat: beat.at.timestamp() if beat.at else 0.0, default=None)
    beat = sources.beat if sources.beat and sources.beat != Beat() else newest
    at = sources.beat_at or (newest.at if newest else None)
    return Advance(at=at) if beat is None else advanced(beat, at)


def advanced(beat: Beat, at: datetime | None) -> Advance:
    """How far a job is that last made progress then, by this heartbeat."""
    checkpoint = beat.checkpoint[:TEXT]
    return Advance(at=at, step=beat.step, steps=beat.steps, share=beat.share, checkpoint=checkpoint)
