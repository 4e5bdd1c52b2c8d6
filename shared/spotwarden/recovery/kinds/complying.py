"""What the rule `compliance` would stop of all that a job may become: it is not launched as that.

Other machine types, kinds of VM and regions are left out. What a script asks for itself comes back as it is:
its owner is warned before it is stopped.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from spotwarden.model.exemptions import exempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.governance import Mode, Remedy
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.patterns import allows
from spotwarden.model.placement import region_of
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import limits
from spotwarden.model.rule_limits import ComplianceLimits
from spotwarden.model.tick import Tick
from spotwarden.model.values import written

RULE = ComplianceLimits.RULE


def comply(facts: JobFacts, policy: Policy, tick: Tick) -> JobFacts:
    """The facts, without the other machine types and kinds of VM as which the job's VMs would be stopped."""
    launch = facts.launch
    held = _held(facts, policy, tick)
    if held is None or not isinstance(launch, Launch):
        return facts
    kept = tuple(other for other in launch.instead if not stopped_machine(other.machine, held))
    stopped = frozenset(model for model in VmModel if stopped_kind(model.google, held))
    fewer = replace(launch, instead=kept) if len(kept) < len(launch.instead) else launch
    return replace(facts, launch=fewer, stopped=stopped)


def within(facts: JobFacts, policy: Policy, tick: Tick) -> JobFacts:
    """The facts, without the places in whose regions the job's VMs would be stopped; home stays."""
    launch = facts.launch
    held = _held(facts, policy, tick)
    if held is None or not held.regions or not isinstance(launch, Launch):
        return facts
    inside = (_within(other, launch.place, held) for other in launch.instead)
    kept = tuple(other for other in inside if other.choices)
    return replace(facts, launch=replace(_within(launch, launch.place, held), instead=kept))


def acting(
    launch: Launch, policy: Policy, tick: Tick, *, owner: str, file: JobFile
) -> ComplianceLimits | None:
    """The limits that the VMs of such a launch are held to; None where none of them would be stopped."""
    held = cast("ComplianceLimits", limits(policy, RULE, owner=owner, job_file=file))
    acts = policy.mode is held.mode is Mode.ENFORCE and held.remedy is Remedy.STOP
    if not acts or exempt(policy, RULE, tick, labels=_labels(launch), owner=owner, job_file=file):
        return None
    return held


def forbidden(machine: str, launch: Launch, policy: Policy, tick: Tick, *, owner: str, file: JobFile) -> str:
    """Why a VM of this machine type, launched so, would be stopped; "" where it would not be."""
    held = acting(launch, policy, tick, owner=owner, file=file)
    return stopped_machine(machine, held) if held else ""


def stopped_machine(machine: str, held: ComplianceLimits) -> str:
    """Why a VM of this machine type would be stopped; "" where it would not be."""
    words = ("machine type", "of other types", "machine_types")
    return _stopped(words, machine, held.machine_types, held) if machine else ""


def stopped_kind(model: str, held: ComplianceLimits) -> str:
    """Why a VM of this provisioning model would be stopped; "" where it would not be."""
    return _stopped(("provisioning model", "of other models", "provisioning"), model, held.provisioning, held)


def stopped_region(region: str, held: ComplianceLimits) -> str:
    """Why a VM in this region would be stopped; "" where it would not be."""
    return _stopped(("region", "in other regions", "regions"), region, held.regions, held)


def _stopped(words: tuple[str, str, str], said: str, allowed: Sequence[str], held: ComplianceLimits) -> str:
    if allows(allowed, said):
        return ""
    kind, others, field = words
    return (
        f"the {kind} {said!r} is not among {', '.join(allowed)}; VMs {others} are stopped"
        f" {written(held.grace)} after a warning (compliance.{field})"
    )


def _held(facts: JobFacts, policy: Policy, tick: Tick) -> ComplianceLimits | None:
    if policy.mode is not Mode.ENFORCE or not isinstance(facts.launch, Launch):
        return None
    return acting(facts.launch, policy, tick, owner=facts.owner, file=facts.file)


def _within(launch: Launch, home: str, held: ComplianceLimits) -> Launch:
    kept = tuple(
        choice
        for choice in launch.choices
        if choice.place == home or not stopped_region(region_of(choice.place), held)
    )
    return replace(launch, choices=kept)


def _labels(launch: Launch) -> Mapping[str, str]:
    """The labels that the script gives its VMs: one of them may exempt them."""
    labels: Mapping[str, str] = launch.properties.get("labels", {})
    return labels
