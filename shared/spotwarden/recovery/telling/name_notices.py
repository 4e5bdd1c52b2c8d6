"""What a job's owner is told where another VM has the name of one of the job's own."""

from collections.abc import Sequence

from msgspec.structs import replace

from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Launch
from spotwarden.model.notice import Notice, Severity
from spotwarden.model.tick import Tick
from spotwarden.recovery.observed.identity import fits


def node_name_taken(facts: JobFacts, others: Sequence[Instance], tick: Tick) -> Notice:
    """Say that another VM has the name of a node that a gang goes on without."""
    nodes = ", ".join(sorted({instance.name for instance in others}))
    then = f"the job continues without {nodes} until the name is free. Spotwarden never stops or deletes the"
    return replace(name_taken(facts, others, tick), then=f"{then} other VM.")


def name_taken(facts: JobFacts, others: Sequence[Instance], tick: Tick) -> Notice:
    """Say that another VM has the name of one of the job's VMs, where the job might be launched."""
    named = ", ".join(f"{namesake.called} in {namesake.zone} (id {namesake.id})" for namesake in others)
    nodes = ", ".join(sorted({instance.name for instance in others}))
    return Notice(
        id=f"name-taken/{facts.job}/{'+'.join(sorted(other.id for other in others))}",
        kind="name_taken",
        severity=Severity.WARNING,
        job=facts.job,
        at=tick.now,
        what=f"Another VM has the name of {facts.job}'s VM {nodes}",
        why=f"{named} isn't on record, and neither the job nor its stored script created it",
        then=f"Spotwarden launches the job {_where_else(facts, others)}. It never stops or deletes the other"
        " VM.",
        todo="if the VM belongs to the job, write its ID to"
        f" {facts.job}/metadata/{others[0].name}-instance-id."
        " Otherwise, rename the VM",
        owner=facts.owner,
        evidence={item.name: item.id for item in others},
    )


def _where_else(facts: JobFacts, others: Sequence[Instance]) -> str:
    """Where or when a job is launched whose name others have where it might be."""
    zones = {other.zone for other in others}
    choices = facts.launch.choices if isinstance(facts.launch, Launch) else ()
    free = any(not any(fits(zone, choice.place) for zone in zones) for choice in choices)
    return "in another zone" if free else "once the name is free"
