"""Flex-start VMs: there before they have room, PENDING, and ended by Compute Engine at their time limit.

Sources: "About Flex-start VMs", "Compute Engine instance lifecycle", "Limit the run time of a VM".
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch

SHORTEST_FLEXIBLE_RUN = timedelta(minutes=10)
"""The least that `maxRunDuration` of a Flex-start VM takes."""
LONGEST_WAIT = timedelta(hours=2)
"""Of `requestValidForDuration`."""
EARLY, LATE = timedelta(minutes=1), timedelta(minutes=5)
"""How far from its moment a request may expire: half of what a VM runs for at least that had room."""


def is_flexible(facts: JobFacts) -> bool:
    """Whether the newest attempt asks, or asked, for Flex-start VMs: by its ladder, else by the script."""
    tries = facts.newest.tries if facts.newest else ()
    if tries and tries[-1].model is not None:
        return tries[-1].model is VmModel.FLEX
    return isinstance(facts.launch, Launch) and facts.launch.flexible


def pending(facts: JobFacts, attempt: Attempt) -> tuple[Instance, ...]:
    """What the newest try has made and the lists show without room yet.

    The operation says whose it is where the lists don't tell yet.
    """
    asked = (attempt.job, attempt.number, attempt.tries[-1].turn if attempt.tries else 0)
    named = facts.operation.target_id if facts.operation else ""
    return tuple(
        instance
        for instance in (*facts.instances, *facts.namesakes)
        if instance.status is Status.PENDING
        and (instance.id == named or (instance.job, instance.attempt, instance.turn) == asked)
    )


def waiting(instances: Iterable[Instance], ids: Iterable[str]) -> bool:
    """Whether any of these instances is there, and has no room yet."""
    wanted = set(ids)
    return any(instance.status is Status.PENDING and instance.id in wanted for instance in instances)


def expired_in_line(facts: JobFacts, asked: datetime | None, gone: datetime | None) -> bool:
    """Whether what Compute Engine removed then went with its request, as far as the moments tell.

    At any other moment than that at which its request expires it had room, and came to its time limit.
    """
    if asked is None or gone is None or not isinstance(facts.launch, Launch):
        return True
    said = facts.launch.request.body.get("params", {}).get("requestValidForDuration", {}).get("seconds")
    expires = asked + (timedelta(seconds=int(said)) if said else LONGEST_WAIT)
    return expires - EARLY <= gone <= expires + LATE
