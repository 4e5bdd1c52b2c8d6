"""What the JSON of the report looks like. Its names say the units; whatever is unknown is null.

`docs/report/schema.json` is made of it: a name that changes here changes for everybody's tools, so `SCHEMA`
goes up then. A field is what the view has under the same name; where that is another name or another unit,
its annotation says which. `export/documents.py` reads them.
"""

from collections.abc import Mapping
from datetime import date
from typing import Annotated

import msgspec

from spotwarden.model.heartbeat import Measured
from spotwarden.model.moment import Moment
from spotwarden.model.standing import Standing
from spotwarden.report.export.values import hours, seconds, share

SCHEMA = 1
"""The version of these shapes. New names may come without a new version; none changes or goes."""
Version = Annotated[int, SCHEMA]
Hours = Annotated[float, hours]
Seconds = Annotated[float | None, seconds]
Share = Annotated[float | None, share]


class AmountDocument(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars for VMs, without disks, network and discounts.

    `usd` is the sum of what has a known price, and null where VMs ran and none of them has one.
    `unpriced_vm_hours` are not in it. `prices_of` is the day of the oldest price in it.
    """

    usd: float | None
    unpriced_vm_hours: Annotated[Hours, "unpriced"]
    prices_of: Annotated[date | None, "oldest"]


def _oldest(*amounts: AmountDocument) -> date | None:
    return min((amount.prices_of for amount in amounts if amount.prices_of), default=None)


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
    status: Annotated[Standing, "standing"]
    exit_code: str | None
    attempts: int
    preemptions: int
    nodes: int
    gpus: int | None
    zones: tuple[str, ...]
    machine_types: Annotated[tuple[str, ...], "machines"]
    instance_ids: Annotated[tuple[str, ...], "instances"]
    started: Moment | None
    ended: Moment | None
    runtime_seconds: Annotated[Seconds, "runtime"]
    up_seconds: Annotated[Seconds, "up_time"]
    gpu_hours: Annotated[float | None, hours, "gpu_time"]
    cost: AmountDocument
    on_demand: AmountDocument
    saved: AmountDocument
    progress: Annotated[ProgressDocument, "advance"]
    metrics: tuple[MetricDocument, ...]
    links: PlacesDocument
    tags: Mapping[str, str]
    problem: str | None

    @property
    def oldest_price(self) -> date | None:
        """The day of the oldest price in what it cost and would have cost."""
        return _oldest(self.cost, self.on_demand)


class ExperimentsDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="view", tag="experiments"):
    """The experiment table: `index.json`."""

    schema: Version
    at: Moment | None
    prices: str | None
    jobs: Annotated[tuple[RowDocument, ...], "rows"]


class HoursDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Where time went. `used` is the sum of the six after it; `waiting` is not used."""

    used: Hours
    useful: Hours
    starting: Hours
    idle: Hours
    lost: Hours
    after: Hours
    unknown: Hours
    waiting: Hours


class RecoveryDocument(msgspec.Struct, frozen=True, kw_only=True):
    """From the loss of a job's VMs to the start of new ones; each percentile is a recovery that happened."""

    count: int
    median_seconds: Annotated[Seconds, "median"]
    p90_seconds: Annotated[Seconds, "p90"]
    p99_seconds: Annotated[Seconds, "p99"]
    longest_seconds: Annotated[Seconds, "longest"]


class LineDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a table of the fleet; `key` is null where nobody knows whose, or where, it is.

    `goodput` is `useful` by what is known of `used`, 0 to 1, in GPU-hours; `vm_goodput` in VM-hours. `waste`
    is what the idle, lost and after hours have cost.
    """

    key: str | None
    jobs: int
    preemptions: int
    gpu_hours: Annotated[HoursDocument, "gpu"]
    vm_hours: Annotated[HoursDocument, "vm"]
    goodput: Annotated[Share, "gpu.goodput"]
    vm_goodput: Annotated[Share, "vm.goodput"]
    cost: AmountDocument
    on_demand: AmountDocument
    saved: AmountDocument
    waste: AmountDocument
    recovery: RecoveryDocument

    @property
    def oldest_price(self) -> date | None:
        """The day of the oldest price in what it cost and would have cost."""
        return _oldest(self.cost, self.on_demand)


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

    schema: Version
    at: Moment | None
    first: date
    last: date
    time_zone: Annotated[str, "timezone"]
    prices: str | None
    total: LineDocument
    tables: Mapping[str, tuple[LineDocument, ...]]
    cases: tuple[CaseDocument, ...]
    outages: tuple[OutageDocument, ...]
