"""How far a long piece of work is: a bar on a terminal, a line at the end anywhere else."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

UNITS = ("bytes", "kB", "MB", "GB", "TB")
STEP = 1000


class CutShortError(Exception):
    """What this was a part of has ended: a transfer in a thread of its own need not go on."""


@contextmanager
def bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Give what is to be told of each so many bytes that went; safe to tell from several threads.

    Once it is left by an exception, Ctrl-C among them, telling it more raises `CutShortError`: that ends
    transfers that still run in other threads. Goes to standard error. Where that is no terminal, one line
    at the end says how much and how fast.
    """
    lock, went, began = threading.Lock(), [0], time.monotonic()
    cut = threading.Event()
    terminal = sys.stderr.isatty()
    with click.progressbar(length=total, label=label, file=sys.stderr, hidden=not terminal) as shown:

        def moved(count: int) -> None:
            if cut.is_set():
                raise CutShortError
            with lock:
                went[0] += count
                shown.update(count)

        try:
            yield moved
        except BaseException:
            cut.set()
            raise
    if not terminal:
        click.echo(f"{label}: {amount(went[0])}{_speed(went[0], time.monotonic() - began)}", err=True)


def amount(count: float) -> str:
    """`912 bytes`, `4.1 MB`: two figures at least."""
    unit = 0
    while count >= STEP and unit < len(UNITS) - 1:
        count /= STEP
        unit += 1
    return f"{count:.0f} {UNITS[unit]}" if unit == 0 or count >= 100 else f"{count:.1f} {UNITS[unit]}"  # noqa: PLR2004 — three figures are enough


def _speed(count: int, seconds: float) -> str:
    """How fast, where it took long enough to tell."""
    return f" at {amount(count / seconds)}/s" if seconds >= 1 else ""
