"""The list of open jobs, read at little cost: an entry is read again only when it has changed."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.fan_out import each
from spotwarden.layout import Layout, NotInLayoutError, OpenJob
from spotwarden.model.instance import Instance, Status
from spotwarden.model.watch import Watch, Watched
from spotwarden.ports import Entry, Store, UnansweredError
from spotwarden.recovery.folder.job_folder import watch_in

READERS = 64
"""As many entries are read at a time as there are connections."""
_CACHE: GenerationCache[Watch] = GenerationCache()


class OpenJobs(NamedTuple):
    """The entries that could be read; of the others, by job, why not."""

    watched: list[Watched]
    broken: Mapping[str, Exception]


def read_watches(store: Store, layout: Layout, workers: int) -> OpenJobs:
    """Every open job, in the order of their names.

    What a row shows is read as the row comes: of ten thousand only a page is in memory as text.
    """
    watched: list[Watched] = []
    left: dict[Entry, str] = {}
    for entry in store.each_entry(layout.open_jobs()):
        if job := _job(layout, entry):
            watch = _known(entry, job)
            if watch is None:
                left[entry] = job
            else:
                watched.append(_watched(entry, watch))
    rest = read_entries(store, left, workers)
    return OpenJobs(sorted([*watched, *rest.watched], key=lambda it: it.watch.job), rest.broken)


def list_open(store: Store, layout: Layout) -> Mapping[Entry, str]:
    """The entry of every open job, and the job; none of them has been read.

    Of each the content is shown, however many there are: nobody but us writes here.
    """
    return {entry: job for entry in store.each_entry(layout.open_jobs()) if (job := _job(layout, entry))}


def read_entries(store: Store, jobs: Mapping[Entry, str], workers: int) -> OpenJobs:
    """These open jobs, several at a time."""
    known = {entry: _CACHE.get(entry.name, entry.generation) for entry in jobs}
    broken: dict[str, Exception] = {}

    def read(entry: Entry) -> tuple[Entry, Watch | None] | None:
        try:
            return entry, _read(store, entry, jobs[entry])
        except (UnansweredError, ValueError) as problem:
            broken[jobs[entry]] = problem
            return None

    fresh = [entry for entry in jobs if known[entry] is None]
    shown = each([entry for entry in fresh if entry.content is not None], read)
    done = each([entry for entry in fresh if entry.content is None], read, _readers(workers))
    if failures := [*shown.failures, *done.failures]:
        raise ExceptionGroup("the list of open jobs could not be read", failures)
    known |= dict([*shown.results, *done.results])
    watched = [_watched(entry, watch) for entry, watch in known.items() if watch is not None]
    return OpenJobs(watched, broken)


def _readers(workers: int) -> int:
    """A read holds a connection and little else; who works on one thing at a time reads so, too."""
    return 1 if workers == 1 else min(4 * workers, READERS)


def _known(entry: Entry, job: str) -> Watch | None:
    """What the entry says, where it is remembered or its row shows it; None also where that is broken."""
    if (known := _CACHE.get(entry.name, entry.generation)) is not None or entry.content is None:
        return known
    try:
        return _CACHE.keep(entry.name, entry.generation, watch_in(entry.name, job, entry.content))
    except ValueError:
        return None


def _watched(entry: Entry, watch: Watch) -> Watched:
    return Watched(watch=watch, generation=entry.generation, since=entry.updated)


def _job(layout: Layout, entry: Entry) -> str:
    try:
        object_name = layout.parse(entry.name)
    except NotInLayoutError:
        return ""
    return object_name.job if isinstance(object_name, OpenJob) else ""


def _read(store: Store, entry: Entry, job: str) -> Watch | None:
    """Read it and remember it; one that has changed since the listing is seen next time."""
    if entry.content is not None:
        return _CACHE.keep(entry.name, entry.generation, watch_in(entry.name, job, entry.content))
    stored = store.read(entry.name, listed=entry)
    if stored is None or stored.generation != entry.generation:
        return None
    return _CACHE.keep(entry.name, entry.generation, watch_in(entry.name, job, stored.data))


def is_whole(watched: Watched, alive: dict[str, Instance]) -> bool:
    """Whether the job needs no look: all its instances run, and what runs is on record.

    One that began to run after the entry was written was started again in place: its id is the one that it
    had, and an attempt that is on record may still have to hear of it.
    """
    watch = watched.watch
    return bool(
        watch.instances
        and watch.recorded
        and not watch.lacks
        and watch.whole is None
        and not watch.moving
        and all(_runs_on(alive.get(instance), watched.since) for instance in watch.instances.values())
        and not any(_is_back(alive.get(name), watched.since) for name in watch.past)
    )


def _is_back(instance: Instance | None, since: datetime) -> bool:
    """Whether a VM that the job has left behind was started since: a gang that bends takes it back."""
    if instance is None or instance.status is not Status.RUNNING:
        return False
    return instance.started is not None and instance.started > since


def _runs_on(instance: Instance | None, since: datetime) -> bool:
    """Whether it runs, and has since then."""
    if instance is None or instance.status is not Status.RUNNING:
        return False
    return instance.started is None or instance.started <= since


def log_from(watches: list[Watched], swept: datetime | None, first: datetime) -> datetime:
    """From when on the operation log must be read: since all missing instances were last seen.

    Where no sweep has seen everything yet that is since the `first` of them.
    """
    seen = [watch.watch.whole for watch in watches if watch.watch.whole is not None]
    # The first sweep of all knows only that an entry was written while its instances were there.
    seen.append(swept or min([first, *(watch.since for watch in watches)]))
    return min(seen)
