"""The list of open jobs, read at little cost: an entry is read again only when it has changed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import msgspec

from spotwarden.layout import Layout, NotInLayoutError, OpenJob
from spotwarden.model.instance import Instance, Status
from spotwarden.model.watch import Watch, Watched
from spotwarden.ports import Entry, Store

# What a generation of an object says never changes, so a warm function need not read it twice.
_KNOWN: dict[tuple[str, int], Watch] = {}
_KNOWN_AT_MOST = 20_000


def read_watches(store: Store, layout: Layout, workers: int) -> list[Watched]:
    """Every open job."""
    entries = [entry for entry in store.entries(layout.open_jobs()) if _is_ours(layout, entry)]
    if len(_KNOWN) > _KNOWN_AT_MOST:
        _KNOWN.clear()
    new = [entry for entry in entries if (entry.name, entry.generation) not in _KNOWN]
    if workers > 1 and len(new) > 1:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda entry: _read(store, entry), new))
    else:
        for entry in new:
            _read(store, entry)
    return [
        Watched(watch=known, generation=entry.generation, since=entry.updated)
        for entry in entries
        if (known := _KNOWN.get((entry.name, entry.generation)))
    ]


def _is_ours(layout: Layout, entry: Entry) -> bool:
    try:
        return isinstance(layout.parse(entry.name), OpenJob)
    except NotInLayoutError:
        return False


def _read(store: Store, entry: Entry) -> None:
    """Read it and remember it; one that has changed since the listing is seen next time."""
    stored = store.read(entry.name)
    if stored is not None and stored.generation == entry.generation:
        _KNOWN[entry.name, entry.generation] = msgspec.json.decode(stored.data, type=Watch)


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
