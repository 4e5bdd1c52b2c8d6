"""The look: everything that recovery needs to know, read in an order that matters.

Markers and the list of open jobs first, then instances and operations, then each job's own objects. A
job that ends while we look has then written its status before we read it, and is not taken for one that
was lost; an instance created while we look is in the newer list, and is not taken for gone.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial

import msgspec

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.metrics import sweep_metrics
from spotwarden.engine.turn import TakenTurn, end_turn, take_turn
from spotwarden.layout import (
    RESERVED_JOBS,
    AttemptRecord,
    Layout,
    OpenJob,
    job_problem,
)
from spotwarden.model.facts import JobFacts
from spotwarden.model.marker import Marker
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watched
from spotwarden.ports import Cloud, Entry
from spotwarden.recovery.crowds import LISTED, told_apart
from spotwarden.recovery.job_folder import look_into
from spotwarden.recovery.job_look import Looking, RestOfMarkers
from spotwarden.recovery.markers import job_names, read_markers
from spotwarden.recovery.nodes import LOG_MARGIN, ShownInstances
from spotwarden.recovery.open_jobs import is_whole, log_from, read_watches

CROWD = 20
"""With more markers than this there is a storm: one sweep over all of them beats one for each."""

STORM_KNOWN = timedelta(seconds=5)
"""How long nothing is asked for an event, once one has found another sweep at work on a storm."""
_STORMS: GenerationCache[datetime] = GenerationCache()
"""When a storm was found, by the prefix of the markers."""


class GatheredJobs(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the world: a look at each job is taken when its turn comes.

    `rest` looks at the markers of no open job, once all jobs had their turn. `busy` means that another sweep
    is looking at everything; `done` is to be called at the end, and told whether every job was looked at to
    the end.
    """

    jobs: Sequence[Callable[[], JobFacts]] = ()
    rest: Callable[[], RestOfMarkers] = RestOfMarkers
    busy: bool = False
    done: Callable[[bool], None] = lambda _whole: None


def gather(cloud: Cloud, layout: Layout, tick: Tick, workers: int = 1) -> GatheredJobs:
    """Look at the one node that an event is about, or at everything."""
    if tick.about and _is_known_storm(layout, tick):
        return GatheredJobs(busy=True)
    few = _few(cloud, layout, tick) if tick.about else None
    if few is not None and (seen := _one(cloud, layout, tick, few)):
        return seen
    if taken := take_turn(cloud.store, layout, tick):
        return _everything(cloud, layout, tick, taken, workers)
    if tick.about and few is None:
        _STORMS.keep(layout.markers(), 0, tick.now)
    return GatheredJobs(busy=True)


def _is_known_storm(layout: Layout, tick: Tick) -> bool:
    """Whether an event just found a storm, and another sweep at work on it: each job has two events."""
    found = _STORMS.get(layout.markers(), 0)
    return found is not None and found <= tick.now < found + STORM_KNOWN


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


def _one(cloud: Cloud, layout: Layout, tick: Tick, entries: list[Entry]) -> GatheredJobs | None:
    """The job of one node; nothing is asked of Compute Engine where its marker is gone.

    None where the node's name does not tell its job: the list of open jobs may, so everything is looked at.
    """
    name = layout.markers() + tick.about
    found = read_markers(cloud.store, layout, [entry for entry in entries if entry.name == name])
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
    for job, mine in by_job.items():
        others = [entry for entry in entries if entry.name != name and _is_of(layout, entry, job)]
        markers = [*mine, *read_markers(cloud.store, layout, others).by_job.get(job, [])]
        shown = _shown_of(cloud, layout, job, markers, tick)
        jobs.append(partial(Looking(cloud.store, layout, shown=shown).look, job, markers))
    return GatheredJobs(jobs=jobs)


def _is_of(layout: Layout, entry: Entry, job: str) -> bool:
    """Whether a marker may be of the same gang, by its name."""
    node = entry.name.removeprefix(layout.markers())
    return job_names(node)[-1] == job


def _shown_of(cloud: Cloud, layout: Layout, job: str, markers: list[Marker], tick: Tick) -> ShownInstances:
    folder = look_into(cloud.store, layout, job)
    if folder.of(AttemptRecord):
        names = {job, *(marker.node for marker in markers)}
        names |= {getattr(object_name, "node", job) for object_name in folder.things}
        instances = cloud.compute.instances(names=sorted(names), job=job)
    else:
        # Nobody knows the other nodes of a gang that was launched by hand.
        instances = cloud.compute.instances()
    oldest = min([tick.now, *(marker.written for marker in markers)])
    return ShownInstances(instances, cloud.compute.operations(oldest - LOG_MARGIN))


def _everything(cloud: Cloud, layout: Layout, tick: Tick, taken: TakenTurn, workers: int) -> GatheredJobs:
    """All markers, all open jobs, and instances that look like a job's and are on no list."""
    written = cloud.store.entries(layout.markers(), limit=LISTED)
    watches, broken = read_watches(cloud.store, layout, workers)
    instances = cloud.compute.instances()
    alive = {instance.id: instance for instance in instances.items}
    opened = [*(entry.watch.job for entry in watches), *broken]
    due = [entry.watch.job for entry in watches if not is_whole(entry, alive)]
    swept = taken.turn.swept
    shown = ShownInstances(instances, cloud.compute.operations(_since(written, watches, swept, tick)))
    sighted = [*_removed_late(shown, watches), *_sighted(cloud, layout, shown, watches)]
    crowd = told_apart(layout, written, watches, {*opened, *sighted})
    # Looking at a job whose entry is broken fails, and so tells of it, without stopping the others.
    jobs = dict.fromkeys([*crowd.by_job, *due, *broken, *sighted])
    _say_what_was_seen(cloud, layout, tick, written, vms=len(instances.items), jobs=len(jobs))
    look = Looking(cloud.store, layout, shown=shown, swept=swept, workers=workers, watched=watches)
    return GatheredJobs(
        jobs=[partial(look.at, job, crowd.by_job.get(job, ())) for job in jobs],
        rest=partial(look.at_the_others, crowd.others),
        # What an incomplete look, or a job's that was broken off, has missed stays to be read from the log.
        done=lambda whole: end_turn(
            cloud.store, layout, taken, tick.now if whole and not shown.unsure else swept
        ),
    )


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
