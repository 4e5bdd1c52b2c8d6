"""Numbers and operations of bash's arithmetic: decimal, octal, hexadecimal, `base#digits`; 64 bits wide."""

import re
from collections.abc import Callable

WIDTH = 64
_BASED = re.compile(r"(\d+)#([\w@]+)", re.ASCII)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"
_CASELESS_BASE = 36
_SMALLEST_BASE = 2


def wrap(value: int) -> int:
    """Return a number as 64 bits with a sign hold it."""
    value &= (1 << WIDTH) - 1
    return value - (1 << WIDTH) if value >> (WIDTH - 1) else value


def number(text: str) -> int:
    """Return the value of a numeral; raise `ValueError` for one that is none."""
    base, digits = _base(text)
    if not _SMALLEST_BASE <= base <= WIDTH:
        raise ValueError(f"has a base {base}")
    value = 0
    for digit in digits.lower() if base <= _CASELESS_BASE else digits:
        place = _DIGITS.find(digit)
        if not 0 <= place < base:
            raise ValueError(f"has a number {text} with digits that its base {base} does not have")
        value = wrap(value * base + place)
    return value


def _base(text: str) -> tuple[int, str]:
    based = _BASED.fullmatch(text)
    if based is not None:
        return int(based[1][:4]), based[2]
    if text[:2].lower() == "0x":
        return 16, text[2:]
    return (8 if text.startswith("0") else 10), text


def _quotient(left: int, right: int) -> int:
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


UNARIES: dict[str, Callable[[int], int]] = {
    "+": lambda value: value,
    "-": lambda value: wrap(-value),
    "!": lambda value: int(not value),
    "~": lambda value: ~value,
}
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "||": lambda left, right: int(bool(left or right)),
    "&&": lambda left, right: int(bool(left and right)),
    "|": int.__or__,
    "^": int.__xor__,
    "&": int.__and__,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    ">": lambda left, right: int(left > right),
    "<=": lambda left, right: int(left <= right),
    ">=": lambda left, right: int(left >= right),
    "<<": lambda left, right: left << (right % WIDTH),
    ">>": lambda left, right: left >> (right % WIDTH),
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "/": _quotient,
    "%": lambda left, right: left - right * _quotient(left, right),
    "**": lambda left, right: pow(left, right, 1 << WIDTH),
}
