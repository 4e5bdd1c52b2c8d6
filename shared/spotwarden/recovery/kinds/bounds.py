"""How much a job may still have: restarts, time, money; and whether it only crashes."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import zip_longest

import msgspec

from spotwarden.model.attempt import CLOSED, Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick
from spotwarden.recovery.kinds.flexible import SHORTEST_FLEXIBLE_RUN, is_flexible
from spotwarden.recovery.observed.fates import Fate

SHORTEST_RUN = timedelta(seconds=30)
"""The least that `maxRunDuration` takes (Google: "Limit the run time of a VM")."""
LONGEST = timedelta(days=3650)
"""No estimate of the work left goes beyond ten years; a fraction done of nearly nothing would."""
MOVED = "it was moved to another place"
"""The fate of what a move replaces."""
TAKEN = {Fate.PREEMPTED.value, Fate.HOST_ERROR.value}
NOT_ITS_OWN = {*TAKEN, Fate.EXPIRED.value, Fate.UNSERVED.value, MOVED}
"""Ends that say nothing about the job."""


class AttemptLife(msgspec.Struct, frozen=True, kw_only=True):
    """From when to when an attempt's instances were up, and what ended it; `ended` is None while they are."""

    started: datetime
    ended: datetime | None = None
    fate: str = ""


def lives(facts: JobFacts) -> Iterator[AttemptLife]:
    """Each attempt that ran, oldest first; its end stands in the record of its successor."""
    attempts = [recorded.attempt for recorded in facts.ledger if not recorded.attempt.bent]
    for attempt, successor in zip_longest(attempts, attempts[1:]):
        if (life := life_of(attempt, successor)) is not None:
            yield life


def life_of(attempt: Attempt, successor: Attempt | None) -> AttemptLife | None:
    """The life of the instances that one record names; None where none ever ran.

    That of a gang that goes on with other members ends when those begin.
    """
    if attempt.started is None:
        return None
    return AttemptLife(
        started=_start_of(attempt, attempt.started),
        ended=successor.started if successor and successor.bent else _end_of(attempt, successor),
        fate=successor.fate if successor else "",
    )


def _start_of(attempt: Attempt, started: datetime) -> datetime:
    """When it began to run: not before what it replaces was lost, though a sweep that slept dates it so."""
    return started if attempt.lost is None or attempt.early else max(started, attempt.lost)


def _end_of(attempt: Attempt, successor: Attempt | None) -> datetime | None:
    """When it was lost, by its successor; for one that was closed and launched again, when it was closed."""
    if successor is not None and successor.lost is not None:
        return successor.lost
    if attempt.state in CLOSED:
        return attempt.ended or _last_removed(attempt) or attempt.updated
    return successor.created if successor else None


def _last_removed(attempt: Attempt) -> datetime | None:
    """When the last of its VMs was removed: it may be closed long after; None where not all are known."""
    gone = {removal.instance_id: removal.at for removal in attempt.removed.values() if removal.at}
    ids = set(attempt.instances.values())
    return max(gone[vm_id] for vm_id in ids) if ids and ids <= gone.keys() else None


def time_up(facts: JobFacts, now: datetime) -> timedelta:
    """How long the job's instances were up, without the time it was down."""
    spans = ((life.ended or now) - life.started for life in lives(facts))
    return sum((max(span, timedelta(0)) for span in spans), timedelta(0))


def time_left(facts: JobFacts, now: datetime) -> timedelta | None:
    """How much longer its instances may be up, by its `max_runtime` and its budget; None for no bound.

    What somebody has granted it on top, against a warning, counts.
    """
    file, used = facts.file, time_up(facts, now)
    bounds = [file.max_runtime] if file.max_runtime is not None else []
    if file.budget is not None and file.price_per_hour:
        bounds.append(timedelta(hours=file.budget / file.price_per_hour))
    return min(bounds) + facts.granted - used if bounds else None


def work_left(facts: JobFacts, now: datetime) -> timedelta | None:
    """How much work is still to be done, by its heartbeats where they tell; None where nobody knows."""
    share = facts.progress.share
    if facts.file.work is not None:
        done = share * facts.file.work if share is not None else time_up(facts, now)
        return max(facts.file.work - done, timedelta(0))
    return remaining_work(done=share, up=time_up(facts, now))


def remaining_work(*, done: float | None, up: timedelta) -> timedelta | None:
    """Estimate the running time still needed from the fraction done after `up` of it; None where unknown.

    Time lost to restarts so far is in `up`, and so is expected again.
    """
    if done is None or not 0.0 < done <= 1.0 or up <= timedelta():
        return None
    still = (1.0 - done) / done
    return min(up.total_seconds() * still, LONGEST.total_seconds()) * timedelta(seconds=1)


def exceeded(facts: JobFacts, lost: datetime, fate: Fate, limits: RecoveryLimits, tick: Tick) -> str:
    """Why the job must not be started once more; "" where it may be."""
    if spent := _spent(facts, fate, limits):
        return spent
    left = time_left(facts, min(lost, tick.now))
    least = SHORTEST_FLEXIBLE_RUN if is_flexible(facts) else SHORTEST_RUN
    if left is not None and left < least:
        return "its runtime or its budget is used up"
    if _only_crashes(facts, lost, fate, limits):
        return (
            f"it crashes: {limits.short_lives} times in a row it was gone within"
            f" {limits.short_life.total_seconds():.0f} s of its start, without progress"
        )
    return ""


def _spent(facts: JobFacts, fate: Fate, limits: RecoveryLimits) -> str:
    """Which count of ends is used up, of those like this one; a preemption says nothing about the job."""
    file = facts.file
    if fate in {Fate.EXPIRED, Fate.UNSERVED}:
        return ""
    if fate.value not in TAKEN:
        most = file.max_restarts if file.max_restarts is not None else limits.max_restarts
        return f"restarted {most} times after it ended by itself, the limit" if _ends(facts) >= most else ""
    most_taken = file.max_preemptions if file.max_preemptions is not None else limits.max_preemptions
    if most_taken is None or _ends(facts, taken=True) < most_taken:
        return ""
    return f"restarted {most_taken} times after preemptions, which is the limit (max_preemptions)"


def _ends(facts: JobFacts, *, taken: bool = False) -> int:
    """How often we have started it since its developer last did: after ends of its own, or after others."""
    by_us: list[Attempt] = []
    for recorded in facts.ledger:
        if recorded.attempt.bent:
            # The job was not started anew: it went on.
            continue
        by_us = [] if recorded.attempt.lost is None else [*by_us, recorded.attempt]
    return sum(attempt.fate in TAKEN if taken else attempt.fate not in NOT_ITS_OWN for attempt in by_us)


def _only_crashes(facts: JobFacts, lost: datetime, fate: Fate, limits: RecoveryLimits) -> bool:
    """A life that Compute Engine ended says nothing about the job."""
    last = [
        life if life.ended else AttemptLife(started=life.started, ended=lost, fate=fate.value)
        for life in lives(facts)
    ][-limits.short_lives :]
    if len(last) < limits.short_lives:
        return False
    short = all(
        life.fate not in NOT_ITS_OWN
        and life.ended is not None
        and life.ended - life.started < limits.short_life
        for life in last
    )
    moved = facts.progress.at is not None and facts.progress.at > last[0].started
    return short and not moved
