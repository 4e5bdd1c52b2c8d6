"""Whether a job runs on a treadmill: attempt after attempt ends, and nothing of its work is kept."""

from datetime import timedelta
from itertools import pairwise

import msgspec

from spotwarden.model.attempt import Attempt, StepRange
from spotwarden.model.facts import JobFacts
from spotwarden.model.limits import RecoveryLimits

FROM_START = 0.1
"""A program that begins below this share of the furthest step has lost its work: few save that seldom."""


class Treadmill(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts in a row that kept no work: their numbers, last steps, and how long they were up."""

    attempts: tuple[int, ...]
    last_steps: tuple[float, ...]
    up: timedelta

    @property
    def words(self) -> str:
        """What happened, without the time."""
        first, last = self.attempts[0], self.attempts[-1]
        return f"attempts {first} to {last} repeated the same work"


def treadmill(facts: JobFacts, claimed: Attempt) -> Treadmill | None:
    """The treadmill that the attempt ended on which `claimed` replaces; None where some of it was kept.

    It begins anew whenever a person launches the job, who may have mended it. An attempt that told no step
    neither proves it nor ends it.
    """
    attempts = [*(recorded.attempt for recorded in facts.ledger), claimed]
    row: list[_Life] = []
    furthest = 0.0
    for attempt, successor in pairwise(attempts):
        if successor.lost is None:
            row, furthest = [], 0.0
            continue
        if (work := successor.lost_work) is None:
            continue
        if row and not _is_lost(work, furthest):
            row = []
        up = max(successor.lost - attempt.started, timedelta()) if attempt.started else timedelta()
        row.append(_Life(number=attempt.number, last=work.last, up=up))
        furthest = max(furthest, work.last)
    if len(row) <= 1:  # what one attempt did may all be kept
        return None
    return Treadmill(
        attempts=tuple(life.number for life in row),
        last_steps=tuple(life.last for life in row),
        up=sum((life.up for life in row), timedelta()),
    )


def is_told(found: Treadmill, limits: RecoveryLimits) -> bool:
    """Whether its owner is told now: at `treadmill_lives`, and at each doubling of that."""
    times, rest = divmod(len(found.attempts), limits.treadmill_lives)
    return rest == 0 and times.bit_count() == 1


def work_of(facts: JobFacts) -> StepRange | None:
    """How far the newest attempt had come when it was lost, by its own heartbeats."""
    progress = facts.progress
    number = facts.newest.number if facts.newest else 1
    if progress.step is None or progress.attempt != number:
        return None
    return StepRange(first=progress.first_step, last=progress.step)


class _Life(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    last: float
    up: timedelta


def _is_lost(work: StepRange, furthest: float) -> bool:
    """Whether an attempt shows that what was done before it was lost."""
    began_anew = work.first is not None and furthest > 0 and work.first < FROM_START * furthest
    return began_anew or work.last <= furthest
