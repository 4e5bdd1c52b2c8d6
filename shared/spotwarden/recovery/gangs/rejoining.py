"""A node that its gang goes on without joins again: it was started again, or told of its end and not taken.

Its VM is the one that was a member; whoever starts a stopped VM wants it back.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.model.action import Step
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.tick import Tick
from spotwarden.recovery.gangs.joining import register
from spotwarden.recovery.gangs.membership import members, survey, tell_and_write


def rejoin(facts: JobFacts, attempt: Attempt, left: Mapping[str, str], tick: Tick) -> Step | None:
    """Let join what is back; None where nothing is."""
    back = {node: instance.id for node, instance in returned(facts, attempt).items()}
    if not back:
        return None
    if not facts.surveyed:
        return survey(facts, attempt)
    if step := register(facts, back):
        return step
    changed = replace(
        members(facts, attempt, {**left, **back}, tick),
        reason=f"{', '.join(back)} came back: {len(left) + len(back)} nodes go on",
        lacking={node: lacking for node, lacking in attempt.lacking.items() if node not in back},
        removed={node: removal for node, removal in attempt.removed.items() if node not in back},
    )
    return tell_and_write(facts, changed, tick)


def returned(facts: JobFacts, attempt: Attempt) -> dict[str, Instance]:
    """Former members that run, and have said since they had gone that they wait to join.

    One that was removed was started after that. One that was told of its preemption may not have been taken.
    """
    lost = {lacking.instance_id: (node, lacking.since) for node, lacking in attempt.lacking.items()}
    removed = {removal.instance_id: (node, removal.at) for node, removal in attempt.removed.items()}
    return {
        instance.name: instance
        for instance in facts.instances
        if (said := facts.waiting.get(instance.id))
        and instance.status is Status.RUNNING
        and (was := removed.get(instance.id) or lost.get(instance.id))
        and instance.name == was[0]
        and instance.name not in attempt.instances
        and was[1] is not None
        and instance.started is not None
        and was[1] < (instance.started if instance.id in removed else said)
        and instance.started <= said
    }
