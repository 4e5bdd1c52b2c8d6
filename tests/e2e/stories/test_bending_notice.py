"""A gang that bends is told 120 s before it loses a node, with the real functions and processes."""

import json
import re
from itertools import groupby

import pytest

from tests.e2e.chaos.cloud import served
from tests.e2e.stories.test_handover import POLICY
from tests.e2e.test_kit_jobs import Job, laptop_at
from tests.long import longest
from tests.waiting import wait

NODES = ("bend-1", "bend-2", "bend-3")
STEPS = 2400
PATIENCE_SECONDS = 480
TRAIN = """\
import json, os, pathlib, socket, time
import spotwarden_preemption as preemption

rank, nodes, epoch = (int(os.environ[name]) for name in ("NODE_RANK", "NODES", "SPOTWARDEN_ATTEMPT"))
state = pathlib.Path(os.environ["SPOTWARDEN_OUTPUT"], "state.json")
at = ("127.0.0.1", int(os.environ["MASTER_PORT"]))
guard = preemption.guard()


def losses(weight):
    return [[number, (weight * number - 3.0 * number) ** 2, 2.0 * number * (weight * number - 3.0 * number)]
            for number in range(1, 13) if number % nodes == rank]


def end(word):
    print(f"epoch {epoch}: {word} after {len(rows)} at {time.time():.2f}", flush=True)
    raise SystemExit(0 if word == "done" else 1)


def save():
    new = state.with_suffix(".tmp")
    new.write_text(json.dumps(rows))
    new.replace(state)


rows = json.loads(state.read_text()) if state.exists() else []
weight = rows[-1][4] if rows else 0.0
print(f"epoch {epoch}: rank {rank} of {nodes} from step {len(rows)} at {time.time():.2f}", flush=True)
if rank:
    while True:
        try:
            peer = socket.create_connection(at, 60).makefile("rw")
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    for line in peer:
        if line == "done\\n":
            end("done")
        if guard.requested:
            print("asked", flush=True)
        if guard.stopping:
            end("stopped")
        print(json.dumps(losses(float(line))), file=peer, flush=True)
    end("alone")
server = socket.create_server(at)
peers = [server.accept()[0].makefile("rw") for _ in range(nodes - 1)]
while len(rows) < STEPS:
    if guard.requested:
        print("asked", flush=True)
        save()
    if guard.stopping:
        end("stopped")
    parts = losses(weight)
    try:
        for peer in peers:
            print(repr(weight), file=peer, flush=True)
        for peer in peers:
            parts += json.loads(peer.readline())
    except (OSError, ValueError):
        save()
        end("alone")
    parts.sort()
    weight -= 0.00002 * sum(part[2] for part in parts)
    rows.append([len(rows) + 1, epoch, nodes, sum(part[1] for part in parts), weight])
    time.sleep(0.1)
save()
for peer in peers:
    print("done", file=peer, flush=True)
end("done")
"""
"""Each process has its share of the batch. The first saves when it is asked to, and when another has left."""


def undisturbed():
    """The losses of a training that nothing befell, on one process."""
    weight, found = 0.0, []
    for _ in range(STEPS):
        off = [(number, weight * number - 3.0 * number) for number in range(1, 13)]
        found.append(sum(error**2 for _, error in off))
        weight -= 0.00002 * sum(2.0 * number * error for number, error in off)
    return found


@pytest.fixture
def laptop(tmp_path):
    """A local cloud with its functions, whose notices last as long as real ones."""
    with served(tmp_path, POLICY) as cloud, laptop_at(cloud, tmp_path) as typed:
        cloud.subscribe()
        yield typed


def start(laptop, folder, port):
    """Launch the gang, and wait until it trains."""
    code = folder / "code"
    code.mkdir()
    (code / "train.py").write_text(TRAIN.replace("STEPS", str(STEPS)))
    words = ["--machine", "e2-small", "--zone", "us-central1-a", "--nodes", "2:3"]
    words += ["--owner", "ada@example.com", f"--flag=--metadata=spotwarden-sync=300,MASTER_PORT={port}"]
    words += ["--no-follow", "--code", str(code)]
    laptop.ok("run", "--job", "bend", *words, "--", "python3", "train.py")
    job = Job(laptop=laptop, name="bend")
    trains(job, 1, *NODES)
    return job


def until(fact, what):
    """Wait until something is so; gives what it came to."""
    return wait(PATIENCE_SECONDS, fact, f"waited in vain for {what}", every=0.2)


def trains(job, epoch, *nodes):
    """Wait until the program runs on these nodes in an epoch."""
    for node in nodes:
        word = f"epoch {epoch}: rank {nodes.index(node)} of {len(nodes)}"
        until(lambda node=node, word=word: word in job.said(epoch, node), f"{node} to train in epoch {epoch}")


def begun(job, epoch, first):
    """How many steps the first rank of an epoch began with."""
    return int(re.search(rf"epoch {epoch}: rank 0 of . from step (\d+)", job.said(epoch, first))[1])


def left_off(job, epoch, first):
    """How many steps it had made when it stopped, or was left alone."""
    return int(re.search(rf"epoch {epoch}: (?:stopped|alone) after (\d+)", job.said(epoch, first))[1])


@longest
@pytest.mark.parametrize("told", ["bend-1", "bend-3"])
def test_a_node_that_is_told_hands_over_and_the_others_train_on_until_it_is_back(laptop, tmp_path, told):
    """Three ranks, two, and three again: survivors stay the same VMs, and no step is lost or made twice."""
    job = start(laptop, tmp_path, 29661 if told == "bend-1" else 29662)
    first = job.attempt(1)["instances"]
    left = [node for node in NODES if node != told]
    laptop.cloud.post("/local/preempt", {"node": told})

    trains(job, 2, *left)
    [lost] = [vm for vm in job.vms() if vm["id"] == first[told]]
    assert lost["status"] == "RUNNING"
    record = job.attempt(2)
    assert (record["bent"], record["instances"]) == (True, {node: first[node] for node in left})

    back = until(lambda: job.attempt(3), "the record of all three")
    assert {node: back["instances"][node] for node in left} == record["instances"]
    assert back["instances"][told] not in first.values()
    trains(job, 3, *back["instances"])

    assert until(lambda: job.read("metadata/status-code").strip(), "a status") == "0"
    rows = json.loads(job.read("output/state.json"))
    assert [row[0] for row in rows] == list(range(1, STEPS + 1))
    assert [ranks for ranks, _ in groupby(tuple(row[1:3]) for row in rows)] == [(1, 3), (2, 2), (3, 3)]
    assert [row[3] for row in rows] == undisturbed()
    assert begun(job, 2, left[0]) == left_off(job, 1, NODES[0])
    assert begun(job, 3, NODES[0]) == left_off(job, 2, left[0])
    until(lambda: not job.vms(), "the end of its VMs")
    assert job.attempt(4) == {}
    kinds = [notice["kind"] for notice in laptop.cloud.notices()]
    assert (kinds.count("gang_changed"), kinds.count("recovered")) == (2, 0)
