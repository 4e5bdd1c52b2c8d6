"""What each sweep of governance saw, kept so that a decision can be explained and a policy back-tested."""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from io import BytesIO
from itertools import islice
from typing import Any

import msgspec

from spotwarden import typed
from spotwarden.engine.log import WriteLine, log
from spotwarden.layout import Layout, NotInLayoutError, SweepRecord
from spotwarden.model.brief import Brief
from spotwarden.model.seen import Facts, RecordedSweep, Unreadable
from spotwarden.model.tick import Tick
from spotwarden.ports import ConflictError, Store, UnansweredError

CHUNK = 1_000
"""Items encoded at a time: the facts of 100,000 VMs are never in memory as one text."""
LEVEL = 1
"""gzip's quickest: half a second for 100,000 VMs. Its middle level takes 2.5 times as long, for 9 % less."""
LARGEST = 1024 * 1024 * 1024
"""Bytes that a record may unpack to; a sweep over 100,000 VMs unpacks to some fifty million."""


def record(
    store: Store, layout: Layout, brief: Brief, facts: msgspec.Struct, *, write_line: WriteLine = log
) -> None:
    """Keep what this sweep saw; one that cannot be kept is told in the log and stops nothing."""
    tick = brief.tick
    name = layout.build(SweepRecord(function=tick.function, day=tick.now.date(), entry=_entry(tick)))
    seen = RecordedSweep(tick=tick, policy=brief.policy.version, steady=brief.steady, facts=facts)
    try:
        store.write(name, packed(seen), generation=None, content_type="application/gzip")
    except (ConflictError, UnansweredError) as error:
        write_line(tick, "WARNING", f"what this sweep saw couldn't be saved: {error}")


def read(
    store: Store, layout: Layout, function: str, since: datetime, facts: type[Facts]
) -> Iterator[RecordedSweep[Facts] | Unreadable]:
    """Every sweep of this function that began at `since` or later, oldest first, read one at a time."""
    for name in _names(store, layout, function, since):
        seen = read_one(store, name, facts)
        if isinstance(seen, Unreadable) or (seen is not None and seen.tick.now >= since):
            yield seen


def read_one(store: Store, name: str, facts: type[Facts]) -> RecordedSweep[Facts] | Unreadable | None:
    """The sweep that this object tells of; None where there is none."""
    stored = store.read(name, at_most=LARGEST)
    if stored is None:
        return None
    try:
        kind = RecordedSweep[facts]  # type: ignore[valid-type]  # a type that is known as it runs
        seen: RecordedSweep[Facts] = typed.decode(gzip.decompress(stored.data), kind)
    except (msgspec.DecodeError, OSError, EOFError, zlib.error) as error:
        return Unreadable(name=name, why=str(error))
    return seen


def _entry(tick: Tick) -> str:
    """Names sort by the time of the day, then by sweep."""
    return f"{tick.now:%H%M%S}-{tick.sweep}"


def _names(store: Store, layout: Layout, function: str, since: datetime) -> list[str]:
    """The records from the day of `since` on, in the order of time; what is none of ours is left out."""
    found: list[tuple[object, ...]] = []
    for row in store.entries(layout.sweeps(function)):
        try:
            object_name = layout.parse(row.name)
        except NotInLayoutError:
            continue
        if isinstance(object_name, SweepRecord) and object_name.day >= since.date():
            found.append((object_name.day, object_name.entry, row.name))
    return [str(name) for *_, name in sorted(found)]


def packed(seen: msgspec.Struct) -> bytes:
    """The same as its JSON under gzip, without ever holding all of that JSON."""
    # 16 more than the window's bits asks zlib for gzip's own head, which then carries no time of writing.
    squeeze = zlib.compressobj(level=LEVEL, wbits=16 + zlib.MAX_WBITS)
    whole = BytesIO()
    for piece in pieces(seen):
        whole.write(squeeze.compress(piece))
    whole.write(squeeze.flush())
    return whole.getvalue()


def pieces(value: object) -> Iterator[bytes]:
    """The JSON of a struct or of anything in it, piece by piece; what is small is one piece."""
    if isinstance(value, msgspec.Struct) and _holds_much(value):
        yield from _struct(value)
    elif isinstance(value, Mapping):
        yield from _joined(b"{", (msgspec.json.encode(dict(some)) for some in _chunks(value.items())), b"}")
    elif isinstance(value, tuple | list | frozenset | set):
        yield from _joined(b"[", (msgspec.json.encode(some) for some in _chunks(value)), b"]")
    else:
        yield msgspec.json.encode(value)


def _struct(value: msgspec.Struct) -> Iterator[bytes]:
    before = b"{"
    for name, key in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
        yield before + msgspec.json.encode(key) + b":"
        yield from pieces(getattr(value, name))
        before = b","
    yield b"}" if before == b"," else b"{}"


def _joined(head: bytes, chunks: Iterable[bytes], tail: bytes) -> Iterator[bytes]:
    """Encoded lists, or objects, as one: each without its own brackets."""
    before = head
    for chunk in chunks:
        yield before + chunk[1:-1]
        before = b","
    yield tail if before == b"," else head + tail


def _chunks(items: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while some := list(islice(rest, CHUNK)):
        yield some


def _holds_much(value: object) -> bool:
    """Whether it can be taken apart, and has a field for which that is worth it."""
    if isinstance(value, msgspec.Struct):
        return _is_plain(value) and any(_holds_much(getattr(value, name)) for name in value.__struct_fields__)
    return isinstance(value, Mapping | tuple | list | frozenset | set) and len(value) > CHUNK


def _is_plain(value: msgspec.Struct) -> bool:
    """Whether its JSON is simply all of its fields, so that it can be taken apart."""
    config = value.__struct_config__
    return config.tag is None and not config.array_like and not config.omit_defaults
