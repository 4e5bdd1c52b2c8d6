"""Simple commands: assignments, words, redirections."""

import re

from spotwarden.create_script.bash.reader.braces import expand_braces
from spotwarden.create_script.bash.reader.cursor import Cursor
from spotwarden.create_script.bash.reader.heredoc import announce
from spotwarden.create_script.bash.reader.operand import read_expression
from spotwarden.create_script.bash.reader.words import make_word, read_plain_word, read_word
from spotwarden.create_script.bash.tree import Redirect, Simple
from spotwarden.create_script.bash.words import Assignment, BraceItem, Word

_REDIRECT = re.compile(r"(?:(\d+)|\{([A-Za-z_]\w*)\})?(<<<|<<-|<<|<>|<&|<|>>|>\||>&|>)(?!\()|(&>>|&>)()()")
_SPACE = re.compile(r"(?:[ \t\n]+|\\\n|#[^\n]*)*")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:(\[)|(\+?=))", re.ASCII)
_EQUALS = re.compile(r"\+?=")
# Behind these words bash reads `name=value` as an assignment, arrays in parentheses included.
DECLARATIONS = frozenset(["declare", "typeset", "local", "export", "readonly"])


class Parts:
    """A simple command while it is read."""

    def __init__(self) -> None:
        self.assignments: list[Assignment] = []
        self.words: list[Word | Assignment] = []
        self.redirects: list[Redirect] = []
        self.declares = False

    def add(self, words: list[Word]) -> None:
        """Take in the words that one written word makes; the first of all may be `declare` or its like."""
        if not self.words:
            self.declares = bool(words) and words[0].text in DECLARATIONS
        self.words.extend(words)

    def __bool__(self) -> bool:
        return bool(self.assignments or self.words or self.redirects)


def read_simple(cursor: Cursor) -> Simple | None:
    """Read a simple command, or return None where none begins."""
    line = cursor.line()
    parts = Parts()
    while _next(cursor, parts):
        cursor.blanks()
    if not parts:
        return None
    return Simple(
        assignments=tuple(parts.assignments),
        words=tuple(parts.words),
        redirects=tuple(parts.redirects),
        line=line,
    )


def _next(cursor: Cursor, parts: Parts) -> bool:
    if parts.words and not parts.declares:
        # Most words of a create look like this, and nothing else can begin here.
        plain = read_plain_word(cursor)
        if plain is not None:
            parts.words.append(plain)
            return True
    redirect = read_redirect(cursor)
    if redirect is not None:
        parts.redirects.append(redirect)
        return True
    if not parts.words or parts.declares:
        assignment = read_assignment(cursor)
        if assignment is not None:
            (parts.words or parts.assignments).append(assignment)
            return True
    word = read_word(cursor)
    if word is None:
        return False
    parts.add([word] if word.text is not None else expand_braces(word, cursor.budget))
    return True


def read_redirect(cursor: Cursor) -> Redirect | None:
    """Read one redirection, or return None where none begins."""
    found = _REDIRECT.match(cursor.text, cursor.position)
    if found is None:
        return None
    line = cursor.line()
    cursor.position = found.end()
    number, variable, operator = found.group(1), found.group(2), found.group(3) or found.group(4)
    descriptor = int(number[:9]) if number else None
    if operator in ("<<", "<<-"):
        document = announce(cursor, strips=operator == "<<-")
        return Redirect(operator="<<", target=document, line=line, descriptor=descriptor, variable=variable)
    cursor.blanks()
    target = read_word(cursor)
    if target is None:
        raise cursor.broken(f"`{operator}` without a file")
    return Redirect(operator=operator, target=target, line=line, descriptor=descriptor, variable=variable)


def read_assignment(cursor: Cursor) -> Assignment | None:
    """Read `name=value` and its like, or return None where the word is something else."""
    start, line = cursor.position, cursor.line()
    found = _ASSIGNED.match(cursor.text, start)
    if found is None:
        return None
    cursor.position = found.end()
    subscript, equals = None, found.group(3)
    if found.group(2):
        subscript = read_expression(cursor, "]")
        equals = cursor.match(_EQUALS) if cursor.take("]") else None
    if not equals:
        cursor.budget.text(cursor.position - start, line)  # it is read once more
        cursor.position = start
        return None
    value = _array(cursor) if cursor.at("(") else _value(cursor)
    return Assignment(name=found.group(1), line=line, subscript=subscript, append=equals == "+=", value=value)


def _value(cursor: Cursor) -> Word:
    return read_word(cursor) or make_word([], cursor.line())


def _array(cursor: Cursor) -> tuple[BraceItem, ...]:
    cursor.position += 1
    items: list[BraceItem] = []
    cursor.match(_SPACE)
    while not cursor.take(")"):
        items.extend(_items(cursor))
        cursor.match(_SPACE)
    return tuple(items)


def _items(cursor: Cursor) -> list[BraceItem]:
    start = cursor.position
    if cursor.take("["):
        subscript = read_expression(cursor, "]")
        equals = cursor.match(_EQUALS) if cursor.take("]") else None
        if equals:
            return [BraceItem(subscript, equals == "+=", _value(cursor))]
        cursor.budget.text(cursor.position - start, cursor.line())  # it is read once more
        cursor.position = start
    word = read_word(cursor)
    if word is None:
        raise cursor.broken("an array in parentheses is not closed, or has an invalid character")
    return [BraceItem(None, append=False, value=value) for value in expand_braces(word, cursor.budget)]
