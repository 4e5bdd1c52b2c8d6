"""What is said about a job of which nothing moves."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from spotwarden.governance.signals.facts import JobRecord
from spotwarden.model.fleet import Machine
from spotwarden.model.governance import StallLimits
from spotwarden.model.spans import moment, span

LOOK = "look at the job's log; where it hangs, stop it and start it again from its last checkpoint"
HOW_TO_BEAT = (
    "write a heartbeat from the training loop: "
    "`date | gcloud storage cp - gs://BUCKET/JOB/metadata/heartbeat/$(hostname)`"
)
NAMED = 10
"""Of how many nodes of a gang the step is told."""
HOW_TO_STEP = (
    "look at the job's log; to have a hang found by itself let the program say its step: a line"
    ' `{"step": 120}` to the file that `$SPOTWARDEN_PROGRESS` names, or `--metric "step=step (\\d+)"` for one'
    " that prints it"
)
CORES = re.compile(r"-(\d+)$")
"""How a machine type's name ends that says its CPUs: g2-standard-8."""


def reason(record: JobRecord, silent: timedelta) -> str:
    """What stands still, and for how long."""
    still = {
        "no progress by its heartbeats": record.signs.progress,
        "no new object below output/": record.signs.output,
        "no log line": record.signs.lines,
    }
    said = ", ".join(words for words, given in still.items() if given)
    return f"nothing of the job {record.job} has moved for {span(silent)}: {said}"


def busy(record: JobRecord) -> str:
    """Why a job at work is only told of; where nothing was measured, it may be at work."""
    signs = record.signs
    does = "its VMs are at work" if signs.cpus or signs.gpus else "nobody has measured whether its VMs work"
    how = "it has not told for as long that its steps stand still" if signs.steps else "it reports no steps"
    return f"nothing of the job {record.job} has moved, but {does}, and {how}"


def at_rest_below(machine: Machine, limits: StallLimits) -> float:
    """Below which use of its CPUs in percent a VM does nothing: less than half of one of them is none."""
    named = CORES.search(machine.machine_type)
    return min(limits.cpu_at_rest, 50.0 / int(named[1])) if named and int(named[1]) else limits.cpu_at_rest


def evidence(
    record: JobRecord, nodes: Sequence[Machine], limits: StallLimits, now: datetime
) -> Mapping[str, str]:
    """Each sign with its age, and what its CPUs and GPUs do."""
    signs = record.signs
    said = {
        "newest heartbeat": _ago(max(signs.beats.values(), default=None), now),
        "newest progress by a heartbeat": _ago(max(signs.progress.values(), default=None), now),
        "step": ", ".join(f"{node} {step:g}" for node, step in sorted(signs.steps.items())[:NAMED]),
        "newest object below output/": _ago(signs.output, now),
        "last log line": "unknown" if signs.problem else _ago(max(signs.lines.values(), default=None), now),
        "busiest CPU in the last hour": _cpu(record, nodes, limits),
        "busiest GPU in the last hour": _gpu(record, nodes),
        "silent at most": span(limits.after),
    }
    return {key: words for key, words in said.items() if words}


def _ago(at: datetime | None, now: datetime) -> str:
    return f"{moment(at)}, {span(now - at)} ago" if at is not None else "never seen"


def _cpu(record: JobRecord, nodes: Sequence[Machine], limits: StallLimits) -> str:
    """A CPU at rest makes it likelier that the job hangs; a busy one is no progress."""
    cpus = record.signs.cpus
    known = [(machine, cpus[machine.id]) for machine in nodes if machine.id in cpus]
    if not known:
        return "unknown"
    rests = all(cpu < at_rest_below(machine, limits) for machine, cpu in known)
    return f"{max(cpu for _, cpu in known):.1f} %{', at rest' if rests else ''}"


def _gpu(record: JobRecord, nodes: Sequence[Machine]) -> str:
    known = [record.signs.gpus[machine.id] for machine in nodes if machine.id in record.signs.gpus]
    if known:
        return f"{max(known):.1f} %"
    return "unknown" if any(machine.gpus for machine in nodes) else ""
