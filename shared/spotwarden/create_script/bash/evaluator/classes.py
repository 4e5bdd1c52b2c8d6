"""What stands between the brackets of a pattern or a regular expression, as RE2 writes it."""

from collections.abc import Sequence
from typing import NamedTuple

from spotwarden.create_script.refusal import ScriptRefused

CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\x20\x09",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\x20\x09-\x0d",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


class Member(NamedTuple):
    """A sign between brackets, or the name of a class; `dash` is a `-` that may make a range."""

    sign: str = ""
    name: str = ""
    dash: bool = False


def sign(character: str) -> str:
    """Return what RE2 takes for this very character."""
    return f"\\x{{{ord(character):x}}}"


def bracket(members: Sequence[Member], written: str, *, negated: bool) -> str:
    """Return a bracket expression; raise `ScriptRefused` for a class that is none and a range upside down."""
    pieces: list[str] = []
    place = 0
    while place < len(members):
        member = members[place]
        if member.name:
            pieces.append(_named(member.name))
        elif _begins_range(members, place):
            first, last = member.sign, members[place + 2].sign
            if first > last:
                raise ScriptRefused(f"the pattern {written} has a range that ends before it begins")
            pieces.append(f"{sign(first)}-{sign(last)}")
            place += 2
        else:
            pieces.append(sign(member.sign))
        place += 1
    return f"[{'^' if negated else ''}{''.join(pieces)}]"


def _begins_range(members: Sequence[Member], place: int) -> bool:
    return place + 2 < len(members) and members[place + 1].dash and bool(members[place + 2].sign)


def _named(name: str) -> str:
    if name not in CLASSES:
        raise ScriptRefused(f"unknown character class [:{name}:]")
    return CLASSES[name]
