"""A job's metadata as one list shows it: what stands there, of which generation, in bounded time."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, TypeVar, cast

from spotwarden.engine.cache import GenerationCache
from spotwarden.layout import Heartbeat, InstanceId, Layout, NotInLayoutError, ObjectName
from spotwarden.model.heartbeat import Beat
from spotwarden.ports import Entry, Store, Stored, UnansweredError
from spotwarden.recovery.folder.node_beats import BeatSource, NodeBeat

READ_AT_MOST = 4 * 1024 * 1024
ROWS_AT_MOST = 20_000
"""Objects in a job's metadata that one list may show: a gang of a thousand writes two for each attempt."""
CROWD_AT_MOST = 5_000
"""Heartbeats, logs, or metrics that are listed of a job that has more objects than that."""

Read = TypeVar("Read")
Kind = TypeVar("Kind", bound=ObjectName)


class JobFolder(NamedTuple):
    """What stands in a job's metadata, by kind; the content is read where it is needed.

    `beats` are what heartbeats say that need no reading: those of the job kit. It is not `whole` where there
    are more heartbeats, logs or metrics than are listed.
    """

    things: Mapping[ObjectName, Entry]
    beats: Mapping[ObjectName, Beat] = {}
    whole: bool = True

    def of(self, kind: type[Kind]) -> list[Kind]:
        """All objects of a kind."""
        return [object_name for object_name in self.things if isinstance(object_name, kind)]

    def read(
        self, store: Store, layout: Layout, object_name: ObjectName, *, at_most: int = READ_AT_MOST
    ) -> Stored | None:
        """One of the objects, in one call while it is as it was listed."""
        return store.read(layout.build(object_name), at_most=at_most, listed=self.things.get(object_name))

    def with_beats(self, heard: Mapping[Heartbeat, NodeBeat]) -> "JobFolder":
        """The same with these heartbeats; where a node has one of its own as well, the newer one counts.

        They are no job's that has nothing else: any VM may write one that names it.
        """
        if not self.things:
            return self
        newer = {
            object_name: found
            for object_name, found in heard.items()
            if (own := self.things.get(object_name)) is None or own.updated <= found.entry.updated
        }
        return JobFolder(
            things={**self.things, **{object_name: found.entry for object_name, found in newer.items()}},
            beats={object_name: found.beat for object_name, found in newer.items()},
            whole=self.whole,
        )

    def nodes(self) -> set[str]:
        """The nodes that have registered their VMs here."""
        return {object_name.node for object_name in self.things if isinstance(object_name, InstanceId)}


def look_into(store: Store, layout: Layout, job: str) -> JobFolder:
    """List a job's metadata once; what has no name of the layout is left alone."""
    rows, whole = rows_of(store, layout, job)
    found: dict[ObjectName, Entry] = {}
    for entry in rows:
        try:
            found[layout.parse(entry.name)] = entry
        except NotInLayoutError:
            continue
    return JobFolder(found, whole=whole)


def rows_of(store: Store, layout: Layout, job: str) -> tuple[list[Entry], bool]:
    """A job's metadata as it is listed, and whether that is all of it."""
    rows = store.entries(layout.metadata(job), limit=ROWS_AT_MOST)
    whole = len(rows) < ROWS_AT_MOST
    return (rows, True) if whole else ([*_round_crowds(store, layout, job)], False)


def _round_crowds(store: Store, layout: Layout, job: str) -> Iterator[Entry]:
    """All that only developers and functions write, and the first of what any job VM may write.

    Somebody may write a million logs in a job's name: they must not hide its records, nor delay other jobs.
    """
    below, start = layout.metadata(job), ""
    for crowded in layout.crowded(job):
        yield from store.entries(below, start=start, end=crowded)
        yield from store.entries(crowded, limit=CROWD_AT_MOST)
        # The character "0" comes next after "/": this is behind everything in the folder.
        start = f"{crowded[:-1]}0"
    yield from store.entries(below, start=start)


def look_with(store: Store, layout: Layout, beats: BeatSource, job: str) -> JobFolder:
    """The same with the heartbeats of the job kit."""
    folder = look_into(store, layout, job)
    return folder.with_beats(beats.of(job, folder.nodes()))


class Registering(Protocol):
    """An attempt, as far as it tells which registrations name its instances."""

    @property
    def instances(self) -> Mapping[str, str]:
        """Instance ids by node."""

    @property
    def registered(self) -> Mapping[str, int]:
        """The generation of each node's registration."""


def known_registrations(attempts: Iterable[Registering]) -> dict[tuple[str, int], str]:
    """The ids that need not be read, by node and generation of the registration."""
    return {
        (node, generation): attempt.instances.get(node, "")
        for attempt in attempts
        for node, generation in attempt.registered.items()
    }


def content_of(store: Store, layout: Layout, folder: JobFolder, object_name: ObjectName) -> bytes:
    """The content as the list shows it, else in a call; `UnansweredError` where it is gone."""
    entry = folder.things.get(object_name)
    if entry is not None and entry.content is not None:
        return entry.content
    if (stored := folder.read(store, layout, object_name)) is None:
        raise UnansweredError(f"{layout.build(object_name)} disappeared while it was read")
    return stored.data


def once(
    known: GenerationCache[object],
    layout: Layout,
    folder: JobFolder,
    object_name: ObjectName,
    read: Callable[[], Read],
) -> Read:
    """Read it, unless this very generation has been read before; what is not in the folder is always read."""
    if (entry := folder.things.get(object_name)) is None:
        return read()
    name = layout.build(object_name)
    value = known.get(name, entry.generation)
    if value is None:
        value = known.keep(name, entry.generation, read())
    return cast("Read", value)
