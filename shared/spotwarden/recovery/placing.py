"""An attempt under way: from the claim to the instances that exist.

The lease guards the steps up to an answered request. From then on every step is safe for any sweep:
an operation is only looked at, ids are written as they are, and the ledger changes under its generation.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from spotwarden.model.action import LaunchInstances, StartInstance, Step, Wait, WriteAttempt
from spotwarden.model.attempt import AttemptState, Recorded, Try, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Choice
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.folder.lifecycle import AttemptEvent
from spotwarden.recovery.instances.removal import may_be_removed, removed, why_removed
from spotwarden.recovery.kinds.bounds import time_left
from spotwarden.recovery.kinds.flexible import is_flexible
from spotwarden.recovery.kinds.machines import launch_on, on_machine
from spotwarden.recovery.observed.fates import KEPT
from spotwarden.recovery.places.avoiding import avoided
from spotwarden.recovery.places.usable_places import held_zones
from spotwarden.recovery.requests.clearing import clear_the_way
from spotwarden.recovery.requests.launching import prepare
from spotwarden.recovery.requests.slice_groups import newest_group
from spotwarden.recovery.slices import slice_placing
from spotwarden.recovery.steps import asking, planned
from spotwarden.recovery.steps.begun import unplaced
from spotwarden.recovery.steps.ending import stop
from spotwarden.recovery.steps.finishing import (
    finish,
    launched_anew,
    made,
    revived,
    revived_instead,
    started_beside,
    whole,
)
from spotwarden.recovery.steps.leasing import is_held_by_another, lease, until
from spotwarden.recovery.steps.progress import UNANSWERED_AT_MOST
from spotwarden.recovery.steps.request_outcome import TOLD_LATE, come_of, created, refused, survey
from spotwarden.recovery.telling.waits import tell_of_wait


def carry_on(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """The next step of an attempt that is under way."""
    attempt = newest.attempt
    if attempt.staged:
        return unplaced(facts, newest, tick)
    if attempt.state is AttemptState.PLACING:
        if named := newest_group(attempt):
            return slice_placing.place(facts, newest, named, policy, tick)
        if attempt.tries[-1].operation or facts.operation:
            return created(facts, newest, policy, tick)
        # Whoever asked for a Flex-start VM may not have been answered, and it waits all the same.
        told = tell_of_wait(facts, newest, policy, tick) if is_flexible(facts) else None
        return told or _guarded(facts, newest, policy, tick)
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return _let_go(newest, tick)
    return _undone(facts, newest, policy, tick) or _asking(facts, newest, policy, tick)


def _in_part(
    facts: JobFacts, newest: Recorded, by_hand: Sequence[Instance], policy: Policy, tick: Tick
) -> Step:
    """Wait for the rest of a gang that somebody launches or starts by hand; then go on with what runs.

    Nothing is made beside it, and what it was started for its owner knows: further nodes join as they come.
    """
    settled = tick.now - policy.recovery.settle
    if facts.unsure or any(instance.started is None or instance.started > settled for instance in by_hand):
        names = ", ".join(instance.name for instance in by_hand)
        return Wait(reason=f"{names} was launched by hand, and not the whole gang", soon=False)
    if not facts.surveyed:
        return survey(facts, newest.attempt)
    seen = replace(newest, attempt=replace(newest.attempt, seen=True))
    return finish(facts, seen, {item.name: item.id for item in by_hand}, tick, AttemptEvent.REVIVED)


def _undone(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step | None:
    """What must be seen to before a place is asked; None once nothing must."""
    attempt = newest.attempt
    if ids := revived(facts, attempt):
        return (
            finish(facts, newest, ids, tick, AttemptEvent.REVIVED)
            if facts.surveyed
            else survey(facts, attempt)
        )
    if step := _removal(facts, newest, tick):
        return step
    if by_hand := launched_anew(facts, attempt) or started_beside(facts, attempt):
        return _in_part(facts, newest, by_hand, policy, tick)
    if attempt.not_before and attempt.not_before > tick.now:
        return tell_of_wait(facts, newest, policy, tick) or asking.wait(attempt, tick)
    if step := clear_the_way(facts, attempt):
        return step
    if attempt.state is AttemptState.CLAIMED and is_held_by_another(attempt, tick):
        return Wait(reason=f"another sweep works on attempt {attempt.number}")
    # What this sweep has seen may be older than the claim; before anything is asked it looks again.
    return None if facts.surveyed else survey(facts, attempt)


def _asking(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """A back-off that is over needs no lease: writing the try down is what only one can do."""
    if newest.attempt.state is AttemptState.BACKING_OFF:
        return asking.ask(facts, newest, policy, tick, lease=lease(policy.recovery, tick), waited=True)
    return _guarded(facts, newest, policy, tick)


def _guarded(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """A step that needs the lease: wait for it, take it over, or go on under it."""
    attempt, held = newest.attempt, newest.attempt.lease
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return _let_go(newest, tick)
    if is_held_by_another(attempt, tick):
        return Wait(reason=f"another sweep works on attempt {attempt.number}")
    if held is None or held.holder != tick.sweep:
        taken = replace(attempt, lease=lease(policy.recovery, tick), updated=tick.now)
        reason = "took over the attempt" if held else "took the attempt"
        return WriteAttempt(reason=reason, record=taken, generation=newest.generation)
    if attempt.state is AttemptState.CLAIMED:
        return asking.ask(facts, newest, policy, tick, lease=lease(policy.recovery, tick), waited=False)
    return _send(facts, newest, policy, tick)


def _removal(facts: JobFacts, newest: Recorded, tick: Tick) -> Step | None:
    """Stop with its owner, and wait where the lists may hide that; None where nobody removed anything."""
    if removed(facts, newest.attempt):
        return stop(facts, newest, why_removed(facts, newest.attempt), tick)
    if may_be_removed(facts, newest.attempt):
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    return None


def _let_go(newest: Recorded, tick: Tick) -> Step:
    """Leave the request to a later sweep, which sends it once more with the same id."""
    held = newest.attempt.lease
    if held is None or held.holder != tick.sweep:
        return Wait(reason="Compute Engine does not answer")
    free = replace(newest.attempt, lease=None, updated=tick.now)
    return WriteAttempt(reason="Compute Engine does not answer", record=free, generation=newest.generation)


def _send(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """Send the request that was written down, unless what it asks for is there."""
    attempt, last = newest.attempt, newest.attempt.tries[-1]
    if last.error:
        return refused(facts, newest, last.error, policy, tick)
    ids = made(facts, attempt)
    if last.kind is TryKind.CREATE and whole(facts, ids):
        return finish(facts, newest, ids, tick)
    # Whoever sent it was not answered; by now its ID may be forgotten, and it would be carried out twice.
    old = last.kind is TryKind.CREATE and tick.now - last.at > TOLD_LATE
    if old and (step := come_of(facts, newest, policy, tick)):
        return step
    if removed(facts, attempt) and not facts.surveyed:
        # Whoever wrote the try may have sent it, and died; then what it made is there.
        return survey(facts, attempt)
    if step := _removal(facts, newest, tick) or _gone_before(facts, newest, tick):
        return step
    if again := revived_instead(facts, attempt):
        # Whoever wrote the try saw it stopped.
        started = finish(facts, newest, again, tick, AttemptEvent.REVIVED)
        return started if facts.surveyed else survey(facts, attempt)
    if last.kind is TryKind.START:
        return StartInstance(
            reason=f"attempt {attempt.number} in {last.place}",
            job=attempt.job,
            attempt=attempt.number,
            generation=newest.generation,
            zone=last.place,
            instance_id=next(iter(attempt.replaces.values())),
            request_id=last.request_id,
            before=until(attempt),
        )
    choice = _choice(facts, last)
    if choice is None:
        return refused(
            facts, newest, "notFound: the create script doesn't allow this zone any more", policy, tick
        )
    left = time_left(facts, attempt.lost or tick.now)
    avoid = {entry.zone for entry in avoided(facts, policy.placement, tick.now)}
    return LaunchInstances(
        reason=f"attempt {attempt.number} in {last.place}{on_machine(last)}",
        job=attempt.job,
        attempt=attempt.number,
        generation=newest.generation,
        request=prepare(choice.request, attempt, left=left, held=held_zones(facts, attempt) | avoid),
        request_id=last.request_id,
        before=until(attempt),
        at_rest=tuple((item.zone, item.id) for item in facts.instances if item.status in KEPT),
    )


def _gone_before(facts: JobFacts, newest: Recorded, tick: Tick) -> Step | None:
    """End a move whose VM is gone before anything was asked for; None where it runs, or it is no move.

    Who has just written the record has just seen it.
    """
    if not newest.attempt.planned or facts.fresh:
        return None
    if not facts.surveyed:
        return survey(facts, newest.attempt)
    if facts.unsure:
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    return None if planned.is_beside(facts, newest.attempt) else planned.stay(facts, newest, tick)


def _choice(facts: JobFacts, tried: Try) -> Choice | None:
    launch = launch_on(facts, tried.machine)
    choices = launch.choices if launch else ()
    return next((choice for choice in choices if choice.place == tried.place), None)
