"""Made-up VMs, jobs and days, for the caps."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from spotwarden.governance.caps.facts import CapFacts, JobAttempts
from spotwarden.governance.caps.rule import judge
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case, CaseState
from spotwarden.model.finding import Finding, Judged, Subject
from spotwarden.model.fleet import JOB_LABEL, Machine
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.instance import Status
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.prices import PriceTable, Rate, VmKind
from spotwarden.model.rule_limits import InstanceCap, JobCap, OwnerCap
from spotwarden.model.tick import Tick
from spotwarden.model.usage import DayTotal, Spent

NOW = datetime(2026, 3, 18, 12, 0, tzinfo=UTC)
"""A Wednesday."""
TODAY = NOW.date()
HOUR = timedelta(hours=1)
ADA = "ada@example.com"
G2 = "g2-standard-4"
CHEAP = Rate(
    machine=G2, gpus=1, region="us-central1", standard=1.0, spot=0.25, date=date(2026, 3, 1), source="made up"
)
TABLE = PriceTable(rates=(CHEAP,))
GRANTED = "run time over all attempts"


def policy(
    job: JobCap = JobCap(),
    instance: InstanceCap = InstanceCap(),
    owner: OwnerCap = OwnerCap(),
    **governance: Any,
) -> Policy:
    """A policy that enforces these caps."""
    return Policy(
        version="test",
        mode=Mode.ENFORCE,
        governance=GovernanceLimits(**governance),
        job_cap=job,
        instance_cap=instance,
        owner_cap=owner,
    )


def vm(
    key: str = "11", name: str = "test-vm", job: str = "test-vm", *, up: timedelta = HOUR, **said: Any
) -> Machine:
    """A VM of a job that has been up for so long."""
    labels = {JOB_LABEL: job, **said.pop("labels", {})} if job else said.pop("labels", {})
    machine = Machine(
        id=key,
        name=name,
        zone="us-central1-a",
        status=Status.RUNNING,
        created=NOW - up,
        started=NOW - up,
        machine_type=G2,
        gpus=1,
        gpu="nvidia-l4",
        labels=labels,
    )
    return replace(machine, **said)


def attempt(number: int = 1, *, ago: timedelta, lost: timedelta | None = None, **said: Any) -> Attempt:
    """An attempt that started so long ago; `lost` is how long ago what it stands in for was lost."""
    return Attempt(
        job="test-vm",
        number=number,
        state=said.pop("state", AttemptState.RUNNING),
        created=NOW - ago,
        updated=said.pop("updated", NOW - ago),
        started=NOW - ago,
        lost=None if lost is None else NOW - lost,
        instances=said.pop("instances", {"test-vm": "11"}),
        **said,
    )


def asked(place: str = "us-central1-a", *, spot: bool = True) -> tuple[Try, ...]:
    """One try of a place."""
    return (Try(place=place, request_id="r", at=NOW, spot=spot),)


def facts(
    *machines: Machine,
    records: Mapping[str, JobAttempts] | None = None,
    usage: Sequence[DayTotal] = (),
    table: PriceTable = TABLE,
    **said: Any,
) -> CapFacts:
    """These VMs, with their jobs' records and the days so far."""
    return CapFacts(
        machines=machines,
        jobs={one.id: one.job for one in machines if one.job},
        records=records
        if records is not None
        else {one.job: JobAttempts(owner=ADA) for one in machines if one.job},
        keys={ADA: "ada%40example.com"},
        usage=tuple(usage),
        prices=table,
        **said,
    )


def up_for(up: timedelta, **records: Any) -> CapFacts:
    """One job whose one VM has been up for so long, in one attempt."""
    said = JobAttempts(owner=ADA, attempts=(attempt(ago=up),))
    return facts(vm(up=up), records={"test-vm": replace(said, **records)})


def used(seconds: int = 3600, day: date = TODAY, owner: str = ADA, **kind: Any) -> DayTotal:
    """A day on which an owner's VM with one GPU was up for so long."""
    said = VmKind(machine_type=G2, gpu="nvidia-l4", gpus=1, region="us-central1")
    return DayTotal(day=day, spent=(Spent(owner=owner, kind=replace(said, **kind), seconds=seconds),))


def brief(policy: Policy, now: datetime = NOW, **cases: Case) -> Brief:
    """What a sweep knows beside the facts; cases by rule, of the one job."""
    tick = Tick(function="cap_runtime", sweep="s", now=now)
    found = {(one.rule, one.subject.key): one for one in cases.values()}
    return Brief(policy=policy, tick=tick, steady=now - 30 * HOUR, cases=found)


def extended(more: float) -> Case:
    """A case of the job that somebody has granted so many hours more."""
    subject = Subject(key="test-vm", job="test-vm", owner=ADA)
    return Case(
        rule="job_cap", subject=subject, state=CaseState.WARNED, opened=NOW - HOUR, looked=NOW, extended=more
    )


def judged(facts: CapFacts, policy: Policy, now: datetime = NOW, **cases: Case) -> Judged:
    """Everything that is found."""
    return judge(facts, brief(policy, now, **cases))


def found(facts: CapFacts, policy: Policy, now: datetime = NOW, **cases: Case) -> Finding | None:
    """The one thing that is found; None for nothing."""
    findings = judged(facts, policy, now, **cases).findings
    assert len(findings) <= 1, findings
    return findings[0] if findings else None


def verdict(finding: Finding | None) -> tuple[str, int, bool] | None:
    """Its reading, level and whether it is ripe."""
    return None if finding is None else (finding.reading.value, finding.level, finding.ripe)
