"""VMs that nobody needs any more: their job is over, is gone, goes on without them, or never knew them.

A VM that only has our label is none of ours: where a Google service, or a managed instance group, has made
it, or where its job has no folder and no request of ours is known to have made it. Ops are told of it once.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import cast

from spotwarden.governance.cases.observation import vetoed
from spotwarden.governance.orphans.faults import OrphanFault, fault_of
from spotwarden.governance.orphans.slices import fault_of_slice
from spotwarden.governance.signals.facts import JobRecord, ReapFacts
from spotwarden.governance.signals.since import first_seen
from spotwarden.governance.signals.text import (
    AT_REST,
    LEAVING,
    begun,
    labelled_by_others,
    over_since,
    owner_of,
    subject,
    target,
)
from spotwarden.layout import quarantine_key
from spotwarden.model.attempt import CLOSED, AttemptState
from spotwarden.model.brief import Brief
from spotwarden.model.case import CaseState
from spotwarden.model.exemptions import exempt
from spotwarden.model.finding import Finding, Reading, Subject
from spotwarden.model.fleet import JOB_LABEL, Machine
from spotwarden.model.governance import Remedy, Scope
from spotwarden.model.precedence import limits
from spotwarden.model.rule_limits import OrphanLimits
from spotwarden.model.spans import span

RULE = "orphan"


def judge(facts: ReapFacts, brief: Brief) -> Iterator[Finding]:
    """What is wrong with each VM of a job that is old enough to be judged."""
    yield from _of_others(facts, brief)
    mine = facts.machines_of()
    for machines in _units(facts):
        machine = machines[0]
        job = facts.whose.get(machine.id) or facts.namesakes.get(machine.id, "")
        record = facts.jobs.get(job)
        if record is None or any(item.status in LEAVING or _is_young(item, brief) for item in machines):
            continue
        if any(_is_being_stopped(item, record, brief) for item in machines):
            continue
        if _is_being_started(record, mine.get(job, ()), brief):
            continue
        if machine.id in facts.whose:
            fault = _fault(machines, record, facts, mine.get(job, ()), brief)
            finding = _finding(machines, record, fault, brief) if fault else None
        else:
            finding = _namesake(machine, record, brief)
        if finding is not None:
            yield finding


def _units(facts: ReapFacts) -> Iterator[Sequence[Machine]]:
    """The VMs one by one, but those of a slice together."""
    slices: dict[str, list[Machine]] = defaultdict(list)
    for machine in facts.machines:
        if machine.group:
            slices[machine.group.id].append(machine)
        else:
            yield (machine,)
    yield from slices.values()


def _fault(
    machines: Sequence[Machine],
    record: JobRecord,
    facts: ReapFacts,
    others: Sequence[Machine],
    brief: Brief,
) -> OrphanFault | None:
    if machines[0].group:
        return fault_of_slice(machines, record, others, brief.policy)
    foreign = _limits(machines, record, brief).foreign
    return fault_of(machines[0], record, others, brief.policy, bare=facts.bare, foreign=foreign)


def _is_young(machine: Machine, brief: Brief) -> bool:
    """Whether it has just begun to run; one of unknown age is never judged."""
    began = begun(machine)
    return began is None or brief.tick.now - began < brief.policy.governance.launch_grace


def _is_being_stopped(machine: Machine, record: JobRecord, brief: Brief) -> bool:
    """Whether its early stop has closed the job and is still to stop it: that case goes on."""
    case = brief.cases.get(("early_stop", record.job))
    if case is None or record.state is not AttemptState.STOPPED or machine.status in AT_REST:
        return False
    return case.state in {CaseState.DUE, CaseState.ACTED} or vetoed(case, brief.tick)


def _is_being_started(record: JobRecord, machines: Sequence[Machine], brief: Brief) -> bool:
    """Whether a VM of a closed job was started a moment ago: recovery opens the job, with all that runs."""
    if record.state not in CLOSED or record.status_code is not None:
        return False
    return any(_is_young(machine, brief) for machine in machines if machine.status not in LEAVING | AT_REST)


def _finding(
    machines: Sequence[Machine], record: JobRecord, fault: OrphanFault, brief: Brief
) -> Finding | None:
    """The finding, once the fault has lasted; one without a date counts from when it was first seen."""
    now, key = brief.tick.now, machines[0].group.id if machines[0].group else machines[0].id
    allowed = _limits(machines, record, brief)
    since = fault.since or first_seen(brief, RULE, key)
    lasted = now - since
    if fault.since is not None and lasted < allowed.after:
        return None
    if allowed.remedy is Remedy.STOP and all(machine.status in AT_REST for machine in machines):
        # Where the policy only stops, a VM that is stopped is as it should be.
        return None
    known = fault.reading is Reading.BAD
    return Finding(
        rule=RULE,
        subject=subject(key, record, machines, ours=fault.ours),
        reading=fault.reading,
        reason=fault.reason,
        todo=fault.todo,
        evidence=_evidence(machines, fault, brief),
        ripe=known and lasted >= allowed.after,
        since=since if known else None,
        due=since + allowed.after if known else None,
        exempt=_exempt(machines, record, brief),
        limits=allowed,
    )


def _exempt(machines: Sequence[Machine], record: JobRecord, brief: Brief) -> str:
    """One VM that is to be kept keeps its whole slice."""
    owner = owner_of(record, machines)
    said = (
        exempt(brief.policy, RULE, brief.tick, labels=machine.labels, owner=owner, job_file=record.file)
        for machine in machines
    )
    return next((why for why in said if why), "")


def _limits(machines: Sequence[Machine], record: JobRecord, brief: Brief) -> OrphanLimits:
    owner = owner_of(record, machines)
    return cast("OrphanLimits", limits(brief.policy, RULE, owner=owner, job_file=record.file))


def _evidence(machines: Sequence[Machine], fault: OrphanFault, brief: Brief) -> dict[str, str]:
    began = max((at for machine in machines if (at := begun(machine))), default=None)
    up = span(brief.tick.now - began) if began else ""
    status = ", ".join(dict.fromkeys(machine.status.value for machine in machines))
    said = {"status": status, "up": up, **fault.evidence}
    return {key: value for key, value in said.items() if value}


def _of_others(facts: ReapFacts, brief: Brief) -> Iterator[Finding]:
    """VMs that have our label and are a Google service's: told to ops, once for each label and service."""
    groups: dict[tuple[str, str], list[Machine]] = defaultdict(list)
    for machine in facts.machines:
        if labelled_by_others(machine) and machine.id not in facts.whose:
            groups[machine.labels[JOB_LABEL], machine.manager].append(machine)
    for (label, manager), machines in sorted(groups.items()):
        yield _of_a_service(label, manager, machines, brief)


