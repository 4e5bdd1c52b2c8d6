"""A launch that was begun: on the list of open jobs, and not on record yet.

Whoever launches a job writes its entry among the open jobs first, with the number that the attempt will have,
then the attempt's record. Whatever is interrupted between the two is so found by each tick of recovery. It
launches nothing then, for nobody knows whether the launch was meant any more: it waits a while for the
record, and then writes one that says that the job was stopped. That record takes the number, so that a
launch that wakes up later loses.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.model.action import Change, DropObject, KeepWatch, Step, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState, Recorded
from spotwarden.model.facts import JobFacts
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from spotwarden.recovery.folder import chain
from spotwarden.recovery.folder.lifecycle import AttemptEvent, follow
from spotwarden.recovery.observed.reopening import instances_of
from spotwarden.recovery.telling import notices

RECORDED_WITHIN = timedelta(minutes=10)
"""A launch records its attempt a second after the entry, unless a laptop sleeps between the two."""


def begun(facts: JobFacts) -> int:
    """The number of the attempt that a launch has begun and not recorded; 0 for none."""
    number = facts.newest.number if facts.newest else 0
    return facts.watched.watch.attempt if facts.watched and facts.watched.watch.attempt > number else 0


def counts_until(facts: JobFacts) -> datetime | None:
    """Until when the record of a launch that was begun is waited for; None where none was begun."""
    return facts.watched.since + RECORDED_WITHIN if facts.watched and begun(facts) else None


def begin(facts: JobFacts, owner: str) -> KeepWatch:
    """Put the job on the list, as one whose next attempt is being launched.

    A new generation of the entry: a sweep that saw the job closed does not take this one off the list.
    """
    watch = facts.watched.watch if facts.watched else Watch(job=facts.job)
    opened = Watch(
        job=facts.job,
        attempt=(facts.newest.number if facts.newest else 0) + 1,
        past=tuple(sorted({*watch.past, *watch.instances.values()})),
        owner=owner,
    )
    generation = facts.watched.generation if facts.watched else 0
    return KeepWatch(reason="the job is open", job=facts.job, watch=opened, generation=generation)


def reopen(facts: JobFacts, status: tuple[str, int] | None, reason: str, now: datetime) -> Iterator[Change]:
    """Take the job's last end back, which stands as `status`: the object's name and its generation.

    It goes into the ledger first: a job without either would look like one that was lost. And it goes before
    the claim, or a sweep between the two would close the claim.
    """
    if status is None:
        return
    newest = facts.ledger[-1] if facts.ledger else None
    if newest and newest.attempt.state not in CLOSED:
        over = replace(
            newest.attempt,
            state=follow(newest.attempt.state, AttemptEvent.END),
            lease=None,
            updated=now,
            ended=facts.ended,
        )
        yield WriteAttempt(
            reason=f"the job has ended with status {facts.status_code}",
            record=over,
            generation=newest.generation,
        )
    name, generation = status
    yield DropObject(reason=reason, job=facts.job, name=name, generation=generation)


def unplaced(facts: JobFacts, newest: Recorded, tick: Tick) -> Step:
    """What a sweep does about an attempt whose files are not all in place: only its command can do that.

    Nothing is launched from what may be of two launches by halves.
    """
    attempt = newest.attempt
    until = max(attempt.updated + RECORDED_WITHIN, attempt.lease.until if attempt.lease else attempt.updated)
    if tick.now < until:
        return Wait(reason=f"the files of attempt {attempt.number} are being put in place", soon=False)
    why = (
        f"the launch of attempt {attempt.number} was interrupted before its files were in place; nothing was"
        " launched. The same command again, with --again, launches it"
    )
    over = replace(
        attempt, state=follow(attempt.state, AttemptEvent.STOP), reason=why, lease=None, updated=tick.now
    )
    notice = notices.closed(facts, over, why, AttemptState.STOPPED, tick)
    notice = replace(notice, id=f"interrupted/{facts.job}/{attempt.number}")
    if notice.id not in facts.told:
        return Tell(reason=why, notice=notice)
    return WriteAttempt(reason=why, record=over, generation=newest.generation)


def unrecorded(facts: JobFacts, tick: Tick) -> Step | None:
    """What a sweep does about a launch that was begun and not recorded; None where none was.

    An attempt whose instances the entry has was on record: somebody has deleted the job's metadata since.
    """
    number, until = begun(facts), counts_until(facts)
    if until is None:
        return None
    if tick.now < until:
        return Wait(reason=f"attempt {number} is being launched, and not on record yet", soon=False)
    had = facts.watched.watch.instances if facts.watched else {}
    why = (
        f"the records of attempt {number} are no longer in the bucket, and nothing is launched without them"
        if had
        else f"the launch of attempt {number} was interrupted before it was on record; nothing was launched"
    )
    over = chain.newest([recorded.attempt for recorded in facts.ledger])
    record = Attempt(
        job=facts.job,
        number=number,
        state=AttemptState.STOPPED,
        created=tick.now,
        updated=tick.now,
        reason=why,
        # It stands for the attempt before it: whoever starts the job again finds that one's stopped VM.
        replaces={**(instances_of(over) if over else {}), **had},
        owner=facts.owner,
    )
    notice = notices.closed(facts, record, why, AttemptState.STOPPED, tick)
    notice = replace(notice, id=f"interrupted/{facts.job}/{number}")
    if had and facts.script is None:
        todo = "submit the job again: its create script is gone as well"
        notice = replace(notice, todo=todo, ways=())
    if notice.id not in facts.told:
        return Tell(reason=why, notice=notice)
    return WriteAttempt(reason=why, record=record, generation=0, after=facts.head)
