"""What of a folder is not the job's code: what `.gitignore` and `.spotwardenignore` say, in git's own words.

The rules are those of the page "gitignore" of git's documentation: the last one that fits decides, one
further down outweighs one further up, and below a folder that is left out nothing comes back.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

FILES = (".gitignore", ".spotwardenignore")
"""In this order, so that the second may bring back what the first leaves out."""
NEVER = frozenset(
    {
        ".git",
        ".spotwarden",
        "__pycache__",
        ".venv",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "node_modules",
    }
)
"""Folders that are never a job's code, whatever a file says."""
_PIECES = re.compile(r"\*\*/|/\*\*$|\*+|\?|\[(?:[!^]?\]?[^]]*)\]|\\.|.", re.DOTALL)


class IgnoreRule(NamedTuple):
    """One line: it speaks of paths below a folder, behind the first `skipped` letters."""

    skipped: int
    pattern: re.Pattern[str]
    brings_back: bool
    folders_only: bool

    def fits(self, path: str, *, is_folder: bool) -> bool:
        """Whether it speaks of this path."""
        if self.folders_only and not is_folder:
            return False
        return self.pattern.fullmatch(path, self.skipped) is not None


class IgnoreFile(NamedTuple):
    """A path of the folder, and whether it is left out; of a folder that is, nothing more is said."""

    path: Path
    left_out: bool


def walk(folder: Path, without: Collection[Path] = ()) -> Iterator[IgnoreFile]:
    """Everything in the folder, by absolute paths in the order of names; links are not followed.

    `without` are paths, as absolute, that are left out, too.
    """
    whole = folder.resolve()
    yield from _walk(whole, tuple(_from_above(whole)), without)


def _walk(folder: Path, rules: tuple[IgnoreRule, ...], without: Collection[Path]) -> Iterator[IgnoreFile]:
    rules += tuple(rules_of(folder))
    for path in sorted(folder.iterdir()):
        is_folder = path.is_dir() and not path.is_symlink()
        left_out = path.name in NEVER or path in without or is_left_out(path, rules, is_folder=is_folder)
        yield IgnoreFile(path, left_out)
        if is_folder and not left_out:
            yield from _walk(path, rules, without)


def is_left_out(path: Path, rules: tuple[IgnoreRule, ...], *, is_folder: bool) -> bool:
    """What the last rule that fits says."""
    text = path.as_posix()
    for rule in reversed(rules):
        if rule.fits(text, is_folder=is_folder):
            return not rule.brings_back
    return False


def _from_above(folder: Path) -> Iterator[IgnoreRule]:
    """The rules of the folders above, where the folder is a part of a repository."""
    above = list(folder.parents)
    tops = [index for index, one in enumerate(above) if (one / ".git").exists()]
    if tops and not (folder / ".git").exists():
        for one in reversed(above[: tops[0] + 1]):
            yield from rules_of(one)


def rules_of(folder: Path) -> Iterator[IgnoreRule]:
    """The rules of one folder's files; a file that is no text has none."""
    for name in FILES:
        file = folder / name
        try:
            lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        except UnicodeDecodeError:
            continue
        yield from (rule for line in lines if (rule := rule_of(line, folder)))


def rule_of(line: str, base: Path) -> IgnoreRule | None:
    """One line as a rule; None for an empty line, a comment, or a pattern that git takes for none."""
    text = re.sub(r"(?<!\\)((?:\\\\)*) +$", r"\1", line)
    if not text or text.startswith("#"):
        return None
    brings_back = text.startswith("!")
    text = text.removeprefix("!") if brings_back else text
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    anchored = "/" in text
    text = text.removeprefix("/")
    if not text:
        return None
    pattern = ("" if anchored else "(?:.*/)?") + "".join(
        _as_pattern(piece) for piece in _PIECES.findall(text)
    )
    return IgnoreRule(
        len(base.as_posix().rstrip("/")) + 1, re.compile(pattern, re.DOTALL), brings_back, folders_only
    )


def _as_pattern(piece: str) -> str:
    if piece == "**/":
        return "(?:.*/)?"
    if piece == "/**":
        return "/.*"
    if piece.startswith("*"):
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if piece.startswith("[") and len(piece) > 1:
        inner = piece[1:-1]
        negated = inner[:1] in {"!", "^"}
        inner = inner[1:] if negated else inner
        return f"(?![/])[{'^' if negated else ''}{inner.replace(chr(92), chr(92) * 2)}]"
    return re.escape(piece[1:] if piece.startswith("\\") and len(piece) > 1 else piece)
