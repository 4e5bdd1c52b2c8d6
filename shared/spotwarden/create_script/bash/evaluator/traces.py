"""What programs do to the files beside the script. Their output is never known, their success is assumed."""

import re
from collections.abc import Callable

from spotwarden.create_script.bash.evaluator.folder import Path
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.values import Status
from spotwarden.create_script.request.command import ExpandedWord, Unknown

_MAKES_EXECUTABLE = re.compile(r"[ua]*\+[rwx]*x[rwx]*|[0-7]?[1357][0-7][0-7]")

Trace = Callable[[Shell, list[ExpandedWord]], Status | None]


def _paths(shell: Shell, words: list[ExpandedWord]) -> list[Path]:
    """Return the operands that lie in the folder of the script.

    An operand that is not known (mostly a folder of `mktemp`) is taken to lie outside.
    """
    found = []
    for word in words[1:]:
        shell.budget.items(1)
        if isinstance(word.value, str) and word.value and not word.value.startswith("-"):
            path = shell.path(word.value)
            if not isinstance(path, Unknown):
                found.append(path)
    return found


def _options(words: list[ExpandedWord]) -> str:
    return "".join(word.value for word in words[1:] if isinstance(word.value, str) and word.value[:1] == "-")


def _spoil(shell: Shell, path: Path, words: list[ExpandedWord]) -> None:
    name = "/".join(path)
    why = Unknown(reason=f"{name} is written while the script runs (by `{words[0].value}`)", line=shell.line)
    shell.folder.taint(path, why)


def touch_named(shell: Shell, words: list[ExpandedWord]) -> None:
    """Take every file that a program is given for changed, since nothing is known of the program."""
    for path in _paths(shell, words):
        if shell.folder.content(path) is not None:
            _spoil(shell, path, words)


def _nothing(_: Shell, __: list[ExpandedWord]) -> None:
    """Leave the files alone."""


def _write_all(shell: Shell, words: list[ExpandedWord]) -> None:
    for path in _paths(shell, words):
        _spoil(shell, path, words)


def _write_last(shell: Shell, words: list[ExpandedWord]) -> None:
    paths = _paths(shell, words)
    last = words[-1].value
    inside = [] if isinstance(last, Unknown) else _paths(shell, words[-1:] * 2)
    if len(words) < 3 or not inside:  # noqa: PLR2004 — a program, a source and a target
        return
    if shell.folder.is_folder(inside[0]):
        for path in paths[:-1]:
            _spoil(shell, inside[0] + path[-1:], words)
    else:
        _spoil(shell, inside[0], words)


def _move(shell: Shell, words: list[ExpandedWord]) -> None:
    _write_last(shell, words)
    for path in _paths(shell, words[:-1]):
        shell.folder.remove(path)


def _edit(shell: Shell, words: list[ExpandedWord]) -> None:
    """Take the files of `sed` for changed only where it writes them back."""
    if any(
        str(word.value).startswith(("-i", "--in-place")) or str(word.value) in ("-ni", "-ri", "-Ei")
        for word in words
    ):
        touch_named(shell, words)


def _make_folder(shell: Shell, words: list[ExpandedWord]) -> Status | None:
    parents = "p" in _options(words)
    paths = _paths(shell, words)
    if any(isinstance(word.value, Unknown) for word in words):
        return None
    status = 0
    for path in paths:
        missing = not parents and (shell.folder.is_folder(path) or not shell.folder.is_folder(path[:-1]))
        if missing or shell.folder.content(path) is not None:
            status = 1
        else:
            shell.folder.make_folder(path)
    outside = len(paths) < sum(1 for word in words[1:] if not str(word.value).startswith("-"))
    return None if outside and status == 0 else status


def _change_mode(shell: Shell, words: list[ExpandedWord]) -> None:
    modes = [word.value for word in words[1:2] if isinstance(word.value, str)]
    if modes and _MAKES_EXECUTABLE.fullmatch(modes[0]):
        shell.budget.items(len(shell.folder.executable) + len(words))
        shell.folder.executable |= set(_paths(shell, words[1:]))


def _remove(shell: Shell, words: list[ExpandedWord]) -> Status | None:
    for path in _paths(shell, words):
        if path:
            shell.folder.remove(path)
    return 0 if "f" in _options(words) else None


def _touch(shell: Shell, words: list[ExpandedWord]) -> Status:
    for path in _paths(shell, words):
        if shell.folder.content(path) is None and shell.folder.is_folder(path[:-1]):
            _spoil(shell, path, words)
    return 0


def _copy_tool(shell: Shell, words: list[ExpandedWord]) -> None:
    """Follow `gsutil cp` and `gcloud storage cp`, which write their last operand."""
    if any(word.value in ("cp", "mv", "rsync", "scp") for word in words):
        last = words[-1].value
        if isinstance(last, str) and "://" not in last and ":" not in last:
            _write_last(shell, words)


# These read at most what they are given, or work elsewhere.
_HARMLESS = """
awk basename bq cat chown chgrp cmp cut date diff dirname docker du echo env expr file find
git grep egrep fgrep head hostname id jq kubectl less logger ls lsof mail md5sum mktemp more nc
nslookup open ping printf ps pwd realpath readlink seq sha1sum sha256sum shellcheck sleep sort ssh
ssh-add ssh-agent stat systemctl tail test tput tr true uname uniq wc which whoami xxd yes
"""
TRACES: dict[str, Trace] = {
    **dict.fromkeys(_HARMLESS.split(), _nothing),
    **dict.fromkeys(("cp", "install", "ln", "rsync", "scp"), _write_last),
    **dict.fromkeys(("gcloud", "gsutil"), _copy_tool),
    "chmod": _change_mode,
    "mkdir": _make_folder,
    "mv": _move,
    "rm": _remove,
    "rmdir": _remove,
    "sed": _edit,
    "tee": _write_all,
    "touch": _touch,
}
