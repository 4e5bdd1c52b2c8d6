"""What is set of a channel: a mail server, a web hook, and the secrets of both."""

from enum import Enum

import msgspec

from spotwarden.model.message import Shape


class ChannelSettingsError(Exception):
    """A variable says something impossible; the message names it and never holds a secret."""


class Secret:
    """A text that shows itself only when asked to."""

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return "Secret(…)" if self._text else "Secret()"


class Security(Enum):
    """How mail is kept from being read on its way: what the URL's scheme says."""

    STARTTLS = "smtp"
    TLS = "smtps"
    PLAIN = "smtp+plain"


class Sender(msgspec.Struct, frozen=True, kw_only=True):
    """From whom mail is."""

    name: str = ""
    address: str

    @property
    def domain(self) -> str:
        """What comes after the @."""
        return self.address.rpartition("@")[2]


class Smtp(msgspec.Struct, frozen=True, kw_only=True):
    """The server that takes our mail. `ca` is a file of certificates to trust besides the system's."""

    host: str
    port: int
    security: Security
    sender: Sender
    user: str = ""
    password: Secret = Secret("")
    ca: str = ""


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """A web hook. Whoever knows its URL can write there; `secret` signs what is plain JSON."""

    shape: Shape
    url: Secret
    secret: Secret = Secret("")
