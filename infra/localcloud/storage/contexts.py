"""Contexts of objects: keys and values by which a list can be filtered ("Object contexts"). Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

import msgspec

from localcloud.clock import rfc3339
from localcloud.errors import ApiError
from localcloud.storage.model import Fields
from localcloud.storage.undone import unimplemented

MOST_CONTEXTS = 50
LONGEST = 256
"""Bytes of a key, and of a value."""
RESERVED = "google:"
"""How the keys of contexts begin that Google's own services attach."""
_FORBIDDEN = frozenset("'\"\\/")
_FILTER = re.compile(r'\s*(?P<minus>-?)contexts\."(?P<key>[^"]+)"\s*(?::\s*\*|=\s*"(?P<value>[^"]*)")\s*')

Contexts = Mapping[str, Mapping[str, str] | None]
"""By key; None stands for one that is to go."""


def read_contexts(asked: Any) -> dict[str, Any] | None:
    """The member `contexts` of an `Object` body without what only the server sets; None asks for none.

    Raises:
        ApiError: 400 for a key or a value that cannot be.
    """
    if asked is None:
        return None
    custom = asked.get("custom") if isinstance(asked, Mapping) else asked
    if custom is None:
        return {"custom": None} if "custom" in asked else {}
    if not isinstance(custom, Mapping):
        raise _invalid("contexts.custom must be an object")
    return {"custom": {_text(key): _payload(payload) for key, payload in custom.items()}}


def custom(fields: Fields) -> Contexts:
    """The contexts of an object."""
    found: Contexts = (fields.get("contexts") or {}).get("custom") or {}
    return found


def stamped(old: Fields, new: Fields, now: datetime) -> Fields:
    """The new fields of an object with the times of its contexts.

    Raises:
        ApiError: 400 for more contexts than an object can have.
    """
    before = custom(old)
    after = {key: payload for key, payload in custom(new).items() if payload and "value" in payload}
    rest = without_contexts(new)
    if len(after) > MOST_CONTEXTS:
        raise _invalid(f"an object has at most {MOST_CONTEXTS} contexts, not {len(after)}")
    whole = {key: _stamped(before.get(key), payload, now) for key, payload in after.items()}
    return {**rest, "contexts": {"custom": whole}} if whole else rest


def merged(sources: Iterable[Fields]) -> dict[str, Any]:
    """The contexts of all of these objects; of two with one key, those of the later object."""
    whole = {key: payload for fields in sources for key, payload in custom(fields).items()}
    return {"contexts": {"custom": whole}} if whole else {}


def inherited(asked: Fields, sources: Iterable[Fields], *, dropped: bool) -> Fields:
    """The fields of an object that is made of others: with the contexts it asks for, else with theirs."""
    if "contexts" in asked or dropped:
        return asked
    return {**asked, **merged(sources)}


def without_contexts(fields: Fields) -> Fields:
    """The same fields but for the contexts."""
    return {key: value for key, value in fields.items() if key != "contexts"}


def drops(groups: Iterable[str]) -> bool:
    """Whether the parameter `dropContextGroups` leaves the contexts of sources out; `ApiError` 400 else."""
    named = {name.strip() for group in groups for name in group.split(",") if name.strip()}
    if named - {"custom"}:
        message = f"Invalid value for parameter dropContextGroups: {min(named - {'custom'})!r}."
        raise ApiError(400, "invalid", message, location="dropContextGroups")
    return bool(named)


class _Described(msgspec.Struct):
    """What a filter wants to know of an encoded row."""

    fields: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ContextFilter:
    """Takes objects with a context of this key, and this value if there is one; or, negated, all others."""

    key: str
    value: str | None
    negated: bool

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `contexts."key":*` or `contexts."key"="value"`, with or without a minus before it.

        Raises:
            ApiError: 501 for any other filter.
        """
        match = _FILTER.fullmatch(text)
        if match is None:
            raise unimplemented(f"the filter {text!r}")
        return cls(key=match["key"], value=match["value"], negated=bool(match["minus"]))

    def takes(self, row: bytes) -> bool:
        """Whether an object is in the list, by its encoded row."""
        payload = custom(msgspec.json.decode(row, type=_Described).fields).get(self.key)
        found = payload is not None and self.value in (None, payload.get("value"))
        return found is not self.negated


def _stamped(before: Mapping[str, str] | None, payload: Mapping[str, str], now: datetime) -> dict[str, str]:
    """A context that came with its object from another one keeps its times."""
    if before is not None and before["value"] == payload["value"]:
        return dict(before)
    made = (before or payload).get("createTime", rfc3339(now))
    changed = payload.get("updateTime", rfc3339(now)) if before is None else rfc3339(now)
    return {"value": payload["value"], "createTime": made, "updateTime": changed}


def _payload(payload: Any) -> dict[str, str] | None:
    if payload is None or (isinstance(payload, Mapping) and payload.get("value") is None):
        return None
    if not isinstance(payload, Mapping):
        raise _invalid("each context must be an object with a value")
    return {"value": _text(payload["value"])}


def _text(text: Any) -> str:
    """A key or a value."""
    if not isinstance(text, str) or not 1 <= len(text.encode(errors="surrogatepass")) <= LONGEST:
        raise _invalid(f"keys and values of contexts have from 1 to {LONGEST} bytes")
    if not text[0].isalnum() or _FORBIDDEN & {*text}:
        raise _invalid(f"{text!r} begins with no letter or digit, or has a quotation mark or a slash")
    if text.startswith(RESERVED):
        raise _invalid(f"contexts that begin with {RESERVED} are attached by Google's services alone")
    return text


def _invalid(why: str) -> ApiError:
    return ApiError(400, "invalid", f"Invalid argument: {why}.")
