"""A gang is found as one: nothing is done to one of its nodes alone. So is a TPU slice, also its last VM."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from spotwarden.governance.units import all_slices
from spotwarden.model.brief import Brief
from spotwarden.model.case import CaseState
from spotwarden.model.finding import Finding, Reading, Target
from spotwarden.model.fleet import Machine

NEVER = datetime.min.replace(tzinfo=UTC)
Gangs = Mapping[str, Sequence[Machine]]
"""The nodes of each gang, by its job and its attempt."""


def gangs_of(
    machines: Iterable[Machine],
    jobs: Mapping[str, str],
    attempts: Mapping[str, int],
    begun: Collection[str] = (),
) -> Gangs:
    """The nodes of each job that has several in one attempt, or has one left of which a remedy has `begun`.

    The VMs of a TPU slice are one by their group, however many are left.
    `attempts` are those on record, by instance id: of a gang that was refilled node by node, and of one
    whose labels somebody has changed, the labels differ. Only where nothing is on record the label counts.
    Two VMs of one name are no gang: one of them is a namesake, or the other's successor.
    """
    found: dict[str, list[Machine]] = defaultdict(list)
    for machine in machines:
        if job := jobs.get(machine.id):
            attempt = attempts.get(machine.id)
            number = machine.attempt if attempt is None else attempt
            found[f"{job}/{machine.group.id if machine.group else number}"].append(machine)
    return {
        key: nodes
        for key, nodes in found.items()
        if _names(nodes) == len(nodes) and (len(nodes) > 1 or nodes[0].group or job_of(key) in begun)
    }


def begun(brief: Brief, rule: str) -> frozenset[str]:
    """The gangs whose remedy by this rule has begun and may have been cut off between two nodes."""
    return frozenset(
        key
        for (of, key), case in brief.cases.items()
        if of == rule and case.state is CaseState.DUE and len(case.subject.targets) > 1
    )


def _names(nodes: Sequence[Machine]) -> int:
    return len({node.name for node in nodes})


def found_as_one(findings: Sequence[Finding], found: Gangs, verb: str) -> Iterator[Finding]:
    """The findings with one for each gang; none where there is none about one of its nodes."""
    by_id = {finding.subject.key: finding for finding in findings}
    nodes = {node.id for members in found.values() for node in members}
    yield from (finding for finding in findings if finding.subject.key not in nodes)
    for key, members in found.items():
        mine = [by_id[node.id] for node in members if node.id in by_id]
        if len(mine) == len(members):
            yield _merged(job_of(key), mine, verb)


def _merged(job: str, mine: Sequence[Finding], verb: str) -> Finding:
    """One finding about all nodes: unknown where that of one is, and no older than the newest of them."""
    unknown = [finding for finding in mine if finding.reading is Reading.UNKNOWN]
    last = unknown[0] if unknown else max(mine, key=lambda finding: finding.since or NEVER)
    targets = tuple(target for finding in mine for target in finding.subject.targets)
    return replace(
        last,
        subject=replace(last.subject, key=job, targets=targets),
        reason=last.reason if unknown else f"{_together(job, targets, verb)}. {last.reason}",
        evidence={**last.evidence, "nodes": str(len(mine))},
        level=min(finding.level for finding in mine),
        ripe=all(finding.ripe for finding in mine),
        due=max((finding.due for finding in mine if finding.due is not None), default=None),
        exempt=next((finding.exempt for finding in mine if finding.exempt), ""),
    )


def _together(job: str, targets: Sequence[Target], verb: str) -> str:
    count = len(targets)
    if all_slices(targets):
        return f"{count} VMs of the TPU slice {job} {verb} together" if count > 1 else _rest(job)
    cut_off = f"The remedy for {job} was interrupted, and 1 node of it is left"
    return f"{count} nodes of {job} {verb} together" if count > 1 else cut_off


def _rest(job: str) -> str:
    return f"1 VM of the TPU slice {job} is left"


def job_of(key: str) -> str:
    """The job of a gang."""
    return key.rpartition("/")[0]
