"""The first step of a job's life: its developer's own launch."""

from datetime import datetime

from msgspec.structs import replace

from spotwarden.model.action import WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick
from spotwarden.recovery.attempts import IN_FLIGHT
from spotwarden.recovery.kinds.machines import machine_key
from spotwarden.recovery.observed.fates import GOING, KEPT, alive
from spotwarden.recovery.steps.leasing import lease


def problem(facts: JobFacts, *, again: bool) -> str:
    """Why this job must not be launched now, for its developer; "" where it may."""
    if not facts.ledger and facts.status_code is None:
        return ""
    newest = facts.ledger[-1].attempt if facts.ledger else None
    if facts.status_code is None and newest and newest.state is AttemptState.RUNNING:
        return f"{facts.job} is already running as attempt {newest.number}. Choose another name with --job"
    if again or in_flight(facts):
        return ""
    how = f"ended with status {facts.status_code}" if facts.status_code is not None else "is closed"
    return f"{facts.job} {how}. To launch it again and keep its output, add --again"


def beside(facts: JobFacts) -> str:
    """Why an attempt would run beside a VM of the job, whose instances are seen; "" where nothing is there.

    Two attempts of one job write over each other's checkpoints, also where the former is about to go.
    """
    job, running = facts.job, [instance.called for instance in facts.instances if alive(instance)]
    if running:
        return (
            f"{', '.join(running)} of {job} still runs, and a new attempt would run beside it."
            f" Nothing was stored or launched. Stop it first: `spotwarden stop {job}`"
        )
    if going := [fact.called for fact in facts.instances if fact.status in GOING]:
        return f"{', '.join(going)} of {job} is still being stopped. Try again in a minute"
    if facts.unsure:
        return (
            f"Compute Engine's list is incomplete ({facts.unsure}), and a VM of {job} may run there."
            " Try again in a minute"
        )
    return ""


def leaving(facts: JobFacts) -> str:
    """The instances in the way that go by themselves: being stopped, or of a job that has ended; "" for none.

    A VM deletes itself once it has written its job's status, and its developer may be quicker.
    """
    there = [instance for instance in facts.instances if instance.status not in KEPT]
    ended = facts.status_code is not None
    return (
        ", ".join(item.called for item in there)
        if all(ended or not alive(candidate) for candidate in there)
        else ""
    )


def in_flight(facts: JobFacts) -> bool:
    """Whether an earlier submit has claimed the attempt and not finished it: it is then carried on."""
    is_open = bool(facts.ledger) and facts.status_code is None
    return is_open and facts.ledger[-1].attempt.state in IN_FLIGHT


def unsent_until(facts: JobFacts, now: datetime) -> datetime | None:
    """Until when a request that is on record may still be sent; None where none may.

    Whoever wrote it down may only be slow, and have looked at the chain for the last time: no stop reaches
    that, but its lease ends it.
    """
    held = [
        recorded.attempt.lease.until
        for recorded in facts.ledger
        if recorded.attempt.lease and _is_unanswered(recorded.attempt) and not recorded.attempt.closed
    ]
    return max((until for until in held if until > now), default=None)


def _is_unanswered(attempt: Attempt) -> bool:
    newest = attempt.tries[-1] if attempt.tries else None
    return newest is not None and not newest.operation and not newest.error


def overtaken(first: JobFacts, now: JobFacts) -> str:
    """Why the job that was looked at `first` must not be launched any more; "" where nobody was quicker."""
    if [recorded.attempt.number for recorded in first.ledger] == [item.attempt.number for item in now.ledger]:
        return ""
    newest = now.ledger[-1].attempt if now.ledger else None
    how = f"attempt {newest.number} is {newest.state.value}" if newest else "its records are gone"
    return (
        f"{now.job} was launched or stopped by somebody else while this command sent its files: {how}."
        f" Nothing was launched here, and nothing that it has stored was replaced"
        f" (`spotwarden show {now.job}`)"
    )


def another_script(facts: JobFacts, launch: Launch) -> str:
    """Why an attempt under way is not this command's to go on with; "" where it is, or there is none."""
    script = facts.ledger[-1].attempt.script if in_flight(facts) else None
    if script is None or launch.script is None or script.sha256 == launch.script.sha256:
        return ""
    newest = facts.ledger[-1].attempt
    return (
        f"{facts.job} is being launched from another create script, as attempt {newest.number}"
        f" by {newest.owner or 'somebody'}; choose another name with --job"
    )


def unplaced(facts: JobFacts) -> Attempt | None:
    """The newest attempt, if it ended before its command had put its files in place; None where none did.

    What the job has stored may then be of two launches, by halves. A stop after it does not change that.
    """
    for recorded in reversed(facts.ledger):
        attempt = recorded.attempt
        if attempt.staged:
            return attempt
        if attempt.script is not None or attempt.tries or attempt.instances:
            return None
    return None


def ask_again(facts: JobFacts, now: datetime) -> WriteAttempt | None:
    """Put on record that a person asks for the attempt that recovery has begun; None for any other.

    Whatever that person removed before then is taken back by this word, which is the newer one.
    """
    newest = facts.ledger[-1] if in_flight(facts) else None
    if newest is None or newest.attempt.lost is None:
        return None
    wanted = replace(newest.attempt, asked=now, updated=now)
    return WriteAttempt(reason="a person asks for it", record=wanted, generation=newest.generation)


def is_worked_on(facts: JobFacts, now: datetime) -> bool:
    """Whether a sweep is at work on what recovery has begun: whoever asks now takes its next write away."""
    asked = ask_again(facts, now)
    return asked is not None and asked.record.lease is not None and asked.record.lease.until > now


def let_go(facts: JobFacts, tick: Tick) -> WriteAttempt | None:
    """Give the attempt's lease back, so that the next sweep goes on at once; None where it is not ours."""
    newest = facts.ledger[-1] if facts.ledger else None
    held = newest.attempt.lease if newest else None
    if newest is None or held is None or held.holder != tick.sweep or not in_flight(facts):
        return None
    free = replace(newest.attempt, lease=None, updated=tick.now)
    return WriteAttempt(reason="its launch was interrupted", record=free, generation=newest.generation)


def claim(
    facts: JobFacts, launch: Launch, owner: str, limits: RecoveryLimits, tick: Tick, *, staged: str = ""
) -> WriteAttempt:
    """Create the record of the attempt that the developer asks for; `staged` names what it brings."""
    number = facts.ledger[-1].attempt.number + 1 if facts.ledger else 1
    record = Attempt(
        job=facts.job,
        number=number,
        state=AttemptState.CLAIMED,
        created=tick.now,
        updated=tick.now,
        reason="submitted" if number == 1 else "submitted again",
        lease=lease(limits, tick),
        script=launch.script,
        machine=machine_key(launch) if launch.machine else "",
        gpus=launch.gpus,
        owner=owner,
        staged=staged,
    )
    return WriteAttempt(reason=record.reason, record=record, generation=0, after=facts.head)
