"""The notices of a job that waits for room: one each after 30 minutes, 4 hours and a day.

Which of them were sent is on the attempt's record, so that a sweep each minute sends each of them once.
"""

from datetime import timedelta

from msgspec.structs import replace

from spotwarden.model.action import Step, Tell, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState, Recorded
from spotwarden.model.facts import JobFacts
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.kinds.flexible import is_flexible, pending, waiting
from spotwarden.recovery.kinds.price_limits import kept_away
from spotwarden.recovery.requests.refusals import RefusalKind, refusal
from spotwarden.recovery.telling import delay_notices

STAGES = (timedelta(minutes=30), timedelta(hours=4), timedelta(days=1))
NO_ROOM = frozenset(
    (RefusalKind.STOCKOUT, RefusalKind.QUOTA, RefusalKind.NOT_OFFERED, RefusalKind.NAME_TAKEN)
)
"""What is told of once it lasts: that a name is taken, too, such as that of a disk, which no list shows."""


def tell_of_wait(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step | None:
    """Tell the owner how long it has waited, then write down that they were told; None where nothing is due.

    After a gap in our own sweeps only the newest is told. Who holds the lease is left alone.
    """
    attempt = newest.attempt
    if not is_due(attempt, tick) or not _waits_for_room(facts, attempt, policy, tick):
        return None
    stage = _stage(attempt, tick)
    notice = delay_notices.waits_for_room(facts, attempt, STAGES[stage - 1], policy, tick)
    if notice.id not in facts.told:
        return Tell(reason=notice.what, notice=notice)
    told = replace(attempt, waits_told=stage, updated=tick.now)
    return WriteAttempt(
        reason="its owner was told that it waits for capacity", record=told, generation=newest.generation
    )


def tell_if_pending(facts: JobFacts, policy: Policy, tick: Tick) -> Step | None:
    """Tell of the wait of a VM that its developer launched and that has no room yet; None where none is due.

    Such an attempt is on record as running from when its VM was seen.
    """
    newest = facts.ledger[-1] if facts.ledger else None
    if newest is None or newest.attempt.state is not AttemptState.RUNNING:
        return None
    return tell_of_wait(facts, newest, policy, tick)


def is_due(attempt: Attempt, tick: Tick) -> bool:
    """Whether its owner would be told of a wait now, if it waits."""
    lease = attempt.lease
    held = lease is not None and lease.holder != tick.sweep and lease.until > tick.now
    return _stage(attempt, tick) > attempt.waits_told and not held


def _stage(attempt: Attempt, tick: Tick) -> int:
    return sum(tick.now - attempt.created >= after for after in STAGES)


def _waits_for_room(facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick) -> bool:
    """Whether room is missing, or a lower price: a place said so last, or a Flex-start VM is in line.

    One of which the lists don't show that it is PENDING may have room by now.
    """
    if attempt.state is AttemptState.RUNNING:
        return attempt.seen and is_flexible(facts) and waiting(facts.instances, attempt.wanted.values())
    if not attempt.tries:
        return bool(kept_away(facts, policy.placement, tick.now - attempt.created))
    asked = attempt.state is AttemptState.PLACING and not attempt.tries[-1].error
    if asked and is_flexible(facts):
        # The group of a slice has no VM until there is room for all of them.
        group = attempt.in_line and attempt.tries[-1].group is not None
        return group or bool(pending(facts, attempt))
    refused = [tried for tried in attempt.tries if tried.error]
    return not attempt.in_line and bool(refused) and refusal(refused[-1].error) in NO_ROOM
