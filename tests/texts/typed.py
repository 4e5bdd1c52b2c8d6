"""The commands that docs and README tell people to type: their words, as a shell would split them."""

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from tests.texts.source import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
PLAYED = {"docs/create-scripts.md": "bash"}
"""Blocks that a test of their own evaluates: `tests/create_script/test_create_script_docs.py`."""
_BLOCK = re.compile(
    r"^```(sh|bash)\b[^\n]*\n(.*?)^```$|((?:^ {4}\S[^\n]*\n(?:^\s*\n(?=^ {4}\S))?)+)",
    re.MULTILINE | re.DOTALL,
)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`((?:spotwarden|\./deploy\.sh) [^`\n]+)`(?!`)")
_COMMENT = re.compile(r"(?:^|\s)#[^\n]*$", re.MULTILINE)
_HERE = re.compile(r"<<'?(\w+)'?\n.*?\n\1$", re.MULTILINE | re.DOTALL)
_INSIDE = re.compile(r"\$\(([^()]+)\)")
_AHEAD = frozenset({"do", "then", "until", "while", "if", "!", "eval", "sudo", "for", "else"})
_ENDS = frozenset(";&|()\n")


class Typed(NamedTuple):
    """One command: the page that shows it, and its words."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        """As a failed test names it."""
        return f"{self.page}: {shlex.join(self.words)}"


def blocks() -> Iterator[Typed]:
    """Every command in a block of a page, one by one."""
    for path in PAGES:
        page = path.relative_to(ROOT).as_posix()
        for kind, fenced, indented in _BLOCK.findall(path.read_text(encoding="utf-8")):
            if kind and kind != PLAYED.get(page):
                yield from (Typed(page, words) for words in split(fenced))
            elif indented and not kind:
                shown = re.sub(r"^ {4}", "", indented, flags=re.MULTILINE)
                yield from (Typed(page, words) for words in split(shown) if program(words[0]))


def spans() -> Iterator[Typed]:
    """Our own commands within sentences; some leave out what the sentence is not about."""
    for path in PAGES:
        text = _FENCE.sub("", path.read_text(encoding="utf-8"))
        for span in _SPAN.findall(text):
            for words in split(span.replace("\\|", "|")):
                yield Typed(path.relative_to(ROOT).as_posix(), words)


def program(word: str) -> bool:
    """Whether an indented line begins as a command does; others are output, or TOML."""
    return bool(re.fullmatch(r"spotwarden|gcloud|python|curl|bash|echo|\./deploy\.sh|tests/run", word))


def split(text: str) -> Iterator[tuple[str, ...]]:
    """The commands of a text for bash: without comments, here-documents, assignments and redirections."""
    text = _COMMENT.sub("", _HERE.sub("", text.replace("\\\n", " ")))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t", "", True
    words: list[str] = []
    for word in [*lexer, "\n"]:
        if not set(word) <= _ENDS:
            words.append(word)
            continue
        yield from _plain(words)
        words = []


def _plain(words: list[str]) -> Iterator[tuple[str, ...]]:
    """This command, and those whose output it takes."""
    for word in words:
        for inside in _INSIDE.findall(word):
            yield from split(inside)
    while words and (words[0] in _AHEAD or re.match(r"\w+=", words[0])):
        words = words[1:]
    for at, word in enumerate(words):
        if set(word) <= set("<>"):
            words = words[:at]
            break
    if words and not _INSIDE.fullmatch(words[0]):
        yield tuple(words)
