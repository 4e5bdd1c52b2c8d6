"""What comes of a slice's request: all of its VMs, or a refusal, or a person's word that ends it."""

from datetime import timedelta

from msgspec.structs import replace

from spotwarden.model.action import Step, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, Recorded
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Status
from spotwarden.model.launch import Launch
from spotwarden.model.policy import Policy
from spotwarden.model.slice_action import LookAtGroup
from spotwarden.model.slices import GroupMember, SeenGroup, SliceGroup
from spotwarden.model.tick import Tick
from spotwarden.recovery.instances.removal import removed, why_removed
from spotwarden.recovery.kinds.flexible import is_flexible
from spotwarden.recovery.observed.fates import GOING, KEPT, cause_of
from spotwarden.recovery.requests.slice_groups import deleted_by, is_removal, newest_group
from spotwarden.recovery.steps import asking
from spotwarden.recovery.steps.ending import stop
from spotwarden.recovery.steps.finishing import finish
from spotwarden.recovery.steps.request_outcome import survey
from spotwarden.recovery.telling.waits import tell_of_wait

COMES_WITHIN = timedelta(minutes=30)
"""How long the VMs of a slice may take to start where nothing says what they wait for."""
WAITS_AT_MOST = timedelta(hours=2)
"""The longest that a request for Flex-start VMs is valid ("About Flex-start VMs")."""


def refuse(newest: Recorded, error: str, tick: Tick) -> WriteAttempt:
    """Write down that the try has failed, and let go: what it has made is cleared away by that record."""
    failed = replace(
        asking.noted(newest.attempt, tick, error=error), lease=None, not_before=None, updated=tick.now
    )
    return WriteAttempt(reason=error, record=failed, generation=newest.generation)


def is_under_way(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """See to a group that was filled: finish with its VMs, wait for them, or refuse the try."""
    attempt, named = newest.attempt, newest_group(newest.attempt)
    if named is None:
        raise ValueError(f"attempt {attempt.number} of {attempt.job} is no slice")
    tried, group = named
    if group.name not in facts.groups:
        return LookAtGroup(zone=tried.place, group=group.name, group_id=group.id)
    seen = facts.groups[group.name]
    if seen is None or deleted_by(facts, group.name):
        return gone(facts, newest, group, policy, tick)
    if not facts.surveyed:
        # Who has removed a VM of it, and what befell one, is in the log only.
        return survey(facts, attempt)
    if removed(facts, attempt):
        return stop(facts, newest, why_removed(facts, newest.attempt), tick)
    if _runs(facts, seen):
        return finish(facts, newest, seen.ids, tick)
    return _refusal(facts, newest, seen, policy, tick) or _wait(facts, newest, policy, tick)


def _runs(facts: JobFacts, seen: SeenGroup) -> bool:
    nodes = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    running = {member.name for member in seen.members if member.id and member.status is Status.RUNNING}
    return bool(nodes) and set(nodes) == running


def _refusal(facts: JobFacts, newest: Recorded, seen: SeenGroup, policy: Policy, tick: Tick) -> Step | None:
    """Why the slice cannot become whole any more; None where it may."""
    waited = tick.now - newest.attempt.tries[-1].at
    if seen.error and (not is_flexible(facts) or waited >= WAITS_AT_MOST):
        return refuse(newest, seen.error, tick)
    lost = [member.name for member in seen.members if _is_lost(facts, member)]
    if lost and (_is_told(facts, lost) or waited >= policy.recovery.log_delay):
        return refuse(newest, f"incomplete: {', '.join(lost)} went before the slice was whole", tick)
    if not lost and waited >= COMES_WITHIN and not is_flexible(facts):
        return refuse(newest, f"incomplete: it isn't whole after {COMES_WITHIN.seconds // 60} minutes", tick)
    return None


def _is_lost(facts: JobFacts, member: GroupMember) -> bool:
    """Whether a VM was there, and is going or gone; one that is still to be made was never in the log."""
    made = any(node.node == member.name for node in facts.tried)
    return member.status in GOING | KEPT or (not member.id and made)


def _is_told(facts: JobFacts, names: list[str]) -> bool:
    """Whether the log says what befell all of them: a person's word would be heard by then."""
    known = {node.node for node in facts.tried if cause_of(node)}
    return known.issuperset(names)


def _wait(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    where = newest.attempt.tries[-1].place
    if is_flexible(facts):
        waits = Wait(reason=f"the slice waits for capacity in {where} (Flex-start)", soon=False)
        return tell_of_wait(facts, newest, policy, tick) or waits
    return Wait(reason=f"Compute Engine is still creating the slice in {where}")


def gone(facts: JobFacts, newest: Recorded, group: SliceGroup, policy: Policy, tick: Tick) -> Step:
    """End a job whose group a person, or a rule, has deleted, once the log tells of it."""
    attempt = newest.attempt
    if not facts.surveyed:
        return survey(facts, attempt)
    if removed(facts, attempt):
        return stop(facts, newest, why_removed(facts, newest.attempt), tick)
    by = deleted_by(facts, group.name)
    if by is not None and not is_removal(facts, by.request_id):
        return stop(facts, newest, f"{by.user or 'somebody'} deleted its group {group.name}", tick)
    if by is None and (step := _unheard(newest, attempt, policy, tick)):
        return step
    return refuse(newest, f"incomplete: its group {group.name} is gone", tick)


def _unheard(newest: Recorded, attempt: Attempt, policy: Policy, tick: Tick) -> Step | None:
    """Wait for the log, for as long as it may lag; None once that is over."""
    if attempt.not_before is not None and attempt.not_before <= tick.now:
        return None
    why = "the operation log doesn't show yet who deleted its group"
    if attempt.not_before is not None and attempt.lease is None:
        return Wait(reason=why, soon=False)
    since = attempt.not_before or tick.now + policy.recovery.log_delay
    heard = replace(attempt, not_before=since, lease=None, updated=tick.now)
    return WriteAttempt(reason=why, record=heard, generation=newest.generation)
