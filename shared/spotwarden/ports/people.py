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

    def publish(self, data: bytes, attributes: Mapping[str, str]) -> Published:
        """Publish and wait until it is accepted. `UnansweredError`."""

    def publish_all(self, messages: Sequence[bytes], attributes: Mapping[str, str]) -> None:
        """Publish messages of the same attributes in one call, and wait until all are accepted.

        `UnansweredError`; `RejectedError` where the topic is missing or may not be published to. At most a
        thousand, of 10 MB together (Google: "Pub/Sub quotas and limits").
        """


class NoTopic:
    """For a function that publishes nothing."""

    def publish(self, data: bytes, attributes: Mapping[str, str]) -> Published:
        """Refuse it."""
        raise RejectedError("noTopic", f"nothing is published here, such as {attributes or data!r}")

    def publish_all(self, messages: Sequence[bytes], attributes: Mapping[str, str]) -> None:
        """Refuse them."""
        raise RejectedError("noTopic", f"nothing is published here, such as {attributes or len(messages)}")


class Mailer(Protocol):
    """How messages leave: mail and web hooks."""

    def send(self, message: Message) -> str:
        """Hand it over and give the server's answer.

        Raises:
            RejectedError: it did not go out. `refused`: to this recipient it never will; `unsent`: it may.
            UnansweredError: it may have gone out, nobody knows.
        """


class NoMailer:
    """For a function that sends nothing."""

    def send(self, message: Message) -> str:
        """Refuse it."""
        raise RejectedError("unsent", f"this function has no channel for {type(message).__name__}")
