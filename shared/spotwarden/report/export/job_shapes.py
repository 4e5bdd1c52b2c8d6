"""What the JSON of one job, of several beside each other, and of the trust page looks like."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated

import msgspec

from spotwarden.governance.signals.table import Coverage, SignalKind, SignalSource
from spotwarden.model.heartbeat import Measured
from spotwarden.model.moment import Moment
from spotwarden.report.export.shapes import RowDocument, Version
from spotwarden.report.export.values import seconds
from spotwarden.report.model.job import BarEnd, MarkKind


class BarDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One VM in one attempt; `kept` is up to when the work of one that was lost had been saved."""

    attempt: int
    node: str
    instance_id: str | None
    zone: str | None
    machine_type: Annotated[str | None, "machine"]
    spot: bool | None
    start: Moment
    end: Moment | None
    fate: BarEnd
    why: str | None
    kept: Moment | None


class RefusalDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A place that was asked and did not give."""

    at: Moment
    place: str
    error: str


class WaitDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A time without VMs before an attempt; `end` is null while it lasts."""

    attempt: int
    start: Moment
    end: Moment | None
    reason: str | None
    refused: tuple[RefusalDocument, ...]


class MarkDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What happened at a moment; `entry` is the id of the action behind it."""

    at: Moment
    kind: MarkKind
    what: str
    attempt: int | None
    node: str | None
    entry: str | None


class LoadDocument(msgspec.Struct, frozen=True, kw_only=True):
    """How busy a VM's busiest GPU was, each `step_seconds` from `start`; null where it was not reported."""

    instance_id: str
    node: str | None
    start: Moment
    step_seconds: Annotated[float, seconds, "step"]
    percent: Annotated[tuple[float | None, ...], "values"]


class PointDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a metric."""

    at: Moment
    step: float | None
    value: Measured
    attempt: int


class CurveDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A metric over a job's life, thinned out."""

    metric: str
    node: str | None
    points: tuple[PointDocument, ...]


class SignalDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a source last showed of a node in an attempt, `at` that moment; null for one never seen.

    `node` is null for the whole job, `attempt` 0 for one before the present, where nobody has said which.
    """

    attempt: int
    node: str | None
    instance_id: str | None
    kind: SignalKind
    source: SignalSource
    at: Moment | None
    since: Moment | None
    value: str | None
    coverage: Coverage
    why: str | None


class AuditDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One action of the control plane; `audit` names the object that it stands in."""

    id: str
    at: Moment
    function: str
    sweep: str | None
    policy: str | None
    action: str
    why: str | None
    job: str | None
    node: str | None
    instance_ids: tuple[str, ...]
    rule: str | None
    owner: str | None
    place: str | None
    evidence: Mapping[str, str]
    outcome: str | None
    detail: str | None
    audit: Annotated[str | None, "name"]


class LifeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one job."""

    at: Moment
    job: Annotated[RowDocument, "experiment"]
    start: Moment | None
    end: Moment | None
    bars: tuple[BarDocument, ...]
    waits: tuple[WaitDocument, ...]
    marks: tuple[MarkDocument, ...]
    loads: tuple[LoadDocument, ...]
    curves: tuple[CurveDocument, ...]
    signals: tuple[SignalDocument, ...]
    entries: tuple[AuditDocument, ...]
    entries_left_out: int
    prices: str | None


class JobDocument(LifeDocument, frozen=True, kw_only=True, tag_field="view", tag="job"):
    """One job with its timeline: `jobs/<job>.json`."""

    schema: Version


class ComparisonDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="view", tag="compare"):
    """Jobs beside each other: `compare.json`; of those that are missing there is nothing."""

    schema: Version
    jobs: tuple[LifeDocument, ...]
    missing: tuple[str, ...]


class TrustDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="view", tag="trust"):
    """Actions that were looked for, newest first: `trust.json`; `found` counts those left out as well.

    `since` is the oldest day that was looked through, null for all. `answer` says why a VM or job is gone,
    where that was asked and is known; `by` is the id of the audit entry behind it.
    """

    schema: Version
    at: Moment | None
    found: int
    since: date | None
    answer: str | None
    by: str | None
    entries: tuple[AuditDocument, ...]
