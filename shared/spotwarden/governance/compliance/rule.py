"""Whether a VM is what the policy allows: its labels, its kind, its place, and how many its job has.

Where something is to be done, the nodes of a gang are one: a gang that lacks a node comes to nothing. The VMs
of a TPU slice always are: one template makes them all.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple, cast

from msgspec.structs import replace

from spotwarden.governance.compliance.facts import ComplianceFacts, JobWord
from spotwarden.governance.signals.text import target
from spotwarden.governance.units import slice_of
from spotwarden.model.brief import Brief
from spotwarden.model.exemptions import exempt
from spotwarden.model.finding import Finding, Judged, Reading, Subject
from spotwarden.model.fleet import OWNER_LABEL, Machine
from spotwarden.model.governance import Remedy, Scope
from spotwarden.model.patterns import allows
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import everybodys, limits
from spotwarden.model.rule_limits import ComplianceLimits
from spotwarden.model.slices import SliceGroup

RULE = "compliance"
NAMES = (RULE,)
MACHINES_KNOWN = 65_536
"""How many pairs of a value and its patterns are kept; a project has hundreds."""
MOST_NAMED = 12
"""So many nodes of a gang are named as evidence."""
_FIRST = datetime.min.replace(tzinfo=UTC)


class ComplianceFault(NamedTuple):
    """In what a VM is not as it should be, what it is, and what is allowed."""

    what: str
    found: str
    allowed: str

    @property
    def is_found(self) -> str:
        """The same in a sentence."""
        return self.found if self.found.startswith("is ") else f"is {self.found}"


class ComplianceUnit(NamedTuple):
    """What is told of, and acted upon, together: one VM, or the nodes of a gang or a slice."""

    machines: tuple[Machine, ...]
    gang: bool

    @property
    def slice(self) -> SliceGroup | None:
        """The group of the slice that its VMs are; None for any others."""
        return slice_of(self.machines)


def suspects(facts: ComplianceFacts, policy: Policy) -> frozenset[str]:
    """The jobs of which a VM is at fault by the policy's limits or by those of any team."""
    every = [cast("ComplianceLimits", limits) for limits in everybodys(policy, RULE)]
    return frozenset(
        job
        for job, machines in _by_job(facts).items()
        if job and any(found for outcome in every for found in _faults(machines, outcome).values())
    )


def judge(facts: ComplianceFacts, brief: Brief) -> Judged:
    """A finding for each VM that is at fault, with all its faults, or for each gang that is to be stopped."""
    machines = _by_job(facts)
    return Judged(
        rules=NAMES,
        findings=tuple(
            finding for job in machines for finding in _findings(facts, job, machines[job], brief)
        ),
        hidden=facts.unreachable,
        present=frozenset(machine.id for machine in facts.machines),
        fleet=sum(len(of_job) for job, of_job in machines.items() if job),
        whole=not brief.tick.about,
    )


def _by_job(facts: ComplianceFacts) -> Mapping[str, list[Machine]]:
    """The VMs of each job; under "" those of none."""
    found: dict[str, list[Machine]] = defaultdict(list)
    for machine in facts.machines:
        found[facts.whose.get(machine.id, "")].append(machine)
    return found


def _findings(
    facts: ComplianceFacts, job: str, machines: Sequence[Machine], brief: Brief
) -> Iterator[Finding]:
    policy, word = brief.policy, facts.jobs.get(job)
    if (word is None) if job else (policy.governance.scope is not Scope.PROJECT):
        return
    word = word or JobWord()
    held = cast("ComplianceLimits", limits(policy, RULE, owner=word.owner, job_file=word.file))
    faults = _faults(machines, held if job else _uncounted(held))
    for unit in _units(machines, word, held):
        if facts.only is not None and facts.only.isdisjoint(machine.id for machine in unit.machines):
            continue
        subject = _subject(unit, job, word)
        bad = {machine.name: faults[machine.id] for machine in unit.machines if faults[machine.id]}
        if word.problem:
            yield _unknown(subject, word, held)
        elif bad and not any(_too_early(machine, job, word, brief) for machine in unit.machines):
            finding = _bad(unit, subject, held, bad, _exempt(unit, word, brief))
            # Of a gang a node may be hidden: it is not acted upon by halves.
            yield replace(finding, ripe=not (unit.gang and facts.unreachable))


def _units(machines: Sequence[Machine], word: JobWord, held: ComplianceLimits) -> Iterator[ComplianceUnit]:
    """The VMs one by one; those of a slice, and of a gang where something may be done to them, together.

    A gang that bends is one however many of its nodes are left.
    """
    slices: dict[str, list[Machine]] = defaultdict(list)
    for machine in machines:
        if machine.group:
            slices[machine.group.id].append(machine)
    yield from (ComplianceUnit(tuple(mine), gang=True) for mine in slices.values())
    single = [machine for machine in machines if not machine.group]
    gang = (len(word.nodes) > 1 or bool(word.file.nodes)) and held.remedy is not Remedy.NONE
    nodes = tuple(item for item in single if gang and (item.id in word.nodes or item.name in word.lacking))
    if nodes:
        yield ComplianceUnit(nodes, gang=True)
    yield from (ComplianceUnit((machine,), gang=False) for machine in single if machine not in nodes)


def _exempt(unit: ComplianceUnit, word: JobWord, brief: Brief) -> str:
    """One node that is to be kept keeps its whole gang."""
    owner, file = word.owner, word.file
    said = (
        exempt(brief.policy, RULE, brief.tick, labels=machine.labels, owner=owner, job_file=file)
        for machine in unit.machines
    )
    return next((why for why in said if why), "")


