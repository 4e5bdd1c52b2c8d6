"""`printf`, as far as `-v` puts its text into a variable."""

import re

from spotwarden.create_script.bash.escapes import printed
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import assign, calculate
from spotwarden.create_script.bash.evaluator.values import Status, Text
from spotwarden.create_script.bash.limits import PIECE_COST
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown

_FORMAT = re.compile(r"%(?:%|([-+ 0#]*)(\d+|\*)?(?:\.(\d+|\*))?([diouxXcsbq]))|[^%]+|%")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)(?:\[(.*)\])?", re.ASCII | re.DOTALL)
_NUMBER_KINDS = frozenset("diouxX")
_MAX_WIDTH = 10_000
_PLAIN = re.compile(r"[\w%+,./:=@-]+", re.ASCII)


def printf(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `printf`: without `-v` its output goes nowhere that matters."""
    values = [word.value for word in words[1:]]
    if values[:1] != ["-v"]:
        return 0
    if len(values) < 3:  # noqa: PLR2004 — -v, a name, a format
        return 2
    name, template, *arguments = values[1:] if values[2] != "--" else [values[1], *values[3:]]
    found = _VARIABLE.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise ScriptRefused("`printf -v` needs the name of a variable", line=shell.line)
    assign(shell, found.group(1), _formatted(shell, template, arguments), subscript=found.group(2))
    return 0


def _formatted(shell: Shell, template: Text, arguments: list[Text]) -> Text:
    for value in (template, *arguments):
        if isinstance(value, Unknown):
            return value
    texts = [value for value in arguments if isinstance(value, str)]
    shell.budget.pieces(str(template).count("\\"))
    pieces: list[re.Match[str]] = []
    for piece in _FORMAT.finditer(printed(str(template), shell.line)):
        shell.budget.pieces()
        pieces.append(piece)
    result: list[str] = []
    while True:
        before = len(texts)
        for piece in pieces:
            shell.budget.text(PIECE_COST + len(texts))
            text = _piece(shell, piece, texts)
            shell.budget.text(len(text))
            result.append(text)
        if not texts or len(texts) == before:
            return "".join(result)


def _piece(shell: Shell, found: re.Match[str], arguments: list[str]) -> str:
    text = found.group()
    flags, width, precision, kind = found.groups()
    if text == "%":
        raise ScriptRefused("this format of `printf -v` is not supported", line=shell.line)
    if kind is None:
        return "%" if text == "%%" else text
    size = _size(shell, width, arguments)
    places = _size(shell, precision, arguments)
    argument = arguments.pop(0) if arguments else ""
    if max(abs(size or 0), places or 0) > _MAX_WIDTH:
        raise ScriptRefused(f"`printf -v` pads to more than {_MAX_WIDTH} characters", line=shell.line)
    if kind in _NUMBER_KINDS:
        return _number(_value(shell, argument), flags, size, places, kind)
    return _padded(_text(shell, kind, argument)[:places], flags, size)


def _size(shell: Shell, text: str | None, arguments: list[str]) -> int | None:
    if text is None:
        return None
    if text == "*":
        return _value(shell, arguments.pop(0) if arguments else "")
    return int(text[:9])


def _text(shell: Shell, kind: str, argument: str) -> str:
    if kind == "c":
        return argument[:1]
    if kind == "b":
        shell.budget.pieces(argument.count("\\"))
        return printed(argument, shell.line)
    if kind == "q" and not _PLAIN.fullmatch(argument):
        raise ScriptRefused("`%q` is computed for plain words only", line=shell.line)
    return argument


def _padded(text: str, flags: str, size: int | None) -> str:
    if size is None:
        return text
    return text.ljust(abs(size)) if "-" in flags or size < 0 else text.rjust(size)


def _number(value: int, flags: str, size: int | None, places: int | None, kind: str) -> str:
    if kind not in "di":
        value &= (1 << 64) - 1
    flags = flags if places is None else flags.replace("0", "")
    width = "" if size is None else str(abs(size))
    flags += "-" if size is not None and size < 0 else ""
    precision = "" if places is None else f".{places}"
    return f"%{flags}{width}{precision}{'d' if kind in 'iu' else kind}" % value


def _value(shell: Shell, text: str) -> int:
    if text[:1] in ("'", '"'):
        return ord(text[1]) if len(text) > 1 else 0
    if not text.strip():
        return 0
    if not re.fullmatch(r"\s*[-+]?(0[xX][0-9a-fA-F]+|\d+)", text, re.ASCII):
        raise ScriptRefused(f"`printf` is given {text} where a number belongs", line=shell.line)
    value = calculate(shell, text)
    assert isinstance(value, int)
    return value
