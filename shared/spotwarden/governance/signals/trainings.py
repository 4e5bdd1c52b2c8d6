"""What a job measures: its heartbeats, and the course of the one metric that something hangs on.

Old attempts' files never change and are folded once; of the attempt that runs the file is read anew only
where it has another generation.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import cast

import msgspec

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.folders import Look
from spotwarden.governance.signals.training import Aim, Track, Training
from spotwarden.layout import AttemptRecord, Heartbeat, Layout, MetricsFile, NotInLayoutError, ObjectName
from spotwarden.model.attempt import CLOSED, AttemptState
from spotwarden.model.heartbeat import Beat, number
from spotwarden.model.rule_limits import Goal
from spotwarden.ports import BrokenError, Store, UnansweredError
from spotwarden.recovery.folder.folder_list import JobFolder, look_into, once
from spotwarden.recovery.folder.heartbeats import beat_in, beats_in
from spotwarden.recovery.folder.job_folder import OBJECT_AT_MOST

"""What to read of a job's metrics; None where nothing hangs on them."""
FILE_AT_MOST = 4 * OBJECT_AT_MOST
"""Four times what the job kit lets a file of metrics grow to."""
Course = tuple[tuple[float, float], ...]
"""Steps and values, oldest first: those that were better than all before, and the newest."""

_BEATS: GenerationCache[object] = GenerationCache()
_COURSES: GenerationCache[object] = GenerationCache(most=2_000)
_STATES: GenerationCache[object] = GenerationCache()


