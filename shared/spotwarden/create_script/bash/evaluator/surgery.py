"""The operators of `${…}` that cut, replace, slice, quote and change letters."""

import re
from collections.abc import Callable

from spotwarden.create_script.bash.evaluator import fitting
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import calculate, find
from spotwarden.create_script.bash.evaluator.operands import Expander, each
from spotwarden.create_script.bash.evaluator.references import Values
from spotwarden.create_script.bash.evaluator.values import Text, elements
from spotwarden.create_script.bash.words import Parameter
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

_NAMES = {"\a": "a", "\b": "b", "\x1b": "E", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def quote(text: str) -> str:
    """Return what `${x@Q}` gives: single quotes, or `$'…'` where there are control characters."""
    if _CONTROL.search(text):
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return "$'" + _CONTROL.sub(_escape, escaped) + "'"
    return "'" + text.replace("'", "'\\''") + "'"


def _escape(found: re.Match[str]) -> str:
    sign = found.group()
    return "\\" + (_NAMES.get(sign) or f"{ord(sign):03o}")


def _pattern(shell: Shell, part: Parameter, expander: Expander) -> Text:
    return expander.pattern(shell, part.arguments[0]) if part.arguments else ""


def cut_match(shell: Shell, part: Parameter, values: Values, expander: Expander) -> Values:
    """Cut a beginning or an end that matches: `#`, `##`, `%`, `%%`."""
    pattern = _pattern(shell, part, expander)
    if isinstance(pattern, Unknown):
        return Values(pattern, values.many)
    longest = part.operator in {"##", "%%"}
    change = _without_prefix if part.operator[0] == "#" else _without_suffix
    return each(values, lambda text: change(shell, pattern, text, longest=longest))


def _without_prefix(shell: Shell, pattern: str, text: str, *, longest: bool) -> str:
    end = fitting.prefix(shell, pattern, text, longest=longest)
    return text if end is None else text[end:]


def _without_suffix(shell: Shell, pattern: str, text: str, *, longest: bool) -> str:
    start = fitting.suffix(shell, pattern, text, longest=longest)
    return text if start is None else text[:start]


def replace_matches(shell: Shell, part: Parameter, values: Values, expander: Expander) -> Values:
    """Replace what matches: `/`, `//`, `/#`, `/%`."""
    pattern = _pattern(shell, part, expander)
    with_what = expander.text(shell, part.arguments[1]) if len(part.arguments) > 1 else ""
    for text in (pattern, with_what):
        if isinstance(text, Unknown):
            return Values(text, values.many)
    assert isinstance(pattern, str)
    assert isinstance(with_what, str)
    if "&" in with_what:
        why = "bash 5.2 and older versions treat `&` in a replacement differently"
        return Values(Unknown(reason=why, line=part.line), values.many)
    return each(values, lambda text: _replaced(shell, part.operator, pattern, text, with_what))


def _replaced(shell: Shell, operator: str, pattern: str, text: str, with_what: str) -> str:
    if not pattern and operator in ("/", "//"):
        return text
    if fitting.has_groups(shell, pattern) and fitting.matches(shell, pattern, ""):
        raise ScriptRefused("a replacement of what may be nothing at all is not supported", line=shell.line)
    if "[!]" in pattern or "[^]" in pattern:  # bash looks for a shorter text than the one that matches
        raise ScriptRefused(f"bash has a bug in replacing {pattern[:80]}", line=shell.line)
    if not text:
        return with_what if fitting.matches(shell, pattern, "") else ""
    if operator == "/#":
        end = fitting.prefix(shell, pattern, text, longest=True)
        return text if end is None else with_what + text[end:]
    if operator == "/%":
        start = fitting.suffix(shell, pattern, text, longest=True)
        return text if start is None else text[:start] + with_what
    return fitting.replaced(shell, pattern, text, with_what, every=operator == "//")


def take_slice(shell: Shell, part: Parameter, values: Values, expander: Expander) -> Values:
    """Take a part: `:offset`, `:offset:length`."""
    numbers = [calculate(shell, expander.text(shell, word)) for word in part.arguments]
    for number in numbers:
        if isinstance(number, Unknown):
            return Values(number, values.many)
    offset, length = numbers[0], numbers[1] if len(numbers) > 1 else None
    assert isinstance(offset, int)
    assert not isinstance(length, Unknown)
    if not values.many:
        return each(values, lambda text: _substring(text, offset, length, part))
    if isinstance(values.items, Unknown) or values.name not in ("@", "*"):
        return _sliced_array(_dense(shell, values), offset, length, part)
    # Counting from 0, the positional parameters begin with the name of the script.
    name = Unknown(reason="$0 is the name that the script was called by", line=part.line)
    return _sliced_array(Values([name, *values.items], values.many), offset, length, part)


def _dense(shell: Shell, values: Values) -> Values:
    """Let a slice of an array with holes be unknown: bash counts its indices, not its elements."""
    keys = elements(find(shell, values.name))
    if isinstance(keys, Unknown):
        return values
    shell.budget.items(len(keys))
    if all(key in keys for key in range(len(keys))):
        return values
    why = Unknown(reason=f"a slice of {values.name}, an array with holes, is not computed", line=shell.line)
    return Values(why, values.many)


def _sliced_array(values: Values, offset: int, length: int | None, part: Parameter) -> Values:
    if isinstance(values.items, Unknown):
        return values
    if length is not None and length < 0:
        raise ScriptRefused("the length of a slice of an array is negative", line=part.line)
    start = offset if offset >= 0 else len(values.items) + offset
    if start < 0:
        return Values([], values.many)
    return Values(values.items[start : None if length is None else start + length], values.many)


def _substring(text: str, offset: int, length: int | None, part: Parameter) -> str:
    start = offset if offset >= 0 else len(text) + offset
    if start < 0 or start > len(text):
        return ""
    if length is None:
        return text[start:]
    end = start + length if length >= 0 else len(text) + length
    if end < start:
        raise ScriptRefused(f"the slice of ${part.name} ends before it begins", line=part.line)
    return text[start:end]


def change_letters(shell: Shell, part: Parameter, values: Values, expander: Expander) -> Values:
    """Change letters: `^`, `^^`, `,`, `,,`."""
    pattern = _pattern(shell, part, expander)
    if isinstance(pattern, Unknown):
        return Values(pattern, values.many)
    change = str.upper if part.operator[0] == "^" else str.lower
    every = part.operator in {"^^", ",,"}
    return each(values, lambda text: _changed_letters(shell, text, change, pattern or "?", every=every))


def _changed_letters(
    shell: Shell, text: str, change: Callable[[str], str], pattern: str, *, every: bool
) -> str:
    head, tail = (text, "") if every else (text[:1], text[1:])
    shell.budget.items(len(head))
    if pattern == "?":
        return "".join(map(change, head)) + tail
    return (
        "".join(
            change(sign) if fitting.matches(shell, pattern, sign, extended=True) else sign for sign in head
        )
        + tail
    )


_TRANSFORMATIONS: dict[str, Callable[[str], str]] = {
    "@Q": quote,
    "@U": str.upper,
    "@u": lambda text: text[:1].upper() + text[1:],
    "@L": str.lower,
}


def transform(shell: Shell, part: Parameter, values: Values, __: Expander) -> Values:
    """Write a value in another way: `@Q` and its like."""
    change = _TRANSFORMATIONS.get(part.operator)
    if change is None:
        why = Unknown(reason=f"`${{{part.name}{part.operator}}}` is not computed", line=part.line)
        return Values(why, values.many)
    return each(values, lambda text: _transformed(shell, text, change))


def _transformed(shell: Shell, text: str, change: Callable[[str], str]) -> str:
    shell.budget.items(len(text))
    return change(text)
