"""What has become of a job so far, in the few numbers that a forecast needs; all of it from what it told.

Heartbeats are hints: what cannot be, such as steps that run backwards or a pace without end, is not known.
"""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise, zip_longest
from statistics import median, pstdev
from typing import NamedTuple

import msgspec

from spotwarden.model.attempt import Attempt, AttemptState, Recorded, StepRange
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import VmModel
from spotwarden.model.moment import Moment
from spotwarden.recovery.kinds.bounds import TAKEN, AttemptLife, life_of
from spotwarden.recovery.places.deadline_line import began_at
from spotwarden.recovery.telling.treadmill import FROM_START

HOUR = timedelta(hours=1)
LONGEST = 24 * 365 * 10.0
"""Hours: what would take ten years is not forecast."""
LIVES = 200
"""Of them the newest; what a place did longer ago says little about it."""
SHORT = timedelta(minutes=10)
"""A stretch of steps that is shorter tells no pace: the first steps are the slow ones."""
SURE = 0.05
"""How far off a pace is that a long stretch has told."""
ENOUGH = 2
"""Starts from the beginning that prove it: the first loss may have come before the first save."""
NO_STEPS = "the job reports no progress. Report step and steps, or set work in job.toml"
NO_TOTAL = "the job reports its step, and not of how many. Report steps as well, or set work in job.toml"
NO_PACE = "it has reported steps for less than ten minutes"
NO_SENSE = "the steps that it reported are invalid"


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """The steps that one attempt told: from which to which, and from when to when."""

    attempt: int
    since: datetime
    until: datetime
    first: float
    last: float

    @property
    def pace(self) -> float | None:
        """Steps an hour; None where it tells none."""
        steps, span = self.last - self.first, self.until - self.since
        return steps * (HOUR / span) if span >= SHORT and 0 < steps < math.inf else None


class JobPast(msgspec.Struct, frozen=True, kw_only=True):
    """What is on record of a job.

    `step` of `steps` is the newest, told at `moved`, and `first_step` the first that the same attempt has
    told; `saves` are the moments at which each attempt had a new checkpoint. `returns` is true for a job that
    would come back to spot from an on-demand VM (`recovery.places.deadline_line`).
    """

    now: datetime
    attempts: Sequence[Attempt]
    file: JobFile = JobFile()
    step: float | None = None
    steps: float | None = None
    first_step: float | None = None
    moved: datetime | None = None
    stretches: Sequence[Stretch] = ()
    saves: Sequence[Sequence[datetime]] = ()
    returns: bool = False


