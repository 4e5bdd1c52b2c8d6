"""The ways to people: notices, and the messages that come of them."""

from collections.abc import Mapping
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
