"""The look: everything that recovery needs to know, read in an order that matters.

Markers and the list of open jobs first, then instances and operations, then each job's own objects. A
job that ends while we look has then written its status before we read it, and is not taken for one that
was lost; an instance created while we look is in the newer list, and is not taken for gone.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

import msgspec

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.metrics import sweep_metrics
from spotwarden.engine.turn import TakenTurn, Turn, end_turn, keep_turn, read_turn, take_turn
from spotwarden.layout import (
    RESERVED_JOBS,
    AttemptRecord,
    Layout,
    OpenJob,
    SweepTurn,
    job_problem,
)
from spotwarden.model.facts import JobFacts
from spotwarden.model.marker import Marker
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watched
from spotwarden.ports import Cloud, Entry
from spotwarden.recovery.crowds import LISTED, told_apart
from spotwarden.recovery.job_folder import JobFolder, look_into, read_watch
from spotwarden.recovery.job_look import Looking, RestOfMarkers
from spotwarden.recovery.markers import job_names, read_markers
from spotwarden.recovery.node_beats import HeardBeats, LazyBeats, read_beats
from spotwarden.recovery.nodes import LOG_MARGIN, ShownInstances
from spotwarden.recovery.open_jobs import is_whole, list_open, log_from, read_entries, read_watches
from spotwarden.recovery.sharing import SharedJobs, Sharing, none_shared

SHARE_FROM = 50
"""Past so many jobs a sweep asks further instances of its function to look at them."""
CROWD = 20
"""With more markers than this there is a storm: one sweep over all of them beats one for each."""

STORM_KNOWN = timedelta(seconds=5)
"""How long nothing is asked for an event, once one has found another sweep at work on a storm."""


class Storm(NamedTuple):
    """When a storm was found, and the message whose sweep was at work on it: that one may come again."""

    at: datetime
    message: str


_STORMS: GenerationCache[Storm] = GenerationCache()
"""Storms by the prefix of the markers."""


class GatheredJobs(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the world: a look at each job is taken when its turn comes.

    `rest` looks at the markers of no open job, once all jobs had their turn. `busy` means that another sweep
    is looking at everything; `done` is to be called at the end, and told whether every job was looked at to
    the end. Where they are too many, `shared` says which of them others are asked to look at; who cannot ask
    looks at all of them itself.
    """

    jobs: Sequence[Callable[[], JobFacts]] = ()
    shared: SharedJobs | None = None
    rest: Callable[[], RestOfMarkers] = RestOfMarkers
    busy: bool = False
    done: Callable[[bool], None] = lambda _whole: None


class SweepWidth(NamedTuple):
    """How many jobs one sweep works on at a time, and how many it takes before it leaves them to others."""

    workers: int = 1
    share_from: int = SHARE_FROM


ALONE = SweepWidth()


def gather(cloud: Cloud, layout: Layout, tick: Tick, width: SweepWidth = ALONE) -> GatheredJobs:
    """Look at the one node that an event is about, at the jobs that another sweep names, or at everything."""
    if tick.batch:
        return _batch(cloud, layout, tick, width.workers)
    if tick.about and _is_known_storm(layout, tick):
        return GatheredJobs(busy=True)
    few, ahead = _look_ahead(cloud, layout, tick, width.workers) if tick.about else (None, Ahead())
    if few is not None and (seen := _one(cloud, layout, tick, few, ahead)):
        return seen
    if taken := take_turn(cloud.store, layout, tick):
        return _everything(cloud, layout, tick, taken, width)
    if tick.about and few is None:
        turn, _ = read_turn(cloud.store, layout.build(SweepTurn(function=tick.function)))
        _STORMS.keep(layout.markers(), 0, Storm(tick.now, turn.message))
    return GatheredJobs(busy=True)


def _is_known_storm(layout: Layout, tick: Tick) -> bool:
    """Whether an event just found a storm, and another sweep at work on it: each job has two events."""
    found = _STORMS.get(layout.markers(), 0)
    if found is None or (tick.message and tick.message == found.message):
        return False
    return found.at <= tick.now < found.at + STORM_KNOWN


def _few(cloud: Cloud, layout: Layout, tick: Tick) -> list[Entry] | None:
    """The markers, where they are few, or few are of open jobs and this event is about one of them."""
    entries = cloud.store.entries(layout.markers(), limit=CROWD + 1)
    if len(entries) <= CROWD:
        return entries
    jobs = {entry.name for entry in cloud.store.entries(layout.open_jobs())}

    def is_open(node: str) -> bool:
        names = (job for job in job_names(node) if job_problem(job) is None)
        return any(layout.build(OpenJob(job=job)) in jobs for job in names)

    if not is_open(tick.about):
        return None
    entries = cloud.store.entries(layout.markers(), limit=LISTED)
    known = [entry for entry in entries if is_open(entry.name.removeprefix(layout.markers()))]
    return known if len(known) <= CROWD else None


