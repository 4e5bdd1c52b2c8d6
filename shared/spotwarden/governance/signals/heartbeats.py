"""When jobs last made progress, by their heartbeats, read as rarely as that can be known.

A listing says when each heartbeat came: that a VM is alive. When its program last made progress stands
inside. What was read once is remembered: progress that was made stays made, so a job that has moved within
the limit is not read again before that limit has passed.
"""

from collections.abc import Callable
from datetime import datetime

import msgspec
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.layout import Heartbeat, Layout
from spotwarden.ports import BrokenError, Store
from spotwarden.recovery.heartbeats import beat_in, progress_in
from spotwarden.recovery.job_folder import OBJECT_AT_MOST

Enough = Callable[[JobRecord], bool]
"""Whether what is known of a job's progress so far shows that it moves."""


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What one heartbeat said: when its program last made progress, and at which step that is, if any.

    `periodic` says that it comes whether there is progress or not.
    """

    came: datetime
    progress: datetime
    step: float | None = None
    periodic: bool = False


_HEARD: GenerationCache[Heard] = GenerationCache(most=100_000)


def remembered(layout: Layout, record: JobRecord) -> JobRecord:
    """The record with what its heartbeats have said before; nothing is read."""
    known = {node: heard for node in record.signs.beats if (heard := _known(layout, record.job, node))}
    return _with(record, known)


def listen(store: Store, layout: Layout, record: JobRecord, enough: Enough) -> JobRecord:
    """The record with what its heartbeats say now, the newest first, until that is enough."""
    for node, came in sorted(record.signs.beats.items(), key=lambda pair: pair[1], reverse=True):
        record = _with(record, {node: _heard(store, layout, record.job, node, came)})
        if enough(record):
            break
    return record


def _with(record: JobRecord, known: dict[str, Heard]) -> JobRecord:
    signs = record.signs
    progress = {node: heard.progress for node, heard in known.items()}
    steps = {node: heard.step for node, heard in known.items() if heard.step is not None}
    others = {node: step for node, step in signs.steps.items() if node not in known}
    periodic = {node for node, heard in known.items() if heard.periodic}
    signs = replace(
        signs,
        progress={**signs.progress, **progress},
        steps={**others, **steps},
        periodic=(signs.periodic - known.keys()) | periodic,
    )
    return replace(record, signs=signs)


def _known(layout: Layout, job: str, node: str) -> Heard | None:
    return _HEARD.get(layout.build(Heartbeat(job=job, node=node)), 0)


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
    beat = beat_in(stored.data)
    heard = Heard(
        came=came,
        progress=progress_in(beat, stored.updated),
        step=beat.step,
        periodic=beat.progress_at is not None,
    )
    return _HEARD.keep(name, 0, heard)
