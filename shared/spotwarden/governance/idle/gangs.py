"""A gang idles as one: while one of its nodes works none of them idles, and in the end all are acted upon."""

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from spotwarden.governance.gangs import Gangs, begun, found_as_one, gangs_of, job_of
from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.idle.text import RULE
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case
from spotwarden.model.finding import Finding


def gangs(facts: IdleFacts, brief: Brief, jobs: Collection[str | None]) -> Gangs:
    """The nodes of each of these jobs that has several in one attempt, by its record, else by the label."""
    machines = (machine for machine in facts.machines if facts.jobs.get(machine.id) in jobs)
    return gangs_of(machines, facts.jobs, facts.attempts, begun(brief, RULE))


def with_cases(brief: Brief, found: Gangs) -> Brief:
    """The brief in which each node of a gang has the gang's case: its idle time goes on from there."""
    if not brief.cases:
        return brief
    cases: dict[tuple[str, str], Case] = {
        (RULE, node.id): case
        for key, nodes in found.items()
        if (case := brief.cases.get((RULE, job_of(key)))) is not None
        for node in nodes
    }
    return replace(brief, cases={**brief.cases, **cases})


def as_one(findings: Sequence[Finding], found: Gangs) -> Iterator[Finding]:
    """The findings with one for each gang: where a node works, or does not idle for long enough, none."""
    return found_as_one(findings, found, "idle")
