"""Builtins that take in text: `read`, `mapfile`, `getopts`."""

from collections.abc import Iterator
from typing import NamedTuple

from spotwarden.create_script.bash.evaluator.fields import DEFAULT_SEPARATORS, separators
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import assign, assign_array
from spotwarden.create_script.bash.evaluator.options import parse_options
from spotwarden.create_script.bash.evaluator.state import Stream
from spotwarden.create_script.bash.evaluator.values import Status, Text
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown

_READ_OPTIONS = "ersa:d:i:n:N:p:t:u:"
_MAPFILE_OPTIONS = "tn:s:d:u:O:C:c:"
_ASKED = "it is read from the standard input, so from whoever runs the script"


class _Line(NamedTuple):
    """Characters, each with whether a backslash stood before it, and whether the end was reached."""

    text: str
    escaped: list[bool]
    complete: bool


def _stream(shell: Shell, descriptor: str | None) -> Stream:
    number = int(descriptor[:9]) if descriptor and descriptor.isdecimal() else 0
    return shell.state.streams.get(number) or Stream(Unknown(reason=_ASKED, line=shell.line))


def read(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `read`: 0 where a whole line was there, 1 at the end of the input."""
    given, names = parse_options(shell, words, _READ_OPTIONS)
    stream = _stream(shell, given.get("u"))
    signs = separators(shell)
    unknown = next((value for value in (stream.text, signs) if isinstance(value, Unknown)), None)
    if unknown is not None:
        return _read_unknown(shell, given, names, unknown)
    line = _take_line(shell, stream, given)
    shell.budget.items(len(line.text))  # it is cut into words below
    if "N" in given:
        assign(shell, names[0] if names else "REPLY", line.text)
    elif "a" in given:
        parts = [text for text, _ in _parts(line, str(signs))]
        shell.budget.pieces(len(parts))
        assign_array(shell, given["a"], dict(enumerate(parts)))
    elif not names:
        assign(shell, "REPLY", line.text)
    else:
        _assign_parts(shell, names, line, str(signs))
    return int(not line.complete)


def _read_unknown(shell: Shell, given: dict[str, str], names: list[str], why: Unknown) -> Status:
    why = Unknown(reason=why.reason, line=shell.line)
    if "a" in given:
        assign_array(shell, given["a"], why)
        return why
    for name in names or ["REPLY"]:
        assign(shell, name, why)
    return why


def _count(shell: Shell, text: str | None) -> int:
    """Return the number of an option, 0 without it; bash complains of anything else, and so do we."""
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit()):
        raise ScriptRefused(
            f"{text[:40]!r} is not a valid number of lines or characters to read", line=shell.line
        )
    return int(text[:9])


def _take_line(shell: Shell, stream: Stream, given: dict[str, str]) -> _Line:
    assert isinstance(stream.text, str)
    end = given["d"][:1] or "\0" if "d" in given else "\n"
    limit = _count(shell, given.get("n") or given.get("N"))
    exact, raw = "N" in given, "r" in given
    text: list[str] = []
    escaped: list[bool] = []
    position, size, complete = stream.position, len(stream.text), False
    while position < size and not (limit and len(text) == limit):
        shell.budget.items(1)
        sign = stream.text[position]
        position += 1
        if sign == end and not exact:
            complete = True
            break
        if sign == "\\" and not raw:
            sign = stream.text[position : position + 1]
            position += 1
            if sign in ("\n", ""):
                continue
            escaped.append(True)
        else:
            escaped.append(False)
        text.append(sign)
    stream.position = position
    return _Line("".join(text), escaped, complete or bool(limit and len(text) == limit))


def _assign_parts(shell: Shell, names: list[str], line: _Line, signs: str) -> None:
    blanks = [sign for sign in signs if sign in DEFAULT_SEPARATORS]
    parts = list(_parts(line, signs))
    for place, name in enumerate(names[:-1]):
        assign(shell, name, parts[place][0] if place < len(parts) else "")
    last = len(names) - 1
    if last >= len(parts):
        assign(shell, names[-1], "")
        return
    if len(parts) == len(names):
        assign(shell, names[-1], parts[last][0])
        return
    end = len(line.text)
    while end > parts[last][1] and line.text[end - 1] in blanks and not line.escaped[end - 1]:
        end -= 1
    assign(shell, names[-1], line.text[parts[last][1] : end])


def _parts(line: _Line, signs: str) -> Iterator[tuple[str, int]]:
    """Yield the words of a line and where each begins."""
    text, size, position = line.text, len(line.text), 0

    def is_sign(place: int, *, blank: bool) -> bool:
        sign = text[place]
        return not line.escaped[place] and sign in signs and (sign in DEFAULT_SEPARATORS) == blank

    while position < size and is_sign(position, blank=True):
        position += 1
    while position < size:
        start = position
        while position < size and not (is_sign(position, blank=True) or is_sign(position, blank=False)):
            position += 1
        yield text[start:position], start
        while position < size and is_sign(position, blank=True):
            position += 1
        if position < size and is_sign(position, blank=False):
            position += 1
            while position < size and is_sign(position, blank=True):
                position += 1


def mapfile(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `mapfile`: the lines of its input become an array."""
    given, names = parse_options(shell, words, _MAPFILE_OPTIONS)
    if given.keys() & {"C", "O"}:
        raise ScriptRefused("`mapfile` with -C or -O is not supported", line=shell.line)
    stream = _stream(shell, given.get("u"))
    name = names[0] if names else "MAPFILE"
    if isinstance(stream.text, Unknown):
        assign_array(shell, name, Unknown(reason=stream.text.reason, line=shell.line))
        return 0
    end = given["d"][:1] or "\0" if "d" in given else "\n"
    rest = stream.text[stream.position :]
    shell.budget.text(len(rest), shell.line)
    shell.budget.pieces(rest.count(end), shell.line)
    lines = [line + end for line in rest.split(end)]
    lines[-1] = lines[-1][:-1]
    lines = [line for line in lines if line]
    start, count = _count(shell, given.get("s")), _count(shell, given.get("n"))
    chosen = lines[start : start + count if count else None]
    stream.position = len(stream.text)
    cut = len(end) if "t" in given else 0
    values: dict[int | str, Text] = {
        place: line.removesuffix(end) if cut else line for place, line in enumerate(chosen)
    }
    assign_array(shell, name, values)
    return 0
