"""The round of one recipient: who writes to him now, and what is under way."""

from datetime import datetime

import msgspec
from msgspec.structs import replace

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.layout import DeliveryRound, Layout
from spotwarden.model.delivery import Round
from spotwarden.notify.outbox.records import JSON
from spotwarden.ports import BrokenError, ConflictError, Store

typed.prepare(Round)


class LostError(Exception):
    """Another sweep has the round by now; whatever it needs to know stands in the records."""


class HeldRound:
    """A recipient's round as this sweep knows it. Every change is written before it is relied upon.

    Nothing is held before the first change: whoever changes first, holds it. With `broken` nobody can know
    what was under way.
    """

    def __init__(self, store: Store, layout: Layout, object_name: DeliveryRound) -> None:
        self._store = store
        self._name = layout.build(object_name)
        self.broken = ""
        self.now, self._generation = self._read()

    def _read(self) -> tuple[Round, int | None]:
        """The round and its generation; one that cannot be read is nobody's, and is overwritten."""
        try:
            stored = self._store.read(self._name)
            return (decoded(self._name, stored.data, Round), stored.generation) if stored else (Round(), 0)
        except BrokenError as problem:
            self.broken = str(problem)
            return Round(), None

    def taken(self, at: datetime, latest: datetime) -> bool:
        """Whether another sweep holds it; a hold beyond `latest` is that of a clock gone wrong."""
        until = self.now.until
        return bool(self.now.holder) and until is not None and at < until <= latest

    def become(self, changed: Round) -> None:
        """Write it; `LostError` where another sweep changed it first."""
        data = msgspec.json.format(msgspec.json.encode(changed))
        try:
            self._generation = self._store.write(
                self._name, data, generation=self._generation, content_type=JSON
            )
        except ConflictError as conflict:
            raise LostError(self._name) from conflict
        self.now = changed

    def release(self) -> None:
        """Hold it no longer: all that was sent is written down."""
        if self.now.holder or self.now.sent:
            self.become(replace(self.now, holder="", until=None, sent=None))
