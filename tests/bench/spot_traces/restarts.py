"""How many healthy jobs a bound on restarts gives up, where a preemption counts and where it does not."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from spotwarden.model.attempt import Attempt, AttemptState, Recorded
from spotwarden.model.facts import JobFacts
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick
from spotwarden.recovery.kinds.bounds import exceeded
from spotwarden.recovery.observed.fates import Fate

from .market import Zone, h100
from .ours import EPOCH
from .placing import seeds
from .replay import replay
from .rules import Fixed
from .table import Table

LIMITS = RecoveryLimits()


def study() -> Iterator[Table]:
    """100 h of work, in the zone of its script."""
    rows = []
    for vms in (1, 16):
        lost = losses(list(h100(vms, held=False).values()))
        counted = [one > LIMITS.max_restarts for one in lost]
        rows.append([f"{vms} VM", str(len(lost)), str(max(lost)), _share(counted), _share(given_up(lost))])
    yield Table(
        title=f"100 h of work in one of 13 zones: given up by max_restarts = {LIMITS.max_restarts}",
        head=("", "runs", "most preemptions", "if they counted", "as it is"),
        rows=rows,
        note="Traces: GCP H100 probes, October 2025. "
        "A run that is not done when the trace ends counts by what it has lost until then.",
    )


def losses(zones: Sequence[Zone]) -> list[int]:
    """How often each run is preempted before it is done: each start of `placing`, in each zone."""
    jobs = [job for odd in (0, 1) for job in seeds(odd)]
    return [replay(job, Fixed(zone=zone.name), [zone]).restarts for job in jobs for zone in zones]


def given_up(lost: Sequence[int]) -> list[bool]:
    """Whether the product gives up a job that is preempted so often, and never ends by itself."""
    return [_gives_up(times) for times in lost]


def _gives_up(times: int) -> bool:
    """Ask at the last preemption: what was allowed then was allowed before."""
    ledger = tuple(_attempt(number) for number in range(1, times + 1))
    tick = Tick(function="recover_spot", sweep="bench", now=EPOCH + timedelta(days=15))
    return bool(times and exceeded(JobFacts(job="j", ledger=ledger), tick.now, Fate.PREEMPTED, LIMITS, tick))


def _attempt(number: int) -> Recorded:
    at = EPOCH + timedelta(hours=number)
    lost: dict[str, Any] = {"lost": at, "fate": Fate.PREEMPTED.value} if number > 1 else {}
    record = Attempt(job="j", number=number, state=AttemptState.RUNNING, created=at, updated=at, **lost)
    return Recorded(attempt=record, generation=number)


def _share(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):.0f} %"
