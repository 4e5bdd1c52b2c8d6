"""What waits to be sent and what could not be: read from the bucket, put back, dropped."""

from collections.abc import Iterable
from datetime import datetime

import msgspec
from msgspec.structs import replace

from spotwarden import clock, typed
from spotwarden.cli.context import Context, new_tick
from spotwarden.engine.decoding import decoded
from spotwarden.engine.fan_out import each
from spotwarden.layout import (
    DeliveryRound,
    NotInLayoutError,
    OutboxEntry,
    UndeliveredRecord,
    notice_key,
    person_key,
)
from spotwarden.model.action import Change, DropObject, StoreObject, Tell
from spotwarden.model.delivery import Channel, Pending, Recipient, Round, Undelivered
from spotwarden.model.outcome import Done, Lost
from spotwarden.ports import BrokenError

typed.prepare(Undelivered, Round, Pending)

UNREADABLE = "unreadable"
"""The kind of a notice that stands for something that is none."""


class NotDoneError(Exception):
    """What was asked for was not done; the message says why."""


class OutboxItem(msgspec.Struct, frozen=True, kw_only=True):
    """One notice for one recipient: it waits, or was given up at the moment `at`."""

    name: str
    generation: int
    pending: Pending
    waiting: bool
    at: datetime
    why: str = ""

    @property
    def key(self) -> str:
        """The key of its notice, whole."""
        return notice_key(self.pending.notice.id)

    @property
    def to(self) -> str:
        """Whom it is for: an address, or a hook by its channel and name."""
        recipient = self.pending.recipient
        if recipient.channel is Channel.EMAIL:
            return recipient.address or "nobody"
        return f"{recipient.channel.value} {recipient.address}"


class Outbox(msgspec.Struct, frozen=True, kw_only=True):
    """All that there is, the oldest first; of what cannot be read, why not."""

    items: tuple[OutboxItem, ...]
    broken: tuple[BrokenError, ...]


def read_outbox(context: Context, *, waiting: bool = True) -> Outbox:
    """Read what was given up, and what waits unless told otherwise."""
    store, layout = context.cloud.store, context.settings.layout
    prefixes = [layout.undelivered(), *([layout.outbox()] if waiting else [])]
    names = [entry.name for prefix in prefixes for entry in store.entries(prefix)]
    broken: list[BrokenError] = []

    def read(name: str) -> OutboxItem | None:
        try:
            return _item(context, name)
        except BrokenError as problem:
            broken.append(problem)
            return None

    found = each(names, read, context.settings.workers)
    if found.failures:
        raise found.failures[0]
    items = sorted(_explained(context, found.results), key=lambda item: (item.at, item.name))
    return Outbox(items=tuple(items), broken=tuple(broken))


def put_back(context: Context, item: OutboxItem) -> None:
    """Let it wait once more, as if it had come now: first written there, then gone here.

    What there was nobody to tell is published anew; `NotDoneError` where nobody could read it.
    """
    if item.pending.notice.kind == UNREADABLE:
        raise NotDoneError("it can't be read; it can only be dropped")
    again = _waiting(context, item) if item.pending.recipient.address else _told_anew(item)
    # It may wait already, put back by somebody else: that is as good.
    _do(context, again, also_good=Lost)
    drop(context, item, reason="it waits to be sent again")


def _told_anew(item: OutboxItem) -> Tell:
    return Tell(reason="a person published it again", notice=item.pending.notice)


def _waiting(context: Context, item: OutboxItem) -> StoreObject:
    pending = replace(item.pending, since=clock.now())
    to = pending.recipient
    entry = OutboxEntry(channel=to.channel.value, person=person_key(to.address), notice=item.key)
    return StoreObject(
        reason="a person sent it again",
        job=pending.notice.job,
        name=context.settings.layout.build(entry),
        data=msgspec.json.encode(pending),
        content_type="application/json",
        only_new=True,
    )


def drop(context: Context, item: OutboxItem, *, reason: str = "a person has dropped it") -> None:
    """Forget it; the audit keeps that it was there."""
    job = item.pending.notice.job
    _do(context, DropObject(reason=reason, job=job, name=item.name, generation=item.generation))


def _do(context: Context, step: Change, *, also_good: type = Done) -> None:
    outcome = context.executor(new_tick("notices")).apply(step)
    if not isinstance(outcome, Done | also_good):
        raise NotDoneError(f"{step.reason}: {outcome}")


def _item(context: Context, name: str) -> OutboxItem | None:
    """What this object holds; None where it is gone by now, or is none of ours."""
    try:
        object_name = context.settings.layout.parse(name)
    except NotInLayoutError:
        return None
    stored = context.cloud.store.read(name)
    if stored is None:
        return None
    if isinstance(object_name, UndeliveredRecord):
        record = decoded(name, stored.data, Undelivered)
        pending, at, why = record.pending, record.at, record.reason
    else:
        pending, why = decoded(name, stored.data, Pending), ""
        at = pending.since
    return OutboxItem(
        name=name,
        generation=stored.generation,
        pending=pending,
        waiting=isinstance(object_name, OutboxEntry),
        at=at,
        why=why,
    )


def _explained(context: Context, items: Iterable[OutboxItem]) -> list[OutboxItem]:
    """The same; of what waits, what is remembered of its recipient says why."""
    items = list(items)
    recipients = {item.pending.recipient for item in items if item.waiting}
    rounds = each(
        recipients, lambda candidate: (candidate, _round(context, candidate)), context.settings.workers
    )
    if rounds.failures:
        raise rounds.failures[0]
    why = {recipient: _trouble(remembered) for recipient, remembered in rounds.results}
    return [replace(item, why=why[item.pending.recipient]) if item.waiting else item for item in items]


def _round(context: Context, recipient: Recipient) -> Round:
    object_name = DeliveryRound(channel=recipient.channel.value, person=person_key(recipient.address))
    name = context.settings.layout.build(object_name)
    stored = context.cloud.store.read(name)
    return decoded(name, stored.data, Round) if stored else Round()


def _trouble(remembered: Round) -> str:
    """What keeps a recipient's notices waiting, "" for nothing but their time."""
    parts = []
    if remembered.sending is not None:
        parts.append("we can't tell whether the last message arrived")
    if remembered.failures:
        parts.append(f"failed {remembered.failures} times: {remembered.error}")
    if remembered.retry is not None:
        parts.append(f"next try at {remembered.retry:%Y-%m-%d %H:%M:%S} UTC")
    return "; ".join(parts)
