"""Numbers as bash's arithmetic writes them: decimal, octal, hexadecimal, `base#digits`; 64 bits wide."""

import re

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
