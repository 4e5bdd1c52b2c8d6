"""Redirections: where input comes from, and which files are no longer what they were."""

from collections.abc import Callable

from spotwarden.create_script.bash.evaluator.expand import expand_text, expand_words
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.state import Stream
from spotwarden.create_script.bash.evaluator.values import Text
from spotwarden.create_script.bash.tree import Document, Redirect
from spotwarden.create_script.request.command import Unknown

_READING = frozenset(["<", "<<", "<<<", "<&", "<>"])
_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/")


def redirected(shell: Shell, redirects: tuple[Redirect, ...], body: Callable[[], None]) -> None:
    """Run a command with its redirections; input is as it was before when it is done."""
    before = dict(shell.state.streams)
    if not apply(shell, redirects):
        shell.state.streams = before
        shell.finish(1)
        return
    try:
        body()
    finally:
        shell.state.streams = {
            **{number: stream for number, stream in shell.state.streams.items() if number in before},
            **before,
        }


def apply(shell: Shell, redirects: tuple[Redirect, ...]) -> bool:
    """Open what a command reads and note what it writes; return whether bash can open all of it."""
    opened = [_apply(shell, redirect) for redirect in redirects]
    return all(opened)


def _apply(shell: Shell, redirect: Redirect) -> bool:
    shell.line = redirect.line
    if isinstance(redirect.target, Document):
        text: Text = expand_text(shell, redirect.target.body) if redirect.target.body is not None else ""
        _put(shell, redirect, Stream(text))
        return True
    if redirect.operator == "<<<":
        value = expand_text(shell, redirect.target)
        _put(shell, redirect, Stream(value if isinstance(value, Unknown) else value + "\n"))
        return True
    names = expand_words(shell, redirect.target)
    if len(names) != 1:  # bash calls that ambiguous
        return False
    name = names[0].value
    if redirect.operator in _READING:
        return _read_from(shell, redirect, name)
    return _write_to(shell, name, redirect)


def _put(shell: Shell, redirect: Redirect, stream: Stream) -> None:
    shell.state.streams[redirect.descriptor or 0] = stream


def _read_from(shell: Shell, redirect: Redirect, name: Text) -> bool:
    if isinstance(name, str) and redirect.operator == "<&":
        copied = shell.state.streams.get(int(name[:9])) if name.isdecimal() else None
        if copied is not None:
            _put(shell, redirect, copied)
        return True
    if name == "/dev/null":
        _put(shell, redirect, Stream(""))
        return True
    text, there = read_file(shell, name)
    _put(shell, redirect, Stream(text))
    return there


def read_file(shell: Shell, name: Text) -> tuple[Text, bool]:
    """Return the text of a file, and whether it is there as far as one can know."""
    path = name if isinstance(name, Unknown) else shell.path(name)
    if isinstance(path, Unknown):
        return path, True
    content = shell.folder.content(path)
    if content is None:
        shell.note(f"{name} is not stored beside the script", shell.line)
        return "", False
    if isinstance(content, Unknown):
        return content, True
    shell.budget.text(len(content))
    return content.decode("utf-8", "surrogateescape").replace("\0", ""), True


def _write_to(shell: Shell, name: Text, redirect: Redirect) -> bool:
    if redirect.operator == ">&" and isinstance(name, str) and (name.rstrip("-").isdecimal() or name == "-"):
        return True
    if isinstance(name, str) and (not name or name.startswith(_DEVICES)):
        return bool(name)
    path = name if isinstance(name, Unknown) else shell.path(name)
    if isinstance(path, Unknown):
        return True  # taken to succeed, like any other command that is only bookkeeping
    if not shell.folder.is_folder(path[:-1]):
        shell.note(f"the folder of {name} is not there, so bash does not run the command", shell.line)
        return False
    if shell.folder.is_folder(path):
        return False
    why = f"{name} is written while the script runs"
    shell.folder.taint(path, Unknown(reason=why, line=redirect.line))
    return True
