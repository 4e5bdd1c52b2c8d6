"""What the JSON of the report looks like. Its names say the units; whatever is unknown is null.

`docs/report/schema.json` is made of it: a name that changes here changes for everybody's tools, so `SCHEMA`
goes up then.
"""

from collections.abc import Mapping
from datetime import date

import msgspec

from spotwarden.model.heartbeat import Measured
from spotwarden.model.moment import Moment
from spotwarden.model.standing import Standing

SCHEMA = 1
"""The version of these shapes. New names may come without a new version; none changes or goes."""


class AmountDocument(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars for VMs, without disks, network and discounts.

    `usd` is the sum of what has a known price, and null where VMs ran and none of them has one.
    `unpriced_vm_hours` are not in it. `prices_of` is the day of the oldest price in it.
    """

    usd: float | None
    unpriced_vm_hours: float
    prices_of: date | None


class MetricDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of a job's heartbeats; `best` is the lowest or the highest, as its name suggests."""

    name: str
    last: Measured
    at: Moment | None
    step: float | None
    lowest: float | None
    highest: float | None
    best: float | None


class ProgressDocument(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job is, as it last said `at`; `share` is 0 to 1."""

    at: Moment | None
    step: float | None
    steps: float | None
    share: float | None
    checkpoint: str | None


class PlacesDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Where a job's things are, as `gs://…`; logs and output are folders."""

    code: str | None
    script: str | None
    output: str | None
    logs: str | None


class RowDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One job. `runtime_seconds` are from `started` to `ended`, or to now.

    `up_seconds` are those of all its VMs together, `gpu_hours` the same times the GPUs of each. `on_demand`
    is what the same VMs had cost without spot, `saved` the difference.
    """

    job: str
    owner: str | None
    team: str | None
    status: Standing
    exit_code: str | None
    attempts: int
    preemptions: int
    nodes: int
    gpus: int | None
    zones: tuple[str, ...]
    machine_types: tuple[str, ...]
    instance_ids: tuple[str, ...]
    started: Moment | None
    ended: Moment | None
    runtime_seconds: float | None
    up_seconds: float | None
    gpu_hours: float | None
    cost: AmountDocument
    on_demand: AmountDocument
    saved: AmountDocument
    progress: ProgressDocument
    metrics: tuple[MetricDocument, ...]
    links: PlacesDocument
    tags: Mapping[str, str]
    problem: str | None


class ExperimentsDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="view", tag="experiments"):
    """The experiment table: `index.json`."""

    schema: int
    at: Moment | None
    prices: str | None
    jobs: tuple[RowDocument, ...]


class HoursDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Where time went. `used` is the sum of the six after it; `waiting` is not used."""

    used: float
    useful: float
    starting: float
    idle: float
    lost: float
    after: float
    unknown: float
    waiting: float


class RecoveryDocument(msgspec.Struct, frozen=True, kw_only=True):
    """From the loss of a job's VMs to the start of new ones; each percentile is a recovery that happened."""

    count: int
    median_seconds: float | None
    p90_seconds: float | None
    p99_seconds: float | None
    longest_seconds: float | None


class LineDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a table of the fleet; `key` is null where nobody knows whose, or where, it is.

    `goodput` is `useful` by what is known of `used`, 0 to 1, in GPU-hours; `vm_goodput` in VM-hours. `waste`
    is what the idle, lost and after hours have cost.
    """

    key: str | None
    jobs: int
    preemptions: int
    gpu_hours: HoursDocument
    vm_hours: HoursDocument
    goodput: float | None
    vm_goodput: float | None
    cost: AmountDocument
    on_demand: AmountDocument
    saved: AmountDocument
    waste: AmountDocument
    recovery: RecoveryDocument


class CaseDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An open case: what was found, what will be done when, and who can say no by which command."""

    rule: str
    key: str
    job: str | None
    owner: str | None
    state: str | None
    reason: str | None
    evidence: Mapping[str, str]
    targets: tuple[str, ...]
    opened: Moment
    since: Moment | None
    remedy: str | None
    due: Moment | None
    kept_until: Moment | None
    kept_by: str | None
    kept_why: str | None
    vetoers: tuple[str, ...]
    veto: str | None


class OutageDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a zone did in the hour from `hour` on."""

    zone: str
    hour: Moment
    preempted: int
    stockouts: int
    granted: int


class FleetDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="view", tag="fleet"):
    """The fleet from the day `first` to the day `last`: `fleet.json`. Each table adds up to `total`."""

    schema: int
    at: Moment | None
    first: date
    last: date
    time_zone: str
    prices: str | None
    total: LineDocument
    tables: Mapping[str, tuple[LineDocument, ...]]
    cases: tuple[CaseDocument, ...]
    outages: tuple[OutageDocument, ...]
