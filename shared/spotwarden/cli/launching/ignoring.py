"""What of a folder is not the job's code: what `.gitignore` and `.spotwardenignore` say, in git's own words.

The rules are those of the page "gitignore" of git's documentation: the last one that fits decides, one
further down outweighs one further up, and below a folder that is left out nothing comes back.
"""

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

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


class IgnoreRules(NamedTuple):
    """The rules of one folder's files, in their order; they speak of what is below it."""

    folder: Path
    rules: "GitIgnoreSpec"

    def leaves_out(self, path: Path, *, is_folder: bool) -> bool | None:
        """What the last rule that fits says; None where none does."""
        return self.rules.check_file(self._of(path) + "/" * is_folder).include

    def within(self, folder: Path) -> "IgnoreRules":
        """What holds in a folder that was asked for by its name: not what leaves out this very folder."""
        if not self.leaves_out(folder, is_folder=True):
            return self
        others = [rule for rule in self.rules.patterns if not rule.match_file(self._of(folder) + "/")]
        return _rules(self.folder, others)

    def _of(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


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


def _walk(folder: Path, rules: tuple[IgnoreRules, ...], without: Collection[Path]) -> Iterator[IgnoreFile]:
    rules = (rules_of(folder), *rules)
    for path in sorted(folder.iterdir()):
        is_folder = path.is_dir() and not path.is_symlink()
        left_out = path.name in NEVER or path in without or _is_left_out(path, rules, is_folder=is_folder)
        yield IgnoreFile(path, left_out)
        if is_folder and not left_out:
            yield from _walk(path, rules, without)


def is_left_out(folder: Path, path: Path, without: Collection[Path] = ()) -> bool:
    """Whether a path below the folder, both absolute, is not among its code, or a folder above it is not."""
    rules = tuple(_from_above(folder))
    inside = path.relative_to(folder).parts
    for number in range(len(inside)):
        rules = (rules_of(folder.joinpath(*inside[:number])), *rules)
        part = folder.joinpath(*inside[: number + 1])
        is_folder = part.is_dir() and not part.is_symlink()
        if part.name in NEVER or part in without or _is_left_out(part, rules, is_folder=is_folder):
            return True
    return False


def _is_left_out(path: Path, rules: tuple[IgnoreRules, ...], *, is_folder: bool) -> bool:
    """What the rules furthest down say of those that speak of it."""
    said = (of_folder.leaves_out(path, is_folder=is_folder) for of_folder in rules)
    return next((left_out for left_out in said if left_out is not None), False)


def _from_above(folder: Path) -> Iterator[IgnoreRules]:
    """The rules of the folders above, the nearest first, where the folder is a part of a repository."""
    repository = next((above for above in folder.parents if (above / ".git").exists()), None)
    if repository is None or (folder / ".git").exists():
        return
    for above in folder.parents:
        yield rules_of(above).within(folder)
        if above == repository:
            return


def rules_of(folder: Path) -> IgnoreRules:
    """The rules of one folder's files, as far as they are text and git can read them."""
    return _rules(folder, _patterns([line for name in FILES for line in _lines(folder / name)]))


def _rules(folder: Path, patterns: "Iterable[GitIgnoreSpecPattern]") -> IgnoreRules:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 — only who packs code waits for it

    # Not by RE2, which takes no file's name that is not UTF-8.
    return IgnoreRules(folder, GitIgnoreSpec(patterns, backend="simple"))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    except UnicodeDecodeError:
        return []


def _patterns(lines: list[str]) -> Iterator["GitIgnoreSpecPattern"]:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415 — as above

    for line in lines:
        with contextlib.suppress(ValueError, re.error):
            # Git drops blanks at the end, but not an escaped one; pathspec sees that only in the very last.
            yield GitIgnoreSpecPattern(re.sub(r"(?<!\\)((?:\\\\)*) +$", r"\1", line))
