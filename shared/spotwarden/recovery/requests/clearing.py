"""What must be out of the way before a place is asked: a gang's survivors, and what a failed try left."""

from collections.abc import Sequence

from spotwarden.model.action import DeleteInstance, Step, Wait
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Launch
from spotwarden.recovery.observed.fates import GOING, KEPT, alive
from spotwarden.recovery.requests.launching import delete_id
from spotwarden.recovery.requests.slice_groups import clear_former, is_slice


def in_the_way(facts: JobFacts, attempt: Attempt) -> list[Instance]:
    """Instances that must be gone first: those a gang replaces, and those of this very attempt.

    So are those of any attempt before it, whatever the ledger says of them. Of this attempt it is what its
    newest try left behind, no other: a sweep that was held up may know less of the attempt than Compute
    Engine. A single job's old instance is gone or stopped before it is claimed, and a stopped one is kept:
    it may be started again. With an early claim it still runs, on purpose.
    """
    if not isinstance(facts.launch, Launch) or not facts.launch.gang or attempt.early or is_slice(facts):
        return []
    mine = (attempt.job, attempt.number, attempt.tries[-1].turn if attempt.tries else 0)
    before = [recorded.attempt for recorded in facts.ledger if recorded.attempt.number < attempt.number]
    return [
        instance
        for instance in facts.instances
        if stood_in_for(instance, attempt)
        or (instance.job, instance.attempt, instance.turn) == mine
        or _is_of_any(instance, attempt, before)
    ]


def _is_of_any(instance: Instance, attempt: Attempt, before: Sequence[Attempt]) -> bool:
    """Whether an earlier attempt made it, by its labels, or had it: who launches by hand sets none."""
    labelled = (
        instance.job == attempt.job and instance.attempt is not None and instance.attempt < attempt.number
    )
    unlabelled = instance.job is None
    return labelled or (unlabelled and any(old.instances.get(instance.name) == instance.id for old in before))


def stood_in_for(instance: Instance, attempt: Attempt) -> bool:
    """Whether the attempt replaces this very instance; a marker that names a stranger's id is not enough."""
    return attempt.replaces.get(instance.name) == instance.id and instance.job in {None, attempt.job}


def clear_the_way(facts: JobFacts, attempt: Attempt) -> Step | None:
    """Delete what is in the way, and wait until it is gone; None once nothing is.

    Each delete is addressed to an id, so it is safe for any sweep, as often as it likes. A slice goes as one.
    """
    if step := clear_former(facts, attempt):
        return step
    for instance in in_the_way(facts, attempt):
        if instance.status not in GOING:
            return delete(instance, attempt)
    if going := _going(facts, attempt):
        return Wait(reason=f"{', '.join(item.name for item in going)} must be gone first")
    if facts.unsure and isinstance(facts.launch, Launch) and facts.launch.gang:
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    return None


def _going(facts: JobFacts, attempt: Attempt) -> list[Instance]:
    """Instances that are on their way out: for a single job too, for what claimed it may have seen less."""
    mine = (
        [] if attempt.early else [instance for instance in facts.instances if stood_in_for(instance, attempt)]
    )
    return [item for item in (*mine, *in_the_way(facts, attempt)) if item.status in GOING]


def delete(instance: Instance, attempt: Attempt) -> DeleteInstance:
    """The delete of an instance that stands in the way of an attempt."""
    what = "a survivor of the gang" if alive(instance) else "a stopped node of the gang"
    return DeleteInstance(
        reason=f"{what} goes before attempt {attempt.number} starts",
        job=attempt.job,
        attempt=attempt.number,
        node=instance.name,
        zone=instance.zone,
        instance_id=instance.id,
        request_id=delete_id(attempt.job, attempt.number, instance.id),
        at_rest=instance.status in KEPT,
    )
