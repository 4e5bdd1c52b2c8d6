"""A Pub/Sub topic in memory."""

from collections.abc import Mapping

import msgspec

from spotwarden.ports import Published
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

    def publish(self, data: bytes, attributes: Mapping[str, str]) -> Published:
        """As `Topic.publish`."""
        subject = data.decode(errors="replace")
        return self.trouble.around("publish", subject, self._publish, data, attributes)

    def _publish(self, data: bytes, attributes: Mapping[str, str]) -> Published:
        message = Message(id=str(len(self.messages) + 1), data=data, attributes=dict(attributes))
        self.messages.append(message)
        return Published(id=message.id, at=self._clock.now())
