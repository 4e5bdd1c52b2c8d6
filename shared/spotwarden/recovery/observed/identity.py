"""What tells whose an instance is: ids on the job's record, and inserts that its chain has asked for.

Apart from `recovery.instances.ownership`, which also reads what a stored script would make: the rules of
governance ask this much only, and their functions start without the reader of scripts.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from spotwarden.model.attempt import LackingNode, Try
from spotwarden.model.instance import Instance, Operation
from spotwarden.model.launch import Launch
from spotwarden.model.placement import region_of

CLOCKS_APART = timedelta(minutes=1)
"""How far the moments of two services, or ours and Google's, may be apart."""
LOG_KEPT = timedelta(days=14)
"""Compute Engine keeps its operations for some weeks only."""
LATE_INSERT = timedelta(minutes=10)
"""How long after the last word of its attempt's record a request may still make something."""


class Ownership(Enum):
    """What an instance is to a job."""

    RECORDED = "its id is on the job's record"
    MADE = "a request of the job's chain made it"
    BY_HAND = "its developer made it, by the stored script"
    UNTOLD = "it has the labels of an attempt, and the operation log doesn't show yet who created it"
    UNSEEN = "the stored script may have created it; not checked yet"
    NAMESAKE = "only its name or labels match"


OURS = frozenset((Ownership.RECORDED, Ownership.MADE, Ownership.BY_HAND))


class ChainRecord(Protocol):
    """An attempt on the chain, as far as it tells which requests were sent."""

    @property
    def updated(self) -> datetime:
        """When it was last written."""

    @property
    def closed(self) -> bool:
        """Whether nothing more is sent for it."""

    @property
    def tries(self) -> Sequence[Try]:
        """The requests that were sent for it."""

    @property
    def instances(self) -> Mapping[str, str]:
        """The ids of its instances, by node, once they are known."""

    @property
    def lacking(self) -> Mapping[str, LackingNode]:
        """The nodes that a gang goes on without until they are refilled."""


class JobIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """All that tells which instances are a job's.

    `ids` stand on its own record, `attempts` are those on its chain, `inserts` the inserts (and bulk inserts)
    of the operation log, as far as it was read. `launch` is what its stored script makes and `stored` when
    that was stored, both None where a launch by hand cannot be known. `fetched` are resources by id.
    `grouped` are the members of managed instance groups whose ids are on the chain.
    """

    job: str
    ids: frozenset[str] = frozenset()
    attempts: Mapping[int, ChainRecord] = {}
    inserts: Sequence[Operation] = ()
    launch: Launch | None = None
    stored: datetime | None = None
    fetched: Mapping[str, Any] = {}
    grouped: frozenset[str] = frozenset()

    def told(self, inserts: Sequence[Operation]) -> "JobIdentity":
        """The same, with what the log tells of inserts."""
        return replace(self, inserts=(*self.inserts, *inserts))

    def insert_of(self, instance_id: str) -> Operation | None:
        """The insert that made it, where the log tells."""
        return next(
            (
                operation
                for operation in self.inserts
                if operation.kind == "insert" and operation.target_id == instance_id
            ),
            None,
        )

    def requested(self, insert: Operation) -> bool | None:
        """Whether a request of the chain made it; None where the log does not tell of its group's request."""
        # A try that says that the job stays where it is has sent nothing.
        sent = {tried.request_id for attempt in self.attempts.values() for tried in attempt.tries} - {""}
        if insert.request_id or not insert.group:
            return insert.request_id in sent
        asked = [
            operation.request_id
            for operation in self.inserts
            if operation.group == insert.group and operation.request_id
        ]
        return any(request in sent for request in asked) if asked else None


def is_labelled(instance: Instance) -> bool:
    """Whether an instance has the labels of an attempt, of whichever job."""
    return instance.job is not None or instance.attempt is not None


def recorded_or_labelled(
    instance: Instance, identity: JobIdentity, now: datetime, lag: timedelta
) -> Ownership:
    """What an instance is to the job by its id and its labels; the operation log may be `lag` behind.

    Anybody can copy labels; nobody can send a request that the chain has sent.
    """
    if instance.id in identity.ids:
        return Ownership.RECORDED
    if instance.id in identity.grouped:
        return Ownership.MADE
    attempt = identity.attempts.get(instance.attempt or 0)
    if instance.job != identity.job or attempt is None:
        return Ownership.NAMESAKE
    insert = identity.insert_of(instance.id)
    told = identity.requested(insert) if insert else None
    if told is not None:
        return Ownership.MADE if told else Ownership.NAMESAKE
    if not _may_have_made(attempt, instance):
        return Ownership.NAMESAKE
    young = instance.created is not None and now - instance.created < lag
    return Ownership.UNTOLD if young else Ownership.MADE


def _may_have_made(attempt: ChainRecord, instance: Instance) -> bool:
    """Whether a try of the attempt fits, for an insert that the log tells no more of.

    Of one that is on record as refused nothing was left. Once its VMs are on record it has made no others,
    but for the nodes that its gang lacks.
    """
    made = instance.created
    if attempt.instances and instance.name not in attempt.lacking:
        return False
    if made is not None and attempt.closed and made > attempt.updated + LATE_INSERT:
        return False
    return any(
        tried.turn == (instance.turn or tried.turn)
        and tried.refused is None
        and fits(instance.zone, tried.place)
        and (made is None or made >= tried.at - CLOCKS_APART)
        for tried in attempt.tries
    )


def fits(zone: str, place: str) -> bool:
    """Whether a request for the place makes its instances in this zone."""
    return place in {zone, region_of(zone)}
