"""A job's own objects, read in an order that matters: its entry among the open jobs first."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.engine.policy_file.reading import durations, read_toml
from spotwarden.layout import (
    AttemptRecord,
    CaseRecord,
    CreateScript,
    Heartbeat,
    InstanceId,
    JobFileName,
    LaunchedRecord,
    Layout,
    MetricsFile,
    OpenJob,
    ResolvedScript,
    ScriptFile,
    StatusCode,
)
from spotwarden.model.attempt import Attempt, AttemptState, Recorded
from spotwarden.model.case import Case
from spotwarden.model.facts import JobFacts
from spotwarden.model.heartbeat import WAITING, Beat
from spotwarden.model.jobfile import JobFile, SavedProgress
from spotwarden.model.watch import Watch, Watched
from spotwarden.ports import BrokenError, Store, Stored
from spotwarden.recovery.folder.chain import newest
from spotwarden.recovery.folder.folder_list import JobFolder, known_registrations, look_into
from spotwarden.recovery.folder.heartbeats import beat_in, progress_in
from spotwarden.recovery.folder.node_beats import BeatSource
from spotwarden.recovery.folder.status_code import attempt_in, code_in, is_late
from spotwarden.recovery.folder.stored_script import read_script

typed.prepare(Watch, Attempt, JobFile, Case)

OBJECT_AT_MOST = 1024 * 1024

STATUS_AT_MOST = 64 * 1024
"""Bytes of a status that are read; a number has a few."""
UNREADABLE = b"unreadable"
"""What is told of a status that is larger, or that only its writer can read."""

_FILES: GenerationCache[JobFile] = GenerationCache()


def look_at_job(
    store: Store,
    layout: Layout,
    job: str,
    folder: JobFolder | None = None,
    *,
    script: bool = True,
    watched: Watched | None = None,
    beats: BeatSource | None = None,
) -> JobFacts:
    """Read a job's own objects: its watch, its ledger, its script, and its end.

    Who has the script at hand need not read it again, with each file that it names; nor who has its entry
    among the open jobs, from before. The job kit's heartbeats are in `beats`; without them nobody
    knows how far a job with the kit is. Whether it has ended is what one listing says of all of them:
    instances were listed before, so a job that ended by itself is not taken for one that was lost.
    """
    # The list of open jobs first: an entry that is written anew with a claim that we do not see is not taken
    # off by us, for it is not the one that we have read.
    watched = watched or read_watch(store, layout, job)
    folder = folder or look_into(store, layout, job)
    if beats is not None:
        folder = folder.with_beats(beats.of(job, folder.nodes()))
    ledger = read_ledger(store, layout, folder)
    registered = _registrations(store, layout, folder, ledger)
    file = read_job_file(store, layout, job, folder)
    facts = JobFacts(
        job=job,
        ledger=ledger,
        script=read_script(store, layout, job, folder) if script else None,
        file=file,
        granted=_granted(store, layout, job) if file.is_bounded else timedelta(0),
        progress=_progress(store, layout, folder),
        watched=watched,
        registrations={node: said for node, (said, _) in registered.items()},
        registered_at={node: generation for node, (_, generation) in registered.items()},
        waiting=_waiting(folder, job),
        recorded=_is_recorded(job, folder, [recorded.attempt for recorded in ledger]),
    )
    status = _status(store, layout, job, folder)
    present = newest([recorded.attempt for recorded in ledger])
    if status is None or (
        is_late(status.metadata, status.updated, present) and not _is_of_claimed(status, present)
    ):
        return facts
    return msgspec.structs.replace(facts, status_code=code_in(status.data), ended=status.updated)


def _is_recorded(job: str, folder: JobFolder, ledger: Sequence[Attempt]) -> bool:
    """Whether what was launched as the newest attempt is written down, as that one or as one before it.

    Our own launches are what the script makes, as long as neither it nor a file beside it has changed.
    """
    written = [item for item in ledger if LaunchedRecord(job=job, attempt=item.number) in folder.things]
    if not written or ledger[-1].seen:
        return bool(written) and written[-1] is ledger[-1]
    kinds = (CreateScript, ResolvedScript, ScriptFile)
    changed = [row.updated for name, row in folder.things.items() if isinstance(name, kinds)]
    return written[-1] is ledger[-1] or max(changed, default=AFTER_ALL) <= written[-1].created


def _waiting(folder: JobFolder, job: str) -> dict[str, datetime]:
    """The VMs that said that they wait to join, and when, by the bucket's clock."""
    return {
        beat.instance_id: folder.things[object_name].updated
        for object_name, beat in folder.beats.items()
        if (beat.job, beat.status) == (job, WAITING)
    }


def _is_of_claimed(status: Stored, newest: Attempt | None) -> bool:
    """Whether what recovery is about to replace has ended, before anything was asked for in its place.

    What is left of a gang may come to its end while it cannot be deleted.
    """
    if newest is None or newest.state is not AttemptState.CLAIMED or newest.lost is None or newest.tries:
        return False
    return attempt_in(status.metadata) == newest.number - 1


def _status(store: Store, layout: Layout, job: str, folder: JobFolder) -> Stored | None:
    """Its end, with the metadata that says whose it is: a very long listing shows none."""
    object_name = StatusCode(job=job)
    return read_status(store, layout.build(object_name)) if object_name in folder.things else None


