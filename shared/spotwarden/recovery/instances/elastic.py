"""A gang that bends: which of its nodes run, how many are enough, and whom it wants besides.

Pure: from facts to answers. `recovery.gangs.bending` makes steps of them.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.model.attempt import Attempt, LackingNode, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Choice, Launch
from spotwarden.recovery.observed.fates import alive
from spotwarden.recovery.requests.launching import for_nodes
from spotwarden.recovery.requests.refusals import lacks_notice

SET_UP_WITHIN = timedelta(minutes=10)
"""How long the others train on while a refilled VM boots, downloads and installs."""


def least_of(facts: JobFacts) -> int:
    """How many nodes of the job are enough; 0 for one that needs all, or has one."""
    if not isinstance(facts.launch, Launch) or not facts.launch.gang:
        return 0
    wanted = replace(facts.launch, nodes=(*facts.launch.nodes, *_removed(facts)))
    return 0 if range_problem(wanted, facts.file) else facts.file.fewest_nodes


def range_problem(launch: Launch, file: JobFile) -> str:
    """Why this launch cannot bend as its job.toml wants it; "" where it can, or need not."""
    if not file.nodes:
        return ""
    said = f"nodes = {file.nodes!r} in job.toml"
    if launch.slice is not None:
        return f"{said} doesn't fit a TPU slice, which needs all of its VMs; remove it"
    if not launch.gang:
        return f"{said} needs a script with `gcloud compute instances bulk create`"
    if file.most_nodes != len(launch.nodes):
        return f"{said} wants {file.most_nodes} nodes, and the script creates {len(launch.nodes)}"
    if launch.part:
        return f"{said} takes the place of --min-count; remove that from the script"
    if "/regions/" in launch.request.path:
        return f"{said} needs --zone in the script: missing nodes are requested beside the others"
    if "metadata" not in launch.request.body.get("instanceProperties", {}):
        return f"{said} needs the nodes' metadata in the script; a template's can't be added to"
    return ""


def as_wished(facts: JobFacts) -> JobFacts:
    """The facts with a launch of what the gang still wants: none of the nodes that somebody has removed."""
    removed = _removed(facts)
    if not removed or not isinstance(facts.launch, Launch) or facts.launch.nodes == (facts.job,):
        return facts
    if facts.file.most_nodes != len(facts.launch.nodes) or facts.launch.slice is not None:
        return facts
    nodes = tuple(node for node in facts.launch.nodes if node not in removed)
    if len(nodes) < facts.file.fewest_nodes:
        return facts
    instead = tuple(_of_nodes(launch, nodes) for launch in facts.launch.instead)
    return replace(facts, launch=replace(_of_nodes(facts.launch, nodes), instead=instead))


def _of_nodes(launch: Launch, nodes: tuple[str, ...]) -> Launch:
    choices = tuple(
        Choice(place=choice.place, request=for_nodes(choice.request, nodes, len(nodes)))
        for choice in launch.choices
    )
    return replace(launch, nodes=nodes, choices=choices)


def _removed(facts: JobFacts) -> Collection[str]:
    """The nodes that a gang that bends no longer wants."""
    newest = facts.newest
    return newest.removed.keys() if newest and facts.file.nodes and not newest.closed else ()


def living(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """The instances of the attempt that run, or are about to, by node, in its order."""
    running = {instance.id for instance in facts.instances if alive(instance)}
    return {node: name for node, name in attempt.instances.items() if name in running}


def home_of(facts: JobFacts, ids: Collection[str]) -> str:
    """The zone in which most of these instances are; "" where none is shown."""
    zones = Counter(instance.zone for instance in facts.instances if instance.id in ids)
    return min(zones, key=lambda zone: (-zones[zone], zone), default="")


def is_ready(facts: JobFacts, instance: Instance, now: datetime) -> bool:
    """Whether it says that it has been set up; it is not waited for without end."""
    if instance.id in facts.waiting:
        return True
    return instance.started is None or now - instance.started >= SET_UP_WITHIN


def refilled(facts: JobFacts, attempt: Attempt) -> dict[str, Instance]:
    """Instances of the job's own that run under the name of a node that lacks, and that no record has."""
    known = {
        name
        for recorded in facts.ledger
        for ids in (recorded.attempt.instances, recorded.attempt.replaces)
        for name in ids.values()
    }
    return {
        instance.name: instance
        for instance in facts.instances
        if instance.name in attempt.lacking
        and instance.id not in known
        and instance.job == facts.job
        and instance.status is Status.RUNNING
    }


def in_order(facts: JobFacts, ids: Mapping[str, str]) -> dict[str, str]:
    """Instances by node, in the order of the nodes: the first one of them leads the others."""
    names = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    places = {node: place for place, node in enumerate(names)}
    return dict(sorted(ids.items(), key=lambda item: (places.get(item[0], len(places)), item[0])))


def lacking_of(facts: JobFacts, ids: Collection[str], now: datetime) -> dict[str, LackingNode]:
    """What a gang that was made in part still lacks: nothing of these nodes was ever there."""
    names = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    return {node: LackingNode(since=now) for node in names if node not in ids}


def refill_due(attempt: Attempt, block: timedelta) -> datetime | None:
    """When missing nodes are requested again, after a refusal; None where nothing has to be waited for.

    What was refused for its notice is asked for without at once; not where the request was sent again, since
    the first one may have been carried out.
    """
    last = attempt.tries[-1] if attempt.tries else None
    if last is None or last.kind is not TryKind.REFILL or not last.error:
        return None
    repeated = not last.operation and last.at != last.refused
    return None if lacks_notice(last) and not repeated else last.last_word + block
