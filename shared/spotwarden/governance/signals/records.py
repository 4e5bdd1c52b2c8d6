"""What is on record of a job, read at little cost: one listing, and what has changed since the last one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.folders import Look
from spotwarden.governance.signals.heard import hear, heard_of
from spotwarden.governance.signals.table import (
    NodeSignals,
    Signal,
    SignalKind,
    SignalSource,
    SignalTable,
)
from spotwarden.layout import (
    AttemptRecord,
    Heartbeat,
    InstanceId,
    JobFileName,
    Layout,
    NotInLayoutError,
    ObjectName,
    StatusCode,
)
from spotwarden.model.attempt import CLOSED, AttemptState, LackingNode, Removal, Try
from spotwarden.model.moment import Moment
from spotwarden.model.watch import Watch
from spotwarden.ports import Store, UnansweredError
from spotwarden.recovery.folder.folder_list import JobFolder, content_of, known_registrations, look_into, once
from spotwarden.recovery.folder.job_folder import read_job_file, read_status
from spotwarden.recovery.folder.status_code import attempt_in, code_in, is_late
from spotwarden.recovery.observed.identity import JobIdentity
from spotwarden.recovery.requests.second_name import named_otherwise

_CACHE: GenerationCache[object] = GenerationCache()


class Launched(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt, as far as it tells whose a VM is."""

    number: int
    state: AttemptState
    created: Moment
    updated: Moment
    started: Moment | None = None
    owner: str = ""
    instances: dict[str, str] = {}
    replaces: dict[str, str] = {}
    early: bool = False
    lost: Moment | None = None
    planned: str = ""
    removed: dict[str, Removal] = {}
    tries: tuple[Try, ...] = ()
    lacking: dict[str, LackingNode] = {}
    registered: dict[str, int] = {}

    @property
    def closed(self) -> bool:
        """Whether the job is over by this record."""
        return self.state in CLOSED

    @property
    def ends_another(self) -> bool:
        """Whether the record only says that the job was stopped."""
        return self.state is AttemptState.STOPPED and not self.tries and not self.instances


typed.prepare(Launched)


def read_record(
    store: Store,
    layout: Layout,
    job: str,
    *,
    ids: Collection[str],
    watch: Watch | None = None,
    look: Look | None = None,
) -> JobRecord:
    """What is on record of a job that has VMs of these ids; what cannot be read is its `problem`.

    Older attempts and registrations are read only where the list of open jobs and the newest attempt do not
    explain all of the ids. `look` gives the job's folder; without it that is listed, and nobody asks
    for the heartbeats of the job kit.
    """
    try:
        folder = look(job) if look is not None else look_into(store, layout, job)
        return _read_record(store, layout, folder, job, ids=set(ids), watch=watch)
    except NotInLayoutError as problem:
        return JobRecord(job=job, problem=problem.reason)
    except (UnansweredError, ValueError) as problem:
        return JobRecord(job=job, problem=str(problem))


def read_identity(store: Store, layout: Layout, job: str, folder: JobFolder | None = None) -> JobIdentity:
    """What tells which VMs are the job's; its `folder` is listed unless it was just now.

    A launch by hand is recovery's to see.
    """
    folder = folder or look_into(store, layout, job)
    found = [_attempt(store, layout, folder, object_name) for object_name in folder.of(AttemptRecord)]
    ids = _past(found) | frozenset(_registered(store, layout, folder, found))
    return JobIdentity(job=job, ids=ids - {""}, attempts={launched.number: launched for launched in found})


def _read_record(
    store: Store, layout: Layout, folder: JobFolder, job: str, *, ids: set[str], watch: Watch | None
) -> JobRecord:
    _hear(layout, folder)
    if not folder.things and not store.entries(layout.folder(job), limit=1):
        return JobRecord(job=job, exists=False, past=_listed(watch))
    attempts = sorted(folder.of(AttemptRecord), key=lambda item: item.attempt)
    newest = _newest(store, layout, folder, attempts)
    known = set(newest.instances.values()) if newest else set()
    if watch is not None and watch.attempt == (newest.number if newest else 0):
        known |= set(watch.instances.values())
    past: frozenset[str] = frozenset()
    outlived: frozenset[str] = frozenset()
    registered: frozenset[str] = frozenset()
    nodes: Mapping[str, str] = {}
    if not ids <= known:
        launched = [_attempt(store, layout, folder, object_name) for object_name in attempts]
        past, nodes = _past(launched), named_otherwise(launched)
        outlived = frozenset(
            instance_id for attempt in launched if attempt.early for instance_id in attempt.replaces.values()
        )
    if not ids <= known | past:
        registered = frozenset(_registered(store, layout, folder, launched))
    record = JobRecord(
        job=job,
        instances=newest.instances if newest else dict(watch.instances) if watch else {},
        past=past - known,
        outlived=outlived - known,
        registered=registered,
        nodes=nodes,
        file=once(
            _CACHE, layout, folder, JobFileName(job=job), lambda: read_job_file(store, layout, job, folder)
        ),
    )
    record = _with_newest(record, newest)
    record = msgspec.structs.replace(record, signals=alive(folder, record))
    return _with_end(store, layout, folder, record, newest)


