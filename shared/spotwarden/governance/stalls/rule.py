"""Jobs of which nothing moves any more.

That a heartbeat comes shows that a VM is alive, not that its job gets on: progress is what a heartbeat says
of it, output, a log line. Where processors work, silence alone proves nothing: a program may print an epoch
each third hour. Only a step that the job reports itself, and that stands still, tells a busy hang from work.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import cast

from spotwarden.governance.signals.contradiction import works
from spotwarden.governance.signals.facts import JobRecord, ReapFacts
from spotwarden.governance.signals.motion import Silence, present, silence_of
from spotwarden.governance.signals.table import Coverage, SignalKind, SignalSource, newest, signals, unread
from spotwarden.governance.signals.text import begun, owner_of, runs, subject
from spotwarden.governance.stalls import text as stall_words
from spotwarden.governance.units import remedied
from spotwarden.model.attempt import CLOSED
from spotwarden.model.brief import Brief
from spotwarden.model.exemptions import exempt
from spotwarden.model.finding import Finding, Reading
from spotwarden.model.fleet import Machine
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import ceiling, limits
from spotwarden.model.rule_limits import Proof, StallLimits
from spotwarden.model.spans import moment
from spotwarden.model.tick import Tick

RULE = "stall"


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
    most = _most(allowed, policy)
    return silence_of(record, machines, after=allowed.after, most=most, now=tick.now) is not None


def _most(allowed: StallLimits, policy: Policy) -> timedelta:
    """How long a silence may become by the job's own gaps: no longer than its owner may ask for."""
    most: timedelta | None = ceiling(policy, RULE, "after")
    return max(allowed.after, most or allowed.after)


def _at_work(record: JobRecord, nodes: Sequence[Machine], policy: Policy, limits: StallLimits) -> bool:
    """Whether a CPU or a GPU of any node works, or may, for nobody has measured it."""
    known = {machine.id: machine for machine in nodes}
    measured = [
        (row, signal)
        for row, signal in signals(present(record), SignalKind.LOAD)
        if row.instance_id in known and signal.coverage is not Coverage.UNREAD
    ]
    return not measured or any(
        signal.coverage is Coverage.PART or works(signal, known[row.instance_id], policy, limits.cpu_at_rest)
        for row, signal in measured
    )


def _steps_stand(record: JobRecord, nodes: Sequence[Machine], limit: timedelta, now: datetime) -> bool:
    """Whether a node of this attempt reports steps, and has itself told for so long that they stand still.

    Only a heartbeat that names its VM's own id counts: for this a VM that works is stopped, and every job VM
    may write every job's heartbeats. Where a periodic one has ended nobody knows what the program does; one
    that is written by a training loop tells by not coming.
    """
    began = {machine.id: begun(machine) for machine in nodes}
    for row, step in signals(present(record), SignalKind.PROGRESS, SignalSource.STEP):
        came, since = newest((row,), SignalKind.ALIVE), began.get(row.instance_id)
        if not step.named or came is None or since is None or came < since or step.at is None:
            continue
        periodic = newest((row,), SignalKind.PROGRESS, SignalSource.REPORTED) is not None
        if (came if periodic else now) - max(step.at, since) >= limit:
            return True
    return False


def _limits(record: JobRecord, machines: Sequence[Machine], policy: Policy) -> StallLimits:
    owner = owner_of(record, machines)
    return cast("StallLimits", limits(policy, RULE, owner=owner, job_file=record.file))


def _finding(
    record: JobRecord, machines: Sequence[Machine], facts: ReapFacts, brief: Brief
) -> Finding | None:
    allowed = _limits(record, machines, brief.policy)
    if beside := _beside(record, machines, allowed, brief):
        return beside
    most, now = _most(allowed, brief.policy), brief.tick.now
    silence = silence_of(record, machines, after=allowed.after, most=most, now=now, steady=brief.steady)
    ids = set(record.instances.values())
    nodes = [machine for machine in machines if machine.id in ids and runs(machine)]
    missing = len(ids - {node.id for node in nodes} - _remedied(record, brief))
    if missing and not facts.unreachable:
        # A gang that has lost a node is recovery's to bring back.
        return None
    if silence is None:
        return _unwatched(record, machines, allowed, brief)
    proven = _proven(record, allowed.proof)
    doubt = _doubt(silence, record, missing, proven=proven) or _busy(
        record, nodes, allowed, brief, silence.limit
    )
    return Finding(
        rule=RULE,
        subject=subject(record.job, record, nodes),
        reading=Reading.UNKNOWN if doubt else Reading.BAD,
        reason=doubt or stall_words.reason(record, brief.tick.now - silence.since),
        todo=_todo(record, doubt=doubt, proven=proven),
        evidence=stall_words.evidence(record, nodes, allowed, silence.limit, brief.tick.now),
        ripe=not doubt,
        since=None if doubt else silence.since,
        due=None if doubt else silence.counted + silence.limit,
        exempt=_exempt(record, nodes, brief),
        limits=allowed,
    )


