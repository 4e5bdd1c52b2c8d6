"""Waiting that goes by progress: a busy machine is no reason to give up, and a standstill is."""

import time
from collections.abc import Callable, Iterator
from itertools import count

import psutil

MOST = 10
"""So many times as long as it may stand still it may take in all."""
LOOK_SECONDS = 1.0
"""How often it is asked whether something moves."""
MOVED_SECONDS = 0.02
"""Processor time that is more than looking after oneself."""


def looks(
    seconds: float, every: float = 0.05, *, moves: Callable[[], float] | None = None, until: float = MOST
) -> Iterator[float]:
    """Yield, to whoever then looks and sleeps so long, until nothing has moved for so many seconds.

    Only the pauses count, each as long as it was meant to be: where the machine is busy they take longer, for
    this process as for those that it waits for. What moves is the processor time of the processes below this
    one. Ends in any case when `until` times as many seconds have passed.
    """
    moves = moves or busy_below
    still = passed = since = 0.0
    before = moves()
    for _ in count():
        if still >= seconds or passed >= until * seconds:
            return
        yield every
        still, passed, since = still + every, passed + every, since + every
        if since >= LOOK_SECONDS:
            now, since = moves(), 0.0
            if abs(now - before) > MOVED_SECONDS:
                before, still = now, 0.0


def wait(seconds: float, fact: Callable[[], object], what: str, *, every: float = 0.05) -> object:
    """What it comes to be, once it is anything; `AssertionError` when nothing moves any more."""
    for pause in looks(seconds, every):
        if value := fact():
            return value
        time.sleep(pause)
    value = fact()
    assert value, what
    return value


def busy_below() -> float:
    """Seconds of processor time that the processes below this one have used, living or waited for."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            times = process.cpu_times()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        total += times.user + times.system
    own = psutil.Process().cpu_times()
    return total + own.children_user + own.children_system
