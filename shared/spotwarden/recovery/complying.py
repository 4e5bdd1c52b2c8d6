"""Machine types for which the rule `compliance` would stop a job's VM: it is not launched on one of them.

What a script asks for itself comes back as it is: its owner is warned before it is stopped.
"""

from collections.abc import Mapping
from typing import cast

from msgspec.structs import replace

from spotwarden.model.exemptions import exempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.governance import ComplianceLimits, Mode, Remedy
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.model.patterns import allows
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import limits
from spotwarden.model.tick import Tick
from spotwarden.model.values import written

RULE = ComplianceLimits.RULE


def comply(facts: JobFacts, policy: Policy, tick: Tick) -> JobFacts:
    """The facts, without the other machine types on which the job's VMs would be stopped."""
    launch = facts.launch
    if not isinstance(launch, Launch) or not launch.instead:
        return facts
    kept = tuple(
        other
        for other in launch.instead
        if not forbidden(other.machine, launch, policy, tick, owner=facts.owner, file=facts.file)
    )
    return replace(facts, launch=replace(launch, instead=kept))


def forbidden(machine: str, launch: Launch, policy: Policy, tick: Tick, *, owner: str, file: JobFile) -> str:
    """Why a VM of this machine type, launched so, would be stopped; "" where it would not be."""
    held = cast("ComplianceLimits", limits(policy, RULE, owner=owner, job_file=file))
    if not machine or allows(held.machine_types, machine):
        return ""
    acts = policy.mode is held.mode is Mode.ENFORCE and held.remedy is Remedy.STOP
    if not acts or exempt(policy, RULE, tick, labels=_labels(launch), owner=owner, job_file=file):
        return ""
    allowed, grace = ", ".join(held.machine_types), written(held.grace)
    return (
        f"the machine type {machine!r} is not among {allowed}; VMs of other types are stopped {grace} after"
        " a warning (compliance.machine_types)"
    )


def _labels(launch: Launch) -> Mapping[str, str]:
    """The labels that the script gives its VMs: one of them may exempt them."""
    body = launch.request.body
    labels: Mapping[str, str] = body.get("instanceProperties", body).get("labels", {})
    return labels
