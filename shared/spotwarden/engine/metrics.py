"""What is counted while a function is at it, for the line that it ends with.

A `SweepMetrics` belongs to one request. It is found from wherever something worth counting happens, in the
workers' threads as well; where nobody listens, as in a command, it counts for nobody.
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import datetime

from spotwarden.model.outcome import Done, Outcome
from spotwarden.model.tick import Tick
from spotwarden.ports import no_calls


class SweepMetrics:
    """Counts. Safe to use from several threads."""

    def __init__(self, began: datetime, trace: str = "") -> None:
        self.began = began
        self.trace = trace
        self.tick: Tick | None = None
        self.waiting = 0
        self.actions: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.others: Counter[str] = Counter()
        self.seen: dict[str, float] = {}
        self._lock = threading.Lock()
        self._calls: Callable[[], Mapping[str, int]] = no_calls
        self._before: Mapping[str, int] = {}

    def watch(self, calls: Callable[[], Mapping[str, int]]) -> None:
        """Count the calls from now on."""
        self._calls, self._before = calls, calls()

    @property
    def calls(self) -> Mapping[str, int]:
        """The calls since then, by service."""
        now = self._calls()
        return {name: more for name in sorted(now) if (more := now[name] - self._before.get(name, 0))}

    def acted(self, what: str, outcome: Outcome, *, gone: bool = False) -> None:
        """An action, and what came of it; to have only observed, or to come second, is no failure.

        Nor is it that what was to be removed is `gone` already.
        """
        how = "Gone" if gone else type(outcome).__name__
        with self._lock:
            if isinstance(outcome, Done):
                self.actions[what] += 1
            elif how in {"Rejected", "Unanswered"}:
                self.failures[what] += 1
            else:
                self.others[how] += 1

    def failed(self, kind: str) -> None:
        """Something went wrong that no action was."""
        with self._lock:
            self.failures[kind] += 1

    def saw(self, **figures: float) -> None:
        """What the sweep has seen, by the name of the figure; what is seen again counts as it is now."""
        with self._lock:
            self.seen.update(figures)


class _Unheard(SweepMetrics):
    """Counts nothing: it is everybody's where nobody listens."""

    def watch(self, calls: Callable[[], Mapping[str, int]]) -> None:
        """Do not."""

    def acted(self, what: str, outcome: Outcome, *, gone: bool = False) -> None:
        """Forget it."""

    def failed(self, kind: str) -> None:
        """Forget it."""

    def saw(self, **figures: float) -> None:
        """Forget it."""


UNHEARD = _Unheard(datetime.min)  # noqa: DTZ901 - read by nobody
CURRENT: ContextVar[SweepMetrics | None] = ContextVar("metrics", default=None)


def sweep_metrics() -> SweepMetrics:
    """The metrics of what is at it here; one that nobody reads where nothing is."""
    return CURRENT.get() or UNHEARD
