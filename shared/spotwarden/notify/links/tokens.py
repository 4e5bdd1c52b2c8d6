"""Signed links: what a message lets its reader do, so that nobody else can make or change one.

A token is `1.<key id>.<audience>.<payload>.<signature>`: all of it is text that needs no escaping in a
URL. The signature is an HMAC-SHA256 (RFC 2104) over the text before it, under a key that is derived from the
secret for one deployment. It is compared as text, so that no second spelling of a token is good.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from hmac import digest as hmac
from typing import Any

import msgspec

from spotwarden import typed
from spotwarden.model.moment import Moment
from spotwarden.model.notice import CaseRef, Way
from spotwarden.model.offer import Offer, PreferenceOffer, Unfit

VARIABLE = "SPOTWARDEN_SIGNING_KEYS"
MOST_CHARACTERS = 2048
"""No longer token is looked at, and none is made."""
LEAST_BYTES = 32
"""What RFC 2104 asks of a key for SHA-256: no fewer bytes than the hash has."""

_VERSION = "1"
_KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,16}")
_TOKEN = re.compile(
    r"(?P<said>1\.(?P<id>[A-Za-z0-9_-]{1,16})\.(?P<audience>[A-Za-z0-9_-]{11})\.(?P<payload>[A-Za-z0-9_-]+))"
    r"\.(?P<signature>[A-Za-z0-9_-]{43})"
)


class KeysError(ValueError):
    """The signing keys cannot be read. The message names the variable and the key's id, never a key."""


class Keys(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of one deployment, by id: the first signs, all of them verify."""

    audience: str
    keys: Mapping[str, bytes]

    @classmethod
    def read(cls, text: str, audience: str) -> "Keys":
        """Read `k2:<base64url>,k1:<base64url>`; `audience` names the deployment. `KeysError`."""
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if not parts:
            raise KeysError(f"{VARIABLE} is not set: it is <id>:<base64url of {LEAST_BYTES} bytes>")
        keys: dict[str, bytes] = {}
        for number, part in enumerate(parts, start=1):
            name, key = _key(part, number)
            if name in keys:
                raise KeysError(f"{VARIABLE}: two keys are called {name}")
            keys[name] = hmac(key, b"spotwarden links\0" + audience.encode(), sha256)
        return cls(audience=_text(sha256(audience.encode()).digest()[:8]), keys=keys)

    def __repr__(self) -> str:
        """Show no key, wherever it is printed."""
        return f"Keys({', '.join(self.keys)})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Show no key here, either."""
        return [("ids", list(self.keys))]


class _Offer(msgspec.Struct, frozen=True, array_like=True, tag="o"):
    """An offer as it stands in a token, without the names of its fields."""

    id: str
    way: Way
    notice: str
    to: str
    job: str
    at: Moment
    expires: Moment
    hours: float
    case: tuple[str, str, Moment] | None


class _PreferenceToken(msgspec.Struct, frozen=True, array_like=True, tag="w"):
    """A preference link as it stands in a token."""

    to: str
    expires: Moment


typed.prepare(_Offer | _PreferenceToken)


def sign(what: Offer | PreferenceOffer, keys: Keys) -> str:
    """Make the token; `ValueError` where it would be longer than anybody may read."""
    name, key = next(iter(keys.keys.items()))
    said = f"{_VERSION}.{name}.{keys.audience}.{_text(msgspec.msgpack.encode(_packed(what)))}"
    token = f"{said}.{_text(hmac(key, said.encode(), sha256))}"
    if len(token) > MOST_CHARACTERS:
        raise ValueError(f"a link of {len(token)} characters is too long: {MOST_CHARACTERS} at most")
    return token


def read(token: str, keys: Keys, now: datetime) -> Offer | PreferenceOffer | Unfit:
    """What this token lets its bearer do; nothing is decoded before the signature is known to be ours."""
    if len(token) > MOST_CHARACTERS or not (parts := _TOKEN.fullmatch(token)):
        return Unfit.BROKEN
    key = keys.keys.get(parts["id"])
    if key is None or parts["audience"] != keys.audience:
        return Unfit.FOREIGN
    signature = _text(hmac(key, parts["said"].encode(), sha256))
    if not compare_digest(signature.encode(), parts["signature"].encode()):
        return Unfit.BROKEN
    try:
        what = _unpacked(typed.unpack(_bytes(parts["payload"]), _Offer | _PreferenceToken))  # type: ignore[arg-type]  # a union is no `type` to mypy
    except ValueError:
        return Unfit.BROKEN
    return what if now < what.expires else Unfit.EXPIRED


def _key(part: str, number: int) -> tuple[str, bytes]:
    """One key and its id; a mistake is told without showing what may be a secret."""
    name, colon, said = part.partition(":")
    if not colon or not _KEY_ID.fullmatch(name):
        raise KeysError(f"{VARIABLE}: key number {number} has no id; it is <id>:<base64url>")
    try:
        key = _bytes(said.strip().rstrip("="))
    except ValueError:
        raise KeysError(f"{VARIABLE}: the key {name} is not base64url") from None
    if len(key) < LEAST_BYTES:
        raise KeysError(f"{VARIABLE}: the key {name} has {len(key)} bytes; {LEAST_BYTES} at least")
    return name, key


def _packed(what: Offer | PreferenceOffer) -> _Offer | _PreferenceToken:
    """With moments in UTC, so that one offer always makes one token."""
    if isinstance(what, PreferenceOffer):
        return _PreferenceToken(what.to, what.expires.astimezone(UTC))
    case = (what.case.rule, what.case.key, what.case.opened.astimezone(UTC)) if what.case else None
    at, expires = what.at.astimezone(UTC), what.expires.astimezone(UTC)
    return _Offer(what.id, what.way, what.notice, what.to, what.job, at, expires, what.hours, case)


def _unpacked(what: _Offer | _PreferenceToken) -> Offer | PreferenceOffer:
    if isinstance(what, _PreferenceToken):
        return PreferenceOffer(to=what.to, expires=what.expires)
    case = CaseRef(rule=what.case[0], key=what.case[1], opened=what.case[2]) if what.case else None
    return Offer(
        id=what.id,
        way=what.way,
        notice=what.notice,
        to=what.to,
        job=what.job,
        at=what.at,
        expires=what.expires,
        case=case,
        hours=what.hours,
    )


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    """`ValueError` where it is not base64url: what is not of its alphabet is not passed over."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise ValueError("not base64url")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