class Ahead(NamedTuple):
    """What was read of the job that has the node's name, while the markers were listed; None for nothing.

    It only says where to look: whether the job lives is read once more, after the instances.
    """

    folder: JobFolder | None = None
    watched: Watched | None = None
    beats: HeardBeats | None = None


def _look_ahead(cloud: Cloud, layout: Layout, tick: Tick, workers: int) -> tuple[list[Entry] | None, Ahead]:
    """The markers as `_few` gives them, and with them what most jobs need next."""
    if workers == 1 or job_problem(tick.about) is not None or tick.about in RESERVED_JOBS:
        return _few(cloud, layout, tick), Ahead()
    with ThreadPoolExecutor(3) as pool:
        folder = pool.submit(look_into, cloud.store, layout, tick.about)
        watched = pool.submit(read_watch, cloud.store, layout, tick.about)
        beats = pool.submit(read_beats, cloud.store, layout, (tick.about,))
        few = _few(cloud, layout, tick)
    # What failed is read again in its turn, and says then what is wrong.
    return few, Ahead(
        folder=None if folder.exception() else folder.result(),
        watched=None if watched.exception() else watched.result(),
        beats=None if beats.exception() else beats.result(),
    )


def _one(cloud: Cloud, layout: Layout, tick: Tick, entries: list[Entry], ahead: Ahead) -> GatheredJobs | None:
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
        by_job = {job: [] for job in _existing(cloud, layout, job_names(tick.about))}
        if not by_job:
            return None
    for job, own in by_job.items():
        others = [entry for entry in entries if entry.name != name and _is_of(layout, entry, job)]
        markers = [*own, *read_markers(cloud.store, layout, others).by_job.get(job, [])]
        known = ahead if job == tick.about else Ahead()
        shown = _shown_of(cloud, layout, job, markers, now=tick.now, folder=known.folder)
        watched = [known.watched] if known.watched else []
        look = Looking(cloud.store, layout, shown=shown, watched=watched, beats=known.beats)
        jobs.append(partial(look.look, job, markers))
    return GatheredJobs(jobs=jobs)


def _is_of(layout: Layout, entry: Entry, job: str) -> bool:
    """Whether a marker may be of the same gang, by its name."""
    node = entry.name.removeprefix(layout.markers())
    return job_names(node)[-1] == job


def _shown_of(
    cloud: Cloud, layout: Layout, job: str, markers: list[Marker], *, now: datetime, folder: JobFolder | None
) -> ShownInstances:
    folder = folder or look_into(cloud.store, layout, job)
    if folder.of(AttemptRecord):
        names = {job, *(marker.node for marker in markers)}
        names |= {getattr(object_name, "node", job) for object_name in folder.things}
        instances = cloud.compute.instances(names=sorted(names), job=job)
    else:
        # Nobody knows the other nodes of a gang that was launched by hand.
        instances = cloud.compute.instances()
    oldest = min([now, *(marker.written for marker in markers)])
    return ShownInstances(instances, cloud.compute.operations(oldest - LOG_MARGIN))


def _batch(cloud: Cloud, layout: Layout, tick: Tick, workers: int) -> GatheredJobs:
    """The jobs that a message names, as a sweep over everything would look at them; it needs no turn.

    Each is guarded by its own record, so it is no matter how often, how late and by whom it was asked for.
    """
    if not tick.jobs:
        return GatheredJobs()
    written = cloud.store.entries(layout.markers(), limit=LISTED)
    opened = list_open(cloud.store, layout)
    near = {job for entry in written for job in _may_be_of(layout, entry, tick.jobs)} | {*tick.jobs}
    mine = {entry: job for entry, job in opened.items() if job in near}
    watches = read_entries(cloud.store, mine, workers).watched
    turn, _ = read_turn(cloud.store, layout.build(SweepTurn(function=tick.function)))
    crowd = told_apart(layout, written, watches, {*opened.values(), *tick.jobs})
    markers = {job: crowd.by_job.get(job, []) for job in tick.jobs}
    instances = cloud.compute.instances()
    about = [entry for entry in watches if entry.watch.job in markers]
    since = _since(
        [entry for some in markers.values() for entry in some], about, turn.swept or turn.shared_since, tick
    )
    shown = ShownInstances(instances, cloud.compute.operations(since))
    look = Looking(cloud.store, layout, shown=shown, swept=turn.swept, workers=workers, watched=watches)
    return GatheredJobs(
        jobs=[partial(look.at, job, entries) for job, entries in markers.items()],
        rest=partial(look.at_the_others, ()),
    )


def _may_be_of(layout: Layout, entry: Entry, jobs: Collection[str]) -> list[str]:
    """The jobs that a marker may be of by its name, where one of these is among them."""
    names = job_names(entry.name.removeprefix(layout.markers()))
    return names if any(job in jobs for job in names) else []


