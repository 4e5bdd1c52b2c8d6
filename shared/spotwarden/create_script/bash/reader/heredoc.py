"""Here-documents: their end word, and their text."""

import re

from spotwarden.create_script.bash.reader.cursor import Broken, Cursor
from spotwarden.create_script.bash.reader.words import make_word, read_quoted, read_word
from spotwarden.create_script.bash.tree import Document
from spotwarden.create_script.bash.words import Literal, Part, Word
from spotwarden.create_script.refusal import ScriptRefused

# One line; where the text is expanded, a backslash joins it with the next before the end word is looked for.
_RAW_LINE = re.compile(r"[^\n]*\n?")
_JOINED_LINE = re.compile(r"(?:[^\\\n]|\\(?:[^\n]|\Z)|\\\n)*\n?")
_QUOTING = re.compile(r"\\(.)|'([^']*)'|\"([^\"]*)\"", re.DOTALL)
_PLAIN = re.compile(r"[^\\$`]+")
_EMPTY_LINES = re.compile(r"(?:[ \t]+|\n+|\\\n|#[^\n]*)*")


def announce(cursor: Cursor, *, strips: bool) -> Document:
    """Read the end word behind `<<` or `<<-`; the text follows the next line end."""
    cursor.blanks()
    line = cursor.line()
    start = cursor.position
    if read_word(cursor) is None:
        raise cursor.broken("`<<` without an end word")
    raw = cursor.text[start : cursor.position].replace("\\\n", "")
    end = _QUOTING.sub(lambda found: found.group(1) or found.group(2) or found.group(3) or "", raw)
    document = Document(end=end, expands=end == raw, strips=strips, line=line)
    cursor.pending.append(document)
    return document


def read_bodies(cursor: Cursor) -> None:
    """Read the texts of the announced here-documents; the cursor stands at the beginning of a line."""
    waiting, cursor.pending = cursor.pending, []
    for document in waiting:
        document.body = _body(cursor, document)


def _body(cursor: Cursor, document: Document) -> Word:
    line = cursor.line()
    pattern = _JOINED_LINE if document.expands else _RAW_LINE
    lines: list[str] = []
    while not cursor.ended:
        cursor.budget.pieces(1, line)
        text = cursor.match(pattern) or ""
        if _plain_line(text, document) == document.end:
            break
        lines.append(text.lstrip("\t") if document.strips else text)
    if document.expands:
        return _expanding(cursor, "".join(lines), line)
    return make_word([Literal("".join(lines), quoted=True)], line)


def _plain_line(text: str, document: Document) -> str:
    if document.expands:
        text = text.replace("\\\n", "")
    return text.rstrip("\n").lstrip("\t") if document.strips else text.removesuffix("\n")


def _expanding(cursor: Cursor, text: str, line: int) -> Word:
    inner = Cursor(text, budget=cursor.budget, grammar=cursor.grammar, first_line=line)
    inner.depth = cursor.depth
    parts: list[Part] = []
    try:
        while not inner.ended:
            read_quoted(inner, parts, _PLAIN, "")
    except Broken as error:  # bash finds this out only when it expands the text, and goes on
        raise ScriptRefused(f"in a here-document: {error.reason}", line=error.line) from error
    return make_word(parts or [Literal("", quoted=True)], line)


def skip_lines(cursor: Cursor) -> None:
    """Step over blanks, comments and line ends, and read the here-documents that follow them."""
    cursor.blanks()
    while cursor.pending and cursor.take("\n"):
        cursor.budget.items(1)
        read_bodies(cursor)
        cursor.blanks()
    if not cursor.pending:
        cursor.match(_EMPTY_LINES)
