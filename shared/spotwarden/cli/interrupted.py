"""What a command that is interrupted, or cut off, says: what it has done by then, and how to go on."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import click

_KEY = "spotwarden.so_far"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Terminated(KeyboardInterrupt):
    """SIGTERM came: somebody wants this process to end, as Ctrl-C does."""


def so_far(text: str) -> None:
    """Say what holds from now on if the command is interrupted; "" for nothing."""
    if (ctx := click.get_current_context(silent=True)) is not None:
        ctx.meta[_KEY] = text


def said_so_far() -> str:
    """What the command has said last; "" for nothing."""
    ctx = click.get_current_context(silent=True)
    return str(ctx.meta.get(_KEY, "")) if ctx is not None else ""


def status_of(interrupt: KeyboardInterrupt) -> int:
    """The exit status that a shell would give: 128 and the signal's number."""
    return 128 + (signal.SIGTERM if isinstance(interrupt, Terminated) else signal.SIGINT)


def farewell(interrupt: KeyboardInterrupt) -> click.exceptions.Exit:
    """Say it, and give the end of the command."""
    told = said_so_far()
    click.echo(f"\ninterrupted{f': {told}' if told else ''}", err=True)
    return click.exceptions.Exit(status_of(interrupt))


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Both signals end the command in good order; a second one ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    # Who started us may have told us to pass a signal by, as nohup and a shell's `&` do.
    before = {each: signal.getsignal(each) for each in _SIGNALS}
    for each, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(each, end)
    try:
        yield
    finally:
        if not came:
            for each, handler in before.items():
                signal.signal(each, handler)
