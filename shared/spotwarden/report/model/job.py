"""The report's page of one job: its row, its timeline, its curves, and what we have done to it.

Times and texts are as in `model.report`.
"""

from datetime import datetime, timedelta
from enum import Enum

import msgspec

from spotwarden.governance.signals.shown import SignalRow
from spotwarden.model.heartbeat import Measured
from spotwarden.model.moment import Moment
from spotwarden.recovery.forecast.forecast import Outlook
from spotwarden.report.model.experiments import Experiment
from spotwarden.report.model.trust import AuditedAction


class BarEnd(Enum):
    """How a VM's stay in a place came to its end; `UP` is one that has not."""

    UP = "up"
    PREEMPTED = "preempted"
    ENDED = "ended"
    STOPPED = "stopped"
    EXPIRED = "expired"
    LOST = "lost"
    REPLACED = "replaced"
    UNKNOWN = "unknown"


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One VM in one attempt: from when to when it was up; `end` is None while it is (`BarEnd.UP`).

    `machine` is its type, "" where nobody has seen it; `spot` is None likewise. `why` says how it ended, in
    words. `kept` is up to when its work was saved, for one that was lost; None where the job does not say.
    """

    attempt: int
    node: str
    instance_id: str = ""
    zone: str = ""
    machine: str = ""
    spot: bool | None = None
    start: Moment
    end: Moment | None = None
    fate: BarEnd = BarEnd.UNKNOWN
    why: str = ""
    kept: Moment | None = None


class RefusedTry(msgspec.Struct, frozen=True, kw_only=True):
    """A place that was asked and did not give: when, where, and its answer."""

    at: Moment
    place: str
    error: str


class JobWait(msgspec.Struct, frozen=True, kw_only=True):
    """A time without VMs before `attempt`; `end` is None while it lasts. `reason` is in words."""

    attempt: int
    start: Moment
    end: Moment | None = None
    reason: str = ""
    refused: tuple[RefusedTry, ...] = ()


class MarkKind(Enum):
    """What happened at a moment of a timeline."""

    LAUNCHED = "launched"
    PREEMPTED = "preempted"
    LOST = "lost"
    REFUSED = "refused"
    CHECKPOINT = "checkpoint"
    WARNED = "warned"
    ANSWERED = "answered"
    ACTED = "acted"
    ENDED = "ended"


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of a timeline. `entry` is the id of what the trust page has about it, "" for nothing."""

    at: Moment
    kind: MarkKind
    what: str
    attempt: int | None = None
    node: str = ""
    entry: str = ""


class GpuLoad(msgspec.Struct, frozen=True, kw_only=True):
    """How busy a VM's busiest GPU was, in percent, each `step` from `start`; None: not reported."""

    instance_id: str
    node: str = ""
    start: Moment
    step: timedelta
    values: tuple[float | None, ...]


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One value of a curve: when, at which step of the training (None: not said), in which attempt."""

    at: Moment
    step: float | None
    value: Measured
    attempt: int = 0


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A metric over a job's life, oldest first, thinned out; the highest and lowest values stay in it."""

    metric: str
    node: str = ""
    points: tuple[CurvePoint, ...] = ()


class JobReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one job, as it was at `at`.

    `start` and `end` are those of the timeline's axis; None where nothing is on record. `marks` and `entries`
    are oldest first; `signals` is what was last seen of each node; of `entries` the newest stay,
    `entries_left_out` counts those that had to go. `forecast` is None of a job that is over.
    """

    at: datetime
    experiment: Experiment
    start: Moment | None = None
    end: Moment | None = None
    bars: tuple[Bar, ...] = ()
    waits: tuple[JobWait, ...] = ()
    marks: tuple[Mark, ...] = ()
    loads: tuple[GpuLoad, ...] = ()
    curves: tuple[Curve, ...] = ()
    signals: tuple[SignalRow, ...] = ()
    entries: tuple[AuditedAction, ...] = ()
    entries_left_out: int = 0
    prices: str = ""
    forecast: Outlook | None = None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two to four jobs beside each other; `missing` are names of which there is no job."""

    jobs: tuple[JobReport, ...]
    missing: tuple[str, ...] = ()
