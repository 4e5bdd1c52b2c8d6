"""Disks, addresses and snapshots of jobs that are over."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import cast
from urllib.parse import quote

from msgspec.structs import replace

from spotwarden.governance.signals.contradiction import contradiction
from spotwarden.governance.signals.facts import JobRecord, ReapFacts
from spotwarden.governance.signals.since import first_seen
from spotwarden.governance.signals.text import over_since
from spotwarden.model.brief import Brief
from spotwarden.model.exemptions import exempt
from spotwarden.model.finding import Finding, Reading, Subject, Target
from spotwarden.model.fleet import Leftover, Machine
from spotwarden.model.governance import Remedy
from spotwarden.model.precedence import limits
from spotwarden.model.rule_limits import LeftoverLimits
from spotwarden.model.spans import moment, span

RULE = "leftover"


def judge(facts: ReapFacts, brief: Brief) -> Iterator[Finding]:
    """What is left of jobs that are over; what is not on the list now may only be out of sight."""
    seen, mine = set(), facts.machines_of()
    for leftover in facts.leftovers or ():
        record = facts.jobs.get(leftover.job)
        if record is not None and (
            finding := _finding(leftover, record, mine.get(record.job, ()), brief, bare=facts.bare)
        ):
            seen.add(finding.subject.key)
            yield finding
    if facts.unlisted:
        listed = {key_of(fact) for fact in facts.leftovers or ()}
        yield from _unseen(brief, seen | listed, facts.unlisted)


def key_of(leftover: Leftover) -> str:
    """The key of its case: its link, made safe for a name."""
    return quote(leftover.link, safe="")


def _finding(
    leftover: Leftover, record: JobRecord, machines: Sequence[Machine], brief: Brief, *, bare: bool
) -> Finding | None:
    allowed = cast("LeftoverLimits", limits(brief.policy, RULE, owner=record.owner, job_file=record.file))
    now, dated = brief.tick.now, _over(leftover, record)
    gone = not record.exists
    if record.problem or (gone and bare):
        why = record.problem or "the bucket has no jobs: it may be the wrong bucket"
        return _doubt(leftover, record, allowed, why)
    if dated is None and not gone:
        return None
    since = dated or _first_seen(leftover, brief)
    # Where nothing is left of the job it may be still to come: a disk may be made some time before it.
    oldest = dated or leftover.created
    if oldest is not None and now - oldest < allowed.after:
        return None
    if contradicted := contradiction(record, machines, brief.policy):
        return _doubt(leftover, record, allowed, contradicted)
    if not is_its_own(leftover, record):
        return _strange(leftover, record, allowed, brief, since)
    return _own(leftover, record, allowed, brief, since)


def _own(
    leftover: Leftover, record: JobRecord, allowed: LeftoverLimits, brief: Brief, since: datetime
) -> Finding:
    """Of a job that is over. Where only a label says whose it is, nothing is done about it, as about a VM."""
    over = "nothing has used it since the end of" if record.exists else "the bucket has nothing left of"
    todo = f"no action needed, unless you want to keep this {leftover.kind}"
    if not record.had:
        allowed = replace(allowed, remedy=Remedy.NONE)
        todo = f"delete this {leftover.kind} if you no longer need it: only its label says whose it is"
    return Finding(
        rule=RULE,
        subject=_subject(leftover, record),
        reason=f"this {leftover.kind} belongs to a job that is over: {over} {record.job}",
        todo=todo,
        evidence=_evidence(leftover, brief),
        ripe=brief.tick.now - since >= allowed.after,
        since=since,
        due=since + allowed.after,
        exempt=exempt(
            brief.policy, RULE, brief.tick, labels=leftover.labels, owner=record.owner, job_file=record.file
        ),
        limits=_only_delete(allowed),
    )


def _over(leftover: Leftover, record: JobRecord) -> datetime | None:
    """Since when it is left over, by the record: since the end of its job, or since it was made."""
    over = over_since(record)
    return None if over is None else max(over, leftover.created or over)


def _first_seen(leftover: Leftover, brief: Brief) -> datetime:
    return first_seen(brief, RULE, key_of(leftover))


def _only_delete(allowed: LeftoverLimits) -> LeftoverLimits:
    """A disk cannot be stopped."""
    return replace(allowed, remedy=Remedy.NONE) if allowed.remedy is Remedy.STOP else allowed


def _doubt(leftover: Leftover, record: JobRecord, allowed: LeftoverLimits, why: str) -> Finding:
    return Finding(
        rule=RULE,
        subject=_subject(leftover, record),
        reading=Reading.UNKNOWN,
        reason=f"we couldn't check whether its job {record.job} is over: {why}",
        limits=_only_delete(allowed),
    )


def is_its_own(leftover: Leftover, record: JobRecord) -> bool:
    """Whether no record of the job contradicts its label; anybody can copy one."""
    return not record.had or bool({leftover.id, leftover.origin, leftover.address} & record.had)


def _strange(
    leftover: Leftover, record: JobRecord, allowed: LeftoverLimits, brief: Brief, since: datetime
) -> Finding:
    """What carries the job's label, and no VM of the job is on record with: ops are told, and that is all."""
    return Finding(
        rule=RULE,
        subject=replace(_subject(leftover, record), ours=False),
        reason=f"this {leftover.kind} has the label of {record.job}, which is over, but no VM of the"
        " job is on"
        f" record with it",
        todo=f"find its owner. Then remove the label, or delete the {leftover.kind} yourself",
        evidence=_evidence(leftover, brief),
        since=since,
        limits=_only_delete(allowed),
    )


def _subject(leftover: Leftover, record: JobRecord) -> Subject:
    place = Target(id=leftover.link, name=leftover.name, zone="", manager=leftover.manager)
    return Subject(key=key_of(leftover), job=record.job, owner=record.owner, targets=(place,))


def _evidence(leftover: Leftover, brief: Brief) -> dict[str, str]:
    said = {
        "kind": leftover.kind,
        "size": f"{leftover.size_gb} GB" if leftover.size_gb else "",
        "created": moment(leftover.created),
        "age": span(brief.tick.now - leftover.created) if leftover.created else "",
    }
    return {key: value for key, value in said.items() if value}


def _unseen(brief: Brief, seen: set[str], unlisted: tuple[str, ...]) -> Iterator[Finding]:
    """Of an open case that a partial list does not show nobody knows how it stands."""
    for (rule, key), case in brief.cases.items():
        if rule == RULE and key not in seen:
            yield Finding(
                rule=RULE,
                subject=case.subject,
                reading=Reading.UNKNOWN,
                reason=f"the list of resources is incomplete: {', '.join(unlisted)}",
                limits=limits(brief.policy, RULE, owner=case.subject.owner),
            )
