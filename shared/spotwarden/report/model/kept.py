"""What the report keeps between two ticks: one summary a job, and an index of them all.

All of it is derived from what else the bucket holds: whoever deletes it has it made anew.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from spotwarden.governance.signals.table import SignalTable
from spotwarden.model.attempt import Attempt
from spotwarden.model.heartbeat import Beat
from spotwarden.model.jobfile import JobFile
from spotwarden.model.moment import Moment
from spotwarden.model.placement import PlaceEvent
from spotwarden.model.prices import VmKind
from spotwarden.recovery.forecast.course import Course
from spotwarden.recovery.forecast.pasts import SpotPast
from spotwarden.report.model.experiments import Experiment
from spotwarden.report.model.fleet import PendingCase
from spotwarden.report.model.job import Bar, Curve, JobWait, Mark
from spotwarden.report.model.trust import AuditedAction

EDITION = 1
"""Of the format: what another one has written is made anew."""


class KeptUsage(msgspec.Struct, frozen=True, kw_only=True):
    """One VM in the meter: whose, what, and by the moment of each start its seconds on each day."""

    owner: str = ""
    kind: VmKind
    runs: Mapping[str, Mapping[str, int]] = {}


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """One VM as it was launched; `early` says that its job kit hands over."""

    zone: str = ""
    kind: VmKind = VmKind()
    early: bool = False


SLOT = 600


class KeptLoads(msgspec.Struct, frozen=True, kw_only=True):
    """How busy one VM's GPUs were: the highest percentage by the number of the slot (`SLOT` s) since 1970."""

    slots: Mapping[str, float] = {}


class NodeMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """What the metrics of one node in one attempt say.

    `first` is when it first said anything, `saved` when checkpoints were new, and their names; `last` is its
    newest beat.
    """

    node: str
    attempt: int
    generation: int = 0
    first: Moment | None = None
    saved: tuple[tuple[Moment, str], ...] = ()
    last: Beat | None = None
    curves: tuple[Curve, ...] = ()


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """What has been gathered of a job over time, and is nowhere read a second time."""

    metered: Mapping[str, KeptUsage] = {}
    loads: Mapping[str, KeptLoads] = {}
    ran: Mapping[str, Ran] = {}
    recorded: tuple[int, ...] = ()
    lines: tuple[NodeMetrics, ...] = ()
    entries: tuple[AuditedAction, ...] = ()
    left_out: int = 0


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """A job as its objects are now.

    `beat` is the heartbeat that tells most, `beat_at` when the program last made progress by it. `watched`
    says that it is on the list of open jobs, `marked` are nodes that have a marker. `has` are the parts that
    there are: code, script, output, logs. `signals` are those that the bucket alone tells.
    """

    job: str
    status_code: str | None = None
    ended: Moment | None = None
    ledger: tuple[Attempt, ...] = ()
    file: JobFile = JobFile()
    registrations: Mapping[str, str] = {}
    beat: Beat | None = None
    beat_at: Moment | None = None
    watched: bool = False
    marked: tuple[str, ...] = ()
    stalled: bool = False
    has: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}
    signals: SignalTable = SignalTable()
    problem: str = ""


class Seconds(NamedTuple):
    """The parts of `Spans`, in whole seconds."""

    useful: int = 0
    starting: int = 0
    idle: int = 0
    lost: int = 0
    after: int = 0
    unknown: int = 0
    waiting: int = 0


class Cell(msgspec.Struct, frozen=True, kw_only=True, array_like=True, order=True):
    """VM time of one day, zone and kind of VM (its number among the entry's) of one owner."""

    day: date
    zone: str
    kind: int
    owner: str
    seconds: Seconds


class Loss(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """VMs were lost, and others started so many seconds later; None where none have."""

    at: Moment
    preempted: bool
    zone: str
    machine: str
    seconds: int | None


class Happened(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a place did."""

    zone: str
    at: Moment
    event: PlaceEvent


class JobSpotPast(msgspec.Struct, frozen=True, kw_only=True):
    """What a job's spot VMs went through, on which machine type, and where the newest of them was."""

    machine: str
    place: str
    past: SpotPast


class IndexEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One job in the index: its row without sums, what they are made of, and the names of its VMs.

    `digest` is of everything that it was made from, `shape` of its timeline, `paged` of what its page was
    made from; `looked` is when. A `settled` one changes no more by itself. `state` tells how the listings
    showed the job then, `heard` how what its program says (heartbeats, log, metrics) came, maybe since;
    `changed` is when a look last found something new, `kept` the generation of its summary. `course` is how a
    job that is open goes, for its forecast, and `past` is for the forecasts of other jobs.
    """

    row: Experiment
    nodes: tuple[str, ...] = ()
    kinds: tuple[VmKind, ...] = ()
    cells: tuple[Cell, ...] = ()
    losses: tuple[Loss, ...] = ()
    happened: tuple[Happened, ...] = ()
    digest: str = ""
    shape: str = ""
    paged: str = ""
    looked: Moment
    settled: bool = False
    state: str = ""
    heard: str = ""
    changed: Moment | None = None
    kept: int = 0
    course: Course | None = None
    past: JobSpotPast | None = None


class JobStory(msgspec.Struct, frozen=True, kw_only=True):
    """The timeline of a job."""

    bars: tuple[Bar, ...] = ()
    waits: tuple[JobWait, ...] = ()
    marks: tuple[Mark, ...] = ()


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One job, as its summary holds it."""

    edition: int = EDITION
    entry: IndexEntry
    story: JobStory = JobStory()
    gathered: Gathered = Gathered()
    signals: SignalTable = SignalTable()


class JobNews(msgspec.Struct, kw_only=True):
    """What has come in about one job since the last look."""

    metered: dict[str, KeptUsage] = {}
    loads: dict[str, dict[str, float]] = {}
    entries: list[AuditedAction] = []


class ReportIndex(msgspec.Struct, frozen=True, kw_only=True):
    """All jobs, as of `at`, and how far what comes in bit by bit has been taken in.

    `metered` are generations of the meter's days, `swept` the newest sweep over GPUs, `audited` the days of
    the audit of which all is taken in, `site` the version of the files that its pages load. With `anew` all
    of it is taken in once more; with `part` it is not whole, and the next tick has more to take in. A job of
    the name "" stands for the VMs of nobody's job.
    """

    edition: int = EDITION
    at: Moment
    timezone: str = "UTC"
    threshold: float = 5.0
    entries: tuple[IndexEntry, ...] = ()
    cases: tuple[PendingCase, ...] = ()
    metered: Mapping[str, int] = {}
    swept: str = ""
    audited: tuple[date, ...] = ()
    turn: int = 0
    anew: bool = False
    part: bool = False
    site: str = ""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One record of the audit, as far as it is read."""

    at: Moment
    function: str = ""
    sweep: str = ""
    policy: str = ""
    action: str = ""
    why: str = ""
    detail: dict[str, Any] = {}
    outcome: dict[str, Any] = {}


class AuditDay(msgspec.Struct, frozen=True, kw_only=True):
    """All actions of a day, by the entry of the audit that holds them."""

    edition: int = EDITION
    day: date
    entries: Mapping[str, tuple[AuditedAction, ...]] = {}


class FigureRules(msgspec.Struct, frozen=True, kw_only=True):
    """By what figures are made: the time zone of days, the threshold below which a GPU idles, the moment."""

    now: datetime
    timezone: str = "UTC"
    threshold: float = 5.0
    fresh: timedelta = timedelta(minutes=20)
