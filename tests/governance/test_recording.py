"""What sweeps saw, kept and read back."""

import gzip
import tracemalloc
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from unittest import mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotwarden.governance import recording
from spotwarden.governance.recording import CHUNK, packed, pieces, read, record
from spotwarden.layout import Layout, SweepRecord
from spotwarden.model.brief import Brief
from spotwarden.model.fleet import Fleet, Machine
from spotwarden.model.instance import Status
from spotwarden.model.policy import Policy
from spotwarden.model.seen import RecordedSweep, Unreadable
from spotwarden.model.tick import Tick
from tests.fakes.store import MemoryStore
from tests.fakes.trouble import unanswered

NOW = datetime(2026, 1, 5, 23, 59, tzinfo=UTC)
LAYOUT = Layout()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep might see."""

    fleet: Fleet = Fleet()
    rows: Mapping[str, tuple[float, ...]] = {}
    young: frozenset[str] = frozenset()
    note: str = ""


def machine(number):
    """A VM like many others."""
    return Machine(
        id=str(10**18 + number), name=f"vm-{number}", zone="us-central1-a", status=Status.RUNNING, created=NOW
    )


def brief(now=NOW, sweep="s-1"):
    """The brief of one sweep."""
    return Brief(
        policy=Policy(version="7"),
        tick=Tick(function="reap_vms", sweep=sweep, now=now, about="vm-1"),
        steady=now - timedelta(hours=3),
    )


def back(store, since=NOW - timedelta(days=1)):
    """All that can be read back."""
    return list(read(store, LAYOUT, "reap_vms", since, Facts))


def test_what_a_sweep_saw_is_read_back():
    """The facts, and what else the rules knew: the tick, the policy's version, since when ticks came."""
    store = MemoryStore()
    facts = Facts(fleet=Fleet(items=(machine(1),), unreachable=("z",)), rows={"1": (0.5, -1)}, note="x")
    record(store, LAYOUT, brief(), facts)
    (seen,) = back(store)
    assert seen.facts == facts
    assert (seen.tick, seen.policy, seen.steady) == (brief().tick, "7", brief().steady)


def test_sweeps_come_back_in_the_order_of_time():
    """Over midnight, too; two of one second by the sweep's name."""
    store = MemoryStore()
    moments = [NOW, NOW + timedelta(minutes=2), NOW - timedelta(hours=2)]
    for number, moment in enumerate(moments):
        record(store, LAYOUT, brief(moment, f"s-{number}"), Facts())
    record(store, LAYOUT, brief(NOW, "s-9"), Facts())
    assert [seen.tick.sweep for seen in back(store)] == ["s-2", "s-0", "s-9", "s-1"]


def test_only_sweeps_from_the_moment_on_are_read():
    """One at the very moment is; one a second before it, on the same day, is not."""
    store = MemoryStore()
    record(store, LAYOUT, brief(NOW, "at"), Facts())
    record(store, LAYOUT, brief(NOW - timedelta(seconds=1), "before"), Facts())
    assert [seen.tick.sweep for seen in back(store, NOW)] == ["at"]


def test_other_objects_of_the_folder_are_left_out():
    """A file that somebody put there is no sweep."""
    store = MemoryStore()
    record(store, LAYOUT, brief(), Facts())
    store.write("spotwarden/sweeps/reap_vms/notes.txt", b"", generation=0)
    assert len(back(store)) == 1


@pytest.mark.parametrize(
    "data", [b"", b"text", gzip.compress(b"{"), gzip.compress(b"{}"), packed(Facts())[:-9]]
)
def test_a_record_that_cannot_be_read_is_said_to_be_one(data):
    """Cut short, or of another version; those after it are read all the same."""
    store = MemoryStore()
    thing = SweepRecord(function="reap_vms", day=NOW.date(), entry="000000-broken")
    store.write(LAYOUT.build(thing), data, generation=0)
    record(store, LAYOUT, brief(), Facts())
    broken, seen = back(store)
    assert isinstance(broken, Unreadable)
    assert broken.why
    assert isinstance(seen, RecordedSweep)


def test_a_sweep_that_cannot_be_kept_is_told_and_stops_nothing():
    """The log says so; nothing rises."""
    store = MemoryStore()
    store.trouble.order("write", unanswered(after_work=False))
    lines = []
    record(store, LAYOUT, brief(), Facts(), write_line=lambda *line, **_fields: lines.append(line[1:]))
    assert lines == [("WARNING", "what this sweep saw couldn't be saved: made up: no answer")]
    assert back(store) == []


@pytest.mark.parametrize("count", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
def test_facts_of_any_size_are_whole(count):
    """Nothing is lost where one chunk ends and the next begins."""
    items = tuple(machine(number) for number in range(count))
    facts = Facts(
        fleet=Fleet(items=items),
        rows={one.id: (1.0, 2.0) for one in items},
        young=frozenset(one.id for one in items),
    )
    assert msgspec.json.decode(gzip.decompress(packed(facts)), type=Facts) == facts


class Colour(Enum):
    """A thing of few words."""

    RED = "red"


class Renamed(msgspec.Struct, frozen=True, rename="camel"):
    """Written under another name."""

    some_name: int = 0


class Tagged(msgspec.Struct, frozen=True, tag=True):
    """Carries its own name."""

    inner: int = 0


class Short(msgspec.Struct, frozen=True, omit_defaults=True):
    """Leaves out what goes without saying."""

    some: int = 1


class Nothing(msgspec.Struct, frozen=True):
    """Has no fields."""


class Seen(msgspec.Struct, frozen=True):
    """Holds anything."""

    value: object


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(
        [NOW, timedelta(hours=1), Colour.RED, Renamed(3), Tagged(), Short(), Short(2), Nothing()]
    ),
    lambda inner: st.lists(inner).map(tuple) | st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.sampled_from([1, 2, CHUNK]))
def test_pieces_are_the_json_of_the_whole(value, chunk):
    """Whatever the facts are made of, and however few are taken at a time, not a byte changes."""
    seen = Seen(value=value)
    with mock.patch.object(recording, "CHUNK", chunk):
        assert b"".join(pieces(value)) == msgspec.json.encode(value)
        assert b"".join(pieces(seen)) == msgspec.json.encode(seen)


def test_what_is_small_is_one_piece():
    """Most sweeps see little; a piece for each field would cost them more than all else of a record."""
    few = Facts(fleet=Fleet(items=tuple(machine(number) for number in range(3))))
    assert len(list(pieces(few))) == 1
    many = Facts(fleet=Fleet(items=tuple(machine(number) for number in range(CHUNK + 1))))
    assert len(list(pieces(many))) > 1


def test_keeping_many_costs_little_memory():
    """Beyond what is written, a record takes the memory of one chunk, not of the whole text."""
    facts = Facts(fleet=Fleet(items=tuple(machine(number) for number in range(40 * CHUNK))))
    text = len(msgspec.json.encode(facts))
    tracemalloc.start()
    try:
        packed(facts)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < text / 4


def test_a_record_stands_where_the_layout_says():
    """By function and day, named by the time and the sweep."""
    store = MemoryStore()
    record(store, LAYOUT, brief(), Facts())
    (entry,) = store.entries(LAYOUT.sweeps("reap_vms"))
    assert LAYOUT.parse(entry.name) == SweepRecord(function="reap_vms", day=NOW.date(), entry="235900-s-1")