def _listed(watch: Watch | None) -> frozenset[str]:
    """The ids that the list of open jobs has of a job."""
    return frozenset((*watch.past, *watch.instances.values())) if watch else frozenset()


def _newest(
    store: Store, layout: Layout, folder: JobFolder, attempts: Sequence[ObjectName]
) -> Launched | None:
    """The newest attempt; one that was stopped since is so by the record behind it."""
    last = [_attempt(store, layout, folder, object_name) for object_name in attempts[-2:]]
    if len(last) > 1 and last[1].ends_another and last[0].state not in CLOSED:
        removed = {**last[0].removed, **last[1].removed}
        return msgspec.structs.replace(last[0], state=last[1].state, updated=last[1].updated, removed=removed)
    return last[-1] if last else None


def _with_newest(record: JobRecord, newest: Launched | None) -> JobRecord:
    if newest is None:
        return msgspec.structs.replace(record, owner=record.file.owner)
    return msgspec.structs.replace(
        record,
        attempt=newest.number,
        state=newest.state,
        claimed=newest.created,
        began=newest.started or newest.created,
        updated=newest.updated,
        owner=record.file.owner or newest.owner,
        removed=frozenset(removal.instance_id for removal in newest.removed.values()),
        lacking=frozenset(newest.lacking),
    )


def _with_end(
    store: Store, layout: Layout, folder: JobFolder, record: JobRecord, newest: Launched | None
) -> JobRecord:
    """The end last: one that was taken back while we read is no end, nor is a late one of another attempt."""
    object_name = StatusCode(job=record.job)
    stored = read_status(store, layout.build(object_name)) if object_name in folder.things else None
    if stored is None:
        return record
    code = code_in(stored.data)
    late = is_late(stored.metadata, stored.updated, newest)
    of = attempt_in(stored.metadata) if late else record.attempt
    table = record.signals.with_row(ended(of or 0, code, stored.updated))
    if late:
        return msgspec.structs.replace(record, signals=table)
    return msgspec.structs.replace(record, status_code=code, ended=stored.updated, signals=table)


def ended(attempt: int, code: str, at: datetime) -> NodeSignals:
    """That the job has written its status; whose VM has, nobody knows."""
    signal = Signal(kind=SignalKind.ENDED, source=SignalSource.STATUS_CODE, at=at, value=code)
    return NodeSignals(attempt=max(attempt, 1), signals=(signal,))


def _attempt(store: Store, layout: Layout, folder: JobFolder, object_name: ObjectName) -> Launched:
    def read() -> Launched:
        return decoded(layout.build(object_name), content_of(store, layout, folder, object_name), Launched)

    return once(_CACHE, layout, folder, object_name, read)


def _past(attempts: Iterable[Launched]) -> frozenset[str]:
    """Every id that an attempt had, or stood in for."""
    return frozenset(
        name for attempt in attempts for ids in (attempt.instances, attempt.replaces) for name in ids.values()
    )


def _registered(
    store: Store, layout: Layout, folder: JobFolder, attempts: Iterable[Launched]
) -> Iterable[str]:
    """The ids that nodes have registered; a registration that an attempt knows is not read."""
    known = known_registrations(attempts)
    for object_name in folder.of(InstanceId):
        if instance_id := known.get((object_name.node, folder.things[object_name].generation)):
            yield instance_id
            continue

        def read(object_name: InstanceId = object_name) -> str:
            stored = folder.read(store, layout, object_name)
            return stored.data.decode(errors="replace").strip() if stored else ""

        yield once(_CACHE, layout, folder, object_name, read)


def _hear(layout: Layout, folder: JobFolder) -> None:
    """Remember what the job kit's heartbeats say: nothing of them need be read then."""
    for object_name, beat in folder.beats.items():
        entry, name = folder.things[object_name], layout.build(object_name)
        if (heard := heard_of(name)) is None or heard.came != entry.updated:
            hear(name, beat, entry.updated)


def alive(folder: JobFolder, record: JobRecord) -> SignalTable:
    """When each heartbeat came: that a VM is alive. One from before this attempt's launch is not of it."""
    return SignalTable(
        nodes=tuple(
            NodeSignals(
                node=object_name.node,
                attempt=attempt_by_time(record, entry.updated),
                instance_id=record.instances.get(object_name.node, ""),
                signals=(Signal(kind=SignalKind.ALIVE, source=SignalSource.HEARTBEAT, at=entry.updated),),
            )
            for object_name, entry in folder.things.items()
            if isinstance(object_name, Heartbeat)
        )
    )


def attempt_by_time(record: JobRecord, at: datetime) -> int:
    """The attempt of what came then and does not say; 0 for one before the present."""
    return max(record.attempt, 1) if record.claimed is None or at >= record.claimed else 0
