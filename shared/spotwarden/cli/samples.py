"""One notice of each kind, as it would be told: the words are those of who tells it in earnest."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.cli import sample_week
from spotwarden.governance import silence
from spotwarden.governance.cases import notices as case_notices
from spotwarden.governance.cases import ops_notices
from spotwarden.model.attempt import Attempt, AttemptState, LackingNode, Recorded, Removal, Try
from spotwarden.model.case import Case, CaseState, Remediation, Warned
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.finding import Finding, Subject, Target
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.instance import Instance, Status
from spotwarden.model.jobfile import JobFile, SavedProgress
from spotwarden.model.marker import UnusableMarker
from spotwarden.model.notice import TEST, Notice
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.notify.outbox import recipients, tidying
from spotwarden.recovery.observed.fates import Fate
from spotwarden.recovery.telling import delay_notices, gang_notices, name_notices, notices
from spotwarden.recovery.telling.treadmill import Treadmill
from spotwarden.report.figures import weekly

JOB, VM, ZONE, ID = "sample-job", "sample-job-1", "us-central1-a", "1234567890123456789"
_HOUR = timedelta(hours=1)


class _Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule would find: in these words, with these figures, and what it would do in the end.

    `doubt` and `hint` are what it says where it can't tell, `gone` is why a warning no longer applies.
    """

    reason: str
    todo: str
    doubt: str
    hint: str
    gone: str
    evidence: Mapping[str, str]
    title: str = ""
    remedy: Remedy = Remedy.STOP
    key: str = ID
    targets: tuple[Target, ...] = (Target(id=ID, name=VM, zone=ZONE),)


_LINK = f"projects/sample/zones/{ZONE}/disks/sample-disk"
_TROUBLES: Mapping[str, _Trouble] = {
    "orphan": _Trouble(
        reason="its job ended with status 0, but the VM still exists",
        todo="no action needed, unless you want to keep this VM. Check why it didn't delete itself",
        doubt="its job ended with status 0, but seems to continue: its heartbeat is newer",
        hint="if the job still runs, remove its status-code object. Otherwise, delete the VM",
        gone="the VM was deleted",
        evidence={},
        remedy=Remedy.DELETE,
    ),
    "leftover": _Trouble(
        reason=f"this disk belongs to a job that is over: nothing has used it since the end of {JOB}",
        todo="no action needed, unless you want to keep this disk",
        doubt="the list of resources is incomplete: us-central1-b",
        hint="",
        gone="the disk was deleted",
        evidence={"kind": "disk", "size": "500 GB"},
        remedy=Remedy.DELETE,
        key="sample-disk",
        targets=(Target(id=_LINK, name="sample-disk", zone=""),),
    ),
    "stall": _Trouble(
        reason=f"{JOB} has made no progress for 2 h 5 min: no progress in its heartbeats, no log line",
        todo="check the job's log. If the program hangs, stop and restart the job. It resumes from its last"
        " checkpoint",
        doubt=f"{JOB} shows no progress, but it writes no heartbeats, so that may be normal",
        hint="write a heartbeat from your training loop, so that hangs are found",
        gone="the job makes progress again",
        evidence={"silence limit": "2 h", "busiest CPU in the last hour": "1.2%, at rest"},
    ),
    "early_stop": _Trouble(
        reason=f"loss of {JOB} at step 12,000 is nan, which is not a valid number",
        todo="check its log and metrics, fix the cause, then restart it from the last good checkpoint",
        doubt="the job should end when loss stops improving, but it has never reported that metric"
        " with a step",
        hint="report the metric: use `spotwarden run --metric 'loss=loss: ([^ ,]+)'`",
        gone="loss is a valid number again",
        evidence={f"measured on {VM}": "step 12,000: loss nan"},
        title="reports an invalid loss",
        key=JOB,
    ),
    "idle": _Trouble(
        reason=f"All 4 GPUs of {VM} have been below 5% for 1 h 5 min.",
        todo="use the GPUs, or stop the VM",
        doubt=f"The GPUs of {VM} report no metrics.",
        hint="install Google's Ops Agent on the VM. It reports NVIDIA GPUs without further settings",
        gone="the GPUs are busy again",
        evidence={"GPUs": "4 x nvidia-l4, all reporting", "busiest GPU": "1.0%", "cost while idle": "$3.42"},
    ),
    "job_cap": _Trouble(
        reason=f"job {JOB} has used 100% of a limit: run time over all attempts, 20.1 h of 20 h",
        todo="check that it saves checkpoints, or stop it",
        doubt=f"we don't know when {VM} started",
        hint="",
        gone="the job has more time",
        evidence={"run time over all attempts": "20.1 h of 20 h (100%)"},
        key=JOB,
    ),
    "instance_cap": _Trouble(
        reason=f"VM {VM} in {ZONE} has used 100% of a limit: time up since it was started, 56.2 h of 56 h",
        todo="save a checkpoint, then stop the VM",
        doubt=f"we don't know when {VM} started",
        hint="",
        gone="the VM was stopped",
        evidence={"time up since it was started": "56.2 h of 56 h (100%)"},
    ),
    "owner_cap": _Trouble(
        reason="ada@example.com has used 101% of a limit: GPU-hours this week, 101 GPU-hours of 100"
        " GPU-hours",
        todo="stop what you don't need, or ask ops to raise the limit in the policy",
        doubt="we couldn't check how much of $500.00 ada@example.com has used: 3.0 VM-hours have no"
        " known price",
        hint="",
        gone="a new week has begun",
        evidence={"GPU-hours this week": "101 GPU-hours of 100 GPU-hours (101%)"},
    ),
    "compliance": _Trouble(
        reason=f"{VM} violates the policy: its machine type is a3-highgpu-8g.",
        todo="launch it again with values that the policy allows",
        doubt="The records of its job can't be read.",
        hint="",
        gone="the VM was deleted",
        evidence={"machine type": "a3-highgpu-8g; allowed: g2-*, a2-highgpu-1g"},
    ),
}


