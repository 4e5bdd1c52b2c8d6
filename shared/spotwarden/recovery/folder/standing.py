"""The row of a job in the experiment table, and its timeline: told from its facts alone."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.model.attempt import Attempt, AttemptState, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.standing import Standing

SUCCESS = "0"
NO_TAGS: Mapping[str, str] = {}
ALIVE = frozenset((Status.RUNNING, Status.STAGING, Status.PROVISIONING))
_CLOSED: Mapping[AttemptState, Standing] = {
    AttemptState.ENDED: Standing.ENDED,
    AttemptState.STOPPED: Standing.STOPPED,
    AttemptState.GAVE_UP: Standing.GAVE_UP,
}


class JobSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One row. `instance_id` is also the id of its logs; `exit_code` what the job wrote as its end.

    `runtime` is None where no VM of it is known to have run, `ended` while the job is open.
    """

    job: str
    status: Standing
    exit_code: str = ""
    attempts: int
    instance_id: str
    zone: str
    owner: str
    started: datetime | None
    ended: datetime | None = None
    runtime: timedelta | None
    tags: Mapping[str, str] = {}


class TimelineEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a timeline."""

    at: datetime
    what: str


def experiment(
    facts: JobFacts,
    instances: tuple[Instance, ...],
    now: datetime,
    *,
    stalled: bool = False,
    tags: Mapping[str, str] = NO_TAGS,
) -> JobSummary:
    """The job's row: what it is doing, or how it ended; `stalled` where governance has found it so."""
    newest = facts.ledger[-1].attempt if facts.ledger else None
    first = facts.ledger[0].attempt if facts.ledger else None
    ids = set((newest.instances or _left_running(newest)).values()) if newest else set()
    mine = [instance for instance in instances if instance.id in ids]
    ended = _end(facts)
    return JobSummary(
        job=facts.job,
        status=standing(facts, mine, stalled=stalled),
        exit_code=facts.status_code or "",
        attempts=newest.number if newest else 1,
        instance_id=", ".join(sorted(ids)),
        zone=newest.tries[-1].place if newest and newest.tries else "",
        owner=facts.owner,
        started=first.created if first else None,
        ended=ended,
        runtime=(ended or now) - first.created if first and _has_run(facts) else None,
        tags=tags,
    )


def _has_run(facts: JobFacts) -> bool:
    """Whether a VM of it was ever there with room; of attempts that were not read, one may have been."""
    attempts = [recorded.attempt for recorded in facts.ledger]
    unread = bool(attempts) and attempts[-1].number > len(attempts)
    return (
        unread
        or facts.status_code is not None
        or any(attempt.started or attempt.state is AttemptState.RUNNING for attempt in attempts)
    )


def standing(facts: JobFacts, mine: list[Instance], *, stalled: bool = False) -> Standing:
    """How the job stands; `mine` are the newest attempt's instances that are still there."""
    if facts.status_code is not None:
        return Standing.ENDED if facts.status_code == SUCCESS else Standing.FAILED
    if not facts.ledger:
        return Standing.UNKNOWN
    newest = facts.ledger[-1].attempt
    if newest.state in _CLOSED:
        return _CLOSED[newest.state]
    # A flex-start VM is there before it has room: PENDING.
    waits = any(item.status is Status.PENDING for item in mine)
    moves = any(item.id in _left_running(newest).values() and item.status in ALIVE for item in mine)
    if (newest.state is not AttemptState.RUNNING and not moves) or waits:
        return Standing.QUEUED if newest.number == 1 else Standing.RECOVERING
    running = sum(item.status in ALIVE for item in mine)
    if not running or (_is_slice(newest) and running < len(newest.wanted)):
        return Standing.RECOVERING
    return Standing.STALLED if stalled or is_broken(newest) else Standing.RUNNING


def _is_slice(newest: Attempt) -> bool:
    """Whether it is a TPU slice, which needs all of its VMs."""
    return bool(newest.tries and newest.tries[-1].group)


def is_broken(newest: Attempt) -> bool:
    """Whether somebody has removed VMs of a slice: the others are there, and can't go on."""
    return newest.state is AttemptState.RUNNING and _is_slice(newest) and bool(newest.removed)


