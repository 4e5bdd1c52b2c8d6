"""The look: everything that recovery needs to know, read in an order that matters.

Markers first, then instances and operations, then each job's own objects. A job that ends while we
look has then written its status before we read it, and is not taken for one that was lost; an
instance created while we look is in the newer list, and is not taken for gone.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from hashlib import sha256

import msgspec

from spotwarden.layout import (
    AttemptRecord,
    CreateScript,
    InstanceId,
    Layout,
    MarkerName,
    NotInLayoutError,
    ResolvedScript,
    ScriptFile,
    StatusCode,
    job_of,
)
from spotwarden.model.attempt import Attempt, Recorded
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.instance import Instances, Operation, Operations
from spotwarden.model.launch import StoredScript
from spotwarden.model.marker import Marker, MarkerBody, UnusableMarker
from spotwarden.ports import Cloud, Entry, Store

LOG_MARGIN = timedelta(minutes=15)
"""How far before the oldest marker the operation log is read: a preemption is told before its marker."""
MARKER_AT_MOST = 64 * 1024
"""Bytes of a marker that are read; the shutdown script writes some hundred."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the world."""

    jobs: tuple[JobFacts, ...] = ()
    unusable: tuple[UnusableMarker, ...] = ()


def gather(cloud: Cloud, layout: Layout) -> Seen:
    """Read every marker and what is needed to judge it."""
    entries = cloud.store.entries(layout.markers())
    read = [_read_marker(cloud.store, layout, entry) for entry in entries]
    markers = [one for one in read if isinstance(one, Marker)]
    if not markers:
        return Seen(unusable=tuple(one for one in read if isinstance(one, UnusableMarker)))
    instances = cloud.compute.instances()
    oldest = min(marker.written for marker in markers)
    operations = cloud.compute.operations(oldest - LOG_MARGIN)
    placed = [(_owner(cloud.store, layout, marker), marker) for marker in markers]
    unusable = [one for one in read if isinstance(one, UnusableMarker)]
    unusable += [owner for owner, _ in placed if isinstance(owner, UnusableMarker)]
    by_job: dict[str, list[Marker]] = {}
    for owner, marker in placed:
        if isinstance(owner, str):
            by_job.setdefault(owner, []).append(marker)
    jobs = (
        look_at_job(cloud.store, layout, job, _nodes(cloud.store, layout, job, mine, instances, operations))
        for job, mine in by_job.items()
    )
    return Seen(jobs=tuple(jobs), unusable=tuple(unusable))


def _read_marker(store: Store, layout: Layout, entry: Entry) -> Marker | UnusableMarker | None:
    """The marker; None where it went away between the listing and the reading."""
    data = b""
    try:
        node = _node_of(layout, entry.name)
        stored = store.read(entry.name, at_most=MARKER_AT_MOST)
        if stored is None:
            return None
        data = stored.data
        body = msgspec.json.decode(data, type=MarkerBody) if data.strip() else MarkerBody()
        _agree(node, body)
    except NotInLayoutError as problem:
        return _unusable(layout, entry, problem.reason, data)
    except (msgspec.DecodeError, ValueError) as problem:
        return _unusable(layout, entry, f"its content cannot be read: {problem}", data)
    return Marker(node=node, generation=stored.generation, written=stored.updated, body=body, data=data)


def _node_of(layout: Layout, name: str) -> str:
    thing = layout.parse(name)
    if not isinstance(thing, MarkerName):
        raise NotInLayoutError(name, "not a marker")
    return thing.node


def _agree(node: str, body: MarkerBody) -> None:
    if body.node not in {None, node}:
        raise ValueError(f"it names the node {body.node!r}, but it is the marker of {node!r}")


def _unusable(layout: Layout, entry: Entry, reason: str, data: bytes) -> UnusableMarker:
    name = entry.name.removeprefix(layout.markers())
    return UnusableMarker(name=name, generation=entry.generation, reason=reason, data=data)


def _owner(store: Store, layout: Layout, marker: Marker) -> str | UnusableMarker:
    """The job this marker belongs to, or why it belongs to none."""
    candidates = {marker.node, *([marker.body.job] if marker.body.job else [])}
    jobs = {job for job in candidates if _exists(store, layout, job)}
    registered = _registered(store, layout, marker.node) if not jobs else []
    try:
        return job_of(marker.node, said=marker.body.job, jobs=jobs, registered=registered)
    except NotInLayoutError as problem:
        return UnusableMarker(
            name=marker.node, generation=marker.generation, reason=problem.reason, data=marker.data
        )