def _uncounted(held: ComplianceLimits) -> ComplianceLimits:
    """VMs of no job are no job's too many."""
    return replace(held, most_vms_per_job=None, most_gpus_per_job=None)


def _too_early(machine: Machine, job: str, word: JobWord, brief: Brief) -> bool:
    """A VM may be there before anybody has written down whose it is; that owner's team may allow what it is.

    One with a job's label is not told of as nobody's before the operation log can tell who has made it.
    """
    if word.owner:
        return False
    grace, lag = brief.policy.governance.launch_grace, brief.policy.recovery.log_delay
    age = brief.tick.now - (machine.created or brief.tick.now)
    unproved = bool(machine.job) and not job
    return age < max(grace, lag) if unproved else age < grace and bool(brief.policy.teams)


def _bad(
    unit: ComplianceUnit,
    subject: Subject,
    held: ComplianceLimits,
    bad: Mapping[str, Sequence[ComplianceFault]],
    spared: str,
) -> Finding:
    first = next(machine for machine in unit.machines if machine.name in bad)
    faults = bad[first.name]
    listed = "; ".join(f"its {fault.what} {fault.is_found}" for fault in faults)
    reason = f"{first.name} violates the policy: {listed}."
    evidence = {fault.what: f"{fault.found}; allowed: {fault.allowed}" for fault in faults}
    if unit.slice:
        reason += f" It is a part of the TPU slice {subject.job}, whose VMs are treated together."
        evidence |= {"VMs": str(len(unit.machines)), "VMs at fault": ", ".join(sorted(bad)[:MOST_NAMED])}
    elif unit.gang:
        reason += f" It is a node of the gang {subject.job}, whose nodes are treated together."
        evidence |= {"nodes": str(len(unit.machines)), "nodes at fault": ", ".join(sorted(bad)[:MOST_NAMED])}
    begins = [at for machine in unit.machines if (at := machine.started or machine.created) is not None]
    return Finding(
        rule=RULE,
        subject=subject,
        reason=reason,
        todo=_todo(first, faults, whole=bool(unit.slice)),
        evidence=evidence,
        ripe=True,
        since=max(begins, default=None),
        exempt=spared,
        limits=held,
    )


def _unknown(subject: Subject, word: JobWord, held: ComplianceLimits) -> Finding:
    return Finding(
        rule=RULE,
        subject=subject,
        reading=Reading.UNKNOWN,
        reason="The records of its job can't be read.",
        evidence={"problem": word.problem},
        limits=held,
    )


def _subject(unit: ComplianceUnit, job: str, word: JobWord) -> Subject:
    labelled = (machine.labels.get(OWNER_LABEL, "") for machine in unit.machines)
    owner = word.owner or next((owner for owner in labelled if owner), "")
    key = unit.slice.id if unit.slice else job if unit.gang else unit.machines[0].id
    return Subject(key=key, job=job, owner=owner, targets=tuple(map(target, unit.machines)), ours=bool(job))


def _todo(machine: Machine, faults: Iterable[ComplianceFault], *, whole: bool) -> str:
    if whole:
        # What is changed by hand on each of its VMs is lost with the next slice that its template makes.
        return "launch it again with values that the policy allows"
    missing = [fault.what.removeprefix("label ") for fault in faults if fault.what.startswith("label ")]
    others = any(not fault.what.startswith("label ") for fault in faults)
    labels = ",".join(f"{label}=…" for label in missing)
    add = f"run `gcloud compute instances add-labels {machine.name} --zone={machine.zone} --labels={labels}`"
    parts = [add] if missing else []
    return "; ".join([*parts, "launch it again with values that the policy allows"] if others else parts)


def _faults(machines: Sequence[Machine], held: ComplianceLimits) -> Mapping[str, tuple[ComplianceFault, ...]]:
    """What is wrong with each VM of a job, by id: by itself, and for being one too many."""
    found = {machine.id: [*_own(machine, held)] for machine in machines}
    gpus = 0
    # The oldest are within the count, so that it is a job's newest VMs that are too many.
    for place, item in enumerate(
        sorted(machines, key=lambda candidate: (candidate.created or _FIRST, candidate.id)), start=1
    ):
        gpus += item.gpus
        if held.most_vms_per_job is not None and place > held.most_vms_per_job:
            found[item.id].append(
                ComplianceFault("number among its job's VMs", f"{place}, by age", str(held.most_vms_per_job))
            )
        if held.most_gpus_per_job is not None and item.gpus and gpus > held.most_gpus_per_job:
            found[item.id].append(
                ComplianceFault(
                    "number of GPUs, with those of its job's older VMs",
                    f"{gpus}",
                    str(held.most_gpus_per_job),
                )
            )
    return {name: tuple(faults) for name, faults in found.items()}


def _own(machine: Machine, held: ComplianceLimits) -> Iterator[ComplianceFault]:
    for label in held.labels:
        if not machine.labels.get(label):
            yield ComplianceFault(f"label {label}", "is missing", "any value")
    region = machine.zone.rpartition("-")[0]
    for what, found, allowed in (
        ("machine type", machine.machine_type, held.machine_types),
        ("region", region, held.regions),
        ("provisioning model", machine.provisioning, held.provisioning),
    ):
        if not _allows(allowed, found):
            yield ComplianceFault(what, found, ", ".join(allowed))


_allows = lru_cache(MACHINES_KNOWN)(allows)