def _left_running(newest: Attempt) -> Mapping[str, str]:
    """What a job that is about to be moved runs on meanwhile."""
    return newest.replaces if newest.planned and not newest.instances and not newest.closed else {}


def worded(row: JobSummary) -> str:
    """The status in words, a failure with its code."""
    return f"failed ({row.exit_code})" if row.status is Standing.FAILED else row.status.value


def _end(facts: JobFacts) -> datetime | None:
    """When it was over; None while it is not."""
    if facts.ended is not None:
        return facts.ended
    newest = facts.ledger[-1].attempt if facts.ledger else None
    return newest.updated if newest and newest.state in _CLOSED else None


def over(facts: JobFacts) -> str:
    """When the job was over, and why or by whom; "" while it is not."""
    at = _end(facts)
    if at is None:
        return ""
    newest = facts.ledger[-1].attempt if facts.ledger else None
    if facts.status_code is not None:
        why = f"with status {facts.status_code}"
    else:
        why = newest.reason if newest else ""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC" + (f", {why}" if why else "")


def left_running(facts: JobFacts, instances: tuple[Instance, ...]) -> list[str]:
    """The names of the VMs of a job that is over which run all the same."""
    if not facts.ledger or _end(facts) is None:
        return []
    known = {
        name
        for recorded in facts.ledger
        for ids in (recorded.attempt.instances, recorded.attempt.replaces)
        for name in ids.values()
    }
    return sorted(vm.name for vm in instances if vm.id in known and vm.status in ALIVE)


def timeline(facts: JobFacts) -> list[TimelineEvent]:
    """Everything on record about a job, oldest first."""
    attempts = [recorded.attempt for recorded in facts.ledger]
    news = [attempts[0], *map(new_in, attempts, attempts[1:])] if attempts else []
    moments = [moment for attempt in news for moment in _moments(attempt)]
    if facts.ended is not None:
        moments.append(TimelineEvent(at=facts.ended, what=f"the job ended with status {facts.status_code}"))
    return sorted(moments, key=lambda moment: moment.at)


def new_in(before: Attempt, attempt: Attempt) -> Attempt:
    """What is new in a record of a gang that goes on with other members; any other as it is."""
    if not attempt.bent:
        return attempt
    asked = {tried.request_id for tried in before.tries}
    return replace(
        attempt,
        tries=tuple(tried for tried in attempt.tries if tried.request_id not in asked),
        instances={
            node: name for node, name in attempt.instances.items() if before.instances.get(node) != name
        },
        removed={
            node: removal for node, removal in attempt.removed.items() if before.removed.get(node) != removal
        },
    )


def _moments(attempt: Attempt) -> Iterator[TimelineEvent]:
    # Once it is closed the reason is that of its end; of its beginning there is left what it answers.
    closed = attempt.closed and attempt.updated > attempt.created and attempt.state is not AttemptState.ENDED
    begun = attempt.fate if closed else attempt.reason
    if begun or not closed:
        yield TimelineEvent(at=attempt.created, what=f"attempt {attempt.number}: {begun}")
    for tried in attempt.tries:
        why = f" ({tried.why})" if tried.why else ""
        answer = f", refused: {tried.error}" if tried.error else ""
        did = "stays in" if tried.kind is TryKind.KEEP else "asked"
        named = f" for {tried.vm}" if tried.vm else ""
        said = f"attempt {attempt.number} {did} {tried.place}{named}{why}{answer}"
        yield TimelineEvent(at=tried.at, what=said)
    for node, instance_id in attempt.instances.items():
        at = attempt.started or attempt.updated
        yield TimelineEvent(at=at, what=f"attempt {attempt.number}: {node} is instance {instance_id}")
    for node, removal in attempt.removed.items():
        by = f" by {removal.user}" if removal.user else ""
        said = f"attempt {attempt.number}: {removal.kind} of {node}{by}"
        yield TimelineEvent(at=removal.at or attempt.updated, what=said)
    if attempt.state in {AttemptState.BACKING_OFF, AttemptState.STOPPED, AttemptState.GAVE_UP}:
        why = f": {attempt.reason}" if closed and attempt.reason else ""
        yield TimelineEvent(at=attempt.updated, what=f"attempt {attempt.number}: {attempt.state.value}{why}")
