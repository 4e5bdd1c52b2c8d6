"""The look: everything that recovery needs to know, read in an order that matters.

Markers and the list of open jobs first, then instances and operations, then each job's own objects. A
job that ends while we look has then written its status before we read it, and is not taken for one that
was lost; an instance created while we look is in the newer list, and is not taken for gone.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial

import msgspec
from msgspec.structs import replace

from spotwarden.layout import RESERVED_JOBS, AttemptRecord, Layout, MarkerName, NotInLayoutError, job_problem
from spotwarden.model.facts import JobFacts
from spotwarden.model.marker import Marker, UnusableMarker
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watched
from spotwarden.ports import Cloud, Entry
from spotwarden.runner.jobs import look_at_job, look_into
from spotwarden.runner.pulse import pulse
from spotwarden.runner.recovery.markers import Markers, read_markers
from spotwarden.runner.recovery.nodes import LOG_MARGIN, NODE_OF_A_GANG, Shown, with_nodes
from spotwarden.runner.recovery.watches import is_whole, log_from, read_watches
from spotwarden.runner.turn import Taken, end_turn, take_turn

CROWD = 20
"""With more markers than this there is a storm: one sweep over all of them beats one for each."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the world: a look at each job is taken when its turn comes.

    `busy` means that another sweep is looking at everything; `done` is to be called at the end, and told
    whether every job was looked at to the end.
    """

    jobs: Sequence[Callable[[], JobFacts]] = ()
    unusable: tuple[UnusableMarker, ...] = ()
    busy: bool = False
    done: Callable[[bool], None] = lambda _whole: None


def gather(cloud: Cloud, layout: Layout, tick: Tick, workers: int = 1) -> Seen:
    """Look at the one node that an event is about, or at everything."""
    few = cloud.store.entries(layout.markers(), limit=CROWD + 1) if tick.about else []
    if tick.about and len(few) <= CROWD and (seen := _one(cloud, layout, tick, few)):
        return seen
    if taken := take_turn(cloud.store, layout, tick):
        return _everything(cloud, layout, tick, taken, workers)
    return Seen(busy=True)


def _one(cloud: Cloud, layout: Layout, tick: Tick, entries: list[Entry]) -> Seen | None:
    """The job of one node; nothing is asked of Compute Engine where its marker is gone.

    None where the audit log speaks of a node whose job its name does not tell: then everything is looked at.
    """
    name = layout.markers() + tick.about
    found = read_markers(cloud.store, layout, [one for one in entries if one.name == name])
    jobs: list[Callable[[], JobFacts]] = []
    by_job: dict[str, list[Marker]] = dict(found.by_job)
    if tick.lost and not by_job:
        by_job = {job: [] for job in _existing(cloud, layout, _job_names(tick.about))}
        if not by_job:
            return None
    for job, mine in by_job.items():
        others = [one for one in entries if one.name != name and _is_of(layout, one, job)]
        markers = [*mine, *read_markers(cloud.store, layout, others).by_job.get(job, [])]
        shown = _shown_of(cloud, layout, job, markers, tick)
        jobs.append(partial(_look, cloud, layout, job, markers=markers, shown=shown))
    return Seen(jobs=jobs, unusable=tuple(found.unusable))


def _is_of(layout: Layout, entry: Entry, job: str) -> bool:
    """Whether a marker may be of the same gang, by its name."""
    node = entry.name.removeprefix(layout.markers())
    return _job_names(node)[-1] == job


def _shown_of(cloud: Cloud, layout: Layout, job: str, markers: list[Marker], tick: Tick) -> Shown:
    folder = look_into(cloud.store, layout, job)
    if folder.of(AttemptRecord):
        names = {job, *(marker.node for marker in markers)}
        names |= {getattr(thing, "node", job) for thing in folder.things}
        instances = cloud.compute.instances(names=sorted(names), job=job)
    else:
        # Nobody knows the other nodes of a gang that was launched by hand.
        instances = cloud.compute.instances()
    oldest = min([tick.now, *(marker.written for marker in markers)])
    return Shown(instances, cloud.compute.operations(oldest - LOG_MARGIN))


def _everything(cloud: Cloud, layout: Layout, tick: Tick, taken: Taken, workers: int) -> Seen:
    """All markers, all open jobs, and instances that look like a job's and are on no list."""
    written = cloud.store.entries(layout.markers())
    markers = read_markers(cloud.store, layout, written)
    watches, broken = read_watches(cloud.store, layout, workers)
    instances = cloud.compute.instances()
    alive = {one.id: one for one in instances.items}
    due = [one.watch.job for one in watches if not is_whole(one.watch, alive)]
    swept = taken.turn.swept
    shown = Shown(instances, cloud.compute.operations(_since(markers, watches, swept, tick)))
    # Looking at a job whose entry is broken fails, and so tells of it, without stopping the others.
    jobs = dict.fromkeys([*markers.by_job, *due, *broken, *_sighted(cloud, layout, shown, watches)])
    _say_what_was_seen(cloud, layout, tick, written, vms=len(instances.items), jobs=len(jobs))
    return Seen(
        jobs=[
            partial(_look, cloud, layout, job, markers=markers.by_job.get(job, ()), shown=shown, swept=swept)
            for job in jobs
        ],
        unusable=tuple(markers.unusable),
        # What an incomplete look, or a job's that was broken off, has missed stays to be read from the log.
        done=lambda whole: end_turn(
            cloud.store, layout, taken, tick.now if whole and not shown.unsure else swept
        ),
    )


