"""Whether the rule `compliance` would stop what a job may become: asked before anything is sent or recorded.

What its owner asks for is refused. What only the policy asks for, and a deadline, is left out, and told.
"""

from collections.abc import Iterator

import click
from msgspec.structs import replace

from spotwarden.cli.context import Context, new_tick
from spotwarden.model.facts import JobFacts
from spotwarden.model.governance import ComplianceLimits
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import region_of
from spotwarden.recovery.becoming import Asker, wishes
from spotwarden.recovery.complying import acting, stopped_kind, stopped_region

_WRITTEN = {Asker.LADDER: "ladder", Asker.AFTER: "on_demand_after"}
"""Where its owner has asked for a kind of VM besides the script's."""


def check_allowed(context: Context, launch: Launch, file: JobFile, owner: str) -> None:
    """Refuse a kind of VM or a region in which the job would be stopped; tell what is left out.

    Raises:
        UsageError: what of the script or of job.toml, and every reason.
    """
    policy, tick = context.deployed(), new_tick("submit")
    held = acting(launch, policy, tick, owner=file.owner or owner, file=file)
    if held is None:
        return
    facts = JobFacts(job=launch.job, launch=launch, file=file)
    refused = [*_kinds_refused(facts, policy.placement, held), *_regions_refused(launch, file, held)]
    if refused:
        raise click.UsageError(f"can't launch it: {'; '.join(dict.fromkeys(refused))}. Nothing was sent.")
    for line in (
        *_kinds_told(facts, policy.placement, held),
        *_regions_told(launch, file, policy.placement, held),
    ):
        click.echo(line, err=True)


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
