"""The ways to people: notices, and the messages that come of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from spotwarden.model.message import Message
from spotwarden.ports.errors import RejectedError


class Published(NamedTuple):
    """A message that was accepted: under which id, and by when."""

    id: str
    at: datetime


class Topic(Protocol):
    """A Pub/Sub topic."""

    def publish(
        self, data: bytes, attributes: Mapping[str, str], *, before: datetime | None = None
    ) -> Published:
        """Publish and wait until it is accepted. `UnansweredError`.

        Nothing is published at or after `before` by the machine's own clock, wherever a local cloud has
        travelled to: `ConflictError`.
        """

    def publish_all(self, messages: Sequence[bytes], attributes: Mapping[str, str]) -> None:
        """Publish messages of the same attributes in one call, and wait until all are accepted.

        `UnansweredError`; `RejectedError` where the topic is missing or may not be published to. At most a
        thousand, of 10 MB together (Google: "Pub/Sub quotas and limits").
        """


class NoTopic:
    """For a function that publishes nothing."""

    def publish(
        self, data: bytes, attributes: Mapping[str, str], *, before: datetime | None = None
    ) -> Published:
        """Refuse it."""
        del before
        raise RejectedError("noTopic", f"nothing is published here, such as {attributes or data!r}")

    def publish_all(self, messages: Sequence[bytes], attributes: Mapping[str, str]) -> None:
        """Refuse them."""
        raise RejectedError("noTopic", f"nothing is published here, such as {attributes or len(messages)}")


class Mailer(Protocol):
    """How messages leave: mail and web hooks."""

    def send(self, message: Message, *, before: datetime | None = None) -> str:
        """Hand it over, unless it is `before` or later, and give the server's answer.

        Raises:
            ConflictError: it came too late, and did not go out.
            RejectedError: it did not go out. `refused`: to this recipient it never will; `unsent`: it may.
            UnansweredError: it may have gone out, nobody knows.
        """


class NoMailer:
    """For a function that sends nothing."""

    def send(self, message: Message, *, before: datetime | None = None) -> str:
        """Refuse it."""
        del before
        raise RejectedError("unsent", f"this function has no channel for {type(message).__name__}")
