"""How a training goes, by what its heartbeats have measured."""

from collections.abc import Mapping

import msgspec

from spotwarden.model.heartbeat import Beat
from spotwarden.model.rule_limits import Goal


class Aim(msgspec.Struct, frozen=True, kw_only=True):
    """The metric that should get better, and by more than how much for it to count; none where it is ""."""

    metric: str = ""
    goal: Goal = Goal.MIN
    min_delta: float = 0.0


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """How the metric of an aim has gone: `best` was reached at `best_step`, the newest value came at `step`.

    `best` is None where it has never been a number.
    """

    step: float
    best: float | None = None
    best_step: float = 0.0


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """What a job measures.

    `beats` are the newest heartbeats of the attempt that runs, `tracks` how the metric of `aim` has gone
    since the job was last started by a person, both by node. `problem` says why they could not be read.
    """

    beats: Mapping[str, Beat] = {}
    aim: Aim = Aim()
    tracks: Mapping[str, Track] = {}
    problem: str = ""

    @property
    def measures(self) -> bool:
        """Whether any of its heartbeats says a figure."""
        return any(beat.metrics for beat in self.beats.values())