def samples(given: str, *, to: str, at: datetime) -> tuple[Notice, ...]:
    """One notice of each kind for `to`, marked as a test; two calls with one `given` are the same notices."""
    tick = Tick(function="notices", sweep=given, now=at)
    told = (*_of_jobs(tick), *_of_cases(tick), *_of_posts(tick))
    return tuple(_marked(notice, given, to) for notice in told)


def _marked(notice: Notice, given: str, to: str) -> Notice:
    return replace(notice, id=f"{TEST}{given}/{notice.kind}", owner=to)


def _of_jobs(tick: Tick) -> Iterator[Notice]:
    tried = Try(place=ZONE, request_id="", at=tick.now, error="ZONE_RESOURCE_POOL_EXHAUSTED")
    first = Attempt(
        job=JOB, number=1, state=AttemptState.RUNNING, created=tick.now, updated=tick.now, reason="submitted"
    )
    again = replace(first, number=2, tries=(tried,), reason=f"{VM} was preempted", replaces={VM: ID})
    word = "forbidden: Required 'compute.instances.create' permission for 'projects/sample'"
    unhindered = replace(again, tries=(replace(tried, error=""),))
    refused = replace(again, tries=(replace(tried, error=word),))
    facts = JobFacts(
        job=JOB,
        progress=SavedProgress(at=tick.now - _HOUR, checkpoint="step-12000"),
        file=JobFile(problem="line 3: max_runtime is not a valid duration"),
    )
    node = NodeFacts(node=VM, instance_id=ID)
    yield notices.started(replace(first, tries=(replace(tried, error=""),)), {VM: ID}, tick)
    yield notices.started(again, {VM: "1234567890123456790"}, tick)
    cheaper = f"spot in us-east4-a costs $2.10 an hour, spot in {ZONE} $3.40"
    move = replace(
        again, planned=cheaper, lost_in=ZONE, tries=(replace(tried, place="us-east4-a", error=""),)
    )
    yield notices.moved(move, {VM: "1234567890123456790"}, tick)
    yield notices.not_recoverable(
        facts, node, "the create script's machine type, a3-highgpu-8g, is not in the policy's list", tick
    )
    worn = replace(unhindered, number=51)
    yield notices.gave_up(facts, worn, "it failed and was restarted 50 times, which is the limit", tick)
    yield notices.forbidden(facts, refused, Policy(version="sample"), tick)
    yield notices.closed(facts, unhindered, "ada@example.com stopped its VM", AttemptState.STOPPED, tick)
    waiting = replace(again, created=tick.now - _HOUR / 2)
    yield delay_notices.waits_for_room(facts, waiting, _HOUR / 2, Policy(version="sample"), tick)
    gone = Removal(
        instance_id=ID, operation="operation-1", kind="delete", user="ada@example.com", at=tick.now
    )
    pair = replace(first, instances={VM: ID, f"{JOB}-2": "1234567890123456791"})
    yield notices.node_removed(facts, pair, {VM: gone}, tick)
    yield gang_notices.slice_broken(facts, pair, {VM: gone}, tick)
    lacking = {VM: LackingNode(instance_id=ID, since=tick.now)}
    left = replace(pair, number=2, instances={f"{JOB}-2": "1234567890123456791"}, fate=Fate.PREEMPTED.value)
    had = replace(facts, ledger=(Recorded(attempt=pair, generation=1),))
    yield gang_notices.bent(had, replace(left, replaces={VM: ID}, lacking=lacking), tick)
    ended = replace(facts, status_code="0", ended=tick.now - _HOUR)
    yield notices.end_doubted(ended, first, "its VM ran for 60 more minutes, until it was preempted", tick)
    yield notices.differs(facts, first, ["machine type: g2-standard-8 runs, g2-standard-4 is stored"], tick)
    yield name_notices.name_taken(facts, [_namesake(tick)], tick)
    found = Treadmill(attempts=(1, 2, 3), last_steps=(4100, 3950, 4020), up=9 * _HOUR)
    yield delay_notices.on_treadmill(facts, found, tick)
    yield notices.unreadable_file(facts, tick)
    unusable = UnusableMarker(name="Sample VM", generation=7, reason="a VM can't have this name", data=b"")
    yield notices.unusable(unusable, tick)


