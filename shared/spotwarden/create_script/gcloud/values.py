"""Readers of flag values: text from the command line → data, or a `Misfit` that says what is wrong.

A flags file hands over lists and dictionaries that YAML has split already; only the readers of
lists and dictionaries take those. Rules as `gcloud topic escaping` and `gcloud topic flags-file`
describe them, checked against Google Cloud SDK 528.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

# A value as it comes: a text of the command line, or whatever YAML made of a flags file.
Raw = Any
Reader = Callable[[Raw], Raw]


class Misfit(ValueError):  # noqa: N818 — a value that does not fit is no fault of the program
    """A value that its flag does not take; the text says why, and whoever knows the flag adds its name."""


_SIZE = re.compile(r"(?P<amount>\d+\.?\d*)(?P<unit>[-/a-zA-Z]+)?$")
# Longer numbers mean nothing and take long to compute.
_LONGEST = 40
_SMALLER_UNIT = {
    "PiB": "TiB",
    "PB": "TiB",
    "TiB": "GiB",
    "TB": "GiB",
    "GiB": "MiB",
    "GB": "MiB",
    "MiB": "KiB",
    "MB": "KiB",
    "KiB": "B",
    "KB": "B",
}
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
GIB = 2**30


def text(value: Raw) -> str:
    """Take a value as it is; refuse a list or a dictionary of a flags file."""
    if not isinstance(value, str):
        raise Misfit("takes one text, not a list or a dictionary; write it in quotes")
    return value


def filled(value: Raw) -> str:
    """Take any text but the empty one."""
    if not text(value):
        raise Misfit("is empty; give a value, or leave it out")
    return str(value)


def whole(*, low: int | None = None, high: int | None = None) -> Reader:
    """Read a whole number within the limits, both included."""

    def read(value: Raw) -> int:
        try:
            number = int(value)
        except (TypeError, ValueError):
            raise Misfit(f"{value!r} is not a whole number; write digits only, such as 2") from None
        if (low is not None and number < low) or (high is not None and number > high):
            raise Misfit(f"must lie between {low} and {high}, not {number}")
        return number

    return read


def yes_no(value: Raw) -> bool:
    """Read yes, true, no or false, in any case."""
    word = text(value).lower()
    if word not in {"yes", "true", "no", "false"}:
        raise Misfit(f"{value!r} is not one of true, yes, false, no")
    return word in {"yes", "true"}


def choice(names: Iterable[str], *, fold: Callable[[str], str] = str) -> Reader:
    """Read one of a few words, after `fold` has put it into the form of the list."""
    allowed = tuple(names)

    def read(value: Raw) -> str:
        word = fold(text(value))
        if word not in allowed:
            raise Misfit(f"{value!r} is not one of {', '.join(allowed)}")
        return word

    return read


def upper(value: str) -> str:
    """Fold a choice as gcloud does for most lists of capitals."""
    return value.upper()


def enum(value: str) -> str:
    """Fold a choice to the form of an enum: capitals and underscores."""
    return value.replace("-", "_").upper()


def dashed(value: str) -> str:
    """Fold a choice to small letters and dashes."""
    return value.replace("_", "-").lower()


def mapped(names: Mapping[str, str], *, fold: Callable[[str], str] = str) -> Reader:
    """Read one of a few words and give what the API calls it."""
    read = choice(names, fold=fold)
    return lambda value: names[read(value)]


def upper_text(value: Raw) -> str:
    """Take a text in capitals; somebody else checks it."""
    return text(value).upper()


def size(*, low: int = 0, high: int | None = None) -> Reader:
    """Read bytes from a text such as 200, 1.5TB or 375gb; no unit means GB, and GB is GiB."""

    def read(value: Raw) -> int:
        number = _bytes(text(value))
        if number < low or (high is not None and number > high):
            raise Misfit(f"{value} is outside of {low // GIB} GB to {(high or 0) // GIB or 'any'} GB")
        return number

    return read


def _bytes(value: str) -> int:
    match = _SIZE.match(value) if len(value) <= _LONGEST else None
    if not match:
        raise Misfit(
            f"{value!r} is not a valid size; write a number and a unit without a space, such as 200GB"
        )
    amount, unit = Decimal(match["amount"]), match["unit"] or ""
    while amount % 1 and unit in _SMALLER_UNIT:
        amount, unit = amount * 1024, _SMALLER_UNIT[unit]
    if amount % 1:
        raise Misfit(f"{value!r} is not a whole number of bytes; write capitals, such as 1.5TB")
    scale: int = 1024 ** _power(unit)
    return int(amount) * scale


def _power(unit: str) -> int:
    prefix = unit.upper().removesuffix("B").removesuffix("I") if unit else "G"
    if prefix not in _POWERS or unit.upper() in {"I", "IB"}:
        raise Misfit(f"{unit!r} is not a valid unit; use KB, MB, GB, TB or PB")
    return _POWERS[prefix]


def whole_gb(number: int | None) -> str | None:
    """Give bytes as the API wants disk sizes: whole GB as text; None for nothing or 0."""
    if not number:
        return None
    if number % GIB:
        raise Misfit(f"must be a whole number of GB; the next one is {number // GIB + 1}GB")
    return str(number // GIB)
