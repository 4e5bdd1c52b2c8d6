"""The look for an event about one node: its job alone, as long as few markers are there.

`look.storms` tells whether they are few.
"""

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Executor
from datetime import datetime
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from spotwarden.engine.fan_out import beside
from spotwarden.layout import (
    RESERVED_JOBS,
    AttemptRecord,
    Heartbeat,
    Layout,
    MetricsFile,
    ObjectName,
    job_problem,
)
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instances
from spotwarden.model.marker import Marker
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watched
from spotwarden.ports import Cloud, Entry, Store
from spotwarden.recovery.attempts import IN_FLIGHT
from spotwarden.recovery.folder.folder_list import JobFolder, look_into
from spotwarden.recovery.folder.job_folder import look_at_job, read_watch
from spotwarden.recovery.folder.node_beats import BeatSource, BeatsUnderWay, JobBeats, read_beats
from spotwarden.recovery.instances.nodes import with_nodes
from spotwarden.recovery.look.job_look import Looking
from spotwarden.recovery.look.storms import few_markers, is_crowded
from spotwarden.recovery.markers.reading import job_names, read_markers
from spotwarden.recovery.observed.shown import LOG_MARGIN, ShownInstances

AT_ONCE = 4
"""Calls that are under way for an event besides the one that reads its marker."""


class Ahead(NamedTuple):
    """What was read of the job that has the node's name, while the markers were listed; None for nothing.

    `shown` is asked of Compute Engine while the marker is read, and `learnt` is done once all that the job
    needs was read in advance. Whether the job lives is read once more, after the instances.
    """

    folder: JobFolder | None = None
    watched: Watched | None = None
    beats: BeatSource | None = None
    shown: Callable[[], ShownInstances] | None = None
    learnt: Callable[[], object] = lambda: None


def look_ahead(
    cloud: Cloud, layout: Layout, tick: Tick, workers: int, learn: Callable[[JobFacts], object]
) -> tuple[list[Entry] | None, Ahead]:
    """The markers, None where they are too many, and with them what most jobs need next.

    What does not wait for one another is asked for side by side; `learn` reads what is needed besides to
    bring a job back.
    """
    unread = job_problem(tick.about) is not None or tick.about in RESERVED_JOBS
    if unread or is_crowded(layout, tick):
        return few_markers(cloud, layout, tick), Ahead()
    pool = beside(workers, AT_ONCE)
    try:
        folder = pool.submit(look_into, cloud.store, layout, tick.about)
        watched = pool.submit(read_watch, cloud.store, layout, tick.about)
        beats = pool.submit(read_beats, cloud.store, layout, (tick.about,))
        few = few_markers(cloud, layout, tick)
        # What failed is read again in its turn, and says then what is wrong. Heartbeats may be newer than the
        # instances, so nothing waits for them here.
        ahead = Ahead(
            folder=None if folder.exception() else folder.result(),
            watched=None if watched.exception() else watched.result(),
            beats=BeatsUnderWay(beats, JobBeats(cloud.store, layout)),
        )
        return few, _further(cloud, layout, tick, pool, few=few, ahead=ahead, learn=learn)
    finally:
        # What is under way goes on; whoever needs it waits for it.
        pool.shutdown(wait=False)


def _further(
    cloud: Cloud,
    layout: Layout,
    tick: Tick,
    pool: Executor,
    *,
    few: Collection[Entry] | None,
    ahead: Ahead,
    learn: Callable[[JobFacts], object],
) -> Ahead:
    """Ask Compute Engine, and read the rest, while the marker is read; nothing where there is none."""
    if few is None or ahead.folder is None or not ahead.folder.things:
        return ahead
    mine = [entry for entry in few if entry.name == layout.markers() + tick.about]
    if not mine and not tick.lost:
        return ahead
    job, folder = tick.about, ahead.folder
    own = [*mine, *_others(layout, few, tick.about, job)]
    names = {entry.name.removeprefix(layout.markers()) for entry in own}
    oldest = min([tick.now, *(entry.updated for entry in own)])
    operations = pool.submit(cloud.compute.operations, oldest - LOG_MARGIN)
    instances = pool.submit(_instances, cloud, job, names, folder)
    learnt = pool.submit(
        lambda: learn(look_at_job(cloud.store, layout, job, folder, watched=ahead.watched, beats=ahead.beats))
    )
    return ahead._replace(
        shown=lambda: ShownInstances(instances.result(), operations.result()), learnt=learnt.exception
    )


