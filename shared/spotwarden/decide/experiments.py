"""The row of a job in the experiment table, and its timeline: told from its facts alone."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

from spotwarden.model.attempt import Attempt, State
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status

SUCCESS = "0"


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """One row. `instance_id` is also the id of its logs; `runtime` is None where no launch is on record."""

    job: str
    status: str
    attempts: int
    instance_id: str
    zone: str
    owner: str
    started: datetime | None
    runtime: timedelta | None


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a timeline."""

    at: datetime
    what: str


def experiment(facts: JobFacts, instances: tuple[Instance, ...], now: datetime) -> Experiment:
    """The job's row: what it is doing, or how it ended."""
    newest = facts.ledger[-1].attempt if facts.ledger else None
    first = facts.ledger[0].attempt if facts.ledger else None
    ids = set(newest.instances.values()) if newest else set()
    mine = [one for one in instances if one.id in ids]
    return Experiment(
        job=facts.job,
        status=status(facts, mine),
        attempts=newest.number if newest else 1,
        instance_id=", ".join(sorted(ids)),
        zone=newest.tries[-1].place if newest and newest.tries else "",
        owner=newest.owner if newest else "",
        started=first.created if first else None,
        runtime=(_end(facts) or now) - first.created if first else None,
    )


def status(facts: JobFacts, mine: list[Instance]) -> str:
    """One word for how the job stands; `mine` are the newest attempt's instances that are still there."""
    if facts.status_code is not None:
        return "ended" if facts.status_code == SUCCESS else f"failed ({facts.status_code})"
    if not facts.ledger:
        return "unknown"
    newest = facts.ledger[-1].attempt
    if newest.state is not State.RUNNING:
        return _unfinished(newest)
    alive = any(one.status in {Status.RUNNING, Status.STAGING, Status.PROVISIONING} for one in mine)
    return "running" if alive else "interrupted"


def _unfinished(attempt: Attempt) -> str:
    if attempt.state in {State.CLAIMED, State.PLACING}:
        return "starting" if attempt.number == 1 else "recovering"
    return str(attempt.state.value)


def _end(facts: JobFacts) -> datetime | None:
    """When it was over; None while it is not."""
    if facts.ended is not None:
        return facts.ended
    newest = facts.ledger[-1].attempt
    return newest.updated if newest.state in {State.STOPPED, State.GAVE_UP, State.ENDED} else None


def timeline(facts: JobFacts) -> list[Moment]:
    """Everything on record about a job, oldest first."""
    moments = [moment for one in facts.ledger for moment in _moments(one.attempt)]
    if facts.ended is not None:
        moments.append(Moment(at=facts.ended, what=f"the job ended with status {facts.status_code}"))
    return sorted(moments, key=lambda moment: moment.at)


def _moments(attempt: Attempt) -> Iterator[Moment]:
    yield Moment(at=attempt.created, what=f"attempt {attempt.number}: {attempt.reason}")
    for one in attempt.tries:
        answer = f", refused: {one.error}" if one.error else ""
        yield Moment(at=one.at, what=f"attempt {attempt.number} asked {one.place}{answer}")
    for node, instance_id in attempt.instances.items():
        at = attempt.started or attempt.updated
        yield Moment(at=at, what=f"attempt {attempt.number}: {node} is instance {instance_id}")
    if attempt.state in {State.BACKING_OFF, State.STOPPED, State.GAVE_UP}:
        yield Moment(at=attempt.updated, what=f"attempt {attempt.number}: {attempt.state.value}")