def _say_what_was_seen(  # noqa: PLR0913 - each is seen at another place
    cloud: Cloud, layout: Layout, tick: Tick, markers: list[Entry], *, vms: int, jobs: int
) -> None:
    """The figures of this sweep; the quarantine is only counted by a tick, for it can wait."""
    oldest = min([tick.now, *(entry.updated for entry in markers)])
    age = (tick.now - oldest).total_seconds()
    pulse().saw(vms=vms, jobs=jobs, markers=len(markers), oldest_marker_seconds=age)
    if tick.patient:
        pulse().saw(quarantined=len(cloud.store.entries(layout.quarantine())))


def _since(markers: Markers, watches: list[Watched], swept: datetime | None, tick: Tick) -> datetime:
    written = [marker.written for mine in markers.by_job.values() for marker in mine]
    oldest = min([log_from(watches, swept, tick.now), tick.now, *written])
    # Compute Engine keeps its log of operations for some weeks only; asking for more gives nothing.
    return max(oldest, tick.now - timedelta(days=14)) - LOG_MARGIN


def _sighted(cloud: Cloud, layout: Layout, shown: Shown, watches: list[Watched]) -> Iterator[str]:
    """Jobs that have, or had, an instance of their name that nobody has written down."""
    known = [one for watched in watches for one in (*watched.watch.instances.values(), *watched.watch.past)]
    names = shown.unlisted(set(known))
    if not names:
        return
    folders = set(cloud.store.folders(layout.prefix)) - RESERVED_JOBS
    for name in names:
        yield from (job for job in _job_names(name) if job in folders and job_problem(job) is None)


def _existing(cloud: Cloud, layout: Layout, jobs: list[str]) -> list[str]:
    known = [job for job in jobs if job_problem(job) is None]
    return [job for job in known if cloud.store.entries(layout.folder(job), limit=1)]


def _job_names(node: str) -> list[str]:
    """The jobs that a node may be of, by its name alone: its own, or a gang's."""
    gang = NODE_OF_A_GANG.fullmatch(node)
    return [node, gang["job"]] if gang else [node]


def _look(  # noqa: PLR0913 — where, and what is known already
    cloud: Cloud,
    layout: Layout,
    job: str,
    *,
    markers: Sequence[Marker],
    shown: Shown,
    swept: datetime | None = None,
) -> JobFacts:
    facts = with_nodes(look_at_job(cloud.store, layout, job), markers, shown)
    return replace(facts, last_sweep=swept)


def about(layout: Layout, name: str) -> str:
    """The node that a marker's object name speaks of; "" for any other object."""
    try:
        thing = layout.parse(name)
    except NotInLayoutError:
        return ""
    return thing.node if isinstance(thing, MarkerName) else ""