class Stood(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt, as far as it tells whether the next one went on where it was, and on which VMs it ran."""

    state: AttemptState
    instances: Mapping[str, str] = {}


typed.prepare(Stood)


def read_training(
    store: Store, layout: Layout, record: JobRecord, aim: Aim, look: Look | None = None
) -> Training:
    """What the job measures; what cannot be read is its `problem`. `look` is as for `read_record`."""
    try:
        folder = look(record.job) if look is not None else look_into(store, layout, record.job)
        beats = dict(_beats(store, layout, folder, record))
        tracks = dict(_tracks(store, layout, folder, record, aim)) if aim.metric else {}
    except (UnansweredError, NotInLayoutError, ValueError) as problem:
        return Training(aim=aim, problem=str(problem))
    return Training(beats=beats, aim=aim, tracks=tracks)


def _beats(store: Store, layout: Layout, folder: JobFolder, record: JobRecord) -> Iterable[tuple[str, Beat]]:
    """The newest heartbeat of each node, if it is of this attempt and of the node's own VM.

    An older one may have been left behind; and every job VM may write every job's heartbeats.
    """
    for object_name in folder.of(Heartbeat):
        if not isinstance(object_name, Heartbeat) or object_name.node not in record.instances:
            continue
        beat = _read(store, layout, folder, object_name)
        first = record.began is None or folder.things[object_name].updated >= record.began
        its_own = beat.instance_id == record.instances[object_name.node]
        if its_own and (beat.attempt == record.attempt or (beat.attempt is None and first)):
            yield object_name.node, beat


def _read(store: Store, layout: Layout, folder: JobFolder, object_name: ObjectName) -> Beat:
    if (beat := folder.beats.get(object_name)) is not None:
        return beat

    def read() -> Beat:
        stored = store.read(layout.build(object_name), at_most=OBJECT_AT_MOST)
        return beat_in(stored.data) if stored else Beat()

    return once(_BEATS, layout, folder, object_name, read)


def _tracks(
    store: Store, layout: Layout, folder: JobFolder, record: JobRecord, aim: Aim
) -> Iterable[tuple[str, Track]]:
    """How the metric has gone at each node, over all attempts since the job was last begun."""
    if not folder.whole:
        raise BrokenError(f"{layout.metrics(record.job)} has more files than are listed")
    first = _first(store, layout, folder)
    files = sorted(
        (
            object_name
            for object_name in folder.of(MetricsFile)
            if isinstance(object_name, MetricsFile) and object_name.attempt >= first
        ),
        key=lambda item: item.attempt,
    )
    for node in record.instances:
        course = [
            point
            for object_name in files
            if object_name.node == node and (wrote := _vm_of(store, layout, folder, record, object_name))
            for point in _course(store, layout, folder, object_name, aim, wrote=wrote)
        ]
        if course:
            yield node, follow(course, aim)


def _first(store: Store, layout: Layout, folder: JobFolder) -> int:
    """The attempt that the training counts from: the one after the last that was closed.

    A preempted attempt stays as it was and is gone on with; one that ended, was stopped or given up, and was
    started again by a person, has had its chance.
    """
    numbers = sorted(
        object_name.attempt
        for object_name in folder.of(AttemptRecord)
        if isinstance(object_name, AttemptRecord)
    )
    job = next(
        (
            object_name.job
            for object_name in folder.of(AttemptRecord)
            if isinstance(object_name, AttemptRecord)
        ),
        "",
    )
    first = numbers[-1] if numbers else 1
    for attempt in reversed(numbers[:-1]):
        if _stood(store, layout, folder, AttemptRecord(job=job, attempt=attempt)).state in CLOSED:
            break
        first = attempt
    return first


def _vm_of(
    store: Store, layout: Layout, folder: JobFolder, record: JobRecord, object_name: MetricsFile
) -> str:
    """The id of the VM that may have written the file; "" where no attempt on record had one there."""
    attempt = AttemptRecord(job=object_name.job, attempt=object_name.attempt)
    if object_name.attempt != max(record.attempt, 1) and attempt in folder.things:
        return _stood(store, layout, folder, attempt).instances.get(object_name.node, "")
    return record.instances.get(object_name.node, "") if object_name.attempt == max(record.attempt, 1) else ""


def _stood(store: Store, layout: Layout, folder: JobFolder, object_name: AttemptRecord) -> Stood:
    def read() -> Stood:
        stored = store.read(layout.build(object_name))
        if stored is None:
            raise UnansweredError(f"{layout.build(object_name)} disappeared while it was read")
        return decoded(layout.build(object_name), stored.data, Stood)

    return once(_STATES, layout, folder, object_name, read)


def _course(
    store: Store, layout: Layout, folder: JobFolder, object_name: MetricsFile, aim: Aim, *, wrote: str
) -> Course:
    """What matters of what this VM wrote into the file; each aim sees it in its own way."""
    name, generation = layout.build(object_name), folder.things[object_name].generation
    key = f"{name} {wrote} {aim.goal.value} {aim.metric}"
    known = _COURSES.get(key, generation)
    if known is None:
        stored = store.read(name, at_most=FILE_AT_MOST)
        known = _COURSES.keep(
            key, generation, thinned(_points(stored.data if stored else b"", aim, wrote), aim)
        )
    return cast("Course", known)


def _points(data: bytes, aim: Aim, wrote: str) -> Iterable[tuple[float, float]]:
    for beat in beats_in(data):
        if beat.instance_id == wrote and beat.step is not None and aim.metric in beat.metrics:
            yield beat.step, number(beat.metrics[aim.metric])


def thinned(points: Iterable[tuple[float, float]], aim: Aim) -> Course:
    """Only what was better than all before it, and the newest: it makes the same track, at whatever delta."""
    kept: list[tuple[float, float]] = []
    newest: tuple[float, float] | None = None
    best: float | None = None
    for newest in points:
        if isfinite(newest[1]) and (best is None or better(newest[1], best, aim, 0.0)):
            best = newest[1]
            kept.append(newest)
    if newest is not None and (not kept or kept[-1] != newest):
        kept.append(newest)
    return tuple(kept)


def follow(course: Sequence[tuple[float, float]], aim: Aim) -> Track:
    """How the metric has gone: a value counts as better only by more than the aim's delta."""
    best: tuple[float, float] | None = None
    for step, value in course:
        if isfinite(value) and (best is None or better(value, best[1], aim, aim.min_delta)):
            best = (step, value)
    step = course[-1][0]
    return Track(step=step) if best is None else Track(step=step, best=best[1], best_step=best[0])


def better(value: float, than: float, aim: Aim, by: float) -> bool:
    """Whether it is better by more than so much."""
    return value < than - by if aim.goal is Goal.MIN else value > than + by
