"""The report's fleet view: what all jobs have used, what of it was wasted, and what comes next.

Times and texts are as in `model.report`.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from enum import Enum

import msgspec

from spotwarden.model.moment import Moment
from spotwarden.report.model.experiments import NOTHING, Money


class Spans(msgspec.Struct, frozen=True, kw_only=True):
    """Where time went, in GPU time (a VM of 8 GPUs that is up for an hour: 8 hours) or in VM time.

    These parts are all of what was used, and none of it twice:
    `useful`    the rest: nothing below says that it was not
    `starting`  from a VM's start to its attempt's first heartbeat, where the job sends any
    `idle`      all GPUs of the VM below the policy's threshold
    `lost`      what a lost VM had done since its job's last checkpoint
    `after`     up although the job was over
    `unknown`   of an attempt that was lost, where the job tells of no checkpoint: nobody knows what was saved
    `waiting` is not used: the time between the loss of VMs and the start of those that replaced them, and
    from when a first launch was asked of us to its start.
    """

    useful: timedelta = NOTHING
    starting: timedelta = NOTHING
    idle: timedelta = NOTHING
    lost: timedelta = NOTHING
    after: timedelta = NOTHING
    unknown: timedelta = NOTHING
    waiting: timedelta = NOTHING

    @property
    def used(self) -> timedelta:
        """All time in which VMs were up."""
        return self.useful + self.starting + self.idle + self.lost + self.after + self.unknown

    @property
    def goodput(self) -> float | None:
        """The useful share, 0..1, of what is known; None where nothing is."""
        known = self.used - self.unknown
        return self.useful / known if known else None


class RecoveryFigures(msgspec.Struct, frozen=True, kw_only=True):
    """How long jobs took from the loss of their VMs to the start of new ones; None where none has.

    The percentiles are nearest ranks: each of them is a recovery that happened.
    """

    count: int = 0
    median: timedelta | None = None
    p90: timedelta | None = None
    p99: timedelta | None = None
    longest: timedelta | None = None


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a table of the fleet: what belongs to `key` ("" is nobody, no team, nowhere, unknown).

    `jobs` counts those that used or waited for anything. `waste` is what the idle, lost and after parts
    have cost, `saved` how much less than `on_demand` was paid for VMs of which both prices are known.
    `preemptions` counts the restarts that preemptions made needed, by when VMs were lost, and so does
    `recovery` with all restarts.
    """

    key: str = ""
    jobs: int = 0
    gpu: Spans = Spans()
    vm: Spans = Spans()
    cost: Money = Money()
    on_demand: Money = Money()
    saved: Money = Money()
    waste: Money = Money()
    preemptions: int = 0
    recovery: RecoveryFigures = RecoveryFigures()


class By(Enum):
    """What a table is by. A day is one of the policy's time zone, and may have 23 or 25 hours."""

    OWNER = "owner"
    TEAM = "team"
    MACHINE = "machine"
    ZONE = "zone"
    JOB = "job"
    DAY = "day"


class PendingCase(msgspec.Struct, frozen=True, kw_only=True):
    """An open case: what was found, what will be done about whom, when, and who can say no.

    `state` and `remedy` are the words of `CaseState` and `Remedy`. `due` is None where nothing will be done,
    or not yet. `vetoers` are who can veto, by address or name; `veto` is the command with which they do.
    `kept_until` and `kept_by` are a veto that holds already.
    """

    rule: str
    key: str
    job: str = ""
    owner: str = ""
    state: str = ""
    reason: str = ""
    evidence: Mapping[str, str] = {}
    targets: tuple[str, ...] = ()
    opened: Moment
    since: Moment | None = None
    remedy: str = ""
    due: Moment | None = None
    kept_until: Moment | None = None
    kept_by: str = ""
    kept_why: str = ""
    vetoers: tuple[str, ...] = ()
    veto: str = ""


class OutageHour(msgspec.Struct, frozen=True, kw_only=True):
    """What a zone did in the hour from `hour` on: VMs it took, requests it had no room for, and granted."""

    zone: str
    hour: Moment
    preempted: int = 0
    stockouts: int = 0
    granted: int = 0


class FleetReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole fleet over the days from `first` to `last`, as it was at `at`.

    The rows of each of `tables` add up to `total`, those of days are in the order of time, the others with
    the most GPU time (then VM time, then cost) first. `cases` are open now, those due first; `outages` is by
    zone and hour, only hours in which anything happened. `prices` says what the sums rest on.
    """

    at: datetime | None
    first: date
    last: date
    timezone: str = "UTC"
    total: Slice = Slice()
    tables: Mapping[By, tuple[Slice, ...]] = {}
    recovery: RecoveryFigures = RecoveryFigures()
    cases: tuple[PendingCase, ...] = ()
    outages: tuple[OutageHour, ...] = ()
    prices: str = ""
