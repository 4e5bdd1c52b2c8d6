"""A TPU slice of four hosts, launched by one line, is preempted and made again as one by real functions."""

import pytest

from tests.e2e.chaos.cloud import served
from tests.e2e.test_kit_jobs import POLICY, QUICK, Job, laptop_at
from tests.long import long
from tests.waiting import wait

NODES = ("pod-1", "pod-2", "pod-3", "pod-4")
ZONE = "us-east5-b"
GROUPS = f"/compute/v1/projects/demo/zones/{ZONE}/instanceGroupManagers"
TRAIN = """\
import os, time

workers = os.environ["TPU_WORKER_HOSTNAMES"].split(",")
print("worker", os.environ["TPU_WORKER_ID"], "of", len(workers), os.environ["TPU_TOPOLOGY"], flush=True)
attempt = int(os.environ["SPOTWARDEN_ATTEMPT"])
if attempt > 1:
    raise SystemExit(0)
while True:
    time.sleep(0.2)
"""


@pytest.fixture
def laptop(tmp_path):
    """A local cloud with its functions."""
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    with served(tmp_path, policy) as cloud, laptop_at(cloud, tmp_path) as typed:
        yield typed


def until(fact, what):
    """Wait until something is so; gives what it came to."""
    return wait(150, fact, f"waited in vain for {what}", every=0.3)


def start(laptop, folder, *words):
    """Launch the slice, and wait until each of its programs knows its place; gives the job."""
    code = folder / "code"
    code.mkdir()
    (code / "train.py").write_text(TRAIN)
    said = ["--tpu", "v6e-16", "--zone", ZONE, "--owner", "ada@example.com", QUICK, "--no-follow", *words]
    laptop.ok("run", "--job", "pod", *said, "--code", str(code), "--", "python3", "train.py")
    job = Job(laptop=laptop, name="pod")
    for rank, node in enumerate(NODES):
        until(lambda node=node: "worker" in job.said(1, node), f"{node} to run")
        assert f"worker {rank} of 4 4x4" in job.said(1, node)
    return job


def comes_back_as_one(job, laptop, first):
    """Wait for its end: another group has made all VMs once more, and nothing of either is left."""
    group = job.attempt(1)["tries"][-1]["group"]["name"]
    until(lambda: job.read("metadata/status-code").strip() == "0", "the status")
    # It may end before the sweep that waits for its group has written down what that made.
    until(lambda: job.attempt(2)["instances"], "the new VMs on record")
    second = job.attempt(2)
    assert second["replaces"] == first
    assert tuple(sorted(second["instances"])) == NODES
    assert not set(second["instances"].values()) & set(first.values())
    assert second["tries"][-1]["group"]["name"] != group
    until(lambda: not job.vms(), "the VMs to go")
    until(lambda: not laptop.cloud.get(GROUPS).get("items"), "the groups to go")
    assert job.attempt(3) == {}


@long
def test_a_slice_by_one_line_is_preempted_and_made_again_as_one(laptop, tmp_path):
    """Each program knows its place; the new slice is a group of its own, and nothing is left at the end."""
    job = start(laptop, tmp_path)
    first = {vm["name"]: vm["id"] for vm in job.vms()}
    assert tuple(sorted(first)) == NODES
    laptop.cloud.post("/local/preempt", {"node": "pod-3"})
    comes_back_as_one(job, laptop, first)
