"""What one sweep of recovery saw of one job."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from spotwarden.model.attempt import Attempt, Recorded
from spotwarden.model.instance import Instance, Operation
from spotwarden.model.jobfile import JobFile, SavedProgress
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch, NoLaunch, StoredScript
from spotwarden.model.marker import Marker
from spotwarden.model.placement import AvoidedPlace, PlacementRecord
from spotwarden.model.slices import SeenGroup
from spotwarden.model.watch import Watched


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One instance of one node, and what is known of it.

    `instance_id` is the id that the marker, the ledger or the registration speaks of, "" where nobody
    wrote one down. `instance` is it as it is now; `others` are other instances of the job under this name.
    `history` are the operations on the id (on the name where there is no id), oldest first. `unsure` says
    why the lists may hide something, "" where they are whole. `marker` is None where none was found, then
    `missing_since` says since when the instance has been missed, if it has. `counted_since` is when the
    ledger last wrote that it counts on this id: a list that is older cannot have shown it.
    """

    node: str
    marker: Marker | None = None
    instance_id: str = ""
    instance: Instance | None = None
    others: tuple[Instance, ...] = ()
    history: tuple[Operation, ...] = ()
    unsure: str = ""
    missing_since: datetime | None = None
    counted_since: datetime | None = None


class JobFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One job: its end, its ledger (oldest attempt first), its nodes, its script and what that comes to.

    `status_code` is None while the job is open, `ended` is when it was written. `instances` are those that
    carry the job's label, one of its ids or one of its names; once sifted (`recovery.instances.ownership`)
    they are the job's own, and the rest are its `namesakes`. `inserts` are the inserts, single and bulk, that
    the operation log tells of. `outlived` are VMs whose successor started while they ran: when that one is
    lost, they may be all that their owner has left to remove. `predecessors` are instances that the newest
    attempts stand in for, of whose removal the log may tell late. `lacking` are the last instances of the
    nodes that a gang goes on without. `tried` are VMs that the requests of an attempt under way began to
    make. `operation` is the answer about the newest attempt's request, once somebody has looked, and
    `forgotten` means that Compute Engine does not know it any more; `surveyed` is true once the instances
    were listed after it, or after the chain was read. `fresh` is true while the newest record was listed, or
    created, by the call before: nobody need list it again. `outdated` means that a marker came which these
    facts cannot judge. `registered`, `told`, `unanswered` (requests without an answer) and `fetched`
    (resources of instances, by id) are what this sweep has done already. `registrations` are the ids in the
    job's metadata, by node, and `registered_at` their generations. `recorded` says that what was launched as
    the newest attempt is written down. `granted` is what somebody has extended its own limits by. `stopped`
    are the kinds of VM that the rule `compliance` would stop, which the job is not asked for. `places` is
    what is remembered of them for the script's machine, `prices` what a VM of it costs an hour, by place, as
    far as anybody knows; `other_places` and `other_prices` are those of the machine types that may be asked
    for instead. `avoided` are zones that a command keeps jobs away from. `may_move` means that it is its turn
    to be moved, if that pays. `last_sweep` is when all jobs were last looked at. `waiting` are the VMs that
    said that they are ready to join their gang, and when. `groups` are a slice's groups as this sweep has
    seen them, by name, None for one that is gone; `group_log` are the operations on them. `parts` were
    created by this sweep for the newest try, `unmade` is why the next one was not, and `cleared` are the
    groups and templates whose deletion it has asked for.
    """

    job: str
    status_code: str | None = None
    ended: datetime | None = None
    ledger: tuple[Recorded, ...] = ()
    nodes: tuple[NodeFacts, ...] = ()
    outlived: tuple[NodeFacts, ...] = ()
    predecessors: tuple[NodeFacts, ...] = ()
    lacking: tuple[NodeFacts, ...] = ()
    tried: tuple[NodeFacts, ...] = ()
    script: StoredScript | None = None
    launch: Launch | NoLaunch | None = None
    operation: Operation | None = None
    forgotten: bool = False
    surveyed: bool = False
    fresh: bool = False
    outdated: bool = False
    instances: tuple[Instance, ...] = ()
    namesakes: tuple[Instance, ...] = ()
    inserts: tuple[Operation, ...] = ()
    unsure: str = ""
    watched: Watched | None = None
    file: JobFile = JobFile()
    granted: timedelta = timedelta(0)
    progress: SavedProgress = SavedProgress()
    stopped: frozenset[VmModel] = frozenset()
    places: PlacementRecord | None = None
    other_places: Mapping[str, PlacementRecord] = {}
    avoided: tuple[AvoidedPlace, ...] = ()
    prices: Mapping[str, Mapping[VmModel, float]] = {}
    other_prices: Mapping[str, Mapping[str, Mapping[VmModel, float]]] = {}
    may_move: bool = False
    registrations: Mapping[str, str] = {}
    registered_at: Mapping[str, int] = {}
    recorded: bool = False
    fetched: Mapping[str, Any] = {}
    registered: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    unanswered: int = 0
    last_sweep: datetime | None = None
    waiting: Mapping[str, datetime] = {}
    groups: Mapping[str, SeenGroup | None] = {}
    group_log: tuple[Operation, ...] = ()
    parts: frozenset[str] = frozenset()
    unmade: str = ""
    cleared: frozenset[str] = frozenset()

    @property
    def newest(self) -> Attempt | None:
        """The newest attempt on record."""
        return self.ledger[-1].attempt if self.ledger else None

    @property
    def head(self) -> int:
        """The generation of the newest record, which a new one must follow; 0 where there is none."""
        return self.ledger[-1].generation if self.ledger else 0

    @property
    def owner(self) -> str:
        """Who is told: the job's own file first, then whoever submitted it, or began to."""
        begun = self.watched.watch.owner if self.watched else ""
        return self.file.owner or (self.newest.owner if self.newest else "") or begun
