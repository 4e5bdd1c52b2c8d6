"""One notice of each kind, as it would be told: the words are those of who tells it in earnest."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.cli import sample_week
from spotwarden.governance import silence
from spotwarden.governance.cases import notices as case_notices
from spotwarden.governance.cases import ops_notices
from spotwarden.model.attempt import Attempt, AttemptState, Removal, Try
from spotwarden.model.case import Case, CaseState, Remediation, Warned
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.finding import Finding, Subject, Target
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.instance import Instance, Status
from spotwarden.model.jobfile import JobFile, SavedProgress
from spotwarden.model.marker import UnusableMarker
from spotwarden.model.notice import Notice
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.notify.outbox import recipients, tidying
from spotwarden.recovery import notices
from spotwarden.report.figures import weekly

JOB, VM, ZONE, ID = "sample-job", "sample-job-1", "us-central1-a", "1234567890123456789"
_HOUR = timedelta(hours=1)


class _Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule would find: in these words, with these figures, and what it would do in the end."""

    reason: str
    todo: str
    evidence: Mapping[str, str]
    remedy: Remedy = Remedy.STOP
    key: str = ID
    targets: tuple[Target, ...] = (Target(id=ID, name=VM, zone=ZONE),)


_TROUBLES: Mapping[str, _Trouble] = {
    "orphan": _Trouble(
        reason=f"the job {JOB} ended 25 min ago and {VM} still runs",
        todo="nothing, if it may go; otherwise say so",
        evidence={"job ended": "25 min ago", "status-code": "0"},
        remedy=Remedy.DELETE,
    ),
    "leftover": _Trouble(
        reason="nothing has used the disk for 1 d",
        todo="delete it if it is not needed any more",
        evidence={"size": "500 GB", "type": "pd-ssd"},
        remedy=Remedy.DELETE,
        targets=(Target(id=ID, name="sample-disk", zone=ZONE),),
    ),
    "stall": _Trouble(
        reason=f"nothing of the job {JOB} has moved for 2 h 5 min: no heartbeat, no log line",
        todo="look at the job's log; where it hangs, stop it and start it again from its last checkpoint",
        evidence={"newest heartbeat": "2 h 5 min ago", "busiest CPU in the last hour": "1.2 %, at rest"},
    ),
    "early_stop": _Trouble(
        reason=f"loss of {JOB} is not a number (nan) at step 12,000",
        todo="look for what made it so, then start it again from an earlier checkpoint",
        evidence={"loss": "nan", "step": "12,000"},
        key=JOB,
    ),
    "idle": _Trouble(
        reason=f"All 4 GPUs of {VM} have been below 5 % for 1 h 5 min.",
        todo="let it work, or stop it",
        evidence={"GPUs": "4 x nvidia-l4, all of them reported", "busiest GPU": "1.0 %"},
    ),
    "job_cap": _Trouble(
        reason=f"{JOB} has run for 19 h 12 min of the 20 h that it may",
        todo="save a checkpoint, or ask for more",
        evidence={"used": "19 h 12 min", "limit": "20 h", "attempts": "3"},
        key=JOB,
    ),
    "instance_cap": _Trouble(
        reason=f"{VM} has been up for 2 d 6 h of the 2 d 8 h that it may",
        todo="save a checkpoint",
        evidence={"up": "2 d 6 h", "limit": "2 d 8 h"},
    ),
    "owner_cap": _Trouble(
        reason="81 of 100 GPU-hours of this week are used",
        todo="stop what is not needed",
        evidence={"GPU-hours this week": "81 of 100"},
    ),
    "compliance": _Trouble(
        reason=f"{VM} is an a3-highgpu-8g, which the policy does not list",
        todo="launch it again as a machine type that the policy lists",
        evidence={"machine type": "a3-highgpu-8g", "listed": "g2-*, a2-highgpu-1g"},
    ),
}


def samples(given: str, *, to: str, at: datetime) -> tuple[Notice, ...]:
    """One notice of each kind for `to`, marked as a test; two calls with one `given` are the same notices."""
    tick = Tick(function="notices", sweep=given, now=at)
    told = (*_of_jobs(tick), *_of_cases(tick), *_of_posts(tick))
    return tuple(_marked(notice, given, to) for notice in told)


def _marked(notice: Notice, given: str, to: str) -> Notice:
    return replace(notice, id=f"test/{given}/{notice.kind}", what=f"[test] {notice.what}", owner=to)


