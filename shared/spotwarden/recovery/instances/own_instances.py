"""A job's own instances, for whoever acts on one job by its owner's word."""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.create_script.request.stored import with_launch
from spotwarden.engine.context import SweepContext
from spotwarden.model.action import Fetch
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.slice_action import LookAtGroup
from spotwarden.ports import Compute
from spotwarden.recovery.instances.ownership import recorded_ids, sift, unsettled
from spotwarden.recovery.observed.identity import CLOCKS_APART, LOG_KEPT
from spotwarden.recovery.requests.second_name import as_nodes, done_to_nodes, with_second_names


def with_own_instances(context: SweepContext, facts: JobFacts) -> JobFacts:
    """The facts with the instances that are the job's, and its namesakes, as Compute Engine shows them now.

    The operation log is read only where labels need a proof, an instance only where the stored script may
    have made it.
    """
    compute, tick, limits = context.cloud.compute, context.tick, context.policy.recovery
    facts = with_launch(facts, context.settings.project, limits.gcloud_version)
    seen = compute.instances(names=with_second_names(facts, _names(facts)), job=facts.job)
    hidden = f"unreachable: {', '.join(sorted(seen.unreachable))}" if seen.unreachable else ""
    there = as_nodes(facts, seen.items)
    facts = _with_inserts(compute, replace(facts, instances=there, unsure=hidden), context)
    while isinstance(step := unsettled(facts, limits, tick), Fetch | LookAtGroup):
        if isinstance(step, LookAtGroup):
            group = compute.group(step.zone, step.group, step.group_id)
            facts = replace(facts, groups={**facts.groups, step.group: group})
            continue
        found = compute.resource(step.zone, step.instance_id)
        resource = {"instance": found, "disks": {}} if found else None
        facts = replace(facts, fetched={**facts.fetched, step.instance_id: resource})
    own = sift(facts, limits, tick)
    return replace(own, unsure=", ".join(filter(None, (hidden, step.reason)))) if step else own


def _with_inserts(compute: Compute, facts: JobFacts, context: SweepContext) -> JobFacts:
    known, now = recorded_ids(facts), context.tick.now
    labelled = [
        instance for instance in facts.instances if instance.job is not None and instance.id not in known
    ]
    if not labelled:
        return facts
    since = min(item.created or now for item in labelled)
    log = compute.operations(max(min(since, now), now - LOG_KEPT) - CLOCKS_APART)
    return replace(
        facts,
        inserts=done_to_nodes(facts, [item for item in log.items if item.kind in {"insert", "bulkInsert"}]),
    )


def _names(facts: JobFacts) -> set[str]:
    nodes: list[Mapping[str, str]] = [
        of for recorded in facts.ledger for of in (recorded.attempt.instances, recorded.attempt.replaces)
    ]
    script = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    return {facts.job, *script, *facts.registrations, *(name for of in nodes for name in of)}
