"""The ledger: one record per attempt."""

from collections.abc import Mapping
from enum import Enum

import msgspec

from spotwarden.model.ladder import VmModel
from spotwarden.model.moment import Moment
from spotwarden.model.slices import SliceGroup


class AttemptState(Enum):
    """Where an attempt stands; `recovery.folder.lifecycle` says what may follow what."""

    CLAIMED = "claimed"
    PLACING = "placing"
    BACKING_OFF = "backing off"
    RUNNING = "running"
    ENDED = "ended"
    STOPPED = "stopped"
    GAVE_UP = "gave up"


CLOSED = frozenset((AttemptState.ENDED, AttemptState.STOPPED, AttemptState.GAVE_UP))
"""The states in which a job is over."""


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The sweep that works on an attempt, and until when nobody else may."""

    holder: str
    until: Moment


class TryKind(Enum):
    """What a try asks of a place; nothing where it only says that the job stays there."""

    CREATE = "create"
    START = "start"
    REFILL = "refill"
    KEEP = "keep"


class Try(msgspec.Struct, frozen=True, kw_only=True):
    """One request for one place, written down before it is sent.

    `operation` is "" until Compute has answered; `error` is "" unless the request is known to have failed.
    `spot` is false where on-demand VMs are asked for instead of the script's spot VMs; `turn` counts the
    tries of the attempt, those that are no longer kept included. `why` says what Google's advice on the
    place was, where that made it the first. `refused` is when it was seen to have failed: a Flex-start VM
    may wait for two hours in vain. `model` is the kind of VM that a ladder asks for; None for what the
    script and `spot` say. `machine` is the machine type that was asked for instead of the script's own,
    "" for that. `least` is how many nodes of a gang that bends are enough, 0 for any other, and `nodes`
    are those that a refill asks for. `notice` says whether the request was made to ask for a notice of
    preemption, or not to; None where it is as the script has it. `group` is what a slice is made as. `vm` is
    the name that the VM is asked for under, "" for its node's.
    """

    place: str
    request_id: str
    at: Moment
    operation: str = ""
    error: str = ""
    kind: TryKind = TryKind.CREATE
    spot: bool = True
    turn: int = 1
    why: str = ""
    refused: Moment | None = None
    model: VmModel | None = None
    least: int = 0
    nodes: tuple[str, ...] = ()
    machine: str = ""
    notice: bool | None = None
    group: SliceGroup | None = None
    vm: str = ""

    @property
    def last_word(self) -> Moment:
        """When the place last said what it has: by its refusal, or by being asked."""
        return self.refused or self.at


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """Which version of the create script an attempt was made from."""

    generation: int
    sha256: str


class Removal(msgspec.Struct, frozen=True, kw_only=True):
    """What removed an instance, or stopped it, on purpose: the operation, its kind, and who asked for it.

    It is written down because the operation log is not read back for ever.
    """

    instance_id: str
    operation: str
    kind: str
    user: str = ""
    at: Moment | None = None


class LackingNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node that a gang goes on without until it is refilled: its last instance, "" for none, since when."""

    instance_id: str = ""
    since: Moment


class StepRange(msgspec.Struct, frozen=True, kw_only=True):
    """The steps that an attempt's program told: the first, where its heartbeats say so, and the last."""

    first: float | None = None
    last: float


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One launch of all nodes of a job.

    `markers` are the marker generations that this attempt answers and `replaces` the instance ids it stands
    in for, both by node; `instances` are its own ids. `not_before` ends a back-off. `started` is when its
    instances were there; `lost` is when those it replaces were lost, `lost_in` where, `fate` how, and
    `cause` the name of the operation that did it, which no other attempt may answer; `lost_work` is how far
    they had come, None where they did not tell. `early` means that the instances it replaces may still run.
    `seen` means that its developer launched it and we only saw it. `machine` is the key of what is
    remembered of places, and `gpus` how many accelerators the script attaches to it. `lost_on` is the
    machine type that it was lost on, "" for the script's own. `forbidden_since` is when the first of its
    newest tries was asked that were all refused for want of a right. `removed` are those of its instances
    that somebody has removed on purpose, by node: a gang goes on without them, any other job is closed.
    `staged` is the digest of the list of the files that its command has sent: "" once all of them are in
    place, and nothing is asked of Compute Engine before. `asked` is when a person last asked for an
    attempt that recovery has begun: what anybody removed before that no longer ends the job. `ended` is
    when its job wrote its status, where it was launched again before a sweep had seen its VMs gone.
    `waits_told` is how many notices its owner has had that it waits for room. `bent` means that the gang
    before it goes on, with fewer nodes or with some more, and `lacking` are the nodes that are to be
    refilled. `planned` is why a job that ran was moved; "" where it was lost. `registered` are the
    generations of the registrations that name its instances, by node, where who wrote this knew them.
    `told` are the ids of notices that its owner had about what lasts, such as that a name is taken.
    """

    job: str
    number: int
    state: AttemptState
    created: Moment
    updated: Moment
    reason: str = ""
    lease: Lease | None = None
    tries: tuple[Try, ...] = ()
    not_before: Moment | None = None
    instances: Mapping[str, str] = {}
    replaces: Mapping[str, str] = {}
    markers: Mapping[str, int] = {}
    script: Script | None = None
    owner: str = ""
    started: Moment | None = None
    lost: Moment | None = None
    lost_in: str = ""
    fate: str = ""
    cause: str = ""
    lost_work: StepRange | None = None
    early: bool = False
    seen: bool = False
    machine: str = ""
    gpus: int = 0
    lost_on: str = ""
    forbidden_since: Moment | None = None
    removed: Mapping[str, Removal] = {}
    staged: str = ""
    asked: Moment | None = None
    ended: Moment | None = None
    waits_told: int = 0
    bent: bool = False
    lacking: Mapping[str, LackingNode] = {}
    planned: str = ""
    registered: Mapping[str, int] = {}
    told: tuple[str, ...] = ()

    @property
    def wanted(self) -> dict[str, str]:
        """The instances that should be there, by node: all but those that somebody has removed."""
        gone = {removal.instance_id for removal in self.removed.values()}
        return {node: instance for node, instance in self.instances.items() if instance not in gone}

    @property
    def in_line(self) -> bool:
        """Whether Compute Engine has taken its newest request, and has not been heard to refuse it."""
        newest = self.tries[-1] if self.tries else None
        placing = self.state is AttemptState.PLACING
        return placing and newest is not None and bool(newest.operation) and not newest.error

    @property
    def closed(self) -> bool:
        """Whether the job is over by this record."""
        return self.state in CLOSED

    @property
    def tombstone(self) -> bool:
        """Whether it launched nothing, and only says that the job is over."""
        return self.closed and not self.tries and not self.instances


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt with the generation of its record: 0 means that there is none yet.

    `written` is when this generation was, by the bucket's clock; None where this sweep has written it.
    """

    attempt: Attempt
    generation: int
    written: Moment | None = None
