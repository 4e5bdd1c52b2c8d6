"""A Pub/Sub topic in memory."""

from collections.abc import Mapping

import msgspec

from tests.fakes.trouble import Trouble


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was accepted."""

    id: str
    data: bytes
    attributes: Mapping[str, str]


class MemoryTopic:
    """`Topic`. Failures are ordered from `trouble`, their subject is the data as text."""

    def __init__(self) -> None:
        self.trouble = Trouble()
        self.messages: list[Message] = []

    def publish(self, data: bytes, attributes: Mapping[str, str]) -> str:
        """As `Topic.publish`."""
        subject = data.decode(errors="replace")
        return self.trouble.around("publish", subject, lambda: self._publish(data, attributes))

    def _publish(self, data: bytes, attributes: Mapping[str, str]) -> str:
        message = Message(id=str(len(self.messages) + 1), data=data, attributes=dict(attributes))
        self.messages.append(message)
        return message.id
