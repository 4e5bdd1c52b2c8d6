"""Builders of what `reap_vms` sees: a job whose VM 1001 has been running for a day."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from spotwarden.governance.signals.facts import JobRecord, ReapFacts, Signs
from spotwarden.model.attempt import AttemptState
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case, CaseState
from spotwarden.model.finding import Subject
from spotwarden.model.fleet import ATTEMPT_LABEL, JOB_LABEL, Machine
from spotwarden.model.instance import Status
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from tests.recovery.facts import HOME, NOW

BEGAN = NOW - timedelta(days=1)
SECOND = timedelta(seconds=1)
AT_REST = {"1001": 0.1, "1": 0.1, "2": 0.1}
TICK = Tick(function="reap_vms", sweep="sweep-1", now=NOW)


def ago(**span: float) -> datetime:
    """So long before now."""
    return NOW - timedelta(**span)


def vm(attempt: int = 1, *, labelled: bool = True, keep: str = "", **facts: Any) -> Machine:
    """The VM 1001 of test-vm, with our labels unless told otherwise."""
    labels = {JOB_LABEL: "test-vm", ATTEMPT_LABEL: str(attempt)} if labelled else {}
    labels |= {"spotwarden-keep": keep} if keep else {}
    ordinary = {"id": "1001", "name": "test-vm", "zone": HOME, "status": Status.RUNNING, "created": BEGAN}
    return Machine(**{**ordinary, "started": BEGAN, "labels": labels, **facts})


def on_record(**facts: Any) -> JobRecord:
    """A job whose first attempt runs on the VM 1001."""
    ordinary = {"attempt": 1, "state": AttemptState.RUNNING, "began": BEGAN, "updated": BEGAN}
    return JobRecord(
        **{"job": "test-vm", **ordinary, "instances": {"test-vm": "1001"}, "owner": "ann@x.org", **facts}
    )


def signs(**facts: Any) -> Signs:
    """What was last heard of a job; unless told, each heartbeat is progress and each CPU is at rest."""
    return replace(Signs(progress=facts.get("beats", {}), cpus=AT_REST), **facts)


def seen(record: JobRecord, *machines: Machine, **facts: Any) -> ReapFacts:
    """A look that saw this job and these VMs of it; its VM 1001 where none are named."""
    machines = machines or (vm(),)
    whose = {one.id: record.job for one in machines}
    return replace(ReapFacts(machines=machines, whose=whose, jobs={record.job: record}), **facts)


def brief(policy: Policy | None = None, **facts: Any) -> Brief:
    """The default policy, and sweeps that have come regularly for a month."""
    ordinary = {"policy": policy or Policy(version="test"), "tick": TICK, "steady": NOW - timedelta(days=30)}
    return Brief(**{**ordinary, **facts})


def case(rule: str, key: str, **facts: Any) -> Mapping[tuple[str, str], Case]:
    """An open case about this key, since an hour."""
    ordinary = {"state": CaseState.SUSPECTED, "opened": ago(hours=1), "looked": ago(minutes=5)}
    subject = facts.pop("subject", Subject(key=key))
    return {
        (rule, key): Case(**{"rule": rule, "subject": subject, "since": ago(hours=1), **ordinary, **facts})
    }
