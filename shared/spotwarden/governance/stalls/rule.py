"""Jobs of which nothing moves any more.

That a heartbeat comes shows that a VM is alive, not that its job gets on: progress is what a heartbeat says
of it, output, a log line. Where processors work, silence alone proves nothing: a program may print an epoch
each third hour. Only a step that the job reports itself, and that stands still, tells a busy hang from work.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import cast

import msgspec

from spotwarden.governance.exemptions import exempt
from spotwarden.governance.precedence import limits
from spotwarden.governance.signals.facts import JobRecord, ReapFacts
from spotwarden.governance.signals.text import begun, owner_of, runs, subject
from spotwarden.governance.stalls import text as stall_words
from spotwarden.model.attempt import AttemptState
from spotwarden.model.brief import Brief
from spotwarden.model.finding import Finding, Reading
from spotwarden.model.fleet import Machine
from spotwarden.model.governance import Proof, StallLimits
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick

RULE = "stall"


class Silence(msgspec.Struct, frozen=True, kw_only=True):
    """Since when nothing has moved, and from when on that counts; `mute` where it never gave any sign."""

    since: datetime
    counted: datetime
    mute: bool = False


def judge(facts: ReapFacts, brief: Brief) -> Iterator[Finding]:
    """Every job whose signs of life all stand still; the signs of one that gives none are unknown."""
    mine = facts.machines_of()
    for job, record in facts.jobs.items():
        if record.problem:
            yield from _unreadable(record, brief)
        elif finding := _finding(record, mine.get(job, ()), facts, brief):
            yield finding


def quiet(record: JobRecord, machines: Sequence[Machine], policy: Policy, tick: Tick) -> bool:
    """Whether what is known of the job so far shows no sign of life, so that more should be asked for."""
    allowed = _limits(record, machines, policy)
    return silence_of(record, machines, allowed.after, tick.now) is not None


def silence_of(
    record: JobRecord,
    machines: Sequence[Machine],
    after: timedelta,
    now: datetime,
    steady: datetime | None = None,
) -> Silence | None:
    """How a job that is open and runs has been silent for `after`; None where it is not.

    Nothing counts from before its VMs last began to run, nor from before `steady`. A gang is as far as its
    liveliest node: often only the first one prints.
    """
    ids = set(record.instances.values())
    moments = [at for machine in machines if _works_for(ids, machine) and (at := begun(machine)) is not None]
    if record.status_code is not None or record.state not in {AttemptState.RUNNING, None} or not moments:
        return None
    began = max(moments)
    counted = max(began, steady or began)
    last = last_sign(record)
    if now - max(last or counted, counted) < after:
        return None
    return Silence(since=max(last or began, began), counted=max(last or counted, counted), mute=last is None)


def _works_for(ids: Collection[str], machine: Machine) -> bool:
    return machine.id in ids and runs(machine)


def last_sign(record: JobRecord) -> datetime | None:
    """When any node of the job last made progress; that a heartbeat came is none."""
    signs = record.signs
    moments = [*signs.progress.values(), *signs.lines.values()]
    return max([*moments, signs.output] if signs.output else moments, default=None)


def _at_work(record: JobRecord, nodes: Sequence[Machine], limits: StallLimits, idle: float) -> bool:
    """Whether a CPU or a GPU of any node works, or nobody has measured any."""
    signs = record.signs
    measured = [machine for machine in nodes if machine.id in signs.cpus or machine.id in signs.gpus]
    return not measured or any(
        signs.cpus.get(machine.id, 0.0) >= stall_words.at_rest_below(machine, limits)
        or signs.gpus.get(machine.id, 0.0) >= idle
        for machine in measured
    )


def _steps_stand(record: JobRecord, nodes: Sequence[Machine], after: timedelta, now: datetime) -> bool:
    """Whether a node of this attempt reports steps, and has itself told for so long that they stand still.

    Where a periodic heartbeat has ended nobody knows what the program does; one that is written by a training
    loop tells by not coming.
    """
    signs = record.signs
    began = {machine.id: begun(machine) for machine in nodes}
    for node in signs.steps:
        came, since = signs.beats.get(node), began.get(record.instances.get(node, ""))
        if came is None or since is None or came < since:
            continue
        until = came if node in signs.periodic else now
        if until - max(signs.progress.get(node, came), since) >= after:
            return True
    return False


def _limits(record: JobRecord, machines: Sequence[Machine], policy: Policy) -> StallLimits:
    owner = owner_of(record, machines)
    return cast("StallLimits", limits(policy, RULE, owner=owner, job_file=record.file))


def _finding(
    record: JobRecord, machines: Sequence[Machine], facts: ReapFacts, brief: Brief
) -> Finding | None:
    allowed = _limits(record, machines, brief.policy)
    silence = silence_of(record, machines, allowed.after, brief.tick.now, brief.steady)
    ids = set(record.instances.values())
    nodes = [machine for machine in machines if machine.id in ids and runs(machine)]
    missing = len(ids) - len(nodes)
    if silence is None or (missing and not facts.unreachable):
        # A gang that has lost a node is recovery's to bring back.
        return None
    proven = _proven(record, allowed.proof)
    doubt = _doubt(silence, record, missing, proven=proven) or _busy(
        record, nodes, allowed, brief.policy.idle.threshold, brief.tick.now
    )
    return Finding(
        rule=RULE,
        subject=subject(record.job, record, nodes),
        reading=Reading.UNKNOWN if doubt else Reading.BAD,
        reason=doubt or stall_words.reason(record, brief.tick.now - silence.since),
        todo=_todo(record, doubt=doubt, proven=proven),
        evidence=stall_words.evidence(record, nodes, allowed, brief.tick.now),
        ripe=not doubt,
        since=None if doubt else silence.since,
        due=None if doubt else silence.counted + allowed.after,
        exempt=_exempt(record, nodes, brief),
        limits=allowed,
    )


def _proven(record: JobRecord, proof: Proof) -> bool:
    """Whether the job gives a sign whose silence means something; programs write and print as they please."""
    signs = record.signs
    written = bool(signs.beats) or (proof is not Proof.HEARTBEAT and signs.output is not None)
    return written or (proof is Proof.ANY and bool(signs.lines))


def _doubt(silence: Silence, record: JobRecord, missing: int, *, proven: bool) -> str:
    """Why nobody can know whether it is stalled; "" where it is."""
    if record.signs.problem:
        return f"its log lines could not be read, and it gives no other sign of life: {record.signs.problem}"
    if silence.mute:
        return f"the job {record.job} gives no sign of life by which it could be told from one that hangs"
    if not proven:
        return f"the job {record.job} writes no heartbeat, and all else is still, which may be its way"
    return f"{missing} of its VMs cannot be seen: the list of VMs is incomplete" if missing else ""


def _busy(
    record: JobRecord, nodes: Sequence[Machine], limits: StallLimits, idle: float, now: datetime
) -> str:
    """Why silence proves nothing where a VM works; "" where none does, or its own steps stand still."""
    if not _at_work(record, nodes, limits, idle) or _steps_stand(record, nodes, limits.after, now):
        return ""
    return stall_words.busy(record)


def _todo(record: JobRecord, *, doubt: str, proven: bool) -> str:
    if not proven:
        return stall_words.HOW_TO_BEAT
    return stall_words.HOW_TO_STEP if doubt and not record.signs.steps else stall_words.LOOK


def _exempt(record: JobRecord, nodes: Sequence[Machine], brief: Brief) -> str:
    """One node that is to be kept keeps its whole gang."""
    owner = owner_of(record, nodes)
    said = (
        exempt(brief.policy, RULE, brief.tick, labels=node.labels, owner=owner, job_file=record.file)
        for node in nodes
    )
    return next((why for why in said if why), "")


def _unreadable(record: JobRecord, brief: Brief) -> Iterator[Finding]:
    """An open case stays as it is while the job's record cannot be read; orphans tells of that."""
    if (case := brief.cases.get((RULE, record.job))) is not None:
        yield Finding(
            rule=RULE,
            subject=case.subject,
            reading=Reading.UNKNOWN,
            reason=f"what is on record of the job cannot be read: {record.problem}",
            limits=limits(brief.policy, RULE, owner=case.subject.owner),
        )