def _everything(
    cloud: Cloud, layout: Layout, tick: Tick, taken: TakenTurn, width: SweepWidth
) -> GatheredJobs:
    """All markers, all open jobs, and instances that look like a job's and are on no list."""
    written = cloud.store.entries(layout.markers(), limit=LISTED)
    watches, broken = read_watches(cloud.store, layout, width.workers)
    instances = cloud.compute.instances()
    alive = {instance.id: instance for instance in instances.items}
    opened = [*(entry.watch.job for entry in watches), *broken]
    due = [entry.watch.job for entry in watches if not is_whole(entry, alive)]
    # A first sweep that has only shared its jobs out has seen all of them, and looked at none.
    swept = taken.turn.swept or taken.turn.shared_since
    shown = ShownInstances(instances, cloud.compute.operations(_since(written, watches, swept, tick)))
    sighted = [*_removed_late(shown, watches), *_sighted(cloud, layout, shown, watches)]
    crowd = told_apart(layout, written, watches, {*opened, *sighted})
    # Looking at a job whose entry is broken fails, and so tells of it, without stopping the others.
    jobs = [*dict.fromkeys([*crowd.by_job, *due, *broken, *sighted])]
    _say_what_was_seen(cloud, layout, tick, written, vms=len(instances.items), jobs=len(jobs))
    look = Looking(
        cloud.store,
        layout,
        shown=shown,
        swept=swept,
        workers=width.workers,
        watched=watches,
        beats=LazyBeats(cloud.store, layout),
    )
    looks = {job: partial(look.at, job, crowd.by_job.get(job, ())) for job in jobs}
    sharing = Sharing(taken.turn, tick, shown, watches)
    ended = msgspec.structs.replace(taken, turn=none_shared(taken.turn))
    return GatheredJobs(
        jobs=[*looks.values()],
        rest=partial(look.at_the_others, crowd.others),
        shared=sharing.share(
            looks,
            own=broken,
            share_from=width.share_from,
            leave=partial(_leave, cloud, layout, tick, taken),
        ),
        # What an incomplete look, or a job's that was broken off, has missed stays to be read from the log.
        done=lambda whole: end_turn(
            cloud.store, layout, ended, tick.now if whole and not shown.unsure else swept
        ),
    )


def _leave(cloud: Cloud, layout: Layout, tick: Tick, taken: TakenTurn, turn: Turn, *, soon: bool) -> None:
    """Leave the jobs to others; the log stays to be read from where it was read for all of them last."""
    left = msgspec.structs.replace(taken, turn=turn)
    if soon:
        keep_turn(cloud.store, layout, left, tick)
    else:
        end_turn(cloud.store, layout, left, turn.swept)


def _say_what_was_seen(
    cloud: Cloud, layout: Layout, tick: Tick, markers: list[Entry], *, vms: int, jobs: int
) -> None:
    """The figures of this sweep; the quarantine is only counted by a tick, for it can wait."""
    oldest = min([tick.now, *(entry.updated for entry in markers)])
    age = (tick.now - oldest).total_seconds()
    sweep_metrics().saw(vms=vms, jobs=jobs, markers=len(markers), oldest_marker_seconds=age)
    if tick.patient:
        sweep_metrics().saw(quarantined=len(cloud.store.entries(layout.quarantine())))


def _since(markers: list[Entry], watches: list[Watched], swept: datetime | None, tick: Tick) -> datetime:
    oldest = min([log_from(watches, swept, tick.now), tick.now, *(entry.updated for entry in markers)])
    # Compute Engine keeps its log of operations for some weeks only; asking for more gives nothing.
    return max(oldest, tick.now - timedelta(days=14)) - LOG_MARGIN


def _sighted(cloud: Cloud, layout: Layout, shown: ShownInstances, watches: list[Watched]) -> Iterator[str]:
    """Jobs that have, or had, an instance of their name or label that nobody has written down."""
    known = [
        instance
        for watched in watches
        for instance in (*watched.watch.instances.values(), *watched.watch.past)
    ]
    names, labels = shown.unlisted(set(known)), shown.unwatched(set(known))
    if not names and not labels:
        return
    folders = set(cloud.store.folders(layout.prefix)) - RESERVED_JOBS
    for job in (*labels, *(job for name in names for job in job_names(name))):
        if job in folders and job_problem(job) is None:
            yield job


def _removed_late(shown: ShownInstances, watches: list[Watched]) -> Iterator[str]:
    """Open jobs of which a person or a rule has removed a former instance: within its preemption, perhaps."""
    removed = shown.removed_on_purpose()
    yield from (watched.watch.job for watched in watches if not removed.isdisjoint(watched.watch.past))


def _existing(cloud: Cloud, layout: Layout, jobs: list[str]) -> list[str]:
    known = [job for job in jobs if job_problem(job) is None]
    return [job for job in known if cloud.store.entries(layout.folder(job), limit=1)]
