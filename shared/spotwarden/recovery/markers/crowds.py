"""Many markers at once: those of open jobs first, of the others some a sweep, the likeliest first.

Any VM of a job can write any number of markers. None of them costs an open job its turn, and none is dropped.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from spotwarden.layout import Layout, NotInLayoutError
from spotwarden.model.watch import Watched
from spotwarden.ports import Entry
from spotwarden.recovery.markers.reading import job_names, node_of
from spotwarden.recovery.observed.shown import ShownInstances

LISTED = 20_000
"""Markers that one sweep lists, twenty pages of them. Of an open job whose marker is not among them the list
of open jobs still says that its VM is missing."""
UNKNOWN = 250
"""Markers of no open job that one sweep reads: at 40 ms a call, with 32 workers, three seconds of work."""
LOOKED_UP = 20
"""Nodes that Compute Engine shows and whose names lead to no job: one listing of the bucket finds so many."""
OF_A_JOB = 100
"""Markers that a job gets by nothing but their names; more are somebody's who makes names up."""


class Crowd(NamedTuple):
    """Markers by the open job that they are about, and all others; none of them has been read."""

    by_job: Mapping[str, list[Entry]]
    others: list[Entry]


def told_apart(
    layout: Layout, entries: Iterable[Entry], watched: Iterable[Watched], jobs: Collection[str]
) -> Crowd:
    """Find the open job of each marker: by the nodes that its entry counts on, else by the node's name.

    A node that may be of several jobs is among the others, where the marker's own word decides.
    """
    counted: dict[str, set[str]] = defaultdict(set)
    for open_job in watched:
        for node in open_job.watch.instances:
            counted[node].add(open_job.watch.job)
    by_job: dict[str, list[Entry]] = defaultdict(list)
    by_name: dict[str, list[Entry]] = defaultdict(list)
    others: list[Entry] = []
    for entry in sorted(entries, key=lambda entry: (entry.updated, entry.name)):
        node = _node(layout, entry)
        sure = counted.get(node, ())
        may_be = sure or [job for job in job_names(node) if job in jobs]
        if len(may_be) != 1:
            others.append(entry)
            continue
        (job,) = may_be
        if not sure and len(by_name[job]) >= OF_A_JOB:
            others.append(entry)
            continue
        by_job[job].append(entry)
        if not sure:
            by_name[job].append(entry)
    return Crowd(by_job, others)


def likeliest(layout: Layout, entries: Sequence[Entry], shown: ShownInstances) -> list[Entry]:
    """Those whose node Compute Engine shows or has shown, then the others; the oldest first."""
    return sorted(
        entries, key=lambda entry: (not shown.speaks_of(_node(layout, entry)), entry.updated, entry.name)
    )


def _node(layout: Layout, entry: Entry) -> str:
    """The node's name; "" where this is no marker's name."""
    try:
        return node_of(layout, entry.name)
    except NotInLayoutError:
        return ""