def _of_a_service(label: str, manager: str, machines: Sequence[Machine], brief: Brief) -> Finding:
    first = machines[0]
    return Finding(
        rule=RULE,
        subject=Subject(
            key=quarantine_key(f"{label} {manager}"), targets=tuple(map(target, machines)), ours=False
        ),
        reading=Reading.UNKNOWN,
        reason=f"{manager} manages {first.name}, which has the label {JOB_LABEL}={label}. Spotwarden"
        " never touches"
        " such a VM",
        todo=f"remove the label {JOB_LABEL} from the template that {manager} uses",
        evidence={"VMs with this label": str(len(machines))},
        limits=limits(brief.policy, RULE),
    )


def _namesake(machine: Machine, record: JobRecord, brief: Brief) -> Finding | None:
    """A VM with no more than the name of a job that is over: told where the whole project is looked at."""
    over = over_since(record)
    if brief.policy.governance.scope is not Scope.PROJECT or over is None or record.problem:
        return None
    allowed = cast("OrphanLimits", limits(brief.policy, RULE))
    if brief.tick.now - over < allowed.after:
        return None
    return Finding(
        rule=RULE,
        subject=subject(machine.id, record, (machine,), ours=False),
        reading=Reading.UNKNOWN,
        reason=f"it has the name of {record.job}, which is over, but no record has its ID",
        todo="if it belonged to the job, delete it",
        evidence=_evidence((machine,), OrphanFault(reason=""), brief),
        limits=allowed,
    )