def _exists(store: Store, layout: Layout, job: str) -> bool:
    try:
        return bool(store.entries(layout.folder(job), limit=1))
    except NotInLayoutError:
        return False


def _registered(store: Store, layout: Layout, node: str) -> list[str]:
    found = store.entries(layout.prefix, glob=layout.registrations(node))
    things = (layout.parse(entry.name) for entry in found)
    return [thing.job for thing in things if isinstance(thing, InstanceId)]


def _nodes(  # noqa: PLR0913, PLR0917 — the six things that were read, each of them once
    store: Store,
    layout: Layout,
    job: str,
    markers: Iterable[Marker],
    instances: Instances,
    operations: Operations,
) -> tuple[NodeFacts, ...]:
    unreachable = sorted({*instances.unreachable, *operations.unreachable})
    unsure = f"unreachable: {', '.join(unreachable)}" if unreachable else ""
    return tuple(
        _node(marker, _instance_id(store, layout, job, marker), instances, operations, unsure)
        for marker in markers
    )


def _instance_id(store: Store, layout: Layout, job: str, marker: Marker) -> str:
    """The id that the marker speaks of: its own word, else the one that was registered last."""
    if marker.body.instance_id:
        return marker.body.instance_id
    stored = store.read(layout.build(InstanceId(job=job, node=marker.node)))
    return stored.data.decode(errors="replace").strip() if stored else ""


def _node(
    marker: Marker, instance_id: str, instances: Instances, operations: Operations, unsure: str
) -> NodeFacts:
    return NodeFacts(
        node=marker.node,
        marker=marker,
        instance_id=instance_id,
        instance=next((one for one in instances.items if one.id == instance_id), None),
        namesakes=tuple(one for one in instances.items if one.name == marker.node and one.id != instance_id),
        history=tuple(one for one in operations.items if _concerns(one, marker, instance_id)),
        unsure=unsure,
    )


def _concerns(operation: Operation, marker: Marker, instance_id: str) -> bool:
    if instance_id:
        return operation.target_id == instance_id
    recent = operation.at is None or operation.at >= marker.written - LOG_MARGIN
    return operation.target_name == marker.node and recent


def look_at_job(store: Store, layout: Layout, job: str, nodes: tuple[NodeFacts, ...] = ()) -> JobFacts:
    """Read a job's own objects: its script, its ledger, and last of all its end."""
    script, ledger = _script(store, layout, job), read_ledger(store, layout, job)
    status = store.read(layout.build(StatusCode(job=job)))
    code = None if status is None else status.data.decode(errors="replace").strip()
    ended = None if status is None else status.updated
    return JobFacts(job=job, status_code=code, ended=ended, ledger=ledger, nodes=nodes, script=script)


def read_ledger(store: Store, layout: Layout, job: str) -> tuple[Recorded, ...]:
    """All attempts of a job, oldest first."""
    found: list[Recorded] = []
    for entry in store.entries(layout.attempts(job)):
        thing, stored = layout.parse(entry.name), store.read(entry.name)
        if isinstance(thing, AttemptRecord) and stored is not None:
            attempt = msgspec.json.decode(stored.data, type=Attempt)
            found.append(Recorded(attempt=attempt, generation=stored.generation))
    return tuple(sorted(found, key=lambda one: one.attempt.number))


def _script(store: Store, layout: Layout, job: str) -> StoredScript | None:
    """The script that is re-run: the resolved one, where it was made from this very create script."""
    name, resolved_name = layout.build(CreateScript(job=job)), layout.build(ResolvedScript(job=job))
    script = store.read(name)
    if script is None:
        return None
    resolved = store.read(resolved_name)
    if resolved and sha256(script.data).hexdigest().encode() in resolved.data:
        name, script = resolved_name, resolved
    files = _files(store, layout, job)
    return StoredScript(name=name, text=script.data, generation=script.generation, files=files)


def _files(store: Store, layout: Layout, job: str) -> Mapping[str, bytes]:
    files: dict[str, bytes] = {}
    for entry in store.entries(layout.files(job)):
        thing, stored = layout.parse(entry.name), store.read(entry.name)
        if isinstance(thing, ScriptFile) and stored is not None:
            files[thing.path] = stored.data
    return files
