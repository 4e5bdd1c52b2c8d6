"""The mark that every process under a supervisor carries in its environment, and the sweep that goes by it.

A mark names the local cloud that set it by process id and start time, so that the leftovers of a dead
one can be told from the processes of one that is alive.
"""

import secrets
from collections.abc import Callable, Iterator

import psutil

VARIABLE = "SPOTWARDEN_SUPERVISOR"

_SAME_START_SECONDS = 5.0
"""Start times are computed from the boot time, which moves a little when the clock is set."""


def new() -> str:
    """A mark of this process, unlike every other: `PID-START-RANDOM`, START in seconds since the epoch."""
    us = psutil.Process()
    return f"{us.pid}-{us.create_time():.0f}-{secrets.token_hex(6)}"


def sweep(mark: str) -> int:
    """Kill every process that carries this mark; return how many there were, once none is left."""
    return _sweep(lambda found: found == mark)


def sweep_leftovers() -> int:
    """Kill what dead local clouds have left behind; return how many processes there were."""
    return _sweep(lambda found: not _has_living_owner(found))


def _sweep(wanted: Callable[[str], bool]) -> int:
    killed: set[tuple[int, float]] = set()
    while found := list(_marked(wanted)):
        for process in found:
            _send(process.suspend)
        for process in found:
            _send(process.kill)
        killed |= {(process.pid, process.create_time()) for process in found}
        psutil.wait_procs(found, timeout=1)
    return len(killed)


def _marked(wanted: Callable[[str], bool]) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(VARIABLE, "")
            if mark and process.status() != psutil.STATUS_ZOMBIE and wanted(mark):
                yield process
        except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            continue  # gone, another user's, or a kernel thread: none of ours


def _send(action: Callable[[], None]) -> None:
    try:
        action()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return


def _has_living_owner(mark: str) -> bool:
    """Whether the process that set this mark is alive; a mark of another form is left alone as if it were."""
    pid, _, rest = mark.partition("-")
    start, _, _ = rest.partition("-")
    if not (pid.isdecimal() and start.isdecimal()):
        return True
    try:
        return abs(psutil.Process(int(pid)).create_time() - int(start)) <= _SAME_START_SECONDS
    except psutil.NoSuchProcess:
        return False
