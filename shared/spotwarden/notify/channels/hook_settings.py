"""The web hooks, as the environment says them."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from spotwarden import typed
from spotwarden.model.message import Shape
from spotwarden.notify.channels.addresses import is_loopback
from spotwarden.notify.channels.model import ChannelSettingsError, Hook, Secret

RIGHT = 'it is like {"ml-chat": {"shape": "slack", "url": "https://…"}}'
SHORTEST_SECRET = 16
"""Characters of a secret that signs; `openssl rand -hex 32` gives four times as many."""

_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")


class _Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    shape: Shape
    url: str
    secret: str = ""


typed.prepare(dict[str, msgspec.Raw], _Said)


def read_hooks(said: str) -> Mapping[str, Hook]:
    """The hooks by name; none where nothing is set."""
    if not said.strip():
        return {}
    try:
        rows = typed.decode(said, dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise ChannelSettingsError(f"SPOTWARDEN_HOOKS is not a JSON object of hooks; {RIGHT}") from None
    return {name: _hook(name, row) for name, row in rows.items()}


def _hook(name: str, row: msgspec.Raw) -> Hook:
    if not _NAME.fullmatch(name):
        raise _wrong(name, "has a name with other than small letters, digits and hyphens, or a long one")
    try:
        said = typed.decode(row, _Said)
    except msgspec.DecodeError as error:
        raise _wrong(name, f"is invalid ({_without_values(error)})") from None
    _check_url(name, said.url)
    if said.shape is Shape.JSON and len(said.secret) < SHORTEST_SECRET:
        raise _wrong(
            name, f"is plain JSON without a secret of at least {SHORTEST_SECRET} characters to sign it"
        )
    if said.shape is not Shape.JSON and said.secret:
        raise _wrong(name, f"has a secret, but {said.shape.value} checks no signatures: leave it out")
    return Hook(shape=said.shape, url=Secret(said.url), secret=Secret(said.secret))


def _check_url(name: str, said: str) -> None:
    try:
        url = urlsplit(said)
        port = url.port
    except ValueError:
        raise _wrong(name, "has an invalid url") from None
    if not url.hostname or port == 0 or not said.isascii() or not said.isprintable() or " " in said:
        raise _wrong(name, "has an invalid url")
    if url.username is not None or url.fragment:
        raise _wrong(name, "has a url with a user or a fragment, which a hook can't use")
    if url.scheme != "https" and not (url.scheme == "http" and is_loopback(url.hostname)):
        raise _wrong(name, "has a url that is neither https:// nor http:// on this machine")


def _without_values(error: msgspec.DecodeError) -> str:
    """What is wrong in the library's words, but for the value, which may be a secret in the wrong place."""
    words = str(error)
    if "enum" in words:
        return "a shape is " + ", ".join(shape.value for shape in Shape)
    return words


def _wrong(name: str, what: str) -> ChannelSettingsError:
    return ChannelSettingsError(f"SPOTWARDEN_HOOKS: {name!r} {what}; {RIGHT}")
