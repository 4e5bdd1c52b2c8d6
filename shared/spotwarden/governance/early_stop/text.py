"""What is said about a training that is to end early."""

from collections.abc import Mapping
from datetime import timedelta

from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.training import Track, Training
from spotwarden.model.heartbeat import Beat, Measured
from spotwarden.model.rule_limits import EarlyStopLimits, Goal
from spotwarden.model.values import written

FIRST = timedelta(hours=2)
"""How long a job may take to measure for the first time what its early stop hangs on."""
LOOK = "check its log and metrics, fix the cause, then restart it from the last good checkpoint"
HOW_TO_MEASURE = (
    "report the metric: with the job kit, use `spotwarden run --metric 'loss=loss: ([^ ,]+)'`, or"
    " write a line"
    ' such as `{"step": 120, "loss": 0.7}` to the file that `$SPOTWARDEN_PROGRESS` names. A'
    " heartbeat of your own"
    " must name its VM as instance_id"
)
LARGE = 1e15
"""Whole numbers up to here are written out."""
MOST = 12
"""So many metrics are shown as evidence."""


def figure(value: Measured | None) -> str:
    """A figure as a person reads it."""
    if value is None:
        return "never a valid number"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value.is_integer() and abs(value) < LARGE else f"{value:.6g}"


def where(record: JobRecord, node: str, beat: Beat) -> str:
    """Of which job or node, and at which step."""
    of = f"{record.job} on {node}" if len(record.instances) > 1 else record.job
    return f" of {of}" + (f" at step {figure(beat.step)}" if beat.step is not None else "")


def beyond(what: str, value: Measured, side: str, bound: float) -> str:
    """A metric that is beyond its bound."""
    return f"{what} is {figure(value)}, {side} its limit of {figure(bound)}"


def no_better(record: JobRecord, node: str, track: Track, allowed: EarlyStopLimits) -> str:
    """What has not got better, and since when."""
    of = f"{record.job} on {node}" if len(record.instances) > 1 else record.job
    best = f"its best, {figure(track.best)}, was at step {figure(track.best_step)}"
    if track.best is None:
        best = "it has never been a valid number"
    by = f" by more than {figure(allowed.min_delta)}" if allowed.min_delta else ""
    lower = "lower" if allowed.goal is Goal.MIN else "higher"
    patience = figure(allowed.patience)
    what = f"{allowed.metric} of {of} hasn't become {lower}{by} for {patience} steps"
    return f"{what}: {best}, and it is now at step {figure(track.step)}"


def evidence(training: Training, allowed: EarlyStopLimits) -> Mapping[str, str]:
    """The figures of each node, the course of the metric, and the limits."""
    said: dict[str, str] = {}
    for node, beat in sorted(training.beats.items())[:MOST]:
        shown = ", ".join(f"{name} {figure(value)}" for name, value in sorted(beat.metrics.items())[:MOST])
        step = f"step {figure(beat.step)}: " if beat.step is not None else ""
        said[f"measured on {node}"] = f"{step}{shown or 'nothing'}"
    for node, track in sorted(training.tracks.items())[:MOST]:
        said[f"best {allowed.metric} on {node}"] = f"{figure(track.best)} at step {figure(track.best_step)}"
    limits = {
        "not a number": "stops the job" if allowed.unreal else "",
        "over": written(allowed.over) if allowed.over else "",
        "under": written(allowed.under) if allowed.under else "",
        "patience": f"{figure(allowed.patience)} steps" if allowed.patience is not None else "",
        "counts from step": figure(allowed.warmup) if allowed.warmup else "",
    }
    return said | {name: words for name, words in limits.items() if words}
