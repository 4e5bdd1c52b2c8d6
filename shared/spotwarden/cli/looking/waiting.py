"""Whom a job waits for that stays where it is, and whose names are taken there."""

from collections.abc import Sequence

from msgspec.structs import replace

from spotwarden.cli.context import Context
from spotwarden.cli.launching.started import holders, waits_for_name
from spotwarden.create_script.request.stored import with_launch
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Launch
from spotwarden.recovery.observed.identity import fits


def held(context: Context, facts: JobFacts, instances: Sequence[Instance]) -> tuple[str, ...]:
    """Each VM that has a name of the job, and whose it is; nothing where one of its places is free."""
    newest = facts.newest
    if newest is None or not waits_for_name(newest):
        return ()
    launch = with_launch(facts, context.settings.project, context.agreed().recovery.gcloud_version).launch
    if not isinstance(launch, Launch) or not (launch.fixed or facts.file.places == ()):
        return ()
    named = [vm for vm in instances if vm.name in launch.nodes]
    if not all(any(fits(vm.zone, choice.place) for vm in named) for choice in launch.choices):
        return ()
    own = {vm_id for recorded in facts.ledger for vm_id in recorded.attempt.instances.values()}
    mine, others = (tuple(vm for vm in named if (vm.id in own) is is_own) for is_own in (True, False))
    return holders(replace(facts, instances=mine, namesakes=others), newest, launch)
