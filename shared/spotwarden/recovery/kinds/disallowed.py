"""What of a job the rule `compliance` would stop, as its owner is told before it is launched.

What its owner asks for is refused. What only the policy asks for, and a deadline, is left out, and told.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import region_of
from spotwarden.model.rule_limits import ComplianceLimits
from spotwarden.recovery.kinds.becoming import Asker, wishes
from spotwarden.recovery.kinds.complying import stopped_kind, stopped_machine, stopped_region

_WRITTEN = {Asker.LADDER: "ladder", Asker.AFTER: "on_demand_after"}
"""Where its owner has asked for a kind of VM besides the script's."""


def refused(launch: Launch, file: JobFile, limits: PlacementLimits, held: ComplianceLimits) -> list[str]:
    """Every reason why a job can't be launched so, each once."""
    facts = JobFacts(job=launch.job, launch=launch, file=file)
    machine = stopped_machine(launch.machine, held)
    reasons = (*_kinds_refused(facts, limits, held), *_regions_refused(launch, file, held))
    return [*dict.fromkeys((machine, *reasons) if machine else reasons)]


def left_out(launch: Launch, file: JobFile, limits: PlacementLimits, held: ComplianceLimits) -> list[str]:
    """What the job is launched without, a sentence each without its full stop."""
    facts = JobFacts(job=launch.job, launch=launch, file=file)
    return [*_kinds_told(facts, limits, held), *_regions_told(launch, file, limits, held)]


def _kinds_refused(facts: JobFacts, limits: PlacementLimits, held: ComplianceLimits) -> Iterator[str]:
    for model, asker in wishes(facts, limits):
        if asker in _WRITTEN and (why := stopped_kind(model, held)):
            yield f"`{_WRITTEN[asker]}` of job.toml: {why}"
    # Without what is left out of a ladder of the policy, the script's own kind may be all that is left.
    stopped = frozenset(model for model in VmModel if stopped_kind(model.google, held))
    for model, asker in wishes(replace(facts, stopped=stopped), limits):
        if asker is Asker.SCRIPT and (why := stopped_kind(model, held)):
            yield why


def _regions_refused(launch: Launch, file: JobFile, held: ComplianceLimits) -> Iterator[str]:
    if why := stopped_region(region_of(launch.place), held):
        yield why
    for place in file.places or ():
        if why := stopped_region(region_of(place), held):
            yield f"`places` of job.toml: {why}"


def _kinds_told(facts: JobFacts, limits: PlacementLimits, held: ComplianceLimits) -> Iterator[str]:
    for model, asker in wishes(facts, limits):
        if asker not in {*_WRITTEN, Asker.SCRIPT} and stopped_kind(model, held):
            allowed = ", ".join(held.provisioning)
            yield f"{asker.value} asks for {model}, which is left out: compliance allows only {allowed}"


def _regions_told(
    launch: Launch, file: JobFile, limits: PlacementLimits, held: ComplianceLimits
) -> Iterator[str]:
    if launch.fixed or file.places is not None or not limits.move:
        return
    out = [region for region in limits.regions if stopped_region(region, held)]
    if out:
        allowed = ", ".join(held.regions)
        yield f"the job does not move to {', '.join(out)}: compliance allows only {allowed}"
