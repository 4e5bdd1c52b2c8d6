"""The records of the outbox in the bucket: what waits, what arrived, what could not be sent.

Each is created once, at generation 0: whoever comes second finds it and has nothing to do.
"""

import msgspec

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.layout import (
    DeliveredRecord,
    Layout,
    ObjectName,
    OutboxEntry,
    UndeliveredRecord,
    notice_key,
    person_key,
)
from spotwarden.model.delivery import Delivered, Pending, Recipient, Undelivered
from spotwarden.notify.outbox.model import Waiting
from spotwarden.ports import BrokenError, ConflictError, Entry, Store

typed.prepare(Delivered)

JSON = "application/json"
ASIDE = "topic"
"""The channel's name of a record about what never came as far as a channel."""


class OutboxRecords:
    """Reads and writes them."""

    def __init__(self, store: Store, layout: Layout) -> None:
        self._store = store
        self._layout = layout

    def put(self, pending: Pending) -> None:
        """Let it wait, unless it does already, has arrived, or could not be sent."""
        key = notice_key(pending.notice.id)
        if self.has_arrived(key, pending.recipient) or self._has_failed(key, pending.recipient):
            return
        self._create(_entry(key, pending.recipient), pending)

    def has_arrived(self, key: str, recipient: Recipient) -> bool:
        """Whether this notice arrived there: a record says so even where it cannot be read."""
        # A read of what is not there costs a tenth of a listing (Google: "Cloud Storage pricing").
        try:
            return self._store.read(self._layout.build(_arrival(key, recipient))) is not None
        except BrokenError:
            return True

    def message(self, key: str, channel: str, person: str) -> str:
        """The id of the message by which it arrived; "" where none is known."""
        name = self._layout.build(DeliveredRecord(notice=key, channel=channel, person=person))
        try:
            stored = self._store.read(name)
            return decoded(name, stored.data, Delivered).message_id if stored else ""
        except BrokenError:
            return ""

    def arrived(self, pending: Waiting, record: Delivered) -> None:
        """Write down that it arrived; only then it waits no longer."""
        self._create(_arrival(pending.key, pending.pending.recipient), record)
        self.drop(pending)

    def failed(self, pending: Waiting, record: Undelivered) -> None:
        """Keep what could not be sent; only then it waits no longer."""
        self._keep(_failure(pending.key, pending.pending.recipient), record)
        self.drop(pending)

    def put_aside(self, entry: Entry, object_name: UndeliveredRecord, record: Undelivered) -> None:
        """Keep what stands in this entry and is no record of ours; only then it waits no longer."""
        self._keep(object_name, record)
        self._store.delete(entry.name, generation=entry.generation)

    def aside(self, record: Undelivered, person: str) -> bool:
        """Keep what is for nobody, under this name; False where it is kept already."""
        key = notice_key(record.pending.notice.id)
        return self._create(UndeliveredRecord(channel=ASIDE, person=person, notice=key), record)

    def drop(self, pending: Waiting) -> None:
        """Let it wait no longer."""
        name = self._layout.build(_entry(pending.key, pending.pending.recipient))
        self._store.delete(name, generation=pending.generation)

    def failure_name(self, pending: Waiting) -> str:
        """What its record is called, should it have failed."""
        return self._layout.build(_failure(pending.key, pending.pending.recipient))

    def _has_failed(self, key: str, recipient: Recipient) -> bool:
        try:
            return self._store.read(self._layout.build(_failure(key, recipient))) is not None
        except BrokenError:
            return True

    def _create(self, object_name: ObjectName, record: msgspec.Struct) -> bool:
        try:
            self._write(object_name, record, 0)
        except ConflictError:
            return False
        return True

    def _keep(self, object_name: ObjectName, record: Undelivered) -> None:
        """The newest: one that was tried anew and failed again has another reason."""
        self._write(object_name, record, None)

    def _write(self, object_name: ObjectName, record: msgspec.Struct, generation: int | None) -> None:
        name, data = self._layout.build(object_name), msgspec.json.format(msgspec.json.encode(record))
        self._store.write(name, data, generation=generation, content_type=JSON)


def _entry(key: str, recipient: Recipient) -> OutboxEntry:
    return OutboxEntry(channel=recipient.channel.value, person=person_key(recipient.address), notice=key)


def _arrival(key: str, recipient: Recipient) -> DeliveredRecord:
    return DeliveredRecord(notice=key, channel=recipient.channel.value, person=person_key(recipient.address))


def _failure(key: str, recipient: Recipient) -> UndeliveredRecord:
    return UndeliveredRecord(
        channel=recipient.channel.value, person=person_key(recipient.address), notice=key
    )
