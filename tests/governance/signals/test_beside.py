"""Heartbeats of the job kit: one list tells all that they say, and none is read."""

import itertools
from datetime import timedelta
from functools import partial

import msgspec
import pytest

from spotwarden.governance.signals.heartbeats import listen, remembered
from spotwarden.governance.signals.records import read_record
from spotwarden.governance.signals.table import SignalKind, signals
from spotwarden.governance.signals.training import Aim
from spotwarden.governance.signals.trainings import read_training
from spotwarden.layout import AttemptRecord, Heartbeat, Layout
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.recovery.folder.folder_list import look_with
from spotwarden.recovery.folder.node_beats import LazyBeats, read_beats
from tests.fakes.beats import kit_beat
from tests.fakes.store import MemoryStore

LAYOUT = Layout()
MINUTE = timedelta(minutes=1)
JOBS = (f"beside-{number}" for number in itertools.count())
"""What was heard is remembered by name: each test has a job of its own."""


class Reads:
    """A store that notes which objects are read."""

    def __init__(self, store):
        self._store = store
        self.read_names = []

    def __getattr__(self, name):
        return getattr(self._store, name)

    def read(self, name, **how):
        """As the store, and noted."""
        self.read_names.append(name)
        return self._store.read(name, **how)

    def heartbeats(self):
        """How many heartbeats were read."""
        return len([name for name in self.read_names if "heartbeat" in name])


@pytest.fixture
def store():
    """An empty bucket."""
    return MemoryStore()


def nodes_of(job, count):
    """The names of so many nodes, with the ids of their VMs."""
    return {f"{job}-{number}": str(1000 + number) for number in range(1, count + 1)}


def launched(store, job, count=1):
    """A job of so many nodes that was launched an hour ago."""
    began = store.clock.now()
    record = Attempt(
        job=job,
        number=1,
        state=AttemptState.RUNNING,
        created=began,
        updated=began,
        started=began,
        instances=nodes_of(job, count),
    )
    store.write(LAYOUT.build(AttemptRecord(job=job, attempt=1)), msgspec.json.encode(record), generation=0)
    store.clock.advance(60 * MINUTE)
    return job


def beat(store, job, node, said, *, kit=True):
    """A node writes a heartbeat, by the kit or as a training loop does."""
    if kit:
        kit_beat(store, node, job=job, **said)
    else:
        store.put(LAYOUT.build(Heartbeat(job=job, node=node)), msgspec.json.encode(said), {})


def said(store, instance_id, **more):
    """What it says."""
    now = store.clock.now()
    return {
        "at": now,
        "instance_id": instance_id,
        "attempt": 1,
        "progress_at": now - 20 * MINUTE,
        "step": 7,
        **more,
    }


def seen(store, job):
    """The table of all that is heard, as two sweeps see it, and how many heartbeats were read."""
    noted = Reads(store)
    for _ in range(2):
        look = partial(look_with, noted, LAYOUT, LazyBeats(noted, LAYOUT))
        record = remembered(LAYOUT, read_record(noted, LAYOUT, job, ids=(), look=look))
        record = listen(noted, LAYOUT, record, lambda _: False)
    return record.signals, noted.heartbeats()


@pytest.mark.parametrize("kit", [True, False])
def test_of_a_thousand_nodes_with_the_kit_no_heartbeat_is_read(store, kit):
    """Else each one is: a class B operation and a round trip for every node that is silent."""
    job = launched(store, next(JOBS), 1_000)
    for node, instance_id in nodes_of(job, 1_000).items():
        beat(store, job, node, said(store, instance_id), kit=kit)
    table, reads = seen(store, job)
    assert len(table.of(1)) == 1_000
    assert reads == (0 if kit else 1_000)


def test_what_the_kit_says_tells_as_much_as_the_same_in_an_object():
    """It is one table, whichever way it came."""
    tables = []
    for kit in (True, False):
        store, job = MemoryStore(), next(JOBS)
        launched(store, job)
        more = {"steps": 100, "checkpoint": "a.pt", "longest_gap": 70.5}
        beat(store, job, f"{job}-1", said(store, "1001", **more), kit=kit)
        table = seen(store, job)[0]
        tables.append((table.longest_gap, [row.signals for row in table.nodes]))
    assert tables[0] == tables[1]
    assert len(tables[0][1][0]) == 4


