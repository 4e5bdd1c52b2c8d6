"""Markers: which job is each of them about, and what does it say?"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from spotwarden.layout import InstanceId, Layout, MarkerName, NotInLayoutError, job_of
from spotwarden.model.marker import Marker, MarkerBody, UnusableMarker
from spotwarden.ports import Entry, Store

MARKER_AT_MOST = 64 * 1024
"""Bytes of a marker that are read; the shutdown script writes some hundred."""


class Markers(NamedTuple):
    """Markers by job, and those that say nothing we could act on."""

    by_job: dict[str, list[Marker]]
    unusable: list[UnusableMarker]


def read_markers(store: Store, layout: Layout, entries: Iterable[Entry]) -> Markers:
    """Read them all and find each one's job."""
    found = Markers({}, [])
    for entry in entries:
        marker = _read(store, layout, entry)
        owner = _owner(store, layout, marker) if isinstance(marker, Marker) else marker
        if isinstance(owner, UnusableMarker):
            found.unusable.append(owner)
        elif isinstance(marker, Marker) and owner is not None:
            found.by_job.setdefault(owner, []).append(marker)
    return found


def _read(store: Store, layout: Layout, entry: Entry) -> Marker | UnusableMarker | None:
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
