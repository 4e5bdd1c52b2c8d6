"""The list of all heartbeats: any job VM may write any number of them, each with 8 KiB beside it."""

import pytest

from spotwarden.layout import Heartbeat, Layout
from spotwarden.recovery.folder import node_beats
from spotwarden.recovery.folder.node_beats import BeatsOfSome, read_beats
from tests.fakes.beats import kit_beat
from tests.fakes.store import MemoryStore

LAYOUT = Layout()
FAT = {"loss" * 50: 0.5}


@pytest.fixture
def store():
    """Two heartbeats with many metrics each, and behind them one of another job."""
    store = MemoryStore()
    for node in ("a-1", "a-2"):
        kit_beat(
            store, node, job="a", instance_id="17", step=3, checkpoint="gs://a/last" + "t" * 100, metrics=FAT
        )
    kit_beat(store, "b", job="b", instance_id="18", step=5)
    return store


def said(store):
    """What is taken in of each heartbeat: its step, its checkpoint, how many metrics."""
    heard = read_beats(store, LAYOUT)
    beats = {name.node: found.beat for each in heard.by_job.values() for name, found in each.items()}
    return {node: (beat.step, bool(beat.checkpoint), len(beat.metrics)) for node, beat in beats.items()}


def test_all_that_heartbeats_say_is_taken_in(store):
    """As long as there is room for it."""
    assert said(store) == {"a-1": (3, True, 1), "a-2": (3, True, 1), "b": (5, False, 0)}


def test_where_heartbeats_say_too_much_the_rest_is_taken_in_without_its_metrics(store, monkeypatch):
    """That a VM is alive, and how far it is, is known all the same."""
    monkeypatch.setattr(node_beats, "TEXT_AT_MOST", 100)
    assert said(store) == {"a-1": (3, True, 1), "a-2": (3, False, 0), "b": (5, False, 0)}


def test_what_the_job_kit_writes_without_metrics_takes_no_room(store, monkeypatch):
    """A hundred thousand VMs may send it."""
    monkeypatch.setattr(node_beats, "TEXT_AT_MOST", 0)
    assert said(store)["b"] == (5, False, 0)
    kit_beat(
        store, "a-0", job="a", instance_id="4000000000000000001", attempt=1, step=3, checkpoint="last.pt"
    )
    assert said(store)["a-0"] == (3, True, 0)


def test_no_more_heartbeats_are_taken_in_than_there_can_be_vms(store, monkeypatch):
    """The first by name; of a VM whose heartbeat is not there nothing is known."""
    monkeypatch.setattr(node_beats, "BEATS_AT_MOST", 2)
    assert list(said(store)) == ["a-1", "a-2"]


def test_of_those_that_say_nothing_some_names_are_kept(store, monkeypatch):
    """For the log, which names a few."""
    monkeypatch.setattr(node_beats, "JUNK_AT_MOST", 2)
    for number in range(5):
        store.put(f"heartbeats/junk-{number}", b"", {"status": "x" * 8_000})
    heard = read_beats(store, LAYOUT)
    assert heard.junk == ("heartbeats/junk-0", "heartbeats/junk-1")
    assert Heartbeat(job="b", node="b") in heard.of("b")


def test_a_folder_is_no_heartbeat(store):
    """The console writes such an object for each folder that somebody makes."""
    store.put("heartbeats/", b"", {})
    assert read_beats(store, LAYOUT).junk == ()


def lists_for(store, jobs, job, nodes=()):
    """What is heard of a job by who looks at some, and how many lists that takes."""
    lists = []
    real = store.each_entry, store.entries
    store.each_entry = lambda prefix: (lists.append(prefix), real[0](prefix))[1]
    store.entries = lambda prefix, **how: (lists.append(prefix), real[1](prefix, **how))[1]
    beats = BeatsOfSome(store, LAYOUT, jobs)
    return sorted(name.node for name in beats.of(job, nodes)), len(lists)


def test_the_heartbeats_of_some_jobs_come_from_one_list(store):
    """A gang's nodes stand behind its job's name."""
    assert lists_for(store, ["b", "a"], "a", ("a-1", "a-2")) == (["a-1", "a-2"], 1)
    assert lists_for(store, ["a"], "a") == (["a-1", "a-2"], 1)


def test_where_too_many_stand_between_them_each_job_is_listed_by_itself(store, monkeypatch):
    """A page of other VMs would be taken in for one job."""
    monkeypatch.setattr(node_beats, "A_PAGE", 3)
    assert lists_for(store, ["a", "b"], "b") == (["b"], 2)


def test_a_node_that_is_named_otherwise_is_listed_by_its_own_name(store):
    """It does not stand among them."""
    kit_beat(store, "zeta", job="b", instance_id="19", step=1)
    assert lists_for(store, ["a", "b"], "b", ("zeta",)) == (["zeta"], 2)