def _namesake(tick: Tick) -> Instance:
    return Instance(id="9876543210987654321", name=VM, zone=ZONE, status=Status.RUNNING, created=tick.now)


def _of_cases(tick: Tick) -> Iterator[Notice]:
    policy = Policy(version="sample", governance=GovernanceLimits(ops="ops"))
    for rule, trouble in _TROUBLES.items():
        finding = _finding(rule, trouble)
        doubted = replace(finding, reason=trouble.doubt, todo=trouble.hint, evidence={})
        case = _case(finding, trouble.remedy, tick)
        due = tick.now + _HOUR / 2
        kind = "disks" if rule == "leftover" else "instances"
        denied = f"403 Required 'compute.{kind}.{trouble.remedy.value}' permission"
        target = trouble.targets[0].id
        remediation = Remediation(target=target, request_id="", at=tick.now, error=denied)
        yield case_notices.warning(case, finding, policy, tick, hindered="", due=due, latest=None)
        yield case_notices.unknown(replace(case, title=""), doubted, policy, tick)
        yield case_notices.acted(case, policy, tick)
        yield case_notices.cleared(case, trouble.gone, policy, tick)
        if rule == "early_stop":
            yield ops_notices.withheld(case, "the policy keeps the data on local SSDs", policy, tick)
        else:
            yield ops_notices.failing(case, [remediation], 3, policy, tick)
        if rule == "idle":
            many = [_numbered(case, number) for number in range(1, 41)]
            yield ops_notices.waiting(many, 10, policy, replace(tick, function="flag_idle_gpus"))
            yield ops_notices.approval(_gang(case), 10, policy, tick)


def _of_posts(tick: Tick) -> Iterator[Notice]:
    policy = Policy(version="sample", governance=GovernanceLimits(ops="ops"))
    if asleep := silence.silent({"reap_vms": tick.now - 2 * _HOUR}, policy, tick):
        yield asleep
    week = sample_week.WEEK
    told, figures = f"Your week {week.told}", sample_week.figures(tick.now)
    yield weekly.message(figures, week, tick.now, owner="ann", words=told, tables=sample_week.tables())
    yield recipients.unreachable("ml-chat", "404 no such hook", policy, tick.now)
    yield tidying.unreadable(b"hello", "it is not valid JSON", tick.now).pending.notice


def _numbered(case: Case, number: int) -> Case:
    """The same case about another VM."""
    target = Target(id=str(int(ID) + number), name=f"{JOB}-{number}", zone=ZONE)
    return replace(case, subject=replace(case.subject, targets=(target,)))


def _gang(case: Case) -> Case:
    """The same case about a gang of more VMs than a sweep may act on."""
    nodes = tuple(Target(id=str(int(ID) + node), name=f"{JOB}-{node}", zone=ZONE) for node in range(1, 17))
    return replace(case, subject=replace(case.subject, key=JOB, targets=nodes))


def _finding(rule: str, trouble: _Trouble) -> Finding:
    subject = Subject(key=trouble.key, job=JOB, targets=trouble.targets)
    return Finding(
        rule=rule,
        subject=subject,
        reason=trouble.reason,
        todo=trouble.todo,
        evidence=trouble.evidence,
        title=trouble.title,
        level=2,
    )


def _case(finding: Finding, remedy: Remedy, tick: Tick) -> Case:
    warned = Warned(level=1, at=tick.now - _HOUR, notice="sample")
    return Case(
        rule=finding.rule,
        subject=finding.subject,
        state=CaseState.WARNED,
        opened=tick.now - 2 * _HOUR,
        looked=tick.now,
        reason=finding.reason,
        title=finding.title,
        evidence=finding.evidence,
        remedy=remedy,
        warnings=(warned,),
    )
