"""What a heartbeat says: how far a node's training is, and what it measures.

The job kit writes it as the custom metadata of `heartbeats/<node>` at a fixed period, whether the program
gets on or not: that it came says that the VM is alive, `progress_at` when the program last moved. New figures
are a line of `<job>/metadata/metrics/<node>/<attempt>.jsonl`. JSON has no *not a number*, no infinity: such
values are the texts "nan", "inf" and "-inf". A job may write its own, as JSON into
`<job>/metadata/heartbeat/<node>`; every part may be missing, and so may all of them.
`spotwarden.recovery.folder.heartbeats` reads them.
"""

import math
from collections.abc import Mapping
from typing import Literal

import msgspec

from spotwarden.model.moment import Moment

Unreal = Literal["nan", "inf", "-inf"]
Measured = float | Unreal


WAITING = "waiting"
"""The status of a VM that is set up for a gang that bends, and that no record names yet."""


class Beat(msgspec.Struct, frozen=True, kw_only=True):
    """One heartbeat.

    `at` is when it was measured and `progress_at` when the program last made any progress, both by the
    clock of the VM `instance_id`; a job that writes its own heartbeats may leave them out. `step` of
    `steps` is how far the training is, over all attempts, and `first_step` the first that its program has
    told in this one; `checkpoint` is the newest one, as the program calls it. `metrics` are what it
    measures. `longest_gap` is the longest time in seconds that its program has been without progress before
    it went on, in this attempt. The job kit also says `job`, whose it is, and `status`: "running",
    "stopped", "handed-over" where its successor may begin, `WAITING` and "joining" in a gang that bends, or
    the status with which it ended.
    """

    at: Moment | None = None
    progress_at: Moment | None = None
    attempt: int | None = None
    instance_id: str = ""
    step: float | None = None
    steps: float | None = None
    first_step: float | None = None
    checkpoint: str = ""
    longest_gap: float | None = None
    job: str = ""
    status: str = ""
    metrics: Mapping[str, Measured] = {}

    @property
    def share(self) -> float | None:
        """The share of the work that is done, 0..1; None where it does not say."""
        if self.step is None or not self.steps or not math.isfinite(self.step / self.steps):
            return None
        return self.step / self.steps


def number(value: Measured) -> float:
    """The value as a number; `float("nan")` and the infinities included."""
    return float(value)
