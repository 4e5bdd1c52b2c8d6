"""Everything that the caps find: on jobs, on VMs, on owners."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date

from spotwarden.governance.caps import jobs as caps
from spotwarden.governance.caps import owners as owner_caps
from spotwarden.governance.caps.facts import CapFacts, JobAttempts
from spotwarden.governance.gangs import begun, found_as_one, gangs_of
from spotwarden.model.brief import Brief
from spotwarden.model.finding import Finding, Judged
from spotwarden.model.fleet import Machine
from spotwarden.model.usage import Spent

NAMES = (caps.JOB, caps.INSTANCE, owner_caps.OWNER)
NOTHING = JobAttempts()


def judge(facts: CapFacts, brief: Brief) -> Judged:
    """A finding for each job, VM and owner that is near its limit or beyond, or of which nobody can know."""
    jobs: dict[str, list[Machine]] = defaultdict(list)
    for machine in facts.machines:
        if machine.id in facts.jobs:
            jobs[facts.jobs[machine.id]].append(machine)
    return Judged(
        rules=NAMES,
        findings=tuple(_findings(facts, brief, jobs)),
        hidden=facts.hidden,
        present=frozenset(fact.id for fact in facts.machines),
        fleet=sum(len(mine) for mine in jobs.values()),
        repaired=facts.repaired,
    )


def _findings(facts: CapFacts, brief: Brief, jobs: dict[str, list[Machine]]) -> Iterator[Finding]:
    found = (
        *(caps.of_job(job, mine, facts, brief) for job, mine in jobs.items()),
        *(
            caps.at_rest(case, brief)
            for (rule, job), case in brief.cases.items()
            if rule == caps.JOB and job not in jobs
        ),
        *_of_instances(facts, brief),
        *_of_owners(facts, brief, jobs),
    )
    yield from (match for match in found if match is not None)


def _of_instances(facts: CapFacts, brief: Brief) -> Iterator[Finding]:
    """Of VMs that have been up for long; a gang is as old as the node that was started last."""
    found = [caps.of_instance(machine, facts, brief) for machine in facts.machines]
    gangs = gangs_of(facts.machines, facts.jobs, _attempts(facts), begun(brief, caps.INSTANCE))
    return found_as_one([match for match in found if match is not None], gangs, "are up")


def _attempts(facts: CapFacts) -> dict[str, int]:
    """The attempt of each VM that one has on its record, the newest where several have."""
    return {
        instance: attempt.number
        for records in facts.records.values()
        for attempt in records.attempts
        for instance in attempt.instances.values()
    }


def _of_owners(facts: CapFacts, brief: Brief, jobs: dict[str, list[Machine]]) -> Iterator[Finding | None]:
    """Owners who run something, or have in this month or week; a person is one in whichever case."""
    spent: dict[str, dict[date, list[Spent]]] = defaultdict(lambda: defaultdict(list))
    for day in facts.usage:
        for usage in day.spent:
            spent[usage.owner.casefold()][day.day].append(usage)
    theirs: dict[str, dict[str, list[Machine]]] = defaultdict(dict)
    for job, mine in jobs.items():
        theirs[facts.records.get(job, NOTHING).owner.casefold()][job] = mine
    for owner in sorted({*spent, *theirs} - {""}):
        yield owner_caps.of_owner(owner, theirs.get(owner, {}), spent.get(owner, {}), facts, brief)
