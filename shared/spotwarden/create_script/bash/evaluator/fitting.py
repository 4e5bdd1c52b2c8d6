"""Which part of a text a pattern matches: all of it, its beginning, its end, or anything inside."""

from collections.abc import Callable

from spotwarden.create_script.bash.evaluator import matcher
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.pattern import Pattern, tokens, translate
from spotwarden.create_script.refusal import ScriptRefused


def _translated(shell: Shell, pattern: str, text: str, *, extended: bool = False) -> Pattern:
    shell.budget.items(len(pattern))
    shell.budget.text(len(text))
    try:
        translation = translate(pattern, extended or "extglob" in shell.state.options)
    except ScriptRefused as refused:
        raise ScriptRefused(refused.reason, line=shell.line) from refused
    if translation.classes and not text.isascii():
        reason = f"what {pattern[:80]} matches in a text beyond ASCII depends on the machine's locale"
        raise ScriptRefused(reason, line=shell.line)
    return translation


def _program(shell: Shell, expression: str) -> matcher.Program:
    try:
        return matcher.program(shell.budget, expression)
    except ScriptRefused as refused:
        raise ScriptRefused(refused.reason, line=refused.line or shell.line) from refused


def _forwards(shell: Shell, translation: Pattern) -> matcher.Program:
    if translation.inverted:
        raise ScriptRefused("a pattern with `!(…)` is supported only as a whole pattern", line=shell.line)
    return _program(shell, translation.expression)


def has_signs(shell: Shell, pattern: str) -> bool:
    """Whether the pattern is more than plain text; raise `ScriptRefused` for one that is too long."""
    shell.budget.items(len(pattern))
    return any(found.lastgroup not in ("plain", "rest") for found in tokens(pattern))


def matches(shell: Shell, pattern: str, text: str, *, extended: bool = False) -> bool:
    """Whether the pattern matches the whole text."""
    translation = _translated(shell, pattern, text, extended=extended)
    if translation.text is not None:
        return text == translation.text
    made = _program(shell, translation.expression)
    return matcher.whole(shell.budget, made, matcher.encode(text)) != translation.inverted


def prefix(shell: Shell, pattern: str, text: str, *, longest: bool) -> int | None:
    """Return the length of the shortest or longest beginning of `text` that matches, or None."""
    translation = _translated(shell, pattern, text)
    if translation.text is not None:
        return len(translation.text) if text.startswith(translation.text) else None
    made = _forwards(shell, translation)
    if longest:
        data = matcher.encode(text)
        end = matcher.begins(shell.budget, made, data)
        return None if end is None else len(matcher.decode(data[:end]))
    # Whether any beginning of the first `size` characters matches can only become true with the size.
    return _least(
        len(text),
        lambda size: matcher.begins(shell.budget, made, matcher.encode(text[:size])) is not None,
    )


def suffix(shell: Shell, pattern: str, text: str, *, longest: bool) -> int | None:
    """Return where the shortest or longest end of `text` that matches begins, or None."""
    translation = _translated(shell, pattern, text)
    if translation.text is not None:
        return len(text) - len(translation.text) if text.endswith(translation.text) else None
    _forwards(shell, translation)
    made = _program(shell, f"(?:{translation.expression})\\z")
    if longest:
        data = matcher.encode(text)
        found = matcher.search(shell.budget, made, data)
        return None if found is None else len(matcher.decode(data[: found[0]]))
    size = _least(
        len(text),
        lambda size: matcher.search(shell.budget, made, matcher.encode(text[len(text) - size :])) is not None,
    )
    return None if size is None else len(text) - size


def _least(most: int, holds: Callable[[int], bool]) -> int | None:
    """Return the least number up to `most` from which on something holds; each question is charged."""
    low = high = 0
    while not holds(high):
        if high == most:
            return None
        low, high = high + 1, min(2 * high + 1, most)
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


def replaced(shell: Shell, pattern: str, text: str, with_what: str, *, every: bool) -> str:
    """Return the text with each match, or the first one, replaced; an empty match is none."""
    translation = _translated(shell, pattern, text)
    if translation.text is not None:
        count = text.count(translation.text) if every else 1
        shell.budget.text(count * len(with_what))
        return text.replace(translation.text, with_what, -1 if every else 1)
    made = _forwards(shell, translation)
    data, new = matcher.encode(text), matcher.encode(with_what)
    pieces: list[bytes] = []
    position = 0
    for start, end in matcher.spans(shell.budget, made, data, local=translation.local):
        shell.budget.text(len(new))
        pieces.extend((data[position:start], new))
        position = end
        if not every:
            break
    return matcher.decode(b"".join([*pieces, data[position:]]))


def has_groups(shell: Shell, pattern: str) -> bool:
    """Whether the pattern has parentheses such as `@(a|b)`."""
    return _translated(shell, pattern, "").groups