def _of_jobs(tick: Tick) -> Iterator[Notice]:
    tried = Try(place=ZONE, request_id="", at=tick.now, error="ZONE_RESOURCE_POOL_EXHAUSTED")
    first = Attempt(
        job=JOB, number=1, state=AttemptState.RUNNING, created=tick.now, updated=tick.now, reason="submitted"
    )
    again = replace(first, number=2, tries=(tried,), reason=f"{VM} was preempted", replaces={VM: ID})
    word = "forbidden: Required 'compute.instances.create' permission for 'projects/sample'"
    refused = replace(again, tries=(replace(tried, error=word),))
    facts = JobFacts(
        job=JOB,
        progress=SavedProgress(at=tick.now - _HOUR, checkpoint="step-12000"),
        file=JobFile(problem="line 3: max_runtime is not a valid duration"),
    )
    node = NodeFacts(node=VM, instance_id=ID)
    yield notices.started(first, {VM: ID}, tick)
    yield notices.started(again, {VM: "1234567890123456790"}, tick)
    yield notices.not_recoverable(
        facts, node, "the create script names a machine type that is not allowed", tick
    )
    yield notices.gave_up(facts, again, "it ended by itself and was restarted 50 times, the limit", tick)
    yield notices.forbidden(facts, refused, Policy(version="sample"), tick)
    yield notices.closed(
        facts, again, "stopped by hand: a stop operation by a person", AttemptState.STOPPED, tick
    )
    gone = Removal(
        instance_id=ID, operation="operation-1", kind="delete", user="ada@example.com", at=tick.now
    )
    yield notices.node_removed(facts, replace(first, instances={VM: ID}), {VM: gone}, tick)
    ended = replace(facts, status_code="0", ended=tick.now - _HOUR)
    yield notices.end_doubted(ended, first, "its VM ran on for 60 min after that, until it was taken", tick)
    yield notices.differs(facts, first, ["machine type: g2-standard-8 runs, g2-standard-4 is stored"], tick)
    yield notices.name_taken(facts, [_namesake(tick)], tick)
    yield notices.unreadable_file(facts, tick)
    unusable = UnusableMarker(name="Sample VM", generation=7, reason="no such name can be a VM's", data=b"")
    yield notices.unusable(unusable, tick)


def _namesake(tick: Tick) -> Instance:
    return Instance(id="9876543210987654321", name=VM, zone=ZONE, status=Status.RUNNING, created=tick.now)


def _of_cases(tick: Tick) -> Iterator[Notice]:
    policy = Policy(version="sample", governance=GovernanceLimits(ops="ops"))
    for rule, trouble in _TROUBLES.items():
        finding = _finding(rule, trouble)
        case = _case(finding, trouble.remedy, tick)
        due = tick.now + _HOUR / 2
        remediation = Remediation(target=ID, request_id="", at=tick.now, error="403 permission denied")
        yield case_notices.warning(case, finding, policy, tick, hindered="", due=due, latest=None)
        yield case_notices.unknown(case, finding, policy, tick)
        yield case_notices.acted(case, policy, tick)
        yield case_notices.cleared(case, "it works again", policy, tick)
        if rule == "early_stop":
            yield ops_notices.withheld(case, "the policy keeps the data on local SSDs", policy, tick)
        else:
            yield ops_notices.failing(case, [remediation], 3, policy, tick)
        if rule == "idle":
            yield ops_notices.waiting([case] * 40, 10, policy, tick)
            yield ops_notices.approval(case, 10, policy, tick)


def _of_posts(tick: Tick) -> Iterator[Notice]:
    policy = Policy(version="sample", governance=GovernanceLimits(ops="ops"))
    if asleep := silence.silent({"reap_vms": tick.now - 2 * _HOUR}, policy, tick):
        yield asleep
    week = sample_week.WEEK
    told, figures = f"Your week of {week.told}", sample_week.figures(tick.now)
    yield weekly.message(figures, week, tick.now, owner="ann", words=told, tables=sample_week.tables())
    yield recipients.unreachable("ml-chat", "404 no such hook", policy, tick.now)
    yield tidying.unreadable(b"hello", "it is not valid JSON", tick.now).pending.notice


def _finding(rule: str, trouble: _Trouble) -> Finding:
    subject = Subject(key=trouble.key, job=JOB, targets=trouble.targets)
    return Finding(
        rule=rule,
        subject=subject,
        reason=trouble.reason,
        todo=trouble.todo,
        evidence=trouble.evidence,
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
        evidence=finding.evidence,
        remedy=remedy,
        warnings=(warned,),
    )
