"""What happened to an instance, by the operation log, and how it stands now, by the lists."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum

from spotwarden.model.facts import NodeFacts
from spotwarden.model.instance import Instance, Operation, Status
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick
from spotwarden.recovery.observed.actors import Actor, actor, is_meant


class Fate(Enum):
    """What the operation log says happened to the instance."""

    PREEMPTED = "Compute Engine preempted it"
    HOST_ERROR = "its host failed"
    STOPPED = "it was deleted or stopped, or shut itself down"
    EXPIRED = "Compute Engine ended it at its time limit"
    UNSERVED = "its request expired before there was capacity"
    UNTOLD = "nothing yet"
    SILENT = "no cause in the log, which is complete by now"


class Now(Enum):
    """How the instance stands."""

    HIDDEN = "the lists may hide it"
    GOING = "it is being stopped"
    DOOMED = "alive, with its preemption announced"
    FRESH = "alive, for less than the settle time"
    SETTLED = "alive, for longer than the settle time"
    KEPT = "stopped, and still there under its name"
    GONE = "gone"


KINDS = {
    "compute.instances.preempted": Fate.PREEMPTED,
    "compute.instances.hostError": Fate.HOST_ERROR,
    "compute.instances.terminateOnHostMaintenance": Fate.HOST_ERROR,
    "compute.instances.guestTerminate": Fate.STOPPED,
    "delete": Fate.STOPPED,
    "stop": Fate.STOPPED,
    "suspend": Fate.STOPPED,
}
REMOVALS = {"delete", "stop", "suspend"}
"""What somebody asks for, rather than what happens."""
BEGINNINGS = {"start", "resume", "compute.instances.automaticRestart"}
"""Operations that begin another life of the same instance: what happened before them no longer counts."""
GOING = {Status.STOPPING, Status.PENDING_STOP, Status.SUSPENDING, Status.DEPROVISIONING}
KEPT = {Status.TERMINATED, Status.STOPPED, Status.SUSPENDED}
STARTABLE = KEPT - {Status.SUSPENDED}
"""What `instances.start` starts: an instance that is suspended is resumed, by whoever suspended it."""


def alive(instance: Instance) -> bool:
    """Whether it runs, or is about to."""
    return instance.status not in GOING | KEPT


def fate_of(
    node: NodeFacts, limits: RecoveryLimits, tick: Tick, *, flexible: bool = False, began: bool = True
) -> Fate:
    """What the operation log says of the instance; that it says nothing counts only after `log_delay`.

    A Flex-start VM (`flexible`) has a time limit that nobody chose freely: who deletes or stops it as Compute
    Engine itself has come to that limit; one that is not known to have begun to run never had room.
    """
    expired = Fate.EXPIRED if began else Fate.UNSERVED
    if cause := cause_of(node):
        limited = flexible and cause.kind in REMOVALS and actor(cause.user) is Actor.GOOGLE
        return expired if limited else KINDS[cause.kind]
    since = node.marker.written if node.marker else node.missing_since
    if node.unsure or since is None:
        return Fate.UNTOLD
    # A marker without an id may be older than the instance, and the list that does not show it, too.
    heard = max(since, node.counted_since or since, _began(node) or since)
    if tick.now - heard < limits.log_delay:
        return Fate.UNTOLD
    return Fate.UNSERVED if flexible and not began else Fate.SILENT


def cause_of(node: NodeFacts) -> Operation | None:
    """The operation that ended the instance's newest life; None where the log tells of none.

    A person's removal counts, also by a link, or within a preemption: it ends the job. So does a rule's, of
    which its owner was warned. Else the first cause does: with the termination action DELETE a preemption is
    followed by a delete, and many shutdown scripts delete their own VM. What was refused has ended nothing.
    """
    ends = _ends(node)
    meant = (end for end in ends if end.kind in REMOVALS and is_meant(end.user))
    return next(meant, next(iter(ends), None))


def first_end(node: NodeFacts) -> Operation | None:
    """The operation that came first of those that ended the instance's newest life."""
    return next(iter(_ends(node)), None)


def _ends(node: NodeFacts) -> list[Operation]:
    """What ended its newest life; the instance itself tells of its last start before the log does."""
    life, began = _newest_life(node.history), _began(node)
    ends = [operation for operation in life if operation.kind in KINDS and not operation.error]
    return [end for end in ends if began is None or end.at is None or end.at >= began]


def _began(node: NodeFacts) -> datetime | None:
    return node.instance.started if node.instance is not None else None


def _newest_life(history: Sequence[Operation]) -> Sequence[Operation]:
    worked = [
        operation.done and not operation.error and operation.kind in BEGINNINGS for operation in history
    ]
    return history[len(worked) - worked[::-1].index(True) :] if any(worked) else history


def lost_at(node: NodeFacts, tick: Tick) -> datetime:
    """When the instance was lost, as near as anybody can tell."""
    cause = cause_of(node)
    moments = [
        cause.at if cause else None,
        node.marker.written if node.marker else None,
        node.missing_since,
        tick.now,
    ]
    return next(moment for moment in moments if moment is not None)


def now_of(node: NodeFacts, limits: RecoveryLimits, tick: Tick, *, early: bool = False) -> Now:
    """How the instance stands; another one of the job's own under its name counts, for that is the node."""
    present = [instance for instance in (node.instance, *node.others) if instance is not None]
    if any(alive(item) for item in present):
        if early and announced(node, limits, tick):
            return Now.DOOMED
        return Now.SETTLED if _rested(node, present, tick) >= limits.settle else Now.FRESH
    if any(candidate.status in GOING for candidate in present):
        return Now.GOING
    if present:
        return Now.KEPT
    return Now.HIDDEN if node.unsure else Now.GONE


def announced(node: NodeFacts, limits: RecoveryLimits, tick: Tick) -> bool:
    """Whether the very instance that lives was announced to be taken, and not so long ago that it was not.

    Anybody can write that into a marker. Of an instance without a notice nothing is announced, and what was
    announced before its last start went with the life that it was about.
    """
    marker, instance = node.marker, node.instance
    if marker is None or instance is None or not alive(instance) or not instance.notice or node.others:
        return False
    if instance.started is not None and marker.written < instance.started:
        return False
    return marker.body.early and tick.now - marker.written < limits.early_notice


def _rested(node: NodeFacts, present: list[Instance], tick: Tick) -> timedelta:
    """How long ago the newest of these things happened: the marker, the last start."""
    moments = [instance.started for instance in present if instance.started is not None]
    moments += [node.marker.written] if node.marker else []
    return tick.now - max(moments, default=tick.now - timedelta(days=1))