@pytest.mark.parametrize(("status", "gets_on"), [("running", True), ("waiting", False)])
def test_a_vm_that_waits_to_join_a_gang_is_alive_and_makes_no_progress(store, status, gets_on):
    """Its program hasn't begun: that it was made ends no stall of the others."""
    job = launched(store, next(JOBS))
    beat(store, job, f"{job}-1", said(store, "1001", status=status))
    rows = seen(store, job)[0].nodes
    assert [*signals(rows, SignalKind.ALIVE)]
    assert bool([*signals(rows, SignalKind.PROGRESS)]) is gets_on


@pytest.mark.parametrize(
    "junk",
    [
        {"attempt": "x", "step": "1e999", "instance_id": "\udcff"},
        {"attempt": "null", "step": "nan"},
        {"progress_at": "2999-01-01T00:00:00Z", "at": "yesterday"},
        {"metrics": "[" * 8_000},
    ],
)
def test_what_nobody_can_understand_says_that_it_came(store, junk):
    """A part that is junk is left out, and costs no other job anything."""
    job = launched(store, next(JOBS))
    store.put("heartbeats/node", b"", {"job": job, **junk})
    came = [signal.at for _, signal in signals(seen(store, job)[0].nodes, SignalKind.ALIVE)]
    assert came == [store.clock.now()]


def test_heartbeats_that_name_no_job_are_junk_and_others_are_read_on(store):
    """Every job VM may write below heartbeats/, whatever it likes."""
    job = launched(store, next(JOBS))
    ((node, instance_id),) = nodes_of(job, 1).items()
    beat(store, job, node, said(store, instance_id))
    junk = {
        "heartbeats/No_Label": {"job": job},
        "heartbeats/deep/er": {"job": job},
        "heartbeats/nobody": {"step": "3"},
        "heartbeats/reserved": {"job": "spotwarden"},
        "heartbeats/values": {"beat": "job=&&=;%ff"},
    }
    for name, metadata in junk.items():
        store.put(name, b"", metadata)
    heard = read_beats(store, LAYOUT)
    assert set(heard.of(job)) == {Heartbeat(job=job, node=node)}
    assert heard.junk == tuple(junk)


def test_a_heartbeat_makes_no_job_of_a_name(store):
    """A VM that writes one for a job that nobody has launched says nothing."""
    job = next(JOBS)
    beat(store, job, "node", said(store, "17"))
    look = partial(look_with, store, LAYOUT, LazyBeats(store, LAYOUT))
    record = read_record(store, LAYOUT, job, ids=(), look=look)
    assert (record.exists, record.signals.nodes) == (False, ())


def test_of_two_vms_of_one_name_each_is_heard_by_its_own_job(store):
    """A name is unique per zone only: the later writer takes the object, and speaks for its own job alone."""
    jobs = [launched(store, next(JOBS)) for _ in range(2)]
    heard = []
    for job in jobs:
        beat(store, job, "same", said(store, "17"))
        heard.append([len(LazyBeats(store, LAYOUT).of(each)) for each in jobs])
        store.clock.advance(MINUTE)
    assert heard == [[1, 0], [0, 1]]


def test_a_newer_heartbeat_takes_the_place_of_what_was_heard_before(store):
    """Also where one is the kit's and the other the job's own."""
    job = launched(store, next(JOBS))
    ((node, instance_id),) = nodes_of(job, 1).items()
    for step, kit, reads in ((1, True, 0), (2, True, 0), (3, False, 1), (4, True, 0)):
        beat(store, job, node, said(store, instance_id, step=step), kit=kit)
        table, count = seen(store, job)
        assert [signal.value for signal in table.nodes[0].signals if signal.value] == [step]
        assert count == reads
        store.clock.advance(MINUTE)


def test_a_training_is_followed_by_what_its_heartbeats_say(store):
    """Its metrics are there as well."""
    job = launched(store, next(JOBS))
    ((node, instance_id),) = nodes_of(job, 1).items()
    beat(store, job, node, said(store, instance_id, metrics={"loss": "nan"}))
    noted = Reads(store)
    record = read_record(noted, LAYOUT, job, ids=())
    look = partial(look_with, noted, LAYOUT, LazyBeats(noted, LAYOUT))
    training = read_training(noted, LAYOUT, record, Aim(), look)
    assert training.beats[node].metrics == {"loss": "nan"}
    assert noted.heartbeats() == 0


def test_of_a_heartbeat_only_what_it_says_is_kept(store):
    """There may be a hundred thousand: the texts that it came in weigh more."""
    job = launched(store, next(JOBS))
    beat(store, job, "node", said(store, "17"))
    [found] = LazyBeats(store, LAYOUT).of(job).values()
    assert (found.entry.metadata, found.beat.step) == ({}, 7)