class Course(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job that is under way; times in hours.

    `unknown` says why nobody knows what is `left` of its `whole` work, "" where somebody does; `spread` is
    how far off that may be. With `restarts` it saves nothing: each loss costs all. `setup` is from the start
    of its VMs to its first work, `interval` from one save to the next; None: nobody has seen it. `since` is
    the start of its VMs, None while it waits for some; `without` is since when it has had no spot VM, None
    while it has one. `lives` are the hours up of those spot VMs that it lost, `survived` of those that ended
    otherwise, `waits` the hours from a loss until it had others. With `returns` it follows a line from when
    it `began`.
    """

    place: str = ""
    machine: str = ""
    vms: int = 1
    spot: bool = True
    places: tuple[str, ...] | None = None
    deadline: Moment | None = None
    unknown: str = ""
    whole: float = 0.0
    left: float = 0.0
    spread: float = 0.0
    restarts: bool = False
    setup: float | None = None
    interval: float | None = None
    since: Moment | None = None
    without: Moment | None = None
    lives: tuple[float, ...] = ()
    survived: tuple[float, ...] = ()
    waits: tuple[float, ...] = ()
    began: Moment | None = None
    returns: bool = False


def course(past: JobPast) -> Course:
    """What a forecast needs of the job."""
    ran = list(_ran(past))
    newest = past.attempts[-1] if past.attempts else None
    asked = newest.tries[-1] if newest and newest.tries else None
    spot = [life.life for life in ran if life.spot]
    over = [(_hours(life.ended - life.started), life.fate in TAKEN) for life in spot if life.ended]
    setup = _setup(past)
    interval = _interval(past)
    whole, left, spread, unknown = _work(past, [life.life for life in ran], setup or 0.0)
    running = newest is not None and newest.state is AttemptState.RUNNING and bool(ran)
    return Course(
        place=asked.place if asked else "",
        machine=newest.machine if newest else "",
        vms=max(1, len(newest.instances or newest.replaces)) if newest else 1,
        spot=_is_spot(newest),
        places=past.file.places,
        deadline=past.file.deadline,
        unknown=unknown,
        whole=whole,
        left=left,
        spread=spread,
        restarts=_saves_nothing(past),
        setup=setup,
        interval=interval,
        since=ran[-1].life.started if running else None,
        without=None if running and ran[-1].spot else _without(past, spot),
        lives=tuple(hours for hours, lost in over if lost)[-LIVES:],
        survived=tuple(hours for hours, lost in over if not lost)[-LIVES:],
        waits=tuple(_waits(spot))[-LIVES:],
        began=_began_at(past) if past.returns else None,
        returns=past.returns,
    )


class _RanOn(NamedTuple):
    """A life, and whether it was one of spot VMs."""

    life: AttemptLife
    spot: bool


def _ran(past: JobPast) -> Iterator[_RanOn]:
    """As `bounds.lives`, which does not tell what the VMs were."""
    attempts = [attempt for attempt in past.attempts if not attempt.bent]
    for attempt, successor in zip_longest(attempts, attempts[1:]):
        if (life := life_of(attempt, successor)) is not None:
            yield _RanOn(life, _is_spot(attempt))


def _is_spot(attempt: Attempt | None) -> bool:
    asked = attempt.tries[-1] if attempt and attempt.tries else None
    return asked is None or (asked.spot if asked.model is None else asked.model is VmModel.SPOT)


def _waits(spot: Sequence[AttemptLife]) -> Iterator[float]:
    """From each loss to the next spot VM, whatever ran in between."""
    for life, begun in pairwise(spot):
        if life.ended and life.fate in TAKEN:
            yield _hours(begun.started - life.ended)


def _without(past: JobPast, spot: Sequence[AttemptLife]) -> datetime | None:
    """When it lost its last spot VM, or was launched after that; None where no record tells."""
    told = [spot[-1].ended if spot else None, _began_at(past)]
    return max((at for at in told if at is not None), default=None)


def _began_at(past: JobPast) -> datetime | None:
    ledger = tuple(Recorded(attempt=attempt, generation=0) for attempt in past.attempts)
    return began_at(JobFacts(job="", ledger=ledger))


def _hours(span: timedelta) -> float:
    return max(0.0, span / HOUR)


def _work(past: JobPast, ran: Sequence[AttemptLife], setup: float) -> tuple[float, float, float, str]:
    """All of the work and what is left of it, how far off that may be, and why nobody knows."""
    said, step, steps = past.file.work, past.step, past.steps
    told = step is not None and steps is not None
    if step is not None and steps is not None and not (0 <= step <= steps and 0 < steps < math.inf):
        return 0.0, 0.0, 0.0, NO_SENSE
    share = step / steps if step is not None and steps else None
    if said is not None:
        whole = _hours(said)
        done = share * whole if share is not None else _worked(past, ran, setup)
        return _checked(whole, whole - done, SURE)
    if not told or step is None or steps is None:
        return 0.0, 0.0, 0.0, NO_STEPS if step is None else NO_TOTAL
    paces = [pace for stretch in _stretches(past) if (pace := stretch.pace)]
    if not paces:
        return 0.0, 0.0, 0.0, NO_PACE
    pace = median(paces)
    spread = max(SURE, pstdev(paces) / pace) if len(paces) > 1 else 2 * SURE
    return _checked(steps / pace, (steps - step) / pace, min(spread, 1.0))


def _checked(whole: float, left: float, spread: float) -> tuple[float, float, float, str]:
    if not (0 < whole <= LONGEST):
        return 0.0, 0.0, 0.0, NO_SENSE
    return whole, min(max(left, 0.0), whole), spread, ""


def _worked(past: JobPast, ran: Sequence[AttemptLife], setup: float) -> float:
    """The hours that its VMs were up, without their starts: all that is known without steps."""
    return sum(max(0.0, _hours((life.ended or past.now) - life.started) - setup) for life in ran)


def _stretches(past: JobPast) -> Iterator[Stretch]:
    """Those that were told, and of attempts without any what their heartbeats said last.

    The latter count from the start of its VMs, so they tell a pace that is a little low.
    """
    yield from past.stretches
    known = {stretch.attempt for stretch in past.stretches}
    for attempt, successor in pairwise(past.attempts):
        work = successor.lost_work
        if (
            attempt.number not in known
            and attempt.started
            and successor.lost
            and work
            and work.first is not None
        ):
            yield _whole(attempt, attempt.started, successor.lost, work)
    newest = past.attempts[-1] if past.attempts else None
    if newest is None or newest.number in known or newest.started is None:
        return
    if past.moved and past.step is not None and past.first_step is not None:
        yield _whole(newest, newest.started, past.moved, StepRange(first=past.first_step, last=past.step))


def _whole(attempt: Attempt, since: datetime, until: datetime, work: StepRange) -> Stretch:
    return Stretch(attempt=attempt.number, since=since, until=until, first=work.first or 0.0, last=work.last)


def _setup(past: JobPast) -> float | None:
    """From the start of an attempt's VMs to its first step."""
    started = {attempt.number: attempt.started for attempt in past.attempts}
    spans = [
        _hours(stretch.since - begun)
        for stretch in past.stretches
        if (begun := started.get(stretch.attempt)) and stretch.since >= begun
    ]
    return median(spans) if spans else None


def _interval(past: JobPast) -> float | None:
    """From one save to the next; None where it has not been seen to save twice."""
    gaps = [_hours(later - earlier) for saves in past.saves for earlier, later in pairwise(sorted(saves))]
    real = [gap for gap in gaps if gap > 0]
    return median(real) if real else None


def _saves_nothing(past: JobPast) -> bool:
    """Whether each of its last two starts or more was from the beginning, by the steps that it told."""
    anew = list(_begun_anew(past))[-ENOUGH:]
    return len(anew) == ENOUGH and all(anew)


def _begun_anew(past: JobPast) -> Iterator[bool]:
    """For each attempt after a loss whether it lost all, as far as it has told."""
    furthest = 0.0
    for attempt in past.attempts:
        work = attempt.lost_work
        if work is None:
            continue
        if furthest > 0:
            yield _is_anew(work.first, furthest) or work.last <= furthest
        furthest = max(furthest, work.last)
    if furthest > 0 and past.first_step is not None:
        yield _is_anew(past.first_step, furthest)


def _is_anew(first: float | None, furthest: float) -> bool:
    return first is not None and first < FROM_START * furthest
