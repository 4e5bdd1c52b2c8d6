"""What heartbeats say, read as rarely as that can be known.

A listing says when each heartbeat came: that a VM is alive. When its program last made progress stands
inside, and of which attempt it is. The job kit puts that beside the object as well, where the listing has it
and nothing is read (`records`). What was read once is remembered: progress that was made stays made, so a job
that has moved within the limit is not read again before that limit has passed.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.heard import TEXT, Heard, hear, heard_of
from spotwarden.governance.signals.records import alive, attempt_by_time
from spotwarden.governance.signals.table import NodeSignals, Signal, SignalKind, SignalSource, signals
from spotwarden.layout import Heartbeat, Layout
from spotwarden.model.heartbeat import WAITING, Beat
from spotwarden.ports import BrokenError, Store
from spotwarden.recovery.folder.folder_list import JobFolder
from spotwarden.recovery.folder.heartbeats import STILL_AT_MOST, beat_in, progress_in
from spotwarden.recovery.folder.job_folder import OBJECT_AT_MOST
from spotwarden.recovery.folder.node_beats import NodeBeat

Enough = Callable[[JobRecord], bool]
"""Whether what is known of a job's progress so far shows that it moves."""


def remembered(layout: Layout, record: JobRecord) -> JobRecord:
    """The record with what its heartbeats have said before; nothing is read."""
    known = {node: heard for node, _ in _beats(record) if (heard := _known(layout, record.job, node))}
    return with_all(record, known) if known else record


def listen(store: Store, layout: Layout, record: JobRecord, enough: Enough) -> JobRecord:
    """The record with what its heartbeats say now, the newest first, until that is enough.

    One is read, then two more, then four: what is known is judged a few times only, however large a gang is.
    """
    beats = sorted(_beats(record), key=lambda pair: pair[1], reverse=True)
    first, size = 0, 1
    while first < len(beats):
        some = beats[first : first + size]
        record = with_all(
            record, {node: _heard(store, layout, record.job, node, came) for node, came in some}
        )
        if enough(record):
            break
        first, size = first + size, 2 * size
    return record


def _beats(record: JobRecord) -> list[tuple[str, datetime]]:
    """When the heartbeat of each node came."""
    return [
        (row.node, signal.at) for row, signal in signals(record.signals.nodes, SignalKind.ALIVE) if signal.at
    ]


def with_heard(record: JobRecord, node: str, heard: Heard) -> JobRecord:
    """The record with what was heard of a node, in the row of the attempt that it is of."""
    return with_all(record, {node: heard})


def with_all(record: JobRecord, heard: Mapping[str, Heard]) -> JobRecord:
    """The same for several nodes at once. A newest heartbeat says itself of which attempt its VM is."""
    came = dict(_beats(record))
    newest = {node for node, item in heard.items() if came.get(node) == item.came}
    rows = (
        NodeSignals(
            node=node,
            attempt=attempt_of(record, node, candidate),
            instance_id=candidate.beat.instance_id or record.instances.get(node, ""),
            signals=tuple(_said(candidate, alive=node in newest, vm=record.instances.get(node, ""))),
        )
        for node, candidate in heard.items()
    )
    table = record.signals.without(newest, SignalSource.HEARTBEAT).with_row(*rows)
    gap = max((found for each in heard.values() if (found := _gap(each.beat))), default=None)
    return replace(record, signals=table.with_gap(gap))


def with_listed(record: JobRecord, heard: Mapping[Heartbeat, NodeBeat]) -> JobRecord:
    """The record with those heartbeats of the job kit that are newer than what it knows of their nodes."""
    came = dict(_beats(record))
    newer = {
        name: found
        for name, found in heard.items()
        if (known := came.get(name.node)) is None or known < found.entry.updated
    }
    folder = JobFolder({name: found.entry for name, found in newer.items()})
    record = replace(record, signals=record.signals.with_row(*alive(folder, record).nodes))
    said = {
        name.node: Heard(
            came=found.entry.updated,
            progress=progress_in(found.beat, found.entry.updated),
            beat=found.beat,
        )
        for name, found in newer.items()
    }
    return with_all(record, said)


def _gap(beat: Beat) -> timedelta | None:
    gap = beat.longest_gap
    return timedelta(seconds=min(gap, STILL_AT_MOST.total_seconds())) if gap and gap > 0 else None


def attempt_of(record: JobRecord, node: str, heard: Heard) -> int:
    """The attempt that a heartbeat is of: by the VM that it names, by the attempt, else by when it came."""
    said, present = heard.beat.attempt, max(record.attempt, 1)
    named, own = heard.beat.instance_id, record.instances.get(node, "")
    by_time = attempt_by_time(record, heard.came)
    if named and own:
        if named == own:
            return present if said == present else by_time
        return said if said is not None and said != present else 0
    return said if said is not None else by_time


def _said(heard: Heard, *, alive: bool, vm: str) -> Iterator[Signal]:
    """What a heartbeat says of the node whose VM this is; "" where no record knows it.

    Who waits to join a gang that bends has no program that could get on.
    """
    beat, at = heard.beat, heard.progress
    if alive:
        yield Signal(kind=SignalKind.ALIVE, source=SignalSource.HEARTBEAT, at=heard.came)
    if beat.status == WAITING:
        return
    periodic = beat.progress_at is not None
    source = SignalSource.REPORTED if periodic else SignalSource.HEARTBEAT
    yield Signal(kind=SignalKind.PROGRESS, source=source, at=at)
    if beat.step is not None:
        named = bool(vm) and beat.instance_id == vm
        yield Signal(kind=SignalKind.PROGRESS, source=SignalSource.STEP, at=at, value=beat.step, named=named)
    if beat.checkpoint:
        yield Signal(
            kind=SignalKind.PROGRESS, source=SignalSource.CHECKPOINT, at=at, value=beat.checkpoint[:TEXT]
        )


def _known(layout: Layout, job: str, node: str) -> Heard | None:
    return heard_of(layout.build(Heartbeat(job=job, node=node)))


def _heard(store: Store, layout: Layout, job: str, node: str, came: datetime) -> Heard:
    """What a heartbeat says that came then; one that cannot be read still shows that it was written."""
    before = _known(layout, job, node)
    if before is not None and before.came == came:
        return before
    name = layout.build(Heartbeat(job=job, node=node))
    try:
        stored = store.read(name, at_most=OBJECT_AT_MOST)
    except BrokenError:
        stored = None
    if stored is None:
        return Heard(came=came, progress=came)
    heard = hear(name, beat_in(stored.data), stored.updated)
    return replace(heard, came=came)
