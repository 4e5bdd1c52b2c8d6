"""Tells a training program when to save: its VM will be taken. Needs Python 3.8 and nothing else.

The job kit puts this file where Python finds it; a copy beside your own code works as well. Elsewhere than
on such a VM nothing is asked for until SIGTERM.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

STOP = "stop"
LOOK_SECONDS = 0.05
STOPPED = 143


class Guard:
    """Asks once a step. Of SIGTERM it changes nothing but that the program may end by itself."""

    def __init__(self) -> None:
        """Begin to listen; the signal is only heard where this is called in the main thread."""
        self._told = Path(os.environ.get("SPOTWARDEN_NOTICE") or os.devnull)
        self._answered: object = None
        self._asks = False
        self._stopping = False
        self._before: object = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, self._stop)

    @property
    def requested(self) -> bool:
        """Whether to save: true once when the VM is told, and once more when the program has to stop."""
        self._asks = True
        asked = STOP if self._must_stop() else self._notice()
        new = asked is not None and asked != self._answered
        if new:
            self._answered = asked
        return new

    @property
    def stopping(self) -> bool:
        """Whether to leave the loop; where `requested` is used, that asks for the last save first."""
        return self._answered == STOP if self._asks else self._must_stop()

    def _must_stop(self) -> bool:
        if not self._stopping and self._notice() is not None:
            self._stopping = self._told.with_name(self._told.name + ".stop").exists()
        return self._stopping

    def _notice(self) -> int | None:
        """When it was told, as the file says; None where it was not."""
        if str(self._told) == os.devnull:
            return None
        try:
            return self._told.stat().st_mtime_ns
        except OSError:
            return None

    def _stop(self, number: int, frame: object) -> None:
        self._stopping = True
        if callable(self._before):
            self._before(number, frame)


def guard() -> Guard:
    """The guard of this program; call it once, in the main thread."""
    return Guard()


def wait_for_turn() -> None:
    """Return once the VM before this one trains no more; call it after imports, before output is touched.

    The job kit starts a program that has called this in the attempt before while the old VM still trains. In
    all other cases it returns at once. `SystemExit` where this VM itself is taken meanwhile.
    """
    turn = os.environ.get("SPOTWARDEN_TURN")
    if not turn:
        return
    Path(turn + ".awaited").touch()
    stop = (os.environ.get("SPOTWARDEN_NOTICE") or turn) + "." + STOP
    while not Path(turn).exists():
        if Path(stop).exists():
            raise SystemExit(STOPPED)
        time.sleep(LOOK_SECONDS)
