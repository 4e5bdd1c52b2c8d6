"""The timeline of a job's VMs: where each was up, from when to when, how that ended, and the waits between.

The ledger says what we know of attempts, the meter when a VM was really started, and what was launched says
where and as what. A job without a ledger has the VMs that the meter has seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.model.attempt import CLOSED, Attempt, AttemptState
from spotwarden.model.placement import region_of
from spotwarden.model.prices import VmKind
from spotwarden.recovery.kinds.ran_as import on_its_machine, provisioned
from spotwarden.recovery.observed.fates import Fate as Cause
from spotwarden.report.figures.intervals import Pair, Pairs, pair, union
from spotwarden.report.model.job import Bar, BarEnd, JobWait, RefusedTry
from spotwarden.report.model.kept import FigureRules, Gathered, KeptUsage, Sources

PARTS_OF_ZONE = 3
PREEMPTED = Cause.PREEMPTED.value
_CAUSES = {
    PREEMPTED: BarEnd.PREEMPTED,
    Cause.STOPPED.value: BarEnd.STOPPED,
    Cause.EXPIRED.value: BarEnd.EXPIRED,
}
_STATES = {
    AttemptState.ENDED: BarEnd.ENDED,
    AttemptState.STOPPED: BarEnd.STOPPED,
    AttemptState.GAVE_UP: BarEnd.LOST,
}


def over_at(sources: Sources) -> datetime | None:
    """When the job was over; None while it is not."""
    if sources.ended is not None:
        return sources.ended
    newest = sources.ledger[-1] if sources.ledger else None
    return newest.updated if newest and newest.state in CLOSED else None


def bars(sources: Sources, gathered: Gathered, rules: FigureRules) -> tuple[Bar, ...]:
    """A bar for each VM of each attempt that ran, oldest attempt first; before them those of no attempt.

    A node of a gang that goes on with other members has one bar, of the attempt that it joined in.
    """
    ledger = sources.ledger
    return (
        *_unwritten(sources, gathered, rules),
        *(
            bar
            for place in range(len(ledger))
            for bar in _of_attempt(ledger[:place], ledger[place], ledger[place + 1 :], sources, gathered)
        ),
    )


def _of_attempt(
    past: Sequence[Attempt],
    attempt: Attempt,
    later: Sequence[Attempt],
    sources: Sources,
    gathered: Gathered,
) -> Iterator[Bar]:
    if attempt.started is None:
        return
    went_on = past[-1].instances.values() if attempt.bent and past else ()
    for node, instance_id in sorted(attempt.instances.items()):
        if instance_id in went_on:
            continue
        last, after = _until(instance_id, attempt, later)
        end, fate, why = _end(last, after, node, sources)
        runs = _runs_in(instance_id, attempt, sources, gathered)
        start = min([attempt.started, *(run[0] for run in runs)])
        kind = kind_of(instance_id, attempt, gathered)
        yield Bar(
            attempt=attempt.number,
            node=node,
            instance_id=instance_id,
            zone=_zone(attempt, after, instance_id, gathered),
            machine=kind.machine_type,
            spot=_spot(kind),
            start=start,
            end=max(end, start) if end else None,
            fate=fate,
            why=why,
        )


def _until(instance_id: str, attempt: Attempt, later: Sequence[Attempt]) -> tuple[Attempt, Attempt | None]:
    """The last record that has this VM without a break, and the one that goes on without it."""
    for record in later:
        if not record.bent or instance_id not in record.instances.values():
            return attempt, record
        attempt = record
    return attempt, None


def interruptions(bar: Bar, sources: Sources) -> Iterator[Attempt]:
    """The records by which a gang went on without other nodes while this VM was up: its program restarted."""
    for attempt in sources.ledger:
        mine = bar.instance_id in attempt.instances.values()
        if attempt.bent and attempt.replaces and mine and attempt.number > bar.attempt:
            yield attempt


def _end(
    attempt: Attempt, after: Attempt | None, node: str, sources: Sources
) -> tuple[datetime | None, BarEnd, str]:
    """When a node of an attempt went, how, and in words; that of the newest may still be up."""
    if after is not None and attempt.state in CLOSED:
        # Over, and started again by its owner.
        return attempt.updated, _STATES[attempt.state], attempt.reason
    if after is not None and after.bent and (removal := after.removed.get(node)):
        return (
            removal.at or after.created,
            BarEnd.STOPPED,
            f"{removal.kind} by {removal.user or 'the VM itself'}",
        )
    if after is not None:
        fate = _CAUSES.get(after.fate, BarEnd.LOST)
        return after.lost or after.created, fate, after.fate or after.reason
    if sources.ended is not None:
        return sources.ended, BarEnd.ENDED, f"the job ended with status {sources.status_code}"
    if attempt.state in _STATES:
        return attempt.updated, _STATES[attempt.state], attempt.reason
    return None, BarEnd.UP, ""


def _runs_in(instance_id: str, attempt: Attempt, sources: Sources, gathered: Gathered) -> Pairs:
    """When the meter saw this VM up in this attempt: a VM that is started again serves several."""
    mine = [other for other in sources.ledger if instance_id in other.instances.values()]
    metered = gathered.metered.get(instance_id)
    found = runs(metered) if metered else ()
    return tuple(run for run in found if _attempt_of(run, mine) is attempt)


def _attempt_of(run: Pair, mine: Sequence[Attempt]) -> Attempt:
    """The newest attempt that had begun when the run did; the first for one from before our time."""
    begun = [item for item in mine if item.created <= run[0]]
    return begun[-1] if begun else mine[0]


def runs(metered: KeptUsage) -> Pairs:
    """When the meter saw a VM up: one pair for each start, across midnights."""
    found: list[Pair] = []
    for start, days in metered.runs.items():
        began = datetime.fromisoformat(start)
        for day, seconds in days.items():
            first = max(began, datetime.fromisoformat(f"{day}T00:00:00+00:00"))
            found += pair(first, first + timedelta(seconds=seconds))
    return union(found)


def kind_of(instance_id: str, attempt: Attempt | None, gathered: Gathered) -> VmKind:
    """What a VM was: as it was metered, as it was launched, or like another of its job."""
    if metered := gathered.metered.get(instance_id):
        return metered.kind
    if ran := gathered.ran.get(instance_id):
        return ran.kind
    others = [two.kind for two in gathered.metered.values()] + [two.kind for two in gathered.ran.values()]
    if attempt is None or not attempt.tries or not others:
        return VmKind()
    asked, like = attempt.tries[-1], on_its_machine(attempt, others[-1])
    # Only spot VMs get a notice.
    scripted = "SPOT" if asked.notice else like.provisioning
    return replace(like, region=region_of(asked.place), provisioning=provisioned(asked, scripted))


def _spot(kind: VmKind) -> bool | None:
    return kind.provisioning == "SPOT" if kind.machine_type else None


def _zone(attempt: Attempt, after: Attempt | None, instance_id: str, gathered: Gathered) -> str:
    """The zone that it was in: as it was launched, as it was asked for, or as it was lost."""
    if (ran := gathered.ran.get(instance_id)) and ran.zone:
        return ran.zone
    asked = attempt.tries[-1].place if attempt.tries else ""
    if len(asked.split("-")) == PARTS_OF_ZONE:
        return asked
    if after is not None and after.lost_in:
        return after.lost_in
    metered = gathered.metered.get(instance_id)
    return asked or (metered.kind.region if metered else "")


def _unwritten(sources: Sources, gathered: Gathered, rules: FigureRules) -> Iterator[Bar]:
    """The VMs that no ledger knows, which cost as much: each time that the meter has seen one up."""
    nodes = {instance_id: node for node, instance_id in sources.registrations.items()}
    known = {
        instance_id
        for attempt in sources.ledger
        if attempt.started
        for instance_id in attempt.instances.values()
    }
    for instance_id, metered in sorted(gathered.metered.items()):
        for start, end in runs(metered) if instance_id not in known else ():
            up = sources.ended is None and rules.now - end <= rules.fresh
            yield Bar(
                attempt=0,
                node=nodes.get(instance_id, ""),
                instance_id=instance_id,
                zone=metered.kind.region,
                machine=metered.kind.machine_type,
                spot=_spot(metered.kind),
                start=start,
                end=None if up else end,
                fate=BarEnd.UP if up else BarEnd.ENDED if sources.ended else BarEnd.UNKNOWN,
            )


def waits(sources: Sources) -> tuple[JobWait, ...]:
    """The times in which the job wanted VMs and had none, each with why and with who refused."""
    return tuple(wait for attempt in sources.ledger if (wait := _wait(attempt, sources)) is not None)


def _wait(attempt: Attempt, sources: Sources) -> JobWait | None:
    """Before the first attempt of our own making a job waits from when it was asked for.

    A gang that goes on has VMs.
    """
    if attempt.seen or attempt.bent:
        return None
    start = attempt.lost or attempt.created
    end = attempt.started
    if end is None and (attempt.state in CLOSED or sources.ended is not None):
        end = min(sources.ended or attempt.updated, attempt.updated)
    refused = tuple(
        RefusedTry(at=two.at, place=two.place, error=two.error) for two in attempt.tries if two.error
    )
    return JobWait(
        attempt=attempt.number,
        start=start,
        end=max(start, end) if end else None,
        reason=_reason(attempt),
        refused=refused,
    )


def _reason(attempt: Attempt) -> str:
    """Why it has none: what has begun it, and how far the search for a place is."""
    if attempt.state is AttemptState.BACKING_OFF and attempt.not_before:
        return (
            f"{attempt.reason}; no zone has capacity, next try at {attempt.not_before:%Y-%m-%d %H:%M:%S} UTC"
        )
    return attempt.reason


def up_of(bar: Bar, gathered: Gathered, sources: Sources, now: datetime) -> Pairs:
    """When this bar's VM was up, as it is counted: by the ledger and by the meter together.

    Where the meter has seen it started more than once, only what the meter says: the ledger knows no breaks.
    """
    mine = [attempt for attempt in sources.ledger if attempt.number == bar.attempt]
    if not mine:
        return pair(bar.start, bar.end or now)
    metered = _runs_in(bar.instance_id, mine[0], sources, gathered)
    if len(metered) > 1:
        return metered
    return union((*pair(bar.start, bar.end or now), *metered))


def gpus_of(kinds: Mapping[str, VmKind]) -> int | None:
    """The GPUs of these VMs together; None where one of them is unknown."""
    if not kinds or not all(kind.machine_type for kind in kinds.values()):
        return None
    return sum(kind.gpus for kind in kinds.values())