def read_status(store: Store, name: str) -> Stored | None:
    """A job's status, with what its writer has put beside it; None where there is none.

    One that cannot be read is a status all the same, told as `UNREADABLE`: else whoever may write one could
    keep a job from being looked at.
    """
    try:
        return store.read(name, at_most=STATUS_AT_MOST)
    except BrokenError:
        entry = store.entry(name)
    if entry is None:
        return None
    return Stored(
        data=UNREADABLE, generation=entry.generation, updated=entry.updated, metadata=entry.metadata
    )


def _granted(store: Store, layout: Layout, job: str) -> timedelta:
    """The hours that people have granted it against a warning; a case that cannot be read grants nothing."""
    name = layout.build(CaseRecord(rule="job_cap", key=job))
    stored = store.read(name)
    try:
        return timedelta(hours=decoded(name, stored.data, Case).extended) if stored else timedelta(0)
    except (BrokenError, OverflowError):
        return timedelta(0)


def read_ledger(store: Store, layout: Layout, folder: JobFolder) -> tuple[Recorded, ...]:
    """All attempts of a job, oldest first."""
    found: list[Recorded] = []
    for object_name in folder.of(AttemptRecord):
        stored = folder.read(store, layout, object_name)
        if stored is not None:
            attempt = decoded(layout.build(object_name), stored.data, Attempt)
            found.append(Recorded(attempt=attempt, generation=stored.generation, written=stored.updated))
    return tuple(sorted(found, key=lambda item: item.attempt.number))


def read_watch(store: Store, layout: Layout, job: str) -> Watched | None:
    """The job's entry in the list of open jobs."""
    name = layout.build(OpenJob(job=job))
    entry = store.entry(name)
    if entry is not None and entry.content is not None:
        watch = watch_in(name, job, entry.content)
        return Watched(watch=watch, generation=entry.generation, since=entry.updated)
    stored = store.read(name, listed=entry) if entry is not None else None
    if stored is None:
        return None
    return Watched(watch=watch_in(name, job, stored.data), generation=stored.generation, since=stored.updated)


def watch_in(name: str, job: str, data: bytes) -> Watch:
    """The entry of this job; `BrokenError` where it is broken, or another's."""
    watch = decoded(name, data, Watch)
    if watch.job != job:
        raise BrokenError(f"{name}: its content is of the job {watch.job!r}")
    return watch


def _registrations(
    store: Store, layout: Layout, folder: JobFolder, ledger: Sequence[Recorded]
) -> dict[str, tuple[str, int]]:
    """By node the id, and the generation that says it; what the chain tells of one is not read again."""
    known = known_registrations(recorded.attempt for recorded in ledger)
    found: dict[str, tuple[str, int]] = {}
    for object_name in folder.of(InstanceId):
        generation = folder.things[object_name].generation
        if said := known.get((object_name.node, generation)):
            found[object_name.node] = (said, generation)
            continue
        stored = folder.read(store, layout, object_name, at_most=OBJECT_AT_MOST)
        if stored is not None:
            said = stored.data.decode(errors="replace").strip()
            found[object_name.node] = (said, stored.generation)
    return found


def read_job_file(store: Store, layout: Layout, job: str, folder: JobFolder | None = None) -> JobFile:
    """The job's own settings; a file that cannot be read sets nothing and says why.

    A folder that was listed saves the read where there is no such file.
    """
    object_name = JobFileName(job=job)
    if folder is not None and object_name not in folder.things:
        return JobFile()
    name = layout.build(object_name)
    try:
        listed = folder.things.get(object_name) if folder is not None else None
        stored = store.read(name, at_most=OBJECT_AT_MOST, listed=listed)
        if stored is None:
            return JobFile()
        known = _FILES.get(name, stored.generation)
        return known or _FILES.keep(name, stored.generation, _file_in(stored.data))
    except (ValueError, msgspec.DecodeError, RecursionError) as problem:
        return JobFile(problem=f"{name}: {problem}")


def _file_in(data: bytes) -> JobFile:
    return typed.convert(durations(read_toml(data)), JobFile)


NEVER, AFTER_ALL = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def telling(folder: JobFolder) -> Heartbeat | None:
    """The heartbeat that tells most of a job; None where there is none.

    All nodes of a gang send theirs, and often one alone has figures: the one whose metrics are newest, else
    the one that came last.
    """
    measured: dict[str, datetime] = {}
    for object_name in folder.of(MetricsFile):
        if isinstance(object_name, MetricsFile):
            measured[object_name.node] = max(
                measured.get(object_name.node, NEVER), folder.things[object_name].updated
            )
    beats = [object_name for object_name in folder.of(Heartbeat) if isinstance(object_name, Heartbeat)]
    return max(
        beats,
        key=lambda beat: (measured.get(beat.node, NEVER), folder.things[beat].updated, beat.node),
        default=None,
    )


def _progress(store: Store, layout: Layout, folder: JobFolder) -> SavedProgress:
    """By the heartbeat that tells most: what it does not say is not known; that it came is no progress."""
    object_name = telling(folder)
    if object_name is None:
        return SavedProgress()
    came = folder.things[object_name].updated
    if (listed := folder.beats.get(object_name)) is not None:
        return _saved(listed, came)
    try:
        stored = folder.read(store, layout, object_name, at_most=OBJECT_AT_MOST)
    except BrokenError:
        return SavedProgress(at=came)
    beat = beat_in(stored.data) if stored else Beat()
    return _saved(beat, stored.updated if stored else came)


def _saved(beat: Beat, came: datetime) -> SavedProgress:
    return SavedProgress(
        at=progress_in(beat, came),
        checkpoint=beat.checkpoint,
        share=beat.share,
        attempt=beat.attempt,
        step=beat.step,
        first_step=beat.first_step,
    )
