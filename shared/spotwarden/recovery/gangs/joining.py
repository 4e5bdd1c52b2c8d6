"""What was refilled joins its gang once it is set up: registered first, then named by the next record."""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.model.action import RegisterInstance, Step, Wait
from spotwarden.model.attempt import Attempt, Try, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.folder.registering import registration, unregistered
from spotwarden.recovery.gangs.membership import members, survey, tell_and_write
from spotwarden.recovery.instances.elastic import is_ready, refilled
from spotwarden.recovery.observed.parting import told_ids


def to_join(facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick) -> dict[str, Instance]:
    """What was refilled and may join: not what is told of its end before it has."""
    gone = told_ids(facts, policy.recovery, tick)
    return {node: instance for node, instance in refilled(facts, attempt).items() if instance.id not in gone}


def let_join(facts: JobFacts, attempt: Attempt, left: Mapping[str, str], policy: Policy, tick: Tick) -> Step:
    """Let join what is ready, all at once: each change of its members interrupts the gang."""
    there = to_join(facts, attempt, policy, tick)
    if not there:
        return Wait(reason="what was refilled will be preempted, and doesn't join", soon=False)
    if unready := [node for node, instance in there.items() if not is_ready(facts, instance, tick.now)]:
        return Wait(reason=f"{', '.join(unready)} boots, and joins when it is set up")
    return _join(facts, attempt, left, {node: instance.id for node, instance in there.items()}, tick)


def _join(
    facts: JobFacts, attempt: Attempt, left: Mapping[str, str], new: Mapping[str, str], tick: Tick
) -> Step:
    """Register what is new, then write the record that names it."""
    if not facts.surveyed:
        return survey(facts, attempt)
    if step := register(facts, new):
        return step
    changed = replace(
        members(facts, attempt, {**left, **new}, tick),
        reason=f"{', '.join(new)} joined: {len(left) + len(new)} nodes go on",
        lacking={node: lacking for node, lacking in attempt.lacking.items() if node not in new},
        tries=tuple(_answered(tried) for tried in attempt.tries[-1:]),
    )
    return tell_and_write(facts, changed, tick)


def register(facts: JobFacts, ids: Mapping[str, str]) -> RegisterInstance | None:
    """Register the first of these instances that is not yet: ids before a record names them."""
    for node, instance_id in unregistered(facts, ids):
        return registration(facts, node, instance_id, f"{node} is instance {instance_id}")
    return None


def _answered(tried: Try) -> Try:
    """A refill that gave what it could is how its place came to have the gang."""
    return replace(tried, kind=TryKind.CREATE, nodes=())
