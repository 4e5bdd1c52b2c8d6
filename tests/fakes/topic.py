"""A Pub/Sub topic in memory."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from spotwarden.ports import InTime, Published
from tests.fakes.clock import VirtualClock
from tests.fakes.trouble import Trouble


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was accepted."""

    id: str
    data: bytes
    attributes: Mapping[str, str]


class MemoryTopic:
    """`Topic`. Failures are ordered from `trouble`, their subject is the data as text."""

    def __init__(self, clock: VirtualClock | None = None) -> None:
        self.trouble = Trouble()
        self._clock = clock or VirtualClock()
        self.messages: list[Message] = []

    def publish(
        self, data: bytes, attributes: Mapping[str, str], *, before: datetime | None = None
    ) -> Published:
        """As `Topic.publish`."""
        subject = data.decode(errors="replace")
        return self.trouble.around("publish", subject, self._publish, data, attributes, before)

    def publish_all(self, messages: Sequence[bytes], attributes: Mapping[str, str]) -> None:
        """As `Topic.publish_all`; the subject of a failure is the first message."""
        subject = next(iter(messages), b"").decode(errors="replace")
        self.trouble.around("publish_all", subject, self._publish_all, messages, attributes)

    def _publish_all(self, messages: Sequence[bytes], attributes: Mapping[str, str]) -> None:
        for data in messages:
            self._publish(data, attributes)

    def _publish(
        self, data: bytes, attributes: Mapping[str, str], before: datetime | None = None
    ) -> Published:
        InTime(before, self._clock.now)()
        message = Message(id=str(len(self.messages) + 1), data=data, attributes=dict(attributes))
        self.messages.append(message)
        return Published(id=message.id, at=self._clock.now())
