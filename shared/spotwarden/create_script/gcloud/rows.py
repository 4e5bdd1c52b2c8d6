"""What one line of the flag table is made of."""

from typing import Any

import msgspec

from spotwarden.create_script.gcloud.keys import Key, Where
from spotwarden.create_script.gcloud.values import Misfit, Raw, Reader, choice, enum, text, upper


class FlagRow(msgspec.Struct, frozen=True):
    """One line of the table.

    `keys` are those of a dictionary flag, which then needs no reader of its own; `joins` folds an
    older and a newer value into one, and without it the newer one wins.
    """

    name: str
    where: Where
    read: Reader | None = None
    joins: Any = None
    default: Any = None
    negatable: bool = False
    keys: tuple[Key, ...] | None = None
    same_as: str | None = None


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


def switch(name: str, where: Where, *, default: bool | None = None, negatable: bool = True) -> FlagRow:
    """Make the row of a flag without a value."""
    return FlagRow(name, where, default=default, negatable=negatable)


def many(name: str, where: Where, read: Reader) -> FlagRow:
    """Make the row of a flag that adds up."""
    return FlagRow(name, where, listed(read), append)


def dictionaries(name: str, where: Where, keys: tuple[Key, ...]) -> FlagRow:
    """Make the row of a dictionary flag that adds up."""
    return FlagRow(name, where, None, append, keys=keys)


def word_of(*names: str) -> Reader:
    """Read one of these words as they are written."""
    return choice(names)


def enum_of(*names: str) -> Reader:
    """Read one of these words, in any case, with - or _."""
    return choice(names, fold=enum)


def capitals_of(*names: str) -> Reader:
    """Read one of these words, in any case."""
    return choice(names, fold=upper)
