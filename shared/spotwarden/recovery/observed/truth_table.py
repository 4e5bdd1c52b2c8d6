"""The truth table: was this instance taken from its job, and what is to be done?

Rows are read from the top; the first that fits decides. `None` fits anything.
"""

from enum import Enum
from functools import cache

import msgspec

from spotwarden.model.facts import NodeFacts
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick
from spotwarden.recovery.observed.fates import KINDS, Fate, Now, fate_of, first_end, now_of


class LossVerdict(Enum):
    """What is to be done about an instance."""

    LEAVE = "nothing, it runs"
    CLEAR = "clear the marker"
    WAIT = "look again later"
    RECOVER = "start the job again"
    REPLACE = "start its successor while it still runs"
    CLOSE = "close the job as stopped"


class TruthRow(msgspec.Struct, frozen=True):
    """One row: the facts it fits, the verdict, and the reason told to people.

    `soon` is false where another look within seconds would see the same.
    """

    marker: bool | None
    fate: Fate | None
    now: Now | None
    verdict: LossVerdict
    why: str
    soon: bool = True


TABLE = (
    TruthRow(None, None, Now.HIDDEN, LossVerdict.WAIT, "the list of instances is incomplete", soon=False),
    TruthRow(None, None, Now.GOING, LossVerdict.WAIT, "the instance is still stopping"),
    TruthRow(
        True, None, Now.DOOMED, LossVerdict.REPLACE, "Compute Engine announced the instance's preemption"
    ),
    TruthRow(False, None, Now.DOOMED, LossVerdict.LEAVE, "the instance is alive"),
    TruthRow(
        True,
        None,
        Now.FRESH,
        LossVerdict.WAIT,
        "the instance is alive; its marker is cleared once it has settled",
        soon=False,
    ),
    TruthRow(
        True, None, Now.SETTLED, LossVerdict.CLEAR, "a guest reboot: the instance is alive and has settled"
    ),
    TruthRow(False, None, Now.FRESH, LossVerdict.LEAVE, "the instance is alive"),
    TruthRow(False, None, Now.SETTLED, LossVerdict.LEAVE, "the instance is alive"),
    TruthRow(None, Fate.PREEMPTED, Now.GONE, LossVerdict.RECOVER, "Compute Engine preempted the instance"),
    TruthRow(
        None,
        Fate.PREEMPTED,
        Now.KEPT,
        LossVerdict.RECOVER,
        "Compute Engine preempted the instance, stopped it",
    ),
    TruthRow(None, Fate.HOST_ERROR, Now.GONE, LossVerdict.RECOVER, "the instance's host failed"),
    TruthRow(
        None, Fate.HOST_ERROR, Now.KEPT, LossVerdict.RECOVER, "the instance's host failed and left it stopped"
    ),
    TruthRow(
        None,
        Fate.EXPIRED,
        Now.GONE,
        LossVerdict.RECOVER,
        "Compute Engine ended the Flex-start VM at its time limit",
    ),
    TruthRow(
        None,
        Fate.EXPIRED,
        Now.KEPT,
        LossVerdict.RECOVER,
        "Compute Engine stopped the Flex-start VM at its time limit",
    ),
    TruthRow(
        None,
        Fate.UNSERVED,
        None,
        LossVerdict.RECOVER,
        "the request for the Flex-start VM expired before there was capacity",
    ),
    TruthRow(
        None,
        Fate.STOPPED,
        None,
        LossVerdict.CLOSE,
        "the instance was deleted or stopped, not preempted",
    ),
    TruthRow(
        None,
        Fate.UNTOLD,
        None,
        LossVerdict.WAIT,
        "it is too early for the operation log to show what happened",
    ),
    TruthRow(True, Fate.SILENT, Now.GONE, LossVerdict.RECOVER, "the instance is gone, and no one deleted it"),
    TruthRow(
        False,
        Fate.SILENT,
        Now.GONE,
        LossVerdict.RECOVER,
        "the instance was lost: it is gone, it left no marker, and no one deleted it",
    ),
    TruthRow(
        None, Fate.SILENT, Now.KEPT, LossVerdict.RECOVER, "the instance is stopped, and no one stopped it"
    ),
)


_MEANT = {
    Fate.PREEMPTED: "the instance was deleted or stopped on purpose while Compute Engine was preempting it",
    Fate.HOST_ERROR: "the instance was deleted or stopped on purpose after its host had failed",
}
"""Why a job is closed whose instance Compute Engine had begun to take before."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict with what it rests on."""

    verdict: LossVerdict
    fate: Fate
    now: Now
    why: str
    soon: bool = True


def judge(
    node: NodeFacts,
    limits: RecoveryLimits,
    tick: Tick,
    *,
    early: bool = False,
    flexible: bool = False,
    began: bool = True,
) -> Judgement:
    """Say what is to be done about an instance of a job that is open; `early` where the job wants that.

    `flexible` where it was a Flex-start VM, which `began` to run or not.
    """
    fate = fate_of(node, limits, tick, flexible=flexible, began=began)
    now = now_of(node, limits, tick, early=early)
    marked = node.marker is not None
    row = _row(marked, fate, now)
    return Judgement(verdict=row.verdict, fate=fate, now=now, why=_why(row, node), soon=row.soon)


def _why(row: TruthRow, node: NodeFacts) -> str:
    """The row's reason, with what the lists hide, or with what Compute Engine did to it just before."""
    if row.now is Now.HIDDEN:
        return f"{row.why} ({node.unsure})"
    first = first_end(node) if row.fate is Fate.STOPPED else None
    return _MEANT.get(KINDS[first.kind], row.why) if first else row.why


@cache
def _row(marked: bool, fate: Fate, now: Now) -> TruthRow:  # noqa: FBT001 — a key
    return next(row for row in TABLE if fits(row, marker=marked, fate=fate, now=now))


def fits(row: TruthRow, *, marker: bool, fate: Fate, now: Now) -> bool:
    """Whether the row is about these facts."""
    return row.marker in {None, marker} and row.fate in {None, fate} and row.now in {None, now}
