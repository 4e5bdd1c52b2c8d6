"""The words in source files: strings that a person may read, with what each is part of."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_VALUES = re.compile(r"\{[^}]*\}")
_PROSE = re.compile(r"[A-Za-z'`]+(?:[,:;.?]? [A-Za-z'`-]+)+")
_NOT_PROSE = re.compile(r"\\d|\(\?|^[\w./-]+\([\w, ]*\)$|^default-src|[a-z]+=[0-9]+; |<base ")
FEWEST = {"errors": 2, "log lines": 2, "words": 4}
"""Words beside values that make a text worth reading; labels of tables and figures have fewer."""
LONGEST = 5_000
"""Characters; what is longer is a table for a program, and no text."""
_ERRORS = re.compile(
    r"(Error|Exception|Usage|BadParameter|Slip|Refusal|refuse|barred|complain|usage|_bad|wrong)$"
)
_OPTIONS = frozenset({"option", "argument", "version_option"})


class Said(NamedTuple):
    """One string: of which kind, as a person reads it, with the values that it is filled with in braces."""

    kind: str
    text: str


def said_in(path: Path) -> Iterator[Said]:
    """Every string of a module that reads like a sentence, in the order of the file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from _walk(tree, "words")


def _walk(node: ast.AST, kind: str) -> Iterator[Said]:
    if isinstance(node, ast.Constant | ast.JoinedStr):
        text = _text(node)
        if len(text) <= LONGEST and _reads(text, FEWEST[kind]):
            yield Said(kind, " ".join(text.split()))
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Expr) and isinstance(child, ast.Constant):
            continue  # a docstring
        found = _kind(child, kind)
        if found:
            yield from _walk(child, found)


def _reads(text: str, fewest: int) -> bool:
    """Whether it is prose: so many words beside the values that are filled in, two of them in a row."""
    plain = _VALUES.sub(" ", text)
    words = re.findall(r"[A-Za-z']{2,}", plain)
    return len(words) >= fewest and bool(_PROSE.search(plain)) and not _NOT_PROSE.search(text)


def _kind(node: ast.AST, around: str) -> str:
    """What the strings in a node are part of; "" for what `--help` shows, which has its own section."""
    if isinstance(node, ast.Raise):
        return "errors"
    if isinstance(node, ast.Call):
        name = _name(node.func)
        if name in _OPTIONS:
            return ""
        if name == "log":
            return "log lines"
        if _ERRORS.search(name):
            return "errors"
    return around


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.FormattedValue):
        return f"{{{_label(node.value)}}}"
    return ""


def _label(node: ast.expr) -> str:
    """What a value is called: its last name, for the whole expression may be long."""
    if isinstance(node, ast.Call):
        first = node.args[0] if node.args else node.func
        return _label(first)
    if isinstance(node, ast.Subscript):
        return _label(node.value)
    return _name(node) or "…"
