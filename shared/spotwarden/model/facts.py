"""What one sweep of recovery saw of one job."""

from datetime import datetime

import msgspec

from spotwarden.model.attempt import Recorded
from spotwarden.model.instance import Instance, Operation
from spotwarden.model.launch import Launch, NoLaunch, StoredScript
from spotwarden.model.marker import Marker


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One node: its marker, and what Compute knows of the instance that the marker speaks of.

    `instance_id` is that instance's id, "" where nobody wrote one down. `instance` is it as it is now;
    `namesakes` are other instances of the same name. `history` are the operations on the id (on the
    name where there is no id). `unsure` says why the lists may hide something, "" where they are whole.
    """

    node: str
    marker: Marker
    instance_id: str = ""
    instance: Instance | None = None
    namesakes: tuple[Instance, ...] = ()
    history: tuple[Operation, ...] = ()
    unsure: str = ""


class JobFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One job: its end, its ledger (oldest attempt first), its nodes, its script and what that comes to.

    `status_code` is None while the job is open, `ended` is when it was written. `operation` is the
    answer about the newest attempt's request, once somebody has looked. `registered`, `told` and
    `unanswered` (requests without an answer) are what this sweep has done already.
    """

    job: str
    status_code: str | None = None
    ended: datetime | None = None
    ledger: tuple[Recorded, ...] = ()
    nodes: tuple[NodeFacts, ...] = ()
    script: StoredScript | None = None
    launch: Launch | NoLaunch | None = None
    operation: Operation | None = None
    registered: bool = False
    told: bool = False
    unanswered: int = 0