def look_at_one(
    cloud: Cloud, layout: Layout, tick: Tick, entries: list[Entry], ahead: Ahead
) -> list[Callable[[], JobFacts]] | None:
    """The job of one node; nothing is asked of Compute Engine where its marker is gone.

    None where the node's name does not tell its job: the list of open jobs may, so everything is looked at.
    """
    name = layout.markers() + tick.about
    there = {tick.about} if ahead.folder and ahead.folder.things else set()
    mine = [entry for entry in entries if entry.name == name]
    found = read_markers(cloud.store, layout, mine, there=there)
    for failure in found.failures:
        raise failure
    if found.unusable or found.nameless:
        return None
    jobs: list[Callable[[], JobFacts]] = []
    by_job: dict[str, list[Marker]] = dict(found.by_job)
    if tick.lost and not by_job:
        by_job = {job: [] for job in there or _existing(cloud, layout, job_names(tick.about))}
        if not by_job:
            return None
    for job, own in by_job.items():
        others = _others(layout, entries, tick.about, job)
        markers = [*own, *read_markers(cloud.store, layout, others).by_job.get(job, [])]
        known = ahead if job == tick.about else Ahead()
        if known.shown is not None:
            jobs.append(
                partial(
                    _look_once_more,
                    cloud.store,
                    layout,
                    job,
                    markers=markers,
                    ahead=known,
                    shown=known.shown(),
                )
            )
            continue
        shown = _shown_of(cloud, layout, job, markers, now=tick.now, folder=known.folder)
        watched = [known.watched] if known.watched else []
        look = Looking(cloud.store, layout, shown=shown, watched=watched, beats=known.beats)
        jobs.append(partial(look.look, job, markers))
    return jobs


def _look_once_more(
    store: Store, layout: Layout, job: str, *, markers: list[Marker], ahead: Ahead, shown: ShownInstances
) -> JobFacts:
    """The job by its folder as it is now: a job that ended by itself has written its status by then.

    Where nothing of the folder has changed meanwhile, its chain was read before the instances were listed, so
    they show all that its attempts have made; and all else of it has been read.
    """
    folder = look_into(store, layout, job)
    ahead.learnt()
    beats = ahead.beats or JobBeats(store, layout)
    found = look_at_job(store, layout, job, folder, watched=ahead.watched, beats=beats)
    same = ahead.folder is not None and _generations(folder) == _generations(ahead.folder)
    surveyed = same and (found.newest is None or found.newest.state not in IN_FLIGHT)
    return with_nodes(replace(found, surveyed=surveyed, fresh=surveyed), markers, shown)


def _generations(folder: JobFolder) -> set[tuple[ObjectName, int]]:
    """What the folder has, but for what a VM that runs writes again and again."""
    return {
        (object_name, entry.generation)
        for object_name, entry in folder.things.items()
        if not isinstance(object_name, Heartbeat | MetricsFile)
    }


def _others(layout: Layout, entries: Iterable[Entry], about: str, job: str) -> list[Entry]:
    """The further markers that may be of the same gang, by their names."""
    name = layout.markers() + about
    return [entry for entry in entries if entry.name != name and _is_of(layout, entry, job)]


def _is_of(layout: Layout, entry: Entry, job: str) -> bool:
    """Whether a marker may be of the same gang, by its name."""
    node = entry.name.removeprefix(layout.markers())
    return job_names(node)[-1] == job


def _shown_of(
    cloud: Cloud, layout: Layout, job: str, markers: list[Marker], *, now: datetime, folder: JobFolder | None
) -> ShownInstances:
    folder = folder or look_into(cloud.store, layout, job)
    instances = _instances(cloud, job, {marker.node for marker in markers}, folder)
    oldest = min([now, *(marker.written for marker in markers)])
    return ShownInstances(instances, cloud.compute.operations(oldest - LOG_MARGIN))


def _instances(cloud: Cloud, job: str, nodes: Collection[str], folder: JobFolder) -> Instances:
    if not folder.of(AttemptRecord):
        # Nobody knows the other nodes of a gang that was launched by hand.
        return cloud.compute.instances()
    names = {job, *nodes, *(getattr(object_name, "node", job) for object_name in folder.things)}
    return cloud.compute.instances(names=sorted(names), job=job)


def _existing(cloud: Cloud, layout: Layout, jobs: list[str]) -> list[str]:
    known = [job for job in jobs if job_problem(job) is None]
    return [job for job in known if cloud.store.entries(layout.folder(job), limit=1)]
