"""Letting the processes of a virtual machine stand still, and go on."""

import contextlib
from collections.abc import Callable, Iterable, Sequence

import psutil

_GONE = (psutil.NoSuchProcess, psutil.AccessDenied)


def freeze(processes: Callable[[], Sequence[psutil.Process]]) -> list[psutil.Process]:
    """Stop every process, also those that are born meanwhile; give those that were not stopped before."""
    frozen: list[psutil.Process] = []
    seen: set[psutil.Process] = set()
    while new := [process for process in processes() if process not in seen]:
        seen.update(new)
        for process in new:
            with contextlib.suppress(*_GONE):
                if process.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
                    process.suspend()
                    frozen.append(process)
    return frozen


def thaw(frozen: Iterable[psutil.Process]) -> None:
    """Let them go on, those that are still there."""
    for process in frozen:
        with contextlib.suppress(*_GONE):
            process.resume()
