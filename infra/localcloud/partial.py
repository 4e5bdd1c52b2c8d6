"""Partial answers: the `fields` parameter of every method ("Performance tips: partial responses")."""

import re
from collections.abc import Mapping
from typing import Any

from localcloud.errors import ApiError

Mask = Mapping[str, Any]
"""The fields that are wanted, each with the mask of what is below; an empty mask is everything."""

_TOKEN = re.compile(r"\s*([A-Za-z0-9_*$-]+|[/.(),])\s*")
DEEPEST = 30


def read_mask(text: str) -> Mask:
    """Read `a,b/c,d(e,f),items/*/g`; a dot is a slash.

    Raises:
        ApiError: 400 when it is no selection of fields.
    """
    reader = _Reader(text)
    mask = reader.selections(0)
    if reader.ahead:
        raise reader.refused()
    return mask


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._at = 0
        if _TOKEN.sub("", text):
            raise self.refused()

    @property
    def ahead(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def refused(self) -> ApiError:
        return ApiError(400, "invalidParameter", f"Invalid field selection {self._text}", location="fields")

    def _skip(self, mark: str) -> bool:
        found = self.ahead == mark
        self._at += found
        return found

    def selections(self, depth: int) -> dict[str, Any]:
        """One or more selections with commas between them."""
        if depth > DEEPEST:
            raise self.refused()
        mask: dict[str, Any] = {}
        while True:
            name, below = self._selection(depth)
            mask[name] = _both(mask[name], below) if name in mask else below
            if not self._skip(","):
                return mask

    def _selection(self, depth: int) -> tuple[str, dict[str, Any]]:
        name = self.ahead
        if not name or name in "/.(),":
            raise self.refused()
        self._at += 1
        if self._skip("/") or self._skip("."):
            if depth > DEEPEST:
                raise self.refused()
            inner, below = self._selection(depth + 1)
            return name, {inner: below}
        if not self._skip("("):
            return name, {}
        below = self.selections(depth + 1)
        if not self._skip(")"):
            raise self.refused()
        return name, below


def _both(mask: Mask, other: Mask) -> dict[str, Any]:
    """What either mask wants; a field that is wanted as a whole, and in part elsewhere, as a whole."""
    if not (mask and other):
        return {}
    return {
        name: _both(mask[name], other[name])
        if name in mask and name in other
        else mask.get(name, other.get(name))
        for name in {**mask, **other}
    }


def select(value: Any, mask: Mask) -> Any:
    """The part of a value that is wanted; a list is looked into item by item.

    An object with nothing that is wanted is left out. `zones` is each key such as `zones/us-central1-a`.
    """
    if not mask:
        return value
    if isinstance(value, list):
        return [select(item, mask) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, item in value.items():
        below = mask.get(name, mask.get(name.partition("/")[0], mask.get("*")))
        if below is not None:
            part = select(item, below)
            if part != {} or not below:
                found[name] = part
    return found
