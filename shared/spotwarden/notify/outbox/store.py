"""What waits, and for whom: one listing, and each record read once while the function is warm."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.engine.fan_out import each
from spotwarden.layout import Layout, NotInLayoutError, OutboxEntry, notice_key, person_key
from spotwarden.model.delivery import Channel, Pending, Recipient
from spotwarden.notify.outbox.model import Waiting
from spotwarden.ports import BrokenError, Entry, Store

typed.prepare(Pending)

SMALL = 8 * 1024
"""Larger records are not remembered: a warm function has little memory."""
_READ: GenerationCache[Pending] = GenerationCache(most=5_000)


class Box(NamedTuple):
    """Whose notices wait here, by what names his records; and their entries by the notices' keys."""

    channel: str
    person: str
    entries: Mapping[str, Entry]

    @property
    def recipient(self) -> Recipient:
        """Who that is, as far as the name tells: it cuts what is long."""
        return Recipient(channel=Channel(self.channel), address=unquote(self.person))


class Opened(NamedTuple):
    """What waits in a box, and what stands there and is no record of ours, by its key with the problem."""

    waiting: tuple[Waiting, ...]
    broken: Mapping[str, BrokenError]


def boxes(store: Store, layout: Layout) -> list[Box]:
    """Everybody for whom something waits; what has no name of the layout is left alone."""
    found: dict[tuple[str, str], dict[str, Entry]] = {}
    for entry in store.entries(layout.outbox()):
        try:
            object_name = layout.parse(entry.name)
        except NotInLayoutError:
            continue
        if isinstance(object_name, OutboxEntry) and object_name.channel in {item.value for item in Channel}:
            found.setdefault((object_name.channel, object_name.person), {})[object_name.notice] = entry
    return [Box(channel, person, entries) for (channel, person), entries in found.items()]


def opened(store: Store, box: Box, workers: int) -> Opened:
    """Read what waits in it; what is gone meanwhile is left out."""

    def read(item: tuple[str, Entry]) -> Waiting | tuple[str, BrokenError] | None:
        key, entry = item
        try:
            pending = _pending(store, box, key, entry)
        except BrokenError as problem:
            return key, problem
        return None if pending is None else Waiting(key=key, generation=entry.generation, pending=pending)

    found = each(box.entries.items(), read, min(workers, len(box.entries)))
    if found.failures:
        raise ExceptionGroup("waiting notices could not be read", found.failures)
    waiting = tuple(result for result in found.results if isinstance(result, Waiting))
    return Opened(waiting, dict(result for result in found.results if isinstance(result, tuple)))


def _pending(store: Store, box: Box, key: str, entry: Entry) -> Pending | None:
    """The record of this generation. One that is for another than its name says would go astray."""
    if (known := _READ.get(entry.name, entry.generation)) is not None:
        return known
    stored = store.read(entry.name)
    if stored is None or stored.generation != entry.generation:
        return None
    pending = decoded(entry.name, stored.data, Pending)
    to = pending.recipient
    if (to.channel.value, person_key(to.address)) != (box.channel, box.person):
        raise BrokenError(f"{entry.name}: it is for {to.address!r}")
    if notice_key(pending.notice.id) != key:
        raise BrokenError(f"{entry.name}: it is the notice {pending.notice.id!r}")
    return _READ.keep(entry.name, entry.generation, pending) if entry.size <= SMALL else pending


def as_it_stands(store: Store, box: Box, key: str) -> bytes:
    """What a record holds that nobody can read; nothing where it is too large or gone."""
    try:
        stored = store.read(box.entries[key].name)
    except BrokenError:
        return b""
    return stored.data if stored else b""


def by_key(waiting: Iterable[Waiting], keys: Sequence[str]) -> list[Waiting]:
    """Those of these keys that still wait, in their order."""
    found = {notice.key: notice for notice in waiting}
    return [found[key] for key in keys if key in found]
