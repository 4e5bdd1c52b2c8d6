"""`[[ … ]]`: its own small grammar of tests."""

import re

from spotwarden.create_script.bash.reader.cursor import Cursor
from spotwarden.create_script.bash.reader.heredoc import read_bodies
from spotwarden.create_script.bash.reader.words import make_word, read_group, read_part, read_word
from spotwarden.create_script.bash.tree import Condition, Test
from spotwarden.create_script.bash.words import Literal, Part, Word

_END = re.compile(r"\]\](?=[ \t\n|&;()<>]|\Z)")
_NOT = re.compile(r"!(?=[ \t\n(])")
_UNARY = re.compile(r"-[a-hknopr-xzGLNORSv](?=[ \t\n])")
_BINARY = re.compile(r"==|=~|!=|=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)(?=[ \t\n])")
_AND, _OR = re.compile(r"&&"), re.compile(r"\|\|")
_PATTERNS = frozenset(["==", "=", "!="])


def read_condition(cursor: Cursor) -> Condition:
    """Read a condition; the cursor stands at its `[[`."""
    line = cursor.line()
    cursor.position += 2
    test = _or(cursor)
    if cursor.match(_END) is None:
        raise cursor.broken("a condition is not closed with `]]`")
    return Condition(test, line)


def _space(cursor: Cursor) -> None:
    cursor.blanks()
    while cursor.take("\n"):
        cursor.budget.items(1)
        if cursor.pending:
            read_bodies(cursor)
        cursor.blanks()


def _or(cursor: Cursor) -> Test:
    tests = [_and(cursor)]
    while cursor.match(_OR):
        tests.append(_and(cursor))
    return tests[0] if len(tests) == 1 else Test("||", tuple(tests))


def _and(cursor: Cursor) -> Test:
    tests = [_term(cursor)]
    while cursor.match(_AND):
        tests.append(_term(cursor))
    return tests[0] if len(tests) == 1 else Test("&&", tuple(tests))


def _term(cursor: Cursor) -> Test:
    with cursor.deeper():
        _space(cursor)
        if cursor.match(_NOT):
            return Test("!", (_term(cursor),))
        if cursor.take("("):
            test = _or(cursor)
            cursor.require(")", "a test in parentheses")
            _space(cursor)
            return test
        return _test(cursor)


def _test(cursor: Cursor) -> Test:
    start = cursor.position
    unary = cursor.match(_UNARY)
    if unary is not None:
        _space(cursor)
        if cursor.match(_END) is None and cursor.peek() not in (")", "&", "|", "="):
            return Test(unary, (_operand(cursor),))
        cursor.position = start
    left = _operand(cursor)
    operator = cursor.match(_BINARY)
    if operator is None:
        return Test("word", (left,))
    _space(cursor)
    if operator == "=~":
        return Test(operator, (left, _expression(cursor)))
    return Test(operator, (left, _operand(cursor, pattern=operator in _PATTERNS)))


def _operand(cursor: Cursor, *, pattern: bool = False) -> Word:
    if cursor.match(_END) is not None:
        raise cursor.broken("`]]` stands where a value is expected")
    before = cursor.extended_patterns
    cursor.extended_patterns = before or pattern
    word = read_word(cursor)
    cursor.extended_patterns = before
    if word is None:
        raise cursor.broken("a value is missing in a condition")
    _space(cursor)
    return word


def _expression(cursor: Cursor) -> Word:
    """Read a regular expression, in which parentheses and bars are plain signs."""
    line = cursor.line()
    parts: list[Part] = []
    while True:
        if cursor.at("("):
            read_group(cursor, parts)
        elif cursor.at("|") and not cursor.at("||"):
            cursor.budget.node(cursor.line)
            parts.append(_bar(cursor))
        elif not read_part(cursor, parts):
            break
    if not parts:
        raise cursor.broken("a regular expression is missing")
    _space(cursor)
    return make_word(parts, line)


def _bar(cursor: Cursor) -> Part:
    cursor.position += 1
    return Literal("|", quoted=False)
