"""Readers of flag values: text from the command line → data, or a `ValueError` that says what is wrong.

A flags file hands over lists and dictionaries that YAML has split already; only the readers of
lists and dictionaries take those. Rules as `gcloud topic escaping` and `gcloud topic flags-file`
describe them, checked against Google Cloud SDK 528.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

Reader = Callable[[Any], Any]

_SIZE = re.compile(r"(?P<amount>\d+\.?\d*)(?P<unit>[-/a-zA-Z]+)?$")
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
_ESCAPING = "put a delimiter of your own between carets in front, such as ^;^, if the value holds commas"


def text(value: Any) -> str:
    """Take a value as it is; refuse a list or a dictionary of a flags file."""
    if not isinstance(value, str):
        raise ValueError("takes one text, not a list or a dictionary")
    return value


def filled(value: Any) -> str:
    """Take any text but the empty one."""
    if not text(value):
        raise ValueError("may not be empty")
    return str(value)


def whole(*, low: int | None = None, high: int | None = None) -> Reader:
    """Read a whole number within the limits, both included."""

    def read(value: Any) -> int:
        try:
            number = int(value)
        except (TypeError, ValueError):
            raise ValueError(f"{value!r} is not a whole number") from None
        if (low is not None and number < low) or (high is not None and number > high):
            raise ValueError(f"must lie between {low} and {high}, not {number}")
        return number

    return read


def yes_no(value: Any) -> bool:
    """Read yes, true, no or false, in any case."""
    word = text(value).lower()
    if word not in {"yes", "true", "no", "false"}:
        raise ValueError(f"{value!r} is not one of true, yes, false, no")
    return word in {"yes", "true"}


def choice(names: Iterable[str], *, fold: Callable[[str], str] = str) -> Reader:
    """Read one of a few words, after `fold` has put it into the form of the list."""
    allowed = tuple(names)

    def read(value: Any) -> str:
        word = fold(text(value))
        if word not in allowed:
            raise ValueError(f"{value!r} is not one of {', '.join(allowed)}")
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


def upper_text(value: Any) -> str:
    """Take a text in capitals; somebody else checks it."""
    return text(value).upper()


def size(*, low: int = 0, high: int | None = None) -> Reader:
    """Read bytes from a text such as 200, 1.5TB or 375gb; no unit means GB, and GB is GiB."""

    def read(value: Any) -> int:
        number = _bytes(text(value))
        if number < low or (high is not None and number > high):
            raise ValueError(f"{value} is outside of {low // GIB} GB to {(high or 0) // GIB or 'any'} GB")
        return number

    return read


def _bytes(value: str) -> int:
    match = _SIZE.match(value)
    if not match:
        raise ValueError(f"{value!r} is no size; write a number and a unit without a blank, such as 200GB")
    amount, unit = Decimal(match["amount"]), match["unit"] or ""
    while amount % 1 and unit in _SMALLER_UNIT:
        amount, unit = amount * 1024, _SMALLER_UNIT[unit]
    if amount % 1:
        raise ValueError(f"{value!r} is not a whole number of bytes; write capitals, such as 1.5TB")
    return int(amount) * 1024 ** _power(unit)


def _power(unit: str) -> int:
    prefix = unit.upper().removesuffix("B").removesuffix("I") if unit else "G"
    if prefix not in _POWERS or unit.upper() in {"I", "IB"}:
        raise ValueError(f"{unit!r} is no unit; use KB, MB, GB, TB or PB")
    return _POWERS[prefix]


def whole_gb(number: int | None) -> str | None:
    """Give bytes as the API wants disk sizes: whole GB as text; None for nothing or 0."""
    if not number:
        return None
    if number % GIB:
        raise ValueError(f"must be a whole number of GB; the next one is {number // GIB + 1}GB")
    return str(number // GIB)


def items(*, low: int = 0, high: int | None = None, delimiter: str = ",") -> Reader:
    """Read a list: pieces between commas, or between what stands between two carets in front."""

    def read(value: Any) -> list[Any]:
        pieces = value if isinstance(value, list) else _split(text(value), delimiter)
        if len(pieces) < low:
            raise ValueError("needs a value")
        if high is not None and len(pieces) > high:
            raise ValueError(f"takes at most {high} values")
        return pieces

    return read


def texts(*, low: int = 0, high: int | None = None, delimiter: str = ",") -> Reader:
    """Read a list of texts; a flags file may not hold anything else in it."""
    split = items(low=low, high=high, delimiter=delimiter)

    def read(value: Any) -> list[str]:
        return [text(piece) for piece in split(value)]

    return read


def _split(value: str, delimiter: str) -> list[str]:
    if value.startswith("^") and "^" in value[1:]:
        delimiter, value = value[1:].split("^", 1)
        if not delimiter:
            raise ValueError("has an empty delimiter between its carets")
    if not value:
        return []
    pieces = value.split(delimiter)
    return pieces[:-1] if not pieces[-1] else pieces


def pairs(  # noqa: PLR0913 — one keyword for each rule that gcloud has for a dictionary
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

    def read(given: Any) -> dict[str, Any]:
        if isinstance(given, list):
            raise ValueError("takes a dictionary, not a list")
        raw = given.items() if isinstance(given, dict) else map(_cut, split(given))
        found = dict(_pair(name, piece, rules) for name, piece in raw)
        for name in required:
            if name not in found:
                raise ValueError(f"needs the key {name}")
        return found

    return read


def _cut(piece: Any) -> tuple[str, str | None]:
    name, equals, value = text(piece).partition("=")
    if not name:
        raise ValueError(f"{piece!r} is not of the form KEY=VALUE; {_ESCAPING}")
    return name, value if equals else None


def _pair(name: Any, value: Any, rules: tuple[Any, Reader | None, Reader | None, bool]) -> tuple[str, Any]:
    keys, read_key, read_value, bare = rules
    if value is None and not bare:
        raise ValueError(f"{name!r} has no value; {_ESCAPING}")
    if read_key:
        name = read_key(name)
    if read_value:
        value = read_value(value)
    if keys is None:
        return name, value
    if name not in keys:
        raise ValueError(f"has no key {name!r}; it knows {', '.join(sorted(keys))}")
    return name, _specified(name, value, keys[name])


def _specified(name: str, value: Any, read: Reader | None) -> Any:
    if read is None:
        if value:
            raise ValueError(f"{name} takes no value")
        return None
    if read is text:
        # A number in a flags file counts as its text here, unlike in metadata.
        return "" if value is None else str(value)
    try:
        return read("" if value is None else value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def label_key(value: Any) -> str:
    """Take the key of a label: as its value, but it begins with a lower case letter."""
    if not label_value(value) or not _is_lower(value[0]):
        raise ValueError(f"the key {value!r} must begin with a lower case letter")
    return str(value)


def label_value(value: Any) -> str:
    """Take the value of a label: lower case letters, digits, - and _, at most 63 of them."""
    if len(text(value)) > 63 or not all(c in "_-" or c.isdigit() or _is_lower(c) for c in value):  # noqa: PLR2004
        raise ValueError(f"{value!r} may hold only lower case letters, digits, - and _, at most 63 of them")
    return str(value)


def _is_lower(character: str) -> bool:
    # Letters of alphabets without cases count as lower case.
    return character.isalpha() and (character.islower() or not character.isupper())
