"""A fixed gang of which a node is told that it will be preempted, with the real functions and processes."""

import json

import pytest

from tests.e2e.chaos.cloud import served
from tests.e2e.stories.test_handover import POLICY
from tests.e2e.test_kit_jobs import Job, laptop_at
from tests.long import long
from tests.waiting import wait

NODES = ("trio-1", "trio-2", "trio-3")
STEP_SECONDS = 0.1
NOTICE_SECONDS, RESERVE_SECONDS = 20, 6
TRAIN = """\
import json, os, pathlib, socket, time
import spotwarden_preemption as preemption

rank, nodes = int(os.environ["NODE_RANK"]), int(os.environ["NODES"])
guard = preemption.guard()
state = pathlib.Path(os.environ["SPOTWARDEN_OUTPUT"], "state.json")
rows = json.loads(state.read_text()) if state.exists() else []
attempt = int(os.environ["SPOTWARDEN_ATTEMPT"])
at = ("127.0.0.1", int(os.environ["MASTER_PORT"]))


def save():
    new = state.with_suffix(".tmp")
    new.write_text(json.dumps(rows))
    new.replace(state)
    print(f"saved {len(rows)}", flush=True)


def done(word):
    print(f"ends: {word}", flush=True)
    raise SystemExit(0 if word == "done" else 1)


print(f"begins after {len(rows)}", flush=True)
if rank:
    while True:
        try:
            peer = socket.create_connection(at, 60)
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    while word := peer.recv(1):
        if word == b"!":
            done("done")
        if guard.requested:
            print("asked", flush=True)
        if guard.stopping:
            done("stopped")
        peer.sendall(b"1")
    done("alone")
server = socket.create_server(at)
peers = [server.accept()[0] for _ in range(nodes - 1)]
while len(rows) < STEPS:
    if guard.requested:
        print("asked", flush=True)
        save()
    if guard.stopping:
        done("stopped")
    try:
        for peer in peers:
            peer.sendall(b"?")
        if any(peer.recv(1) != b"1" for peer in peers):
            done("alone")
    except OSError:
        done("alone")
    rows.append([len(rows) + 1, attempt])
    time.sleep(PAUSE)
save()
for peer in peers:
    peer.sendall(b"!")
"""
"""Three processes that need each other at each step; the first one saves only when it is asked to."""


@pytest.fixture
def laptop(tmp_path):
    """A local cloud with its functions, whose notices are short."""
    with served(tmp_path, POLICY) as cloud, laptop_at(cloud, tmp_path) as typed:
        cloud.post("/local/timings", {"preemption_notice": NOTICE_SECONDS})
        yield typed


def start(laptop, folder, *, port, steps, notice=NOTICE_SECONDS, reserve=RESERVE_SECONDS):
    """Launch the gang, and wait until it trains."""
    code = folder / "code"
    code.mkdir()
    (code / "train.py").write_text(TRAIN.replace("STEPS", str(steps)).replace("PAUSE", str(STEP_SECONDS)))
    kit = (
        f"spotwarden-heartbeat=2,spotwarden-sync=300,spotwarden-notice={notice},spotwarden-reserve={reserve}"
    )
    words = ["--machine", "e2-small", "--zone", "us-central1-a", "--nodes", "3", "--owner", "ada@example.com"]
    words += [f"--flag=--metadata={kit},MASTER_PORT={port}", "--no-follow", "--code", str(code)]
    laptop.ok("run", "--job", "trio", *words, "--", "python3", "train.py")
    job = Job(laptop=laptop, name="trio")
    for node in NODES:
        until(lambda node=node: "begins after 0" in job.said(1, node), f"{node} to train")
    return job


def until(fact, what):
    """Wait until something is so; gives what it came to."""
    return wait(180, fact, f"waited in vain for {what}", every=0.2)


def ids(job):
    """Its VMs by node."""
    return {vm["name"]: vm["id"] for vm in job.vms()}


def rows(job):
    """The steps that are saved."""
    return json.loads(job.read("output/state.json") or "[]")


def ended(job):
    """Wait for the status."""
    return until(lambda: job.read("metadata/status-code").strip(), "a status")


@long
def test_a_preemption_that_is_announced_costs_a_gang_the_steps_since_half_time_at_most(laptop, tmp_path):
    """All save when one is told, and at half time; the gang comes back whole, and no step is left out."""
    job = start(laptop, tmp_path, port=29631, steps=700)
    before = ids(job)
    laptop.cloud.post("/local/preempt", {"node": "trio-2"})
    until(lambda: job.attempt(2).get("state") == "running", "the second attempt")
    record = job.attempt(2)
    assert record["replaces"] == before
    assert not record.get("early")
    assert len({*record["instances"].values(), *before.values()}) == 6
    for node in NODES:
        assert job.said(1, node).count("asked") >= 2
    assert ended(job) == "0"
    begins = int(job.said(2, "trio-1").split("begins after ")[1].split()[0])
    last = NOTICE_SECONDS / 2 - RESERVE_SECONDS
    made = [row[0] for row in rows(job)]
    assert made == list(range(1, 701))
    saved = [int(line.split()[1]) for line in job.said(1, "trio-1").splitlines() if line.startswith("saved")]
    assert (begins, len(saved) >= 2) == (saved[-1], True)
    assert saved[1] - saved[0] >= last / STEP_SECONDS / 2
    assert job.attempt(3) == {}


@long
@pytest.mark.parametrize("told", ["trio-1", "trio-3"])
def test_a_gang_whose_node_was_told_in_vain_goes_on_with_no_lost_step(laptop, tmp_path, told):
    """It had stopped: the same three VMs run the program again, from what was saved as it stopped."""
    job = start(laptop, tmp_path, port=29641 if told == "trio-1" else 29642, steps=500, notice=10)
    before = ids(job)
    laptop.cloud.post("/local/preempt", {"node": told, "called_off": True})
    for node in NODES:
        until(lambda node=node: job.said(1, node).count("begins after") == 2, f"{node} to train again")
    assert ids(job) == before
    assert ended(job) == "0"
    assert [row[0] for row in rows(job)] == list(range(1, 501))
    saved = [int(line.split()[1]) for line in job.said(1, "trio-1").splitlines() if line.startswith("saved")]
    again = int(job.said(1, "trio-1").split("begins after ")[2].split()[0])
    assert again in saved
    assert job.attempt(2) == {}


@long
def test_a_notice_that_is_called_off_in_time_stops_nobody(laptop, tmp_path):
    """All have saved, and trained on: one run of one program on each VM."""
    laptop.cloud.post("/local/timings", {"preemption_notice": 4})
    job = start(laptop, tmp_path, port=29651, steps=300, notice=60, reserve=20)
    laptop.cloud.post("/local/preempt", {"node": "trio-2", "called_off": True})
    assert ended(job) == "0"
    for node in NODES:
        said = job.said(1, node)
        assert (said.count("begins after"), said.count("asked") >= 1, said.count("ends: done")) == (
            1,
            True,
            0 if node == "trio-1" else 1,
        )
    assert job.attempt(2) == {}
