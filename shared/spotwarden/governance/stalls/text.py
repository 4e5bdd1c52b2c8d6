"""What is said about a job of which nothing moves."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.motion import at_rest_below, present
from spotwarden.governance.signals.table import SignalKind, SignalSource, newest, signals, unread
from spotwarden.model.accelerators import noun
from spotwarden.model.fleet import Machine
from spotwarden.model.rule_limits import StallLimits
from spotwarden.model.spans import moment, span

LOOK = (
    "check the job's log. If the program hangs, stop and restart the job. It resumes from its last checkpoint"
)
HOW_TO_BEAT = (
    "write a heartbeat from your training loop, so that hangs are found: "
    "`date | gcloud storage cp - gs://BUCKET/JOB/metadata/heartbeat/$(hostname)`"
)
TOLD = (SignalSource.HEARTBEAT, SignalSource.REPORTED)
NAMED = 10
"""Of how many nodes of a gang the step is told."""
HOW_TO_STEP = (
    "check the job's log. To let Spotwarden find hangs, report the step: write a line"
    ' `{"step": 120}` to the file that `$SPOTWARDEN_PROGRESS` names, or use `--metric "step=step'
    ' (\\d+)"` for a'
    " program that prints it"
)


def reason(record: JobRecord, silent: timedelta) -> str:
    """What stands still, and for how long."""
    rows = present(record)
    still = {
        "no progress in its heartbeats": newest(rows, SignalKind.PROGRESS, *TOLD),
        "no new object in output/": newest(rows, SignalKind.PROGRESS, SignalSource.OUTPUT),
        "no log line": newest(rows, SignalKind.PROGRESS, SignalSource.LOG_LINE),
    }
    said = ", ".join(words for words, given in still.items() if given)
    return f"{record.job} has made no progress for {span(silent)}: {said}"


def busy(record: JobRecord) -> str:
    """Why a job at work is only told of; where nothing was measured, it may be at work."""
    measured = any(True for _ in signals(present(record), SignalKind.LOAD))
    does = "its VMs are busy" if measured else "we have no measurements of its VMs' load"
    how = "its reported steps haven't stood still long enough" if steps(record) else "it reports no steps"
    return f"{record.job} shows no progress, but {does}, and {how}"


def steps(record: JobRecord) -> dict[str, float]:
    """The step that each node of the present attempt has reported."""
    found = signals(present(record), SignalKind.PROGRESS, SignalSource.STEP)
    return {row.node: step.value for row, step in found if isinstance(step.value, float)}


def evidence(
    record: JobRecord, nodes: Sequence[Machine], limits: StallLimits, limit: timedelta, now: datetime
) -> Mapping[str, str]:
    """Each sign with its age, and what its CPUs, GPUs and TPU chips do."""
    rows = present(record)
    progress = SignalKind.PROGRESS
    line = newest(rows, progress, SignalSource.LOG_LINE)
    gap = record.signals.longest_gap
    said = {
        "newest heartbeat": _ago(newest(rows, SignalKind.ALIVE), now),
        "newest progress in a heartbeat": _ago(newest(rows, progress, *TOLD), now),
        "step": ", ".join(f"{node} {step:g}" for node, step in sorted(steps(record).items())[:NAMED]),
        "newest object in output/": _ago(newest(rows, progress, SignalSource.OUTPUT), now),
        "last log line": "unknown" if unread(rows) else _ago(line, now),
        "busiest CPU in the last hour": _cpu(record, nodes, limits),
        f"busiest {noun(nodes[0].gpu if nodes else '')} in the last hour": _gpu(record, nodes),
        "longest silence so far": span(gap) if gap else "",
        "silence limit": span(limit),
    }
    return {key: words for key, words in said.items() if words}


def _ago(at: datetime | None, now: datetime) -> str:
    return f"{moment(at)}, {span(now - at)} ago" if at is not None else "never seen"


def _loads(record: JobRecord, source: SignalSource) -> dict[str, float]:
    found = signals(present(record), SignalKind.LOAD, source)
    return {row.instance_id: load.value for row, load in found if isinstance(load.value, float)}


def _cpu(record: JobRecord, nodes: Sequence[Machine], limits: StallLimits) -> str:
    """A CPU at rest makes it likelier that the job hangs; a busy one is no progress."""
    cpus = _loads(record, SignalSource.CPU)
    known = [(machine, cpus[machine.id]) for machine in nodes if machine.id in cpus]
    if not known:
        return "unknown"
    rests = all(cpu < at_rest_below(machine, limits.cpu_at_rest) for machine, cpu in known)
    return f"{max(cpu for _, cpu in known):.1f}%{', at rest' if rests else ''}"


def _gpu(record: JobRecord, nodes: Sequence[Machine]) -> str:
    gpus = _loads(record, SignalSource.GPU)
    known = [gpus[machine.id] for machine in nodes if machine.id in gpus]
    if known:
        return f"{max(known):.1f}%"
    return "unknown" if any(machine.gpus for machine in nodes) else ""
