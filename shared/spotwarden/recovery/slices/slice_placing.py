"""An attempt at a slice under way: policy, template, a group of none, and its VMs all at once.

Each part has a name of its own, so that a request whose answer is forgotten finds what it has made. The
group's ID is on record before it is filled: by it, and by nothing else, its VMs are known as the job's.
"""

from datetime import timedelta
from uuid import uuid5

from msgspec.structs import replace

from spotwarden.model.action import Step, Wait, WriteAttempt
from spotwarden.model.attempt import Recorded, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.policy import Policy
from spotwarden.model.slice_action import FillGroup, LookAtGroup, MakePart
from spotwarden.model.slices import SeenGroup, SliceGroup
from spotwarden.model.tick import Tick
from spotwarden.recovery.instances.removal import removed, why_removed
from spotwarden.recovery.kinds.bounds import time_left
from spotwarden.recovery.requests import slice_groups
from spotwarden.recovery.requests.launching import NAMESPACE
from spotwarden.recovery.requests.slice_parts import GROUP, parts_of
from spotwarden.recovery.slices.slice_filling import gone, is_under_way, refuse
from spotwarden.recovery.steps import asking
from spotwarden.recovery.steps.ending import stop
from spotwarden.recovery.steps.leasing import is_held_by_another, lease, until
from spotwarden.recovery.steps.progress import UNANSWERED_AT_MOST
from spotwarden.recovery.steps.request_outcome import survey

FILLED = "createInstances"
"""What is noted as the operation of a request whose answer nobody remembers: its group has the VMs."""
MADE_WITHIN = timedelta(minutes=10)
"""How long a part may be missing, or be deleted again, before the try counts as refused."""


def place(
    facts: JobFacts, newest: Recorded, named: tuple[Try, SliceGroup], policy: Policy, tick: Tick
) -> Step:
    """The next step of a slice whose newest try is on record."""
    attempt, (tried, group) = newest.attempt, named
    if tried.refused:
        # What it has made goes first: a group that is left tries on, and its VMs would have the names.
        again = lease(policy.recovery, tick)
        cleared = slice_groups.clear(facts, attempt, tried, group)
        return cleared or asking.go_on(facts, newest, policy, tick, lease=again)
    if tried.error:
        return refuse(newest, tried.error, tick)
    if tried.operation:
        return is_under_way(facts, newest, policy, tick)
    if facts.operation:
        return _noted(newest, facts.operation.name, tick)
    if removed(facts, attempt):
        return (
            stop(facts, newest, why_removed(facts, attempt), tick)
            if facts.surveyed
            else survey(facts, attempt)
        )
    return _guarded(facts, newest, policy, tick) or _send(
        facts, newest, tried, group, policy=policy, tick=tick
    )


def _noted(newest: Recorded, operation: str, tick: Tick) -> WriteAttempt:
    noted = replace(asking.noted(newest.attempt, tick, operation=operation), lease=None, updated=tick.now)
    return WriteAttempt(reason="the request was accepted", record=noted, generation=newest.generation)


def _guarded(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step | None:
    """Take the lease, or wait for it; None once this sweep has it."""
    attempt, held = newest.attempt, newest.attempt.lease
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return _let_go(newest, "Compute Engine does not answer", tick)
    if held is None and (facts.parts or facts.unmade):
        # This very sweep has let it go.
        return Wait(reason=facts.unmade or "its group isn't there yet")
    if is_held_by_another(attempt, tick):
        return Wait(reason=f"another sweep works on attempt {attempt.number}")
    if held is not None and held.holder == tick.sweep:
        return None
    taken = replace(attempt, lease=lease(policy.recovery, tick), updated=tick.now)
    reason = "took over the attempt" if held else "took the attempt"
    return WriteAttempt(reason=reason, record=taken, generation=newest.generation)


def _let_go(newest: Recorded, why: str, tick: Tick) -> Step:
    """Leave the rest to a later sweep: nobody waits for a lease that nobody needs."""
    held = newest.attempt.lease
    if held is None or held.holder != tick.sweep:
        return Wait(reason=why)
    free = replace(newest.attempt, lease=None, updated=tick.now)
    return WriteAttempt(reason=why, record=free, generation=newest.generation)


def _send(
    facts: JobFacts, newest: Recorded, tried: Try, group: SliceGroup, *, policy: Policy, tick: Tick
) -> Step:
    """Under the lease: the next part, the group's ID, or its VMs."""
    if group.name not in facts.groups:
        return LookAtGroup(zone=tried.place, group=group.name, group_id=group.id)
    seen = facts.groups[group.name]
    if group.id:
        return _fill(facts, newest, seen, policy, tick) if seen else gone(facts, newest, group, policy, tick)
    if seen is None:
        return _make(facts, newest, tried, group, policy=policy, tick=tick)
    if slice_groups.is_anothers(tried, group, seen):
        return refuse(newest, f"alreadyExists: another group has the name {group.name}", tick)
    known = replace(tried, group=replace(group, id=seen.id))
    record = replace(newest.attempt, tries=(*newest.attempt.tries[:-1], known), updated=tick.now)
    return WriteAttempt(
        reason=f"its group {group.name} is {seen.id}", record=record, generation=newest.generation
    )


def _make(
    facts: JobFacts, newest: Recorded, tried: Try, group: SliceGroup, *, policy: Policy, tick: Tick
) -> Step:
    attempt, launch = newest.attempt, facts.launch
    if not isinstance(launch, Launch) or launch.slice is None or launch.place != tried.place:
        return refuse(newest, "notFound: the create script doesn't make this slice any more", tick)
    if slice_groups.deleted_by(facts, group.name):
        return gone(facts, newest, group, policy, tick)
    late = tick.now - tried.at > MADE_WITHIN
    if facts.unmade:
        return refuse(newest, facts.unmade, tick) if late else _let_go(newest, facts.unmade, tick)
    left = time_left(facts, attempt.lost or tick.now)
    for part, request in parts_of(launch.slice, group, attempt, left).items():
        if part not in facts.parts:
            # A policy or template may have been deleted since the last sweep: each one asks anew for them.
            key = part if part == GROUP else f"{part}/{tick.sweep}"
            return MakePart(
                reason=f"the {part} of attempt {attempt.number} in {tried.place}",
                job=attempt.job,
                attempt=attempt.number,
                generation=newest.generation,
                part=part,
                request=request,
                request_id=str(uuid5(NAMESPACE, f"{tried.request_id}/{key}")),
                before=until(attempt),
            )
    why = f"the group {group.name} isn't there yet"
    return refuse(newest, f"notFound: {why}", tick) if late else _let_go(newest, why, tick)


def _fill(facts: JobFacts, newest: Recorded, seen: SeenGroup, policy: Policy, tick: Tick) -> Step:
    attempt, tried = newest.attempt, newest.attempt.tries[-1]
    if seen.members:
        return _noted(newest, FILLED, tick)
    if facts.unmade:
        return refuse(newest, facts.unmade, tick)
    if slice_groups.deleted_by(facts, seen.name):
        return gone(facts, newest, SliceGroup(name=seen.name, id=seen.id), policy, tick)
    return FillGroup(
        reason=f"attempt {attempt.number} in {tried.place}",
        job=attempt.job,
        attempt=attempt.number,
        generation=newest.generation,
        zone=tried.place,
        group=seen.name,
        group_id=seen.id,
        nodes=facts.launch.nodes if isinstance(facts.launch, Launch) else (),
        request_id=tried.request_id,
        before=until(attempt),
    )
