"""The truth table: was this node preempted, and what is to be done?

Rows are read from the top; the first that fits decides. `None` fits anything.
"""

from datetime import timedelta
from enum import Enum

import msgspec

from spotwarden.model.facts import NodeFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick


class Verdict(Enum):
    """What is to be done about a marker."""

    CLEAR = "clear the marker"
    WAIT = "look again later"
    RECOVER = "start the job again"
    CLOSE = "close the job as stopped"


class Fate(Enum):
    """What the operation log says happened to the instance."""

    PREEMPTED = "Compute Engine took it"
    HOST_ERROR = "its host failed"
    STOPPED = "somebody deleted or stopped it, or it shut itself down"
    UNTOLD = "nothing yet"
    SILENT = "nothing, though the log has had time"


class Now(Enum):
    """How the instance stands."""

    HIDDEN = "the lists may hide it"
    GOING = "it is being stopped"
    FRESH = "alive, for less than the settle time"
    SETTLED = "alive, for longer than the settle time"
    KEPT = "stopped, and still there under its name"
    GONE = "gone"


class Row(msgspec.Struct, frozen=True):
    """One row: the facts it fits, the verdict, and the reason told to people."""

    fate: Fate | None
    now: Now | None
    verdict: Verdict
    why: str


TABLE = (
    Row(None, Now.HIDDEN, Verdict.WAIT, "the list of instances is incomplete"),
    Row(None, Now.GOING, Verdict.WAIT, "the instance is still stopping"),
    Row(None, Now.FRESH, Verdict.WAIT, "the instance is alive; its marker is cleared once it has settled"),
    Row(None, Now.SETTLED, Verdict.CLEAR, "a guest reboot: the instance is alive and has settled"),
    Row(Fate.PREEMPTED, Now.GONE, Verdict.RECOVER, "Compute Engine preempted the instance"),
    Row(Fate.HOST_ERROR, Now.GONE, Verdict.RECOVER, "the instance's host failed"),
    Row(Fate.PREEMPTED, Now.KEPT, Verdict.WAIT, "preempted, but the stopped instance still holds the name"),
    Row(
        Fate.HOST_ERROR,
        Now.KEPT,
        Verdict.WAIT,
        "its host failed, but the stopped instance still holds the name",
    ),
    Row(Fate.STOPPED, None, Verdict.CLOSE, "the instance was deleted or stopped on purpose, not preempted"),
    Row(Fate.UNTOLD, None, Verdict.WAIT, "the operation log has not had time to say what happened"),
    Row(Fate.SILENT, Now.GONE, Verdict.RECOVER, "the instance is gone and nobody deleted it"),
    Row(Fate.SILENT, Now.KEPT, Verdict.WAIT, "stopped for no known reason, and it still holds the name"),
)


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict with what it rests on."""

    verdict: Verdict
    fate: Fate
    now: Now
    why: str


KINDS = {
    "compute.instances.preempted": Fate.PREEMPTED,
    "compute.instances.hostError": Fate.HOST_ERROR,
    "compute.instances.guestTerminate": Fate.STOPPED,
    "delete": Fate.STOPPED,
    "stop": Fate.STOPPED,
    "compute.instances.delete": Fate.STOPPED,
    "compute.instances.stop": Fate.STOPPED,
}
# With the termination action DELETE a preemption is followed by a delete, so it is asked for first.
WEIGHT = (Fate.PREEMPTED, Fate.HOST_ERROR, Fate.STOPPED)
GOING = {Status.STOPPING, Status.PENDING_STOP, Status.SUSPENDING, Status.DEPROVISIONING}
KEPT = {Status.TERMINATED, Status.STOPPED, Status.SUSPENDED}


def judge(node: NodeFacts, limits: RecoveryLimits, tick: Tick) -> Judgement:
    """Say what is to be done about a marker of a job that is open."""
    fate, now = fate_of(node, limits, tick), now_of(node, limits, tick)
    row = next(row for row in TABLE if row.fate in (None, fate) and row.now in (None, now))
    why = f"{row.why} ({node.unsure})" if now is Now.HIDDEN else row.why
    return Judgement(verdict=row.verdict, fate=fate, now=now, why=why)


def fate_of(node: NodeFacts, limits: RecoveryLimits, tick: Tick) -> Fate:
    """What the operation log says of the instance that the marker speaks of."""
    told = {KINDS[operation.kind] for operation in node.history if operation.kind in KINDS}
    for fate in WEIGHT:
        if fate in told:
            return fate
    return Fate.UNTOLD if tick.now - node.marker.written < limits.log_delay else Fate.SILENT


def now_of(node: NodeFacts, limits: RecoveryLimits, tick: Tick) -> Now:
    """How the instance stands; a living namesake counts, since the name is the node."""
    present = [one for one in (node.instance, *node.namesakes) if one is not None]
    if any(one.status not in GOING | KEPT for one in present):
        return Now.SETTLED if _rested(node, present, tick) >= limits.settle else Now.FRESH
    if any(one.status in GOING for one in present):
        return Now.GOING
    if node.unsure:
        return Now.HIDDEN
    return Now.KEPT if present else Now.GONE


def _rested(node: NodeFacts, present: list[Instance], tick: Tick) -> timedelta:
    """How long ago the newest of these things happened: the marker, the last start."""
    moments = [node.marker.written, *(one.started for one in present if one.started is not None)]
    return tick.now - max(moments)
