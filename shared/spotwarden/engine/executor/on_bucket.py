"""What is written into the bucket."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.engine.executor.outside import JSON, ExecutorContext
from spotwarden.layout import (
    AttemptRecord,
    CaseRecord,
    InstanceId,
    LaunchedRecord,
    MarkerName,
    ObjectName,
    OpenJob,
    Quarantined,
    quarantine_key,
)
from spotwarden.model.action import (
    ClearMarker,
    CloseCase,
    DropObject,
    EndWatch,
    FileCase,
    KeepWatch,
    Quarantine,
    RecordLaunched,
    RegisterInstance,
    StoreObject,
    WriteAttempt,
)
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState
from spotwarden.model.base_action import CloseJob
from spotwarden.model.marker import Aside
from spotwarden.model.outcome import Done
from spotwarden.ports import ConflictError

typed.prepare(Attempt)

CLOSINGS = 3
"""How often a job is closed anew that changes under our hands."""


def _write(
    context: ExecutorContext,
    object_name: ObjectName,
    data: bytes,
    generation: int | None,
    content_type: str = JSON,
) -> Done:
    """Write it, under the generation that it must have."""
    name = context.layout.build(object_name)
    written = context.cloud.store.write(name, data, generation=generation, content_type=content_type)
    return Done(generation=written)


def _pretty(value: object) -> bytes:
    """As JSON that a person can read in the bucket."""
    return msgspec.json.format(msgspec.json.encode(value))


def write_attempt(context: ExecutorContext, action: WriteAttempt) -> Done:
    """Write a record of the ledger.

    Whoever brings a job back and whoever stops it at the same moment write two records, and each looks for
    the other's after its own: so one of them sees both, and the job stays stopped.

    Raises:
        ConflictError: the other one was there; what was written here holds no longer, or not alone.
    """
    record = action.record
    done = _write(context, _record_of(record, 0), _pretty(record), action.generation)
    if action.goes_on and (before := _read(context, _record_of(record, -1))) and before.state in CLOSED:
        why = f"not brought back: {before.reason}"
        over = msgspec.structs.replace(record, state=AttemptState.STOPPED, reason=why, lease=None)
        _write(context, _record_of(record, 0), _pretty(over), done.generation)
        raise ConflictError(f"attempt {before.number} of {record.job} was closed: {before.reason}")
    if record.state is AttemptState.STOPPED and _read(context, _record_of(record, 1)):
        raise ConflictError(f"attempt {record.number + 1} of {record.job} was claimed meanwhile")
    return done


def _record_of(record: Attempt, further: int) -> AttemptRecord:
    """The name of an attempt's record, or of one so many further."""
    return AttemptRecord(job=record.job, attempt=max(1, record.number + further))


def _read(context: ExecutorContext, object_name: AttemptRecord) -> Attempt | None:
    stored = context.cloud.store.read(context.layout.build(object_name))
    return decoded(context.layout.build(object_name), stored.data, Attempt) if stored else None


def close_job(context: ExecutorContext, action: CloseJob) -> Done:
    """Write into the newest record of the ledger that the job was stopped, and into one that comes then."""
    for _ in range(CLOSINGS):
        newest, done = _close_newest(context, action)
        if newest is None or _read(context, _record_of(newest, 1)) is None:
            return done
    raise ConflictError(f"{action.job} is claimed again and again")


def _close_newest(context: ExecutorContext, action: CloseJob) -> tuple[Attempt | None, Done]:
    store, layout = context.cloud.store, context.layout
    newest: AttemptRecord | None = None
    for entry in store.entries(layout.attempts(action.job)):
        object_name = layout.parse(entry.name)
        if isinstance(object_name, AttemptRecord) and (
            newest is None or object_name.attempt > newest.attempt
        ):
            newest = object_name
    stored = store.read(layout.build(newest)) if newest else None
    if newest is None or stored is None:
        return None, Done()
    record = decoded(layout.build(newest), stored.data, Attempt)
    if record.state in CLOSED:
        return None, Done()
    over = msgspec.structs.replace(
        record, state=AttemptState.STOPPED, reason=action.reason, lease=None, updated=context.tick.now
    )
    return over, _write(context, newest, _pretty(over), stored.generation)


def file_case(context: ExecutorContext, action: FileCase) -> Done:
    """Write a case."""
    object_name = CaseRecord(rule=action.case.rule, key=action.case.key)
    return _write(context, object_name, _pretty(action.case), action.generation)


def close_case(context: ExecutorContext, action: CloseCase) -> Done:
    """Take a case off the list of open ones."""
    name = context.layout.build(CaseRecord(rule=action.case.rule, key=action.case.key))
    context.cloud.store.delete(name, generation=action.generation)
    return Done()


def keep_watch(context: ExecutorContext, action: KeepWatch) -> Done:
    """Put a job on the list of open jobs."""
    return _write(context, OpenJob(job=action.job), msgspec.json.encode(action.watch), action.generation)


def end_watch(context: ExecutorContext, action: EndWatch) -> Done:
    """Take a job off the list of open jobs."""
    context.cloud.store.delete(context.layout.build(OpenJob(job=action.job)), generation=action.generation)
    return Done()


def record_launched(context: ExecutorContext, action: RecordLaunched) -> Done:
    """Write down what was launched, unless it is on record: who comes later may have seen less of it."""
    try:
        return _write(context, LaunchedRecord(job=action.job, attempt=action.attempt), _pretty(action.ran), 0)
    except ConflictError:
        return Done()


def register(context: ExecutorContext, action: RegisterInstance) -> Done:
    """Store the id of a node's new VM."""
    object_name = InstanceId(job=action.job, node=action.node)
    return _write(context, object_name, action.instance_id.encode(), None, "text/plain")


def clear(context: ExecutorContext, action: ClearMarker) -> Done:
    """Delete a marker of this generation."""
    name = context.layout.build(MarkerName(node=action.node))
    context.cloud.store.delete(name, generation=action.generation)
    return Done()


def quarantine(context: ExecutorContext, action: Quarantine) -> Done:
    """The copy first, then the original: killed between the two, nothing is lost."""
    record = Aside(
        marker=action.name,
        generation=action.generation,
        reason=action.reason,
        job=action.job,
        at=context.tick.now,
        content=action.data.decode(errors="backslashreplace"),
    )
    object_name = Quarantined(key=quarantine_key(action.name), generation=action.generation)
    _write(context, object_name, _pretty(record), None)
    context.cloud.store.delete(context.layout.markers() + action.name, generation=action.generation)
    return Done()


def store(context: ExecutorContext, action: StoreObject) -> Done:
    """Write an object of the layout, under its own name."""
    generation = 0 if action.only_new else action.generation
    written = context.cloud.store.write(
        action.name, action.data, generation=generation, content_type=action.content_type
    )
    return Done(generation=written)


def drop(context: ExecutorContext, action: DropObject) -> Done:
    """Delete this generation of an object."""
    context.cloud.store.delete(action.name, generation=action.generation)
    return Done()


DO: Mapping[type, Callable[[ExecutorContext, Any], Done]] = {
    WriteAttempt: write_attempt,
    CloseJob: close_job,
    FileCase: file_case,
    CloseCase: close_case,
    KeepWatch: keep_watch,
    EndWatch: end_watch,
    RecordLaunched: record_launched,
    RegisterInstance: register,
    ClearMarker: clear,
    Quarantine: quarantine,
    StoreObject: store,
    DropObject: drop,
}
