"""Where a job's words are: every VM that any of its attempts had, oldest first."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from spotwarden.model.attempt import Attempt

KEPT = timedelta(days=30)
"""Cloud Logging keeps entries so long unless told otherwise ("Quotas and limits")."""
SLACK = timedelta(minutes=5)
"""A VM's clock may be off."""


class VmStay(msgspec.Struct, frozen=True, kw_only=True):
    """One VM of one attempt, by its id where that is known; it has said nothing before `since`."""

    attempt: int
    node: str
    instance_id: str
    zone: str
    since: datetime


def stays(
    ledger: Sequence[Attempt],
    registrations: Mapping[str, str],
    now: datetime,
    *,
    stored: Collection[str] = (),
) -> list[VmStay]:
    """All of them, by attempt and node; where no record names them, what the VMs have registered.

    `stored` are the nodes that have left a log of the newest attempt.
    """
    if not ledger:
        long_ago = now - KEPT
        return [
            VmStay(attempt=1, node=node, instance_id=name, zone="", since=long_ago)
            for node, name in sorted(registrations.items())
        ]
    found: dict[tuple[int, str, str], VmStay] = {}
    known = {instance for attempt in ledger for instance in attempt.instances.values()}
    for attempt in ledger:
        for stay in (*_before(attempt, known), *_of(attempt)):
            found.setdefault((stay.attempt, stay.node, stay.instance_id), stay)
    if is_unnamed(ledger[-1]):
        for stay in _unnamed(ledger[-1], known | _replaced(ledger), registrations, stored):
            found[stay.attempt, stay.node, stay.instance_id] = stay
    return [found[key] for key in sorted(found)]


def is_unnamed(attempt: Attempt) -> bool:
    """Whether VMs were asked for, and the record names none: not yet, or they were gone too soon."""
    return bool(attempt.tries) and not attempt.instances


def _replaced(ledger: Sequence[Attempt]) -> set[str]:
    return {instance_id for attempt in ledger for instance_id in attempt.replaces.values()}


def _unnamed(
    attempt: Attempt, others: set[str], registrations: Mapping[str, str], stored: Collection[str]
) -> Iterator[VmStay]:
    own = {node: said for node, said in registrations.items() if said and said not in others}
    for node in {*own, *stored}:
        yield VmStay(
            attempt=attempt.number,
            node=node,
            instance_id=own.get(node, ""),
            zone=attempt.tries[-1].place,
            since=attempt.created - SLACK,
        )


def _before(attempt: Attempt, known: set[str]) -> Iterator[VmStay]:
    """Those that it took the place of and that no attempt on record has launched."""
    for node, name in attempt.replaces.items():
        if name not in known:
            yield VmStay(
                attempt=max(1, attempt.number - 1),
                node=node,
                instance_id=name,
                zone=attempt.lost_in,
                since=attempt.created - KEPT,
            )


def _of(attempt: Attempt) -> Iterator[VmStay]:
    # The first one may have been launched long before anybody wrote it down.
    first = attempt.number == 1 or attempt.seen
    since = attempt.created - (KEPT if first else SLACK)
    zone = attempt.tries[-1].place if attempt.tries else ""
    for node, name in attempt.instances.items():
        yield VmStay(attempt=attempt.number, node=node, instance_id=name, zone=zone, since=since)
