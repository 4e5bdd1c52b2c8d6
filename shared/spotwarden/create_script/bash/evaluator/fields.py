"""From expanded pieces to words: splitting, patterns of file names, and plain texts."""

import re
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from spotwarden.create_script.bash.evaluator import fitting
from spotwarden.create_script.bash.evaluator import pattern as patterns
from spotwarden.create_script.bash.evaluator.folder import Path
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import get
from spotwarden.create_script.bash.evaluator.values import Outcome, Text, glue
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown

DEFAULT_SEPARATORS = " \t\n"


class Quoted(NamedTuple):
    """Text that stays as it is."""

    text: Text


class Active(NamedTuple):
    """Unquoted text of the script: not split, but it may be a pattern."""

    text: str


class Split(NamedTuple):
    """What an unquoted expansion brought: split into words, and it may be a pattern."""

    text: Text


class Break(NamedTuple):
    """Where `$@` begins a new word; `text` joins the two where words cannot be.

    Outside quotes bash joins by IFS and splits again, so that an empty element may vanish.
    """

    text: str
    quoted: bool = True


Piece: TypeAlias = Quoted | Active | Split | Break


def separators(shell: Shell) -> Text:
    """Return the value of IFS."""
    value = get(shell, "IFS")
    return DEFAULT_SEPARATORS if value is None else value


def to_text(pieces: list[Piece]) -> Text:
    """Return pieces as one text, as in an assignment."""
    return glue([piece.text for piece in pieces])


def to_pattern(pieces: list[Piece]) -> Text:
    """Return pieces as a pattern: what was quoted stands for itself."""
    return glue([_as_pattern(piece) for piece in pieces])


def _as_pattern(piece: Piece) -> Text:
    if isinstance(piece, Quoted) and isinstance(piece.text, str):
        return patterns.plain(piece.text)
    return piece.text


class _Fields:
    """Collects words out of pieces."""

    def __init__(self) -> None:
        self.done: list[list[Piece]] = []
        self.current: list[Piece] | None = None

    def add(self, piece: Piece) -> None:
        if self.current is None:
            self.current = []
        self.current.append(piece)

    def close(self, *, empty: bool = False) -> None:
        if self.current is not None:
            self.done.append(self.current)
        elif empty:
            self.done.append([])
        self.current = None


def to_words(shell: Shell, pieces: list[Piece], line: int) -> list[ExpandedWord]:
    """Return the words that bash makes of the pieces of one."""
    fields = _Fields()
    for piece in pieces:
        if isinstance(piece, Break):
            _break(shell, fields, piece)
        elif isinstance(piece, Split):
            _split(shell, fields, piece)
        elif isinstance(piece, Quoted) or piece.text:
            fields.add(piece)
    fields.close()
    shell.budget.pieces(len(fields.done), line)
    return [
        ExpandedWord(value=value, line=line) for field in fields.done for value in _file_names(shell, field)
    ]


def _break(shell: Shell, fields: _Fields, piece: Break) -> None:
    signs = separators(shell)
    if piece.quoted or not signs or isinstance(signs, Unknown):
        fields.close()
    else:
        _split(shell, fields, Split(signs[0]))


def _split(shell: Shell, fields: _Fields, piece: Split) -> None:
    text, signs = piece.text, separators(shell)
    if isinstance(text, Outcome):  # a number, so one word
        fields.add(Quoted(text))
        return
    if isinstance(text, Unknown) or isinstance(signs, Unknown):
        why = text if isinstance(text, Unknown) else signs
        assert isinstance(why, Unknown)
        fields.add(Quoted(replace(why, splits=True)))
        return
    position = 0
    if signs:
        leading, separator = _separator(signs)
        position = _skip_leading(fields, leading, text)
        for found in separator.finditer(text, position):
            shell.budget.pieces(2)
            if found.start() > position:
                fields.add(Split(text[position : found.start()]))
            fields.close(empty=found.lastgroup == "visible")
            position = found.end()
    if position < len(text):
        fields.add(Split(text[position:]))


def _skip_leading(fields: _Fields, leading: re.Pattern[str], text: str) -> int:
    found = leading.match(text)
    end = found.end() if found else 0
    if end:
        fields.close()
    return end


@lru_cache(maxsize=64)
def _separator(signs: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    blank = "".join(re.escape(sign) for sign in signs if sign in DEFAULT_SEPARATORS)
    other = "".join(re.escape(sign) for sign in signs if sign not in DEFAULT_SEPARATORS)
    blanks = f"[{blank}]" if blank else "(?!)"
    visible = f"(?P<visible>{blanks}*[{other}]{blanks}*)|" if other else ""
    return re.compile(f"{blanks}*"), re.compile(f"{visible}{blanks}+")


def _file_names(shell: Shell, field: list[Piece]) -> list[Text]:
    """Return the files that a word means as a pattern; the word itself where it matches none."""
    text = to_text(field)
    if isinstance(text, Unknown) or not _may_match(field) or "noglob" in shell.state.options:
        return [text]
    pattern = to_pattern(field)
    assert isinstance(pattern, str)
    if not fitting.has_signs(shell, pattern):
        return [text]
    found = match_files(shell, pattern)
    if isinstance(found, Unknown):
        return [found]
    return [*found] if found else _unmatched(shell, text)


def _may_match(field: list[Piece]) -> bool:
    return any(
        not isinstance(piece, Quoted)
        and isinstance(piece.text, str)
        and any(sign in piece.text for sign in "*?[")
        for piece in field
    )


def _unmatched(shell: Shell, text: str) -> list[Text]:
    if "failglob" in shell.state.options:
        raise ScriptRefused(f"no file matches {text}, and failglob makes bash stop", line=shell.line)
    return [] if "nullglob" in shell.state.options else [text]


def match_files(shell: Shell, pattern: str) -> list[str] | Unknown:
    """Return the files that a pattern matches, sorted; unknown outside the folder of the script."""
    steps = pattern.split("/")
    shell.budget.items(len(steps))
    start = shell.path("/" if pattern.startswith(("/", "\\/")) else "")
    if isinstance(start, Unknown):
        return start
    if any(patterns.literal(step) == ".." for step in steps):
        return Unknown(reason=f"{pattern} looks outside the folder of the script", line=shell.line)
    matched = _walk(shell, start, [step for step in steps if step and patterns.literal(step) != "."])
    only_folders = pattern.endswith("/")
    matched = [path for path in matched if not only_folders or shell.folder.is_folder(path)]
    shell.budget.pieces(len(matched))
    for path in matched:  # whoever keeps the files of a script learns so which ones it sees
        shell.folder.content(path)
    names = sorted("/".join(path[len(start) :]) + "/" * only_folders for path in matched)
    if names != sorted(names, key=lambda name: (re.sub(r"\W", "", name).lower(), name)):
        return Unknown(reason=f"the order of {pattern} depends on the machine's locale", line=shell.line)
    prefix = "./" if pattern.startswith("./") else ""
    return [prefix + name for name in names]


def _walk(shell: Shell, start: Path, steps: list[str]) -> list[Path]:
    depth = len(start) + len(steps)
    candidates = [path for path in shell.folder.paths() if len(path) == depth and path[: len(start)] == start]
    shell.budget.text(sum(len(step) for step in steps) * (len(candidates) + 1), shell.line)
    return [
        path
        for path in candidates
        if all(_fits(shell, *pair) for pair in zip(steps, path[len(start) :], strict=True))
    ]


def _fits(shell: Shell, step: str, name: str) -> bool:
    if name.startswith(".") and not patterns.literal(step).startswith("."):
        return False
    return fitting.matches(shell, step, name)
