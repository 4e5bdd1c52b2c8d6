"""Readers of lists and dictionaries, by the rules of `gcloud topic escaping`.

A flags file hands over lists and dictionaries that YAML has split already.
"""

from collections.abc import Mapping
from typing import Any

from spotwarden.create_script.gcloud.values import Misfit, Raw, Reader, text

_ESCAPING = "put a delimiter of your own between carets in front, such as ^;^, if the value holds commas"


def items(*, low: int = 0, high: int | None = None, delimiter: str = ",") -> Reader:
    """Read a list: pieces between commas, or between what stands between two carets in front."""

    def read(value: Raw) -> list[Any]:
        pieces = value if isinstance(value, list) else _split(text(value), delimiter)
        if len(pieces) < low:
            raise Misfit("needs a value")
        if high is not None and len(pieces) > high:
            raise Misfit(f"takes at most {high} values")
        return pieces

    return read


def texts(*, low: int = 0, high: int | None = None, delimiter: str = ",") -> Reader:
    """Read a list of texts; a flags file may not hold anything else in it."""
    split = items(low=low, high=high, delimiter=delimiter)

    def read(value: Raw) -> list[str]:
        return [text(piece) for piece in split(value)]

    return read


def _split(value: str, delimiter: str) -> list[str]:
    if value.startswith("^") and "^" in value[1:]:
        delimiter, value = value[1:].split("^", 1)
        if not delimiter:
            raise Misfit("has an empty delimiter between its carets; write one, such as ^;^")
    if not value:
        return []
    pieces = value.split(delimiter)
    return pieces[:-1] if not pieces[-1] else pieces


def pairs(
    *,
    keys: Mapping[str, Reader | None] | None = None,
    key: Reader | None = None,
    value: Reader | None = None,
    low: int = 0,
    bare: bool = False,
    required: tuple[str, ...] = (),
) -> Reader:
    """Read a dictionary: KEY=VALUE pieces; `keys` are all that may occur, with their readers.

    A reader of None is a key without a value; with `bare` every key may stand without one.
    """
    split = items(low=low)
    rules = (keys, key, value, bare)

    def read(given: Raw) -> dict[str, Any]:
        if isinstance(given, list):
            raise Misfit("takes a dictionary, not a list; write KEY: VALUE lines")
        raw = given.items() if isinstance(given, dict) else map(_cut, split(given))
        found = dict(_pair(name, piece, rules) for name, piece in raw)
        for name in required:
            if name not in found:
                raise Misfit(f"needs the key {name}")
        return found

    return read


def _cut(piece: Raw) -> tuple[str, str | None]:
    name, equals, value = text(piece).partition("=")
    if not name:
        raise Misfit(f"{piece!r} is not of the form KEY=VALUE; {_ESCAPING}")
    return name, value if equals else None


def _pair(name: Raw, value: Raw, rules: tuple[Any, Reader | None, Reader | None, bool]) -> tuple[str, Any]:
    keys, read_key, read_value, bare = rules
    if value is None and not bare:
        raise Misfit(f"{name!r} has no value; {_ESCAPING}")
    if read_key:
        name = read_key(name)
    if read_value:
        value = read_value(value)
    if keys is None:
        return name, value
    if name not in keys:
        raise Misfit(f"has no key {name!r}; it knows {', '.join(sorted(keys))}")
    return name, _specified(name, value, keys[name])


def _specified(name: str, value: Raw, read: Reader | None) -> Raw:
    if read is None:
        if value:
            raise Misfit(f"{name} takes no value; write it alone")
        return None
    if read is text:
        # A number in a flags file counts as its text here, unlike in metadata.
        return "" if value is None else str(value)
    try:
        return read("" if value is None else value)
    except Misfit as error:
        raise Misfit(f"{name}: {error}") from None


def label_key(value: Raw) -> str:
    """Take the key of a label: as its value, but it begins with a lower case letter."""
    if not label_value(value) or not _is_lower(value[0]):
        raise Misfit(f"the key {value!r} must begin with a lower case letter")
    return str(value)


def label_value(value: Raw) -> str:
    """Take the value of a label: lower case letters, digits, - and _, at most 63 of them."""
    if len(text(value)) > 63 or not all(c in "_-" or c.isdigit() or _is_lower(c) for c in value):  # noqa: PLR2004 — as said below
        raise Misfit(f"{value!r} may hold only lower case letters, digits, - and _, at most 63 of them")
    return str(value)


def _is_lower(character: str) -> bool:
    # Letters of alphabets without cases count as lower case.
    return character.isalpha() and (character.islower() or not character.isupper())