def _remedied(record: JobRecord, brief: Brief) -> frozenset[str]:
    """The VMs that this rule's own remedy was for: a sweep may have been cut off between two of them."""
    case = brief.cases.get((RULE, record.job))
    return remedied(case) if case else frozenset()


def _beside(
    record: JobRecord, machines: Sequence[Machine], allowed: StallLimits, brief: Brief
) -> Finding | None:
    """An open case stays as it is while its VMs run on beside the attempt that is to replace them."""
    case = brief.cases.get((RULE, record.job))
    if case is None or record.status_code is not None or record.state is None or record.state in CLOSED:
        return None
    about = {target.id for target in case.subject.targets}
    running = {machine.id for machine in machines if runs(machine)}
    if not about or about & {*record.instances.values()} or not about <= running:
        return None
    return Finding(
        rule=RULE,
        subject=case.subject,
        reading=Reading.UNKNOWN,
        reason=f"attempt {record.attempt} of {record.job} is to replace it, and it still runs",
        limits=allowed,
    )


def _unwatched(
    record: JobRecord, machines: Sequence[Machine], allowed: StallLimits, brief: Brief
) -> Finding | None:
    """An open case stays as it is where the silence goes on, and only our own watching was interrupted."""
    case, most, now = brief.cases.get((RULE, record.job)), _most(allowed, brief.policy), brief.tick.now
    if case is None or silence_of(record, machines, after=allowed.after, most=most, now=now) is None:
        return None
    return Finding(
        rule=RULE,
        subject=case.subject,
        reading=Reading.UNKNOWN,
        reason=f"{record.job} shows no progress, but our checks were interrupted until"
        f" {moment(brief.steady)}",
        limits=allowed,
    )


def _proven(record: JobRecord, proof: Proof) -> bool:
    """Whether the present attempt gives a sign whose silence means something.

    Programs write and print as they please, and a sign of an attempt before says nothing about this one.
    """
    rows = present(record)
    kinds = {signal.source for _, signal in signals(rows, SignalKind.PROGRESS)}
    written = newest(rows, SignalKind.ALIVE) is not None
    written = written or (proof is not Proof.HEARTBEAT and SignalSource.OUTPUT in kinds)
    return written or (proof is Proof.ANY and SignalSource.LOG_LINE in kinds)


def _doubt(silence: Silence, record: JobRecord, missing: int, *, proven: bool) -> str:
    """Why nobody can know whether it is stalled; "" where it is."""
    if why := unread(present(record)):
        return f"its log can't be read, and it shows no other sign of life: {why}"
    if silence.mute:
        return f"{record.job} reports nothing that would tell a working program from a hanging one"
    if not proven:
        return f"{record.job} shows no progress, but it writes no heartbeats, so that may be normal"
    return f"{missing} of its VMs can't be checked: the list of VMs is incomplete" if missing else ""


def _busy(
    record: JobRecord, nodes: Sequence[Machine], limits: StallLimits, brief: Brief, limit: timedelta
) -> str:
    """Why silence proves nothing where a VM works; "" where none does, or its own steps stand still."""
    if not _at_work(record, nodes, brief.policy, limits) or _steps_stand(
        record, nodes, limit, brief.tick.now
    ):
        return ""
    return stall_words.busy(record)


def _todo(record: JobRecord, *, doubt: str, proven: bool) -> str:
    if not proven:
        return stall_words.HOW_TO_BEAT
    return stall_words.HOW_TO_STEP if doubt and not stall_words.steps(record) else stall_words.LOOK


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
            reason=f"the job's records can't be read: {record.problem}",
            limits=limits(brief.policy, RULE, owner=case.subject.owner),
        )
