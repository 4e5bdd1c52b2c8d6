"""Builders of what `reap_vms` sees: a job whose VM 1001 has been running for a day."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from spotwarden.governance.signals.facts import JobRecord, ReapFacts
from spotwarden.governance.signals.motion import present
from spotwarden.governance.signals.table import (
    Coverage,
    NodeSignals,
    Signal,
    SignalKind,
    SignalSource,
    SignalTable,
)
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


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What was last heard of the present attempt: by node, and what Monitoring tells by instance id."""

    beats: Mapping[str, datetime] = {}
    progress: Mapping[str, datetime] = {}
    steps: Mapping[str, float] = {}
    periodic: frozenset[str] = frozenset()
    output: datetime | None = None
    lines: Mapping[str, datetime] = {}
    cpus: Mapping[str, float] = {}
    gpus: Mapping[str, float] = {}
    gap: timedelta | None = None
    problem: str = ""


def on_record(*, signs: Heard | None = None, **facts: Any) -> JobRecord:
    """A job whose first attempt runs on the VM 1001."""
    ordinary = {"attempt": 1, "state": AttemptState.RUNNING, "began": BEGAN, "updated": BEGAN}
    record = JobRecord(
        **{"job": "test-vm", **ordinary, "instances": {"test-vm": "1001"}, "owner": "ann@x.org", **facts}
    )
    return replace(record, signals=table(record, signs)) if signs else record


def signs(**facts: Any) -> Heard:
    """What was last heard of a job; unless told, each heartbeat is progress and each CPU is at rest."""
    return Heard(**{"progress": facts.get("beats", {}), "cpus": AT_REST, **facts})


def table(record: JobRecord, heard: Heard) -> SignalTable:
    """The table of signals that says the same."""
    nodes = [*dict.fromkeys([*record.instances, *heard.beats, *heard.progress, *heard.steps])]
    rows = [
        NodeSignals(
            node=node,
            attempt=max(record.attempt, 1),
            instance_id=record.instances.get(node, ""),
            signals=tuple(_of_node(heard, node, record.instances.get(node, ""))),
        )
        for node in nodes
    ]
    of_job = [] if heard.output is None else [progress(SignalSource.OUTPUT, heard.output)]
    if heard.problem:
        of_job.append(
            Signal(kind=SignalKind.LOAD, source=SignalSource.CPU, coverage=Coverage.UNREAD, why=heard.problem)
        )
    rows.append(NodeSignals(attempt=max(record.attempt, 1), signals=tuple(of_job)))
    return SignalTable(nodes=tuple(rows), longest_gap=heard.gap)


def _of_node(heard: Heard, node: str, instance_id: str) -> Iterator[Signal]:
    source = SignalSource.REPORTED if node in heard.periodic else SignalSource.HEARTBEAT
    if node in heard.beats:
        yield Signal(kind=SignalKind.ALIVE, source=SignalSource.HEARTBEAT, at=heard.beats[node])
    if node in heard.progress:
        yield progress(source, heard.progress[node])
    if node in heard.steps:
        at = heard.progress.get(node, heard.beats.get(node))
        yield Signal(
            kind=SignalKind.PROGRESS, source=SignalSource.STEP, at=at, value=heard.steps[node], named=True
        )
    if instance_id in heard.lines:
        yield progress(SignalSource.LOG_LINE, heard.lines[instance_id])
    for kind, loads in ((SignalSource.CPU, heard.cpus), (SignalSource.GPU, heard.gpus)):
        if instance_id in loads:
            yield load(kind, loads[instance_id])


def progress(source: SignalSource, at: datetime) -> Signal:
    """A sign of progress of then."""
    return Signal(kind=SignalKind.PROGRESS, source=source, at=at)


def shown(record: JobRecord, source: SignalSource) -> dict[str, Any]:
    """What this source shows of the present attempt, by instance id: a value, else a moment."""
    found = [(row.instance_id, signal) for row in present(record) for signal in row.signals]
    return {
        one: signal.at if signal.value is None else signal.value
        for one, signal in found
        if signal.source is source
    }


def load(source: SignalSource, percent: float, over: timedelta = timedelta(hours=1)) -> Signal:
    """How busy a processor was until now."""
    return Signal(kind=SignalKind.LOAD, source=source, at=NOW, since=NOW - over, value=percent)


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
