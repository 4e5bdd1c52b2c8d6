"""The list of open jobs, read at little cost: an entry is read again only when it has changed."""

from datetime import datetime

import msgspec

from spotwarden.layout import Layout, NotInLayoutError, OpenJob
from spotwarden.model.instance import Instance, Status
from spotwarden.model.watch import Watch, Watched
from spotwarden.ports import Entry, Store
from spotwarden.runner.each import each
from spotwarden.runner.known import Known

_KNOWN: Known[Watch] = Known()


def read_watches(store: Store, layout: Layout, workers: int) -> list[Watched]:
    """Every open job."""
    entries = [entry for entry in store.entries(layout.open_jobs()) if _is_ours(layout, entry)]
    known = {entry.name: _KNOWN.get(entry.name, entry.generation) for entry in entries}
    new = [entry for entry in entries if known[entry.name] is None]
    read = each(new, lambda entry: _read(store, entry), workers)
    if read.failures:
        raise ExceptionGroup("entries of the list of open jobs that cannot be read", read.failures)
    known |= dict(read.results)
    return [
        Watched(watch=watch, generation=entry.generation, since=entry.updated)
        for entry in entries
        if (watch := known[entry.name]) is not None
    ]


def _is_ours(layout: Layout, entry: Entry) -> bool:
    try:
        return isinstance(layout.parse(entry.name), OpenJob)
    except NotInLayoutError:
        return False


def _read(store: Store, entry: Entry) -> tuple[str, Watch] | None:
    """Read it and remember it; one that has changed since the listing is seen next time."""
    stored = store.read(entry.name)
    if stored is None or stored.generation != entry.generation:
        return None
    watch = msgspec.json.decode(stored.data, type=Watch)
    return entry.name, _KNOWN.keep(entry.name, entry.generation, watch)


def is_whole(watch: Watch, alive: dict[str, Instance]) -> bool:
    """Whether the job needs no look: all its instances run, and what runs is on record."""
    return bool(
        watch.instances
        and watch.recorded
        and watch.whole is None
        and all(one in alive and alive[one].status is Status.RUNNING for one in watch.instances.values())
    )


def log_from(watches: list[Watched], swept: datetime | None, now: datetime) -> datetime:
    """From when on the operation log must be read: since all missing instances were last seen."""
    seen = [one.watch.whole for one in watches if one.watch.whole is not None]
    # The first sweep of all knows only that an entry was written while its instances were there.
    seen.append(swept or min((one.since for one in watches), default=now))
    return min(seen)
