"""The heartbeats of all nodes, from one list: what they say stands in their custom metadata.

Every job VM may write each of these names. So a heartbeat belongs to the job that it names, and to nobody
else; whether its VM is that job's is for those to ask who have the job's records.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice, takewhile
from threading import Lock
from typing import Protocol

import msgspec

from spotwarden.layout import Heartbeat, Layout, NodeHeartbeat, NotInLayoutError, job_problem
from spotwarden.model.heartbeat import Beat
from spotwarden.ports import Entry, Store
from spotwarden.recovery.folder.heartbeats import beat_beside

BEATS_AT_MOST = 100_000
"""Heartbeats that are taken in: a project has fewer VMs, and anybody's VM may write any number of them."""
TEXT_AT_MOST = 16 * 1024 * 1024
"""Characters of checkpoints and metrics that are kept in all; they take thrice as many bytes."""
ELSE = 256
"""Characters of a heartbeat's custom metadata beside these two: the job kit writes fewer."""
A_PAGE = 1_000
"""Heartbeats that are listed for some jobs: one call, and no more rows than are taken in within 30 ms."""
JUNK_AT_MOST = 100
"""Names that are kept of heartbeats that cannot be understood."""


class NodeBeat(msgspec.Struct, frozen=True, kw_only=True):
    """One heartbeat: its row of the list, and what it says."""

    entry: Entry
    beat: Beat


class HeardBeats(msgspec.Struct, frozen=True, kw_only=True):
    """What a list of heartbeats says: by job and node, and the job of each node.

    `junk` are the names of those that say nothing that can be understood.
    """

    by_job: Mapping[str, Mapping[Heartbeat, NodeBeat]] = {}
    jobs: Mapping[str, str] = {}
    junk: tuple[str, ...] = ()

    def of(self, job: str, nodes: Iterable[str] = ()) -> Mapping[Heartbeat, NodeBeat]:
        """Those that say that they are of this job, whatever its nodes are."""
        del nodes
        return self.by_job.get(job, {})


def read_beats(store: Store, layout: Layout, nodes: Collection[str] = ()) -> HeardBeats:
    """List the heartbeats of all nodes, or of those whose names begin as all of these do.

    Each may have 8 KiB of custom metadata. Those behind `TEXT_AT_MOST` are taken in without checkpoint and
    metrics.
    """
    rows = store.each_entry(layout.heartbeats() + _beginning(sorted(nodes)))
    return _heard(layout, islice(rows, BEATS_AT_MOST))


def _heard(layout: Layout, rows: Iterable[Entry]) -> HeardBeats:
    by_job: dict[str, dict[Heartbeat, NodeBeat]] = {}
    junk: list[str] = []
    room = TEXT_AT_MOST
    for entry in (row for row in rows if not row.is_folder):
        room -= max(sum(map(len, entry.metadata.values())) - ELSE, 0)
        found = _node_beat(layout, entry, brief=room < 0)
        if found is None:
            junk += [entry.name] if len(junk) < JUNK_AT_MOST else []
        else:
            by_job.setdefault(found[0].job, {})[found[0]] = found[1]
    jobs = {name.node: name.job for heard in by_job.values() for name in heard}
    return HeardBeats(by_job=by_job, jobs=jobs, junk=tuple(junk))


def _beginning(nodes: Sequence[str]) -> str:
    """How all of these names begin, from the first and the last of them in order."""
    if not nodes:
        return ""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(nodes[0], nodes[-1], strict=False))
    return "".join(character for character, _ in same)


def _node_beat(layout: Layout, entry: Entry, *, brief: bool) -> tuple[Heartbeat, NodeBeat] | None:
    try:
        object_name = layout.parse(entry.name)
    except NotInLayoutError:
        return None
    beat = beat_beside(entry.metadata, brief=brief)
    if not isinstance(object_name, NodeHeartbeat) or beat is None or job_problem(beat.job) is not None:
        return None
    # What it says is kept, and not the texts that it was said in: there may be a hundred thousand.
    row = msgspec.structs.replace(entry, metadata={})
    return Heartbeat(job=beat.job, node=object_name.node), NodeBeat(entry=row, beat=beat)


class BeatSource(Protocol):
    """Where the heartbeats of a job are asked for."""

    def of(self, job: str, nodes: Iterable[str] = ()) -> Mapping[Heartbeat, NodeBeat]:
        """Those that say that they are of this job; `nodes` are its nodes, as far as they are known."""


class LazyBeats:
    """The heartbeats of all nodes, listed when the first are asked for. Safe to use from several threads."""

    def __init__(self, store: Store, layout: Layout) -> None:
        self._store, self._layout = store, layout
        self._heard: HeardBeats | None = None
        self._listing = Lock()

    def of(self, job: str, nodes: Iterable[str] = ()) -> Mapping[Heartbeat, NodeBeat]:
        """Those that say that they are of this job, whatever its nodes are."""
        del nodes
        return self.heard().of(job)

    def heard(self) -> HeardBeats:
        """All of them."""
        with self._listing:
            if self._heard is None:
                self._heard = read_beats(self._store, self._layout)
        return self._heard


class JobBeats:
    """The same for who looks at a job or two: each is listed by itself."""

    def __init__(self, store: Store, layout: Layout) -> None:
        self._store, self._layout = store, layout

    def of(self, job: str, nodes: Iterable[str] = ()) -> Mapping[Heartbeat, NodeBeat]:
        """Those of this job, by what they say; without nodes those whose names begin as its own."""
        return read_beats(self._store, self._layout, tuple(nodes) or (job,)).of(job)


class BeatsOfSome(JobBeats):
    """The same for who looks at some jobs: one list from the first of their names to the last.

    A job is listed by itself where a node has another name than its job, and where the heartbeats of too many
    others stand between them.
    """

    def __init__(self, store: Store, layout: Layout, jobs: Collection[str]) -> None:
        super().__init__(store, layout)
        # Behind the last job are its nodes, where it is a gang.
        self._first, self._end = min(jobs), f"{max(jobs)}~"
        below = layout.heartbeats()
        rows = store.entries(below, start=below + self._first, end=below + self._end, limit=A_PAGE)
        self._heard = _heard(layout, rows) if len(rows) < A_PAGE else None

    def of(self, job: str, nodes: Iterable[str] = ()) -> Mapping[Heartbeat, NodeBeat]:
        """Those of this job, by what they say."""
        nodes = tuple(nodes) or (job,)
        if self._heard is None or not all(self._first <= node < self._end for node in nodes):
            return super().of(job, nodes)
        return self._heard.of(job)


class BeatsUnderWay:
    """The heartbeats that are being listed; where that fails `otherwise` tells them."""

    def __init__(self, heard: Future[HeardBeats], otherwise: BeatSource) -> None:
        self._heard, self._otherwise = heard, otherwise

    def of(self, job: str, nodes: Iterable[str] = ()) -> Mapping[Heartbeat, NodeBeat]:
        """Those of this job, once they are there."""
        source = self._otherwise if self._heard.exception() else self._heard.result()
        return source.of(job, nodes)
