"""The look: everything that recovery needs to know, read in an order that matters.

Markers and the list of open jobs first, then instances and operations, then each job's own objects. A
job that ends while we look has then written its status before we read it, and is not taken for one that
was lost; an instance created while we look is in the newer list, and is not taken for gone.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

import msgspec

from spotwarden.engine.metrics import sweep_metrics
from spotwarden.engine.turn import TakenTurn, Turn, end_turn, keep_turn, read_turn, take_turn
from spotwarden.layout import (
    RESERVED_JOBS,
    Layout,
    SweepTurn,
    job_problem,
)
from spotwarden.model.facts import JobFacts
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watched
from spotwarden.ports import Cloud, Entry
from spotwarden.recovery.folder.job_folder import NEVER
from spotwarden.recovery.folder.node_beats import BeatsOfSome, LazyBeats
from spotwarden.recovery.folder.open_jobs import is_whole, list_open, log_from, read_entries, read_watches
from spotwarden.recovery.look.event_look import Ahead, look_ahead, look_at_one
from spotwarden.recovery.look.job_look import Looking, RestOfMarkers
from spotwarden.recovery.look.sharing import SharedJobs, Sharing, none_shared
from spotwarden.recovery.look.storms import Storm, is_known_storm, keep_storm
from spotwarden.recovery.markers.crowds import LISTED, told_apart
from spotwarden.recovery.markers.reading import job_names
from spotwarden.recovery.observed.shown import LOG_MARGIN, ShownInstances
from spotwarden.recovery.places.moving import turns

UNANSWERED = timedelta(minutes=5)
"""A marker that has stood so long may name a VM that was launched by hand before any sweep saw it."""
LAUNCHED_WITHIN = timedelta(days=1)
"""How far before such a marker the log is read for the insert of its VM, which alone tells whose it was."""
SHARE_FROM = 50
"""Past so many jobs a sweep asks further instances of its function to look at them."""
COUNTED_AT_MOST = 1_000
"""Objects of the quarantine that are counted: one page, though any job VM may fill it with its markers."""


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
    """How many jobs one sweep works on at a time, and how many it takes before it leaves them to others.

    Of those that run well, `moves` may be under way to another place.
    """

    workers: int = 1
    share_from: int = SHARE_FROM
    moves: int = 0


ALONE = SweepWidth()


def gather(
    cloud: Cloud,
    layout: Layout,
    tick: Tick,
    width: SweepWidth = ALONE,
    learn: Callable[[JobFacts], object] = bool,
) -> GatheredJobs:
    """Look at the one node that an event is about, at the jobs that another sweep names, or at everything.

    For an event `learn` reads what else is needed of its job, while others are asked.
    """
    if tick.batch:
        return _batch(cloud, layout, tick, width.workers)
    if tick.about and is_known_storm(layout, tick):
        return GatheredJobs(busy=True)
    few, ahead = (None, Ahead())
    if tick.about:
        few, ahead = look_ahead(cloud, layout, tick, width.workers, learn)
        if few is None and is_known_storm(layout, tick):
            return GatheredJobs(busy=True)
    if few is not None and (looks := look_at_one(cloud, layout, tick, few, ahead)) is not None:
        return GatheredJobs(jobs=looks)
    if taken := take_turn(cloud.store, layout, tick):
        return _everything(cloud, layout, tick, taken, width)
    if tick.about and few is None:
        turn, _ = read_turn(cloud.store, layout.build(SweepTurn(function=tick.function)))
        keep_storm(layout, Storm(tick.now, turn.message))
    return GatheredJobs(busy=True)


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
    own = [entry for some in markers.values() for entry in some]
    since = _since(own, about, turn.swept or turn.shared_since, turn, tick)
    shown = ShownInstances(instances, cloud.compute.operations(since))
    look = Looking(
        cloud.store,
        layout,
        shown=shown,
        swept=turn.swept,
        workers=workers,
        watched=watches,
        beats=BeatsOfSome(cloud.store, layout, tick.jobs),
        before=max([NEVER, *(entry.updated for entry in (*written, *opened))]),
    )
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
    since = _since(written, watches, swept, taken.turn, tick)
    old = [entry.updated - LAUNCHED_WITHIN for entry in written if tick.now - entry.updated > UNANSWERED]
    shown = ShownInstances(instances, cloud.compute.operations(min([since, *old])), taken_since=since)
    sighted = [*_removed_late(shown, watches), *_sighted(cloud, layout, shown, watches)]
    crowd = told_apart(layout, written, watches, {*opened, *sighted})
    # Looking at a job whose entry is broken fails, and so tells of it, without stopping the others.
    jobs = [*dict.fromkeys([*crowd.by_job, *due, *broken, *sighted])]
    may_move = set(turns(watches, tick.now, width.moves) if tick.patient else ()).difference(jobs)
    jobs += sorted(may_move)
    _say_what_was_seen(cloud, layout, tick, written, vms=len(instances.items), jobs=len(jobs))
    look = Looking(
        cloud.store,
        layout,
        shown=shown,
        swept=swept,
        workers=width.workers,
        watched=watches,
        beats=LazyBeats(cloud.store, layout),
        before=max([NEVER, *(entry.updated for entry in written), *(entry.since for entry in watches)]),
    )
    looks = {job: partial(look.at, job, crowd.by_job.get(job, ()), may_move=job in may_move) for job in jobs}
    sharing = Sharing(taken.turn, tick, shown, watches)
    ended = msgspec.structs.replace(taken, turn=none_shared(taken.turn))
    return GatheredJobs(
        jobs=[*looks.values()],
        rest=partial(look.at_the_others, crowd.others),
        shared=sharing.share(
            looks,
            own=broken,
            markers=crowd.by_job,
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
        aside = cloud.store.entries(layout.quarantine(), limit=COUNTED_AT_MOST)
        sweep_metrics().saw(quarantined=len(aside))


def _since(
    markers: list[Entry], watches: list[Watched], swept: datetime | None, turn: Turn, tick: Tick
) -> datetime:
    looked = log_from(watches, swept, turn.first or tick.now)
    oldest = min([looked, tick.now, *(entry.updated for entry in markers)])
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
