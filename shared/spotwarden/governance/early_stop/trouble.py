"""What speaks against a training that goes on, by what it measures."""

from math import isfinite
from typing import NamedTuple

from spotwarden.governance.early_stop import text as words
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.training import Aim, Track
from spotwarden.model.heartbeat import Beat, number
from spotwarden.model.rule_limits import EarlyStopLimits


class Trouble(NamedTuple):
    """Which condition is met: as the end of a sentence, without figures, and in a sentence with them."""

    title: str
    reason: str


def aim_of(allowed: EarlyStopLimits) -> Aim:
    """What is to be read of a metric's course."""
    if allowed.patience is None:
        return Aim()
    return Aim(metric=allowed.metric, goal=allowed.goal, min_delta=allowed.min_delta)


def find_trouble(record: JobRecord, allowed: EarlyStopLimits) -> Trouble | None:
    """Why the training is to end; None where nothing speaks against it."""
    for node, beat in sorted(record.training.beats.items()):
        where = words.where(record, node, beat)
        if allowed.unreal and (name := _unreal(beat)):
            reason = f"{name}{where} is {beat.metrics[name]}, which is not a valid number"
            return Trouble(f"reports an invalid {name}", reason)
        if warm(beat.step, allowed) and (found := _beyond(beat, where, allowed)):
            return found
    return _no_better(record, allowed)


def _unreal(beat: Beat) -> str:
    """The first of its metrics that is not a number, or infinite; "" for none."""
    return next((name for name, value in sorted(beat.metrics.items()) if not isfinite(number(value))), "")


def _beyond(beat: Beat, where: str, allowed: EarlyStopLimits) -> Trouble | None:
    """Which bound a metric is beyond; one at its bound is within it. Not a number is beyond none."""
    for name, bound in sorted(allowed.over.items()):
        if name in beat.metrics and number(beat.metrics[name]) > bound:
            reason = words.beyond(name + where, beat.metrics[name], "over", bound)
            return Trouble(f"reports {name} over its limit", reason)
    for name, bound in sorted(allowed.under.items()):
        if name in beat.metrics and number(beat.metrics[name]) < bound:
            reason = words.beyond(name + where, beat.metrics[name], "under", bound)
            return Trouble(f"reports {name} under its limit", reason)
    return None


def warm(step: float | None, allowed: EarlyStopLimits) -> bool:
    """Whether bounds count by now; of a job that names no step nobody knows, unless they count at once."""
    return not allowed.warmup or (step is not None and step >= allowed.warmup)


def _no_better(record: JobRecord, allowed: EarlyStopLimits) -> Trouble | None:
    """Patience that is at its end: at every node that measures it, and each as long as that."""
    training = record.training
    if allowed.patience is None or training.aim != aim_of(allowed) or not training.tracks:
        return None
    if not all(waited(item, allowed) >= allowed.patience for item in training.tracks.values()):
        return None
    node, track = min(
        training.tracks.items(), key=lambda candidate: (waited(candidate[1], allowed), candidate[0])
    )
    title = f"trains without improving {allowed.metric}"
    return Trouble(title, words.no_better(record, node, track, allowed))


def waited(track: Track, allowed: EarlyStopLimits) -> float:
    """For how many steps the metric has not got better; they count from the warm-up on."""
    return track.step - max(track.best_step, allowed.warmup)
