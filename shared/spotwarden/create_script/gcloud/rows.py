"""What one line of the flag table is made of."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from spotwarden.create_script.gcloud.keys import Keys
from spotwarden.create_script.gcloud.values import Misfit, Raw, Reader, choice, text


class FlagRow(msgspec.Struct, frozen=True):
    """One line of the table.

    `keys` are those of a dictionary flag, which then needs no reader of its own; `joins` folds an
    older and a newer value into one, and without it the newer one wins. A flag with `fold` takes one of the
    words that `surface_table.py` has for it, after folding; `means` says what the API calls each of them.
    """

    name: str
    read: Reader | None = None
    joins: Any = None
    default: Any = None
    keys: Keys | None = None
    same_as: str | None = None
    fold: Callable[[str], str] | None = None
    means: Mapping[str, str] | None = None


def append(older: list[Any], newer: list[Any]) -> list[Any]:
    """Join the values of a flag that adds up."""
    return older + newer


def merge(older: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    """Join the values of a dictionary flag in which no key may stand twice."""
    doubled = sorted(older.keys() & newer.keys())
    if doubled:
        raise Misfit(f"names {doubled[0]} twice")
    return older | newer


def once(_older: Raw, _newer: Raw) -> Raw:
    """Refuse a second value."""
    raise Misfit("may be given only once; write all keys into one")


def written(read: Reader) -> Reader:
    """Take a text of the command line only, and not what a flags file has split already."""
    return lambda value: read(text(value))


def listed(read: Reader) -> Reader:
    """Read one value of many."""
    return lambda value: [read(value)]


def switch(name: str, *, default: bool | None = None) -> FlagRow:
    """Make the row of a flag without a value."""
    return FlagRow(name, default=default)


def many(name: str, read: Reader) -> FlagRow:
    """Make the row of a flag that adds up."""
    return FlagRow(name, listed(read), append)


def dictionaries(name: str, keys: Keys) -> FlagRow:
    """Make the row of a dictionary flag that adds up."""
    return FlagRow(name, None, append, keys=keys)


def chosen(
    name: str,
    fold: Callable[[str], str] = str,
    *,
    means: Mapping[str, str] | None = None,
    default: str | None = None,
    same_as: str | None = None,
) -> FlagRow:
    """Make the row of a flag that takes one of a few words."""
    return FlagRow(name, default=default, same_as=same_as, fold=fold, means=means)


def word_of(*names: str) -> Reader:
    """Read one of these words as they are written."""
    return choice(names)
