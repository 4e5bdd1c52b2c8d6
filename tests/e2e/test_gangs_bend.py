"""A gang that bends, with the real functions: its nodes are taken one by one, and it trains on."""

import json

import pytest

from tests.e2e.test_kit_jobs import QUICK, laptop, well

__all__ = ["laptop", "well"]

TRAIN = """\
import json, os, pathlib, socket, time

rank, nodes, epoch = (int(os.environ[name]) for name in ("NODE_RANK", "NODES", "SPOTWARDEN_ATTEMPT"))
state = pathlib.Path(os.environ["SPOTWARDEN_OUTPUT"], "state.json")
rows = json.loads(state.read_text()) if state.exists() else []
at = ("127.0.0.1", int(os.environ["MASTER_PORT"]))
print(f"epoch {epoch}: rank {rank} of {nodes} from step {len(rows)} at {time.time():.2f}", flush=True)
if rank:
    while True:
        try:
            peer = socket.create_connection(at, 60)
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    peer.sendall(b"%d %d;" % (epoch, rank))
    while word := peer.recv(1):
        if word == b"!":
            raise SystemExit(0)
        peer.sendall(b"1")
    raise SystemExit(1)
server = socket.create_server(at, reuse_port=False)
peers = [server.accept()[0] for _ in range(nodes - 1)]
came = sorted(peer.recv(64).decode() for peer in peers)
assert came == sorted(f"{epoch} {other};" for other in range(1, nodes)), came
while len(rows) < STEPS:
    for peer in peers:
        peer.sendall(b"?")
    if any(peer.recv(1) != b"1" for peer in peers):
        raise SystemExit(1)
    rows.append([len(rows) + 1, epoch, nodes, 1 / (len(rows) + 1)])
    new = state.with_suffix(".tmp")
    new.write_text(json.dumps(rows))
    new.replace(state)
    time.sleep(0.1)
for peer in peers:
    peer.sendall(b"!")
"""
STEPS = 600


def start(cloud, job, tmp_path, port, nodes):
    """Launch a gang that trains."""
    (tmp_path / "train.py").write_text(TRAIN.replace("STEPS", str(STEPS)))
    words = ("--nodes", nodes, f"{QUICK},MASTER_PORT={port}")
    return cloud.start(job, *words, code=tmp_path, command=["python3", "train.py"])


def newest(job):
    """The newest record of the chain."""
    number = 1
    while job.attempt(number + 1):
        number += 1
    return job.attempt(number)


def rows(job):
    """The steps that are in the bucket."""
    return json.loads(job.read("output/state.json") or "[]")


def until_nodes(job, count):
    """Wait until steps of so many nodes in the newest epoch are saved."""
    job.until(
        lambda: rows(job) and rows(job)[-1][1:3] == [newest(job)["number"], count], f"steps of {count} nodes"
    )


@pytest.mark.usefixtures("well")
def test_a_training_goes_on_while_its_nodes_are_taken_one_by_one(laptop, tmp_path):
    """The first node, then another one: survivors are the same VMs, every step is made once, in one curve."""
    job = start(laptop, "bent", tmp_path, 29611, "2:3")
    until_nodes(job, 3)
    before = newest(job)["instances"]
    job.preempt("bent-1")
    job.until(lambda: newest(job).get("bent"), "the record that goes on")
    left = newest(job)["instances"]
    assert {node: before[node] for node in ("bent-2", "bent-3")}.items() <= left.items()
    until_nodes(job, 3)
    job.preempt("bent-3")
    until_nodes(job, 3)
    assert newest(job)["instances"]["bent-2"] == before["bent-2"]
    assert job.status() == "0"
    curve = rows(job)
    assert [row[0] for row in curve] == list(range(1, STEPS + 1))
    assert [row[3] for row in curve] == [1 / number for number in range(1, STEPS + 1)]
    epochs = [row[1] for row in curve]
    assert epochs == sorted(epochs)
    assert len({*epochs}) >= 3
