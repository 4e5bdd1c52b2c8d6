"""Markers: which job is each of them about, and what does it say?"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from spotwarden import typed
from spotwarden.engine.fan_out import Each, each
from spotwarden.layout import InstanceId, Layout, MarkerName, NotInLayoutError, job_of, job_problem
from spotwarden.model.attempt import Attempt
from spotwarden.model.marker import Marker, MarkerBody, UnusableMarker
from spotwarden.ports import Entry, Store
from spotwarden.recovery.observed.shown import NODE_OF_A_GANG

typed.prepare(MarkerBody)

MARKER_AT_MOST = 64 * 1024
"""Bytes of a marker that are read; the shutdown script writes some hundred."""
WORD_AT_MOST = 100
"""Characters of a name or an id in it; Google's have 63 at most."""
CUTS = 4
"""Parts that may be cut off the end of a node's name to find its job: each costs a read."""


class Markers(NamedTuple):
    """Markers by job, and those that say nothing we could act on.

    `nameless` are further ones whose content is good, each as what it is taken for while nobody knows more.
    `failures` are what was raised about the rest, which stay as they are.
    """

    by_job: dict[str, list[Marker]]
    unusable: list[UnusableMarker]
    nameless: list[tuple[Marker, UnusableMarker]]
    failures: list[Exception]


def read_markers(
    store: Store, layout: Layout, entries: Iterable[Entry], workers: int = 1, *, there: Collection[str] = ()
) -> Markers:
    """Read them all, several at a time, and find each one's job; jobs that are `there` are not looked for."""

    def look(entry: Entry) -> tuple[Marker, str | UnusableMarker] | UnusableMarker | None:
        marker = read_marker(store, layout, entry)
        return (marker, _owner(store, layout, marker, there)) if isinstance(marker, Marker) else marker

    done: Each[tuple[Marker, str | UnusableMarker] | UnusableMarker] = each(entries, look, workers)
    found = Markers({}, [], [], done.failures)
    for seen in done.results:
        if isinstance(seen, UnusableMarker):
            found.unusable.append(seen)
            continue
        marker, owner = seen
        if not isinstance(owner, UnusableMarker):
            found.by_job.setdefault(owner, []).append(marker)
        elif marker.body.job is None:
            found.nameless.append((marker, owner))
        else:
            found.unusable.append(owner)
    return found


def look_up(store: Store, layout: Layout, markers: Sequence[Marker]) -> Markers:
    """Find whose registered ids these nodes have, in one listing of the whole bucket for all of them."""
    found = Markers({}, [], [], [])
    if not markers:
        return found
    jobs: dict[str, list[str]] = {}
    for entry in store.entries(layout.prefix, glob=layout.registrations({marker.node for marker in markers})):
        object_name = layout.parse(entry.name)
        if isinstance(object_name, InstanceId):
            jobs.setdefault(object_name.node, []).append(object_name.job)
    for marker in markers:
        owner = _owned(marker, jobs=(), registered=jobs.get(marker.node, ()))
        if isinstance(owner, UnusableMarker):
            found.unusable.append(owner)
        else:
            found.by_job.setdefault(owner, []).append(marker)
    return found


def read_marker(store: Store, layout: Layout, entry: Entry) -> Marker | UnusableMarker | None:
    """The marker; None where it went away, or was written anew, between the listing and the reading.

    An empty one is not read: the listing says all of it. A folder is none.
    """
    if entry.is_folder:
        return None
    data = b""
    try:
        node = node_of(layout, entry.name)
        if entry.size:
            stored = store.read(entry.name, at_most=MARKER_AT_MOST, listed=entry)
            if stored is None or stored.generation != entry.generation:
                return None
            data = stored.data
        body = typed.decode(data, MarkerBody) if data.strip() else MarkerBody()
        _agree(node, body)
    except NotInLayoutError as problem:
        return _unusable(layout, entry, problem.reason, data)
    except (msgspec.DecodeError, ValueError) as problem:
        return _unusable(layout, entry, f"its content cannot be read: {problem}", data)
    return Marker(node=node, generation=entry.generation, written=entry.updated, body=body, data=data)


def answered_marker(layout: Layout, entry: Entry, newest: Attempt | None) -> Marker | None:
    """The marker as the newest attempt tells of it, whose claim has read it; None where it does not.

    Without reading it: what is left is to clear it.
    """
    node = entry.name.removeprefix(layout.markers())
    if newest is None or newest.early or newest.markers.get(node) != entry.generation:
        return None
    body = MarkerBody(instance_id=newest.replaces.get(node))
    return Marker(node=node, generation=entry.generation, written=entry.updated, body=body)


def node_of(layout: Layout, name: str) -> str:
    """The node that a marker is about; `NotInLayoutError` where the name is no marker's."""
    object_name = layout.parse(name)
    if not isinstance(object_name, MarkerName):
        raise NotInLayoutError(name, "not a marker")
    return object_name.node


def job_names(node: str) -> list[str]:
    """The jobs that a node may be of, by its name alone: its own, or a gang's."""
    gang = NODE_OF_A_GANG.fullmatch(node)
    return [node, gang["job"]] if gang else [node]


def _agree(node: str, body: MarkerBody) -> None:
    for name, word in (("job", body.job), ("node", body.node), ("instance_id", body.instance_id)):
        # Each goes into a message where the marker cannot be used.
        if word and len(word) > WORD_AT_MOST:
            raise ValueError(f"its {name} has {len(word)} characters, and at most {WORD_AT_MOST} are read")
    if body.node not in {None, node}:
        raise ValueError(f"it names the node {body.node!r}, but it is the marker of {node!r}")


def _unusable(layout: Layout, entry: Entry, reason: str, data: bytes) -> UnusableMarker:
    name = entry.name.removeprefix(layout.markers())
    return UnusableMarker(name=name, generation=entry.generation, reason=reason, data=data)


def _owner(store: Store, layout: Layout, marker: Marker, there: Collection[str]) -> str | UnusableMarker:
    """The job this marker belongs to, or why it belongs to none."""
    candidates = {marker.node, *([marker.body.job] if marker.body.job else [])}
    jobs = {job for job in candidates if job in there or _exists(store, layout, job)}
    registered = list(_registered(store, layout, marker.node)) if not jobs else []
    return _owned(marker, jobs=jobs, registered=registered)


def _owned(marker: Marker, *, jobs: Collection[str], registered: Collection[str]) -> str | UnusableMarker:
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


def _registered(store: Store, layout: Layout, node: str) -> Iterator[str]:
    """The jobs that the node's name leads to and that have registered it: no listing, for a made-up name."""
    job = node
    for _ in range(CUTS):
        job, dash, _cut = job.rpartition("-")
        if not dash:
            return
        if job_problem(job) is None and store.read(layout.build(InstanceId(job=job, node=node))):
            yield job
