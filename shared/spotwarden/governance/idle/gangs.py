"""A gang idles as one: while one of its nodes works none of them idles, and in the end all are acted upon."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.idle.text import RULE
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case
from spotwarden.model.finding import Finding, Reading
from spotwarden.model.fleet import Machine

NEVER = datetime.min.replace(tzinfo=UTC)
Gangs = Mapping[str, Sequence[Machine]]


def gangs(facts: IdleFacts) -> Gangs:
    """The nodes of each job that has several in one attempt, by the job and the attempt's label.

    Two VMs of one name are no gang: one of them is a namesake.
    """
    found: dict[str, list[Machine]] = defaultdict(list)
    for machine in facts.machines:
        if job := facts.jobs.get(machine.id):
            found[f"{job}/{machine.attempt}"].append(machine)
    return {key: nodes for key, nodes in found.items() if _names(nodes) == len(nodes) > 1}


def _names(nodes: Sequence[Machine]) -> int:
    return len({node.name for node in nodes})


def with_cases(brief: Brief, found: Gangs) -> Brief:
    """The brief in which each node of a gang has the gang's case: its idle time goes on from there."""
    cases: dict[tuple[str, str], Case] = {
        (RULE, node.id): case
        for key, nodes in found.items()
        for node in nodes
        if (case := brief.cases.get((RULE, _job(key)))) is not None
    }
    return replace(brief, cases={**brief.cases, **cases})


def as_one(findings: Sequence[Finding], found: Gangs) -> Iterator[Finding]:
    """The findings with one for each gang: where a node works, or does not idle for long enough, none."""
    by_id = {finding.subject.key: finding for finding in findings}
    nodes = {node.id for members in found.values() for node in members}
    yield from (finding for finding in findings if finding.subject.key not in nodes)
    for key, members in found.items():
        mine = [by_id[node.id] for node in members if node.id in by_id]
        if len(mine) == len(members):
            yield _merged(_job(key), mine)


def _merged(job: str, mine: Sequence[Finding]) -> Finding:
    """One finding about all nodes: unknown where that of one is, and no older than the newest of them."""
    unknown = [finding for finding in mine if finding.reading is Reading.UNKNOWN]
    last = unknown[0] if unknown else max(mine, key=lambda finding: finding.since or NEVER)
    targets = tuple(target for finding in mine for target in finding.subject.targets)
    return replace(
        last,
        subject=replace(last.subject, key=job, targets=targets),
        reason=f"{len(mine)} nodes of {job} idle as one. {last.reason}" if not unknown else last.reason,
        evidence={**last.evidence, "nodes": str(len(mine))},
        level=min(finding.level for finding in mine),
        ripe=all(finding.ripe for finding in mine),
        due=max((finding.due for finding in mine if finding.due is not None), default=None),
        exempt=next((finding.exempt for finding in mine if finding.exempt), ""),
    )


def _job(key: str) -> str:
    return key.rpartition("/")[0]
