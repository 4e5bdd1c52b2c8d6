"""What an attempt may be asked for at all: places that may still give it, or a start of its stopped VM."""

from collections.abc import Sequence

import msgspec

from spotwarden.model.attempt import Attempt, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.policy import Policy
from spotwarden.recovery.kinds.ladder import ladder_of
from spotwarden.recovery.kinds.machines import launches, said
from spotwarden.recovery.observed.fates import KEPT, STARTABLE
from spotwarden.recovery.requests.clearing import stood_in_for
from spotwarden.recovery.requests.refusals import LASTING, lacks_notice, refusal
from spotwarden.recovery.requests.second_name import may_be_beside, second_name


class MadeAs(msgspec.Struct, frozen=True, kw_only=True):
    """What a VM was asked for as: the kind that a ladder named, and the machine type, as a try names them.

    `least` is how many nodes of a gang that bends were enough.
    """

    model: VmModel | None = None
    machine: str = ""
    least: int = 0


OWN = MadeAs()
"""As the script says."""


def kept_instance(facts: JobFacts, attempt: Attempt) -> Instance | None:
    """The stopped instance that this attempt can start again in place: a gang is always made anew."""
    if isinstance(facts.launch, Launch) and facts.launch.gang:
        return None
    kept = [
        instance
        for instance in facts.instances
        if stood_in_for(instance, attempt) and instance.status in STARTABLE
    ]
    return kept[0] if len(kept) == 1 and len(attempt.replaces) == 1 else None


def usable(facts: JobFacts, attempt: Attempt, model: VmModel | None = None) -> dict[str, list[str]]:
    """The places that may give something to this attempt, by machine type, home first.

    Where another instance holds one of the names, that zone cannot; nor can one that said so for good.
    """
    held = held_zones(facts, attempt)
    found = {
        said(facts, launch): [
            choice.place
            for choice in launch.choices
            if (choice.place not in held or free_name(facts, attempt, choice.place) is not None)
            and not _useless(attempt, choice.place, MadeAs(model=model, machine=said(facts, launch)))
        ]
        for launch in launches(facts)
    }
    return {machine: places for machine, places in found.items() if places}


def held_zones(facts: JobFacts, attempt: Attempt) -> set[str]:
    """The zones in which another instance holds a name that the attempt needs."""
    nodes = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    return {
        instance.zone
        for instance in (*facts.instances, *facts.namesakes)
        if instance.name in nodes and (instance.job, instance.attempt) != (attempt.job, attempt.number)
    }


def free_name(facts: JobFacts, attempt: Attempt, zone: str) -> str | None:
    """What the attempt's VM may be called in a zone, as a try names it: "" for its node's; None for none.

    A job that handed over there may have left a VM behind that could not delete itself: it stands still, and
    only its name is in the way. In the way is also what lives, and what the attempt may start again.
    """
    nodes = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    own = [item for item in facts.instances if item.zone == zone and item.name in nodes]
    others = [item for item in facts.namesakes if item.zone == zone and item.name in nodes]
    if others or not own or not may_be_beside(facts):
        return None
    if any(item.status not in KEPT or stood_in_for(item, attempt) for item in own):
        return None
    taken = {item.called for item in own}
    return next((name for name in ("", second_name(nodes[0])) if (name or nodes[0]) not in taken), None)


def hopeless(facts: JobFacts, attempt: Attempt, policy: Policy) -> bool:
    """Whether every place, and a start in place, was refused for good, for each kind of VM of a ladder."""
    if not isinstance(facts.launch, Launch):
        return True
    if kept_instance(facts, attempt) and not useless_start(attempt):
        return False
    ladder = ladder_of(facts, policy.placement)
    models: Sequence[VmModel | None] = [rung.model for rung in ladder] or [None]
    return all(
        _useless(attempt, choice.place, MadeAs(model=model, machine=said(facts, launch)))
        for launch in launches(facts)
        for choice in launch.choices
        for model in models
    )


def _useless(attempt: Attempt, place: str, made: MadeAs) -> bool:
    return any(
        tried.place == place
        and (tried.model, tried.machine) == (made.model, made.machine)
        and tried.kind is TryKind.CREATE
        and tried.error
        and refusal(tried.error) in LASTING
        and not lacks_notice(tried)
        for tried in attempt.tries
    )


def useless_start(attempt: Attempt) -> bool:
    """Whether a start in place was refused for good."""
    return any(
        tried.kind is TryKind.START and tried.error and refusal(tried.error) in LASTING
        for tried in attempt.tries
    )


def starts(attempt: Attempt) -> int:
    """How often a start in place was asked for."""
    return sum(tried.kind is TryKind.START for tried in attempt.tries)
