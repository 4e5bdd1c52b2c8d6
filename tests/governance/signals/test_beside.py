"""Heartbeats that say beside the object what stands in it: the listing tells all, and none is read."""

import itertools
import json
from datetime import timedelta

import msgspec
import pytest

from spotwarden.governance.signals.heartbeats import listen, remembered
from spotwarden.governance.signals.records import read_record
from spotwarden.governance.signals.training import Aim
from spotwarden.governance.signals.trainings import read_training
from spotwarden.layout import AttemptRecord, Heartbeat, Layout
from spotwarden.model.attempt import Attempt, AttemptState
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
        return len([name for name in self.read_names if "/heartbeat/" in name])


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


def beat(store, job, node, text, *, beside=True):
    """A node writes a heartbeat, and what it says beside it."""
    name = LAYOUT.build(Heartbeat(job=job, node=node))
    store.put(name, text.encode(errors="replace"), {"beat": text} if beside else {})


def said(store, instance_id, **more):
    """What the job kit says."""
    now = store.clock.now()
    return json.dumps(
        {
            "at": now.isoformat(),
            "instance_id": instance_id,
            "attempt": 1,
            "progress_at": (now - 20 * MINUTE).isoformat(),
            "step": 7,
            **more,
        }
    )


def seen(store, job):
    """The table of all that is heard, as two sweeps see it, and how many heartbeats were read."""
    noted = Reads(store)
    for _ in range(2):
        record = remembered(LAYOUT, read_record(noted, LAYOUT, job, ids=()))
        record = listen(noted, LAYOUT, record, lambda _: False)
    return record.signals, noted.heartbeats()


@pytest.mark.parametrize("beside", [True, False])
def test_of_a_thousand_nodes_no_heartbeat_is_read_that_says_all_beside_it(store, beside):
    """Else each one is: a class B operation and a round trip for every node that is silent."""
    job = launched(store, next(JOBS), 1_000)
    for node, instance_id in nodes_of(job, 1_000).items():
        beat(store, job, node, said(store, instance_id), beside=beside)
    table, reads = seen(store, job)
    assert len(table.of(1)) == 1_000
    assert reads == (0 if beside else 1_000)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 8_000,
        "\udcff",
        '{"attempt": 7}',
        '{"step": 1e999, "attempt": "x"}',
        '{"progress_at": "2999-01-01T00:00:00Z"}',
    ],
)
def test_whatever_stands_beside_it_tells_as_much_as_in_it(text):
    """It is read by the same reader: what nobody can understand says that it came."""
    tables = []
    for beside in (True, False):
        store = MemoryStore()
        job = launched(store, next(JOBS))
        beat(store, job, "node", text, beside=beside)
        tables.append([(row.attempt, row.signals) for row in seen(store, job)[0].nodes])
    assert tables[0] == tables[1]
    assert tables[0]


def test_a_newer_heartbeat_takes_the_place_of_what_was_heard_before(store):
    """Also where the newer one has nothing beside it."""
    job = launched(store, next(JOBS))
    ((node, instance_id),) = nodes_of(job, 1).items()
    for step, beside, reads in ((1, True, 0), (2, True, 0), (3, False, 1), (4, True, 0)):
        beat(store, job, node, said(store, instance_id, step=step), beside=beside)
        table, count = seen(store, job)
        assert [signal.value for signal in table.nodes[0].signals if signal.value] == [step]
        assert count == reads
        store.clock.advance(MINUTE)


def test_a_training_is_followed_by_what_stands_beside_its_heartbeats(store):
    """Its metrics are there as well."""
    job = launched(store, next(JOBS))
    ((node, instance_id),) = nodes_of(job, 1).items()
    beat(store, job, node, said(store, instance_id, metrics={"loss": "nan"}))
    noted = Reads(store)
    training = read_training(noted, LAYOUT, read_record(noted, LAYOUT, job, ids=()), Aim())
    assert training.beats[node].metrics == {"loss": "nan"}
    assert noted.heartbeats() == 0
