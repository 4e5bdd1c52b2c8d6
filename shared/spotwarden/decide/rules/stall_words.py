"""What is said about a job of which nothing moves."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from spotwarden.decide.times import moment, span
from spotwarden.model.fleet import Machine
from spotwarden.model.governance import StallLimits
from spotwarden.model.reaping import JobRecord

LOOK = "look at the job's log; where it hangs, stop it and start it again from its last checkpoint"
HOW_TO_BEAT = (
    "write a heartbeat from the training loop: "
    "`date | gcloud storage cp - gs://BUCKET/JOB/metadata/heartbeat/$(hostname)`"
)
NAMED = 10
"""How many silent nodes of a gang are named."""


def reason(record: JobRecord, nodes: Sequence[str], silent: timedelta) -> str:
    """What stands still, and for how long."""
    if nodes:
        return f"no heartbeat and no log line of {_some(nodes)} for {span(silent)}, while other nodes beat"
    still = {
        "no heartbeat": record.signs.beats,
        "no new object below output/": record.signs.output,
        "no log line": record.signs.lines,
    }
    said = ", ".join(words for words, given in still.items() if given)
    return f"nothing of the job {record.job} has moved for {span(silent)}: {said}"


def evidence(
    record: JobRecord, nodes: Sequence[Machine], silent: Sequence[str], limits: StallLimits, now: datetime
) -> Mapping[str, str]:
    """Each sign with its age, and the CPUs."""
    signs = record.signs
    said = {
        "silent nodes": _some(silent),
        "newest heartbeat": _ago(max(signs.beats.values(), default=None), now),
        "newest object below output/": _ago(signs.output, now),
        "last log line": "unknown" if signs.problem else _ago(max(signs.lines.values(), default=None), now),
        "busiest CPU in the last hour": _cpu(record, nodes, limits),
        "silent at most": span(limits.after),
    }
    return {key: words for key, words in said.items() if words}


def _ago(at: datetime | None, now: datetime) -> str:
    return f"{moment(at)}, {span(now - at)} ago" if at is not None else "never seen"


def _cpu(record: JobRecord, nodes: Sequence[Machine], limits: StallLimits) -> str:
    """A CPU at rest makes it likelier that the job hangs; a busy one is no sign of life."""
    known = [record.signs.cpus[one.id] for one in nodes if one.id in record.signs.cpus]
    if not known:
        return "unknown"
    return f"{max(known):.1f} %{', at rest' if max(known) < limits.cpu_at_rest else ''}"


def _some(nodes: Sequence[str]) -> str:
    more = len(nodes) - NAMED
    return ", ".join(nodes[:NAMED]) + (f" and {more} more" if more > 0 else "")
