"""The ids of a job's instances, as its metadata has them: written once, before a record names them."""

from collections.abc import Iterator, Mapping

from spotwarden.model.action import RegisterInstance
from spotwarden.model.facts import JobFacts


def registration(facts: JobFacts, node: str, instance_id: str, reason: str) -> RegisterInstance:
    """The write of an instance's id, over what the job's metadata has of this node."""
    return RegisterInstance(
        reason=reason,
        job=facts.job,
        node=node,
        instance_id=instance_id,
        generation=facts.registered_at.get(node, 0),
    )


def unregistered(facts: JobFacts, ids: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Those of these instances, by node, that neither this sweep nor anybody before has registered."""
    for node, instance_id in ids.items():
        if node not in facts.registered and facts.registrations.get(node) != instance_id:
            yield node, instance_id
