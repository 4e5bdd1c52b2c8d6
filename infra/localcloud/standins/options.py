"""Options with one dash, as gsutil takes them."""

from collections.abc import Sequence
from typing import NamedTuple


class BadOption(Exception):
    """An option that the stand-in does not take, or one without its value."""


class CommandOptions(NamedTuple):
    """The options given (a switch has the value "") and the arguments that are none."""

    given: dict[str, str]
    arguments: list[str]

    def has(self, *names: str) -> bool:
        """Whether any of these options was given."""
        return any(name in self.given for name in names)


def split(words: Sequence[str], *, switches: str, valued: str, ends: bool = False) -> CommandOptions:
    """Take options apart, bundled ones too (`-lh`); with `ends` the first argument ends them.

    An option that is given several times has a line for each of its values.

    Raises:
        BadOption: an unknown option, or one without its value.
    """
    given: dict[str, str] = {}
    arguments: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return CommandOptions(given, arguments + rest)
        if word.startswith("-") and word != "-":
            _take(word[1:], rest, given, switches=switches, valued=valued)
            continue
        arguments.append(word)
        if ends:
            return CommandOptions(given, arguments + rest)
    return CommandOptions(given, arguments)


def _take(letters: str, rest: list[str], given: dict[str, str], *, switches: str, valued: str) -> None:
    for position, letter in enumerate(letters):
        if letter in switches:
            given[letter] = ""
        elif letter in valued:
            value = letters[position + 1 :] or (rest.pop(0) if rest else None)
            if value is None:
                raise BadOption(f"option -{letter} requires argument")
            given[letter] = f"{given[letter]}\n{value}" if letter in given else value
            return
        else:
            raise BadOption(f"option -{letter} not recognized by the local cloud's stand-in")
