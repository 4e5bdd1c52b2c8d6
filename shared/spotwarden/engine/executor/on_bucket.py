"""What is written into the bucket."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from spotwarden import typed
from spotwarden.engine.chain import heads, newest_number
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
    *,
    spaced: bool = False,
) -> Done:
    """Write it, under the generation that it must have; what every sweep reads is shown in listings."""
    name = context.layout.build(object_name)
    shown = isinstance(object_name, OpenJob | CaseRecord | AttemptRecord)
    written = context.cloud.store.write(
        name, data, generation=generation, content_type=content_type, shown=shown, spaced=spaced
    )
    return Done(generation=written)


def pretty(value: object) -> bytes:
    """As JSON that a person can read in the bucket."""
    return msgspec.json.format(msgspec.json.encode(value))


def write_attempt(context: ExecutorContext, action: WriteAttempt) -> Done:
    """Write a record of the chain; a new one only behind the newest as it was read.

    A launch, a restart, a recovery and a stop all create the next record, so that one of them wins. The
    newest is listed in this very step, or was by the call before: what cannot be listed is not gone on with.

    Raises:
        ConflictError: somebody else has written, or the chain goes on already.
    """
    record = action.record
    if not action.generation and not action.fresh:
        numbers = heads(context.cloud.store, context.layout, record.job)
        newest = max(numbers, default=0)
        if numbers.get(newest, 0) != action.after or newest >= record.number:
            raise ConflictError(f"the chain of {record.job} already has attempt {newest}")
    object_name = AttemptRecord(job=record.job, attempt=record.number)
    return _write(context, object_name, pretty(record), action.generation, spaced=action.later)


def expect_newest(context: ExecutorContext, job: str, attempt: int, generation: int) -> None:
    """Look whether the attempt is still the newest on its chain, and as it was read; else `ConflictError`."""
    numbers = heads(context.cloud.store, context.layout, job)
    newest = max(numbers, default=0)
    if (newest, numbers.get(newest, 0)) != (attempt, generation):
        raise ConflictError(f"the chain of {job} already has attempt {newest}")


def close_job(context: ExecutorContext, action: CloseJob) -> Done:
    """Create the record that says that the job was stopped, behind the newest one."""
    for _ in range(CLOSINGS):
        with suppress(ConflictError):
            return _close_newest(context, action)
    raise ConflictError(f"{action.job} couldn't be claimed, since it keeps changing")


def _close_newest(context: ExecutorContext, action: CloseJob) -> Done:
    store, layout = context.cloud.store, context.layout
    newest = newest_number(store, layout, action.job)
    stored = store.read(layout.build(AttemptRecord(job=action.job, attempt=newest))) if newest else None
    if stored is None:
        return Done()
    record = decoded(layout.build(AttemptRecord(job=action.job, attempt=newest)), stored.data, Attempt)
    if record.state in CLOSED:
        return Done()
    over = Attempt(
        job=record.job,
        number=record.number + 1,
        state=AttemptState.STOPPED,
        created=context.tick.now,
        updated=context.tick.now,
        reason=action.reason,
        replaces={**record.replaces, **record.instances},
        owner=record.owner,
    )
    return write_attempt(
        context, WriteAttempt(reason=action.reason, record=over, generation=0, after=stored.generation)
    )


def file_case(context: ExecutorContext, action: FileCase) -> Done:
    """Write a case."""
    object_name = CaseRecord(rule=action.case.rule, key=action.case.key)
    return _write(context, object_name, pretty(action.case), action.generation)


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
        return _write(context, LaunchedRecord(job=action.job, attempt=action.attempt), pretty(action.ran), 0)
    except ConflictError:
        return Done()


def register(context: ExecutorContext, action: RegisterInstance) -> Done:
    """Store the id of a node's new VM, unless it has registered itself meanwhile.

    A sweep that slept, and knows of an older VM, must not write over what was registered since.
    """
    object_name, data = InstanceId(job=action.job, node=action.node), action.instance_id.encode()
    try:
        return _write(context, object_name, data, action.generation, "text/plain")
    except ConflictError:
        stored = context.cloud.store.read(context.layout.build(object_name))
        if stored is None or stored.data.strip() != data:
            raise
        return Done(generation=stored.generation)


def clear(context: ExecutorContext, action: ClearMarker) -> Done:
    """Delete a marker of this generation."""
    name = context.layout.build(MarkerName(node=action.node))
    context.cloud.store.delete(name, generation=action.generation)
    return Done()


def clear_all(context: ExecutorContext, actions: Sequence[ClearMarker]) -> Mapping[str, Exception]:
    """Delete markers of these generations; gives by node what went wrong."""
    names = {context.layout.build(MarkerName(node=action.node)): action for action in actions}
    failed = context.cloud.store.delete_all({name: action.generation for name, action in names.items()})
    return {names[name].node: error for name, error in failed.items()}


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
    _write(context, object_name, pretty(record), None)
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
