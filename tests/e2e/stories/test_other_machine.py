"""A job whose machine type has run out: it comes back on another one, and on its own once that has room.

Functions, Compute Engine and Cloud Storage are those of the local cloud.
"""

import os
import subprocess
from pathlib import Path

import pytest

from spotwarden.layout import JobFileName, Layout, MarkerName, StatusCode
from tests.e2e.chaos.cloud import BASE, Cloud, served
from tests.e2e.chaos.judge import ledger
from tests.e2e.conftest import SPOTWARDEN
from tests.waiting import wait

JOB, HOME = "moved", "us-central1-a"
OWN, OTHER = "n2-standard-4", "n4-standard-4"
SECONDS = 90.0
TEN_MINUTES = 600
SCRIPT = f"""#!/bin/bash
gcloud compute instances create {JOB} --zone={HOME} --machine-type={OWN} --boot-disk-type=pd-ssd \\
  --provisioning-model=SPOT --instance-termination-action=DELETE \\
  --image-family=debian-12 --image-project=debian-cloud
"""
POLICY = """
version = "machines"
mode = "enforce"
[recovery]
settle = "1s"
"""


@pytest.fixture
def cloud(tmp_path: Path):
    """A local cloud whose VMs run nothing, and a job that may run on another machine type."""
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    with served(tmp_path, policy, "--no-machines") as cloud:
        cloud.subscribe()
        text = f'machines = ["{OTHER}"]\nplaces = []\n'
        cloud.write(Layout().build(JobFileName(job=JOB)), text.encode())
        yield cloud


def command(cloud: Cloud, *words: str) -> str:
    """What a command says that its developer types."""
    environment = {**os.environ, **cloud.get("/local/env")}
    done = subprocess.run(
        [str(SPOTWARDEN), *words], env=environment, check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def machine(cloud: Cloud) -> str:
    """The machine type of the job's VM; "" where there is none that runs."""
    found = [
        vm for vm in cloud.get(f"{BASE}/zones/{HOME}/instances").get("items", ()) if vm["status"] == "RUNNING"
    ]
    return found[0]["machineType"].rpartition("/")[2] if found else ""


def back(cloud: Cloud, number: int) -> bool:
    """Whether the job runs as this attempt; recovery has its minute first."""
    cloud.tick()
    newest = ledger(cloud, JOB)[-1]
    return (newest["number"], newest["state"]) == (number, "running")


def preempted(cloud: Cloud, number: int) -> None:
    """Take the VM, write its marker, and wait until the job runs as this attempt."""
    cloud.post("/local/preempt", {"node": JOB})
    cloud.write(Layout().build(MarkerName(node=JOB)), b"")
    wait(SECONDS, lambda: back(cloud, number), f"no attempt {number}", every=0.5)


def test_a_job_goes_to_the_machine_that_has_room_and_back(cloud: Cloud, tmp_path: Path):
    """Its disk is of a type that the other series takes; what its owner sees names the machine."""
    script = tmp_path / "create.sh"
    script.write_text(SCRIPT, encoding="utf-8")
    assert "runs in us-central1-a as" in command(cloud, "submit", str(script), "--owner", "ada@example.com")
    assert machine(cloud) == OWN

    cloud.post("/local/stockout", {"zone": HOME, "machine": OWN})
    preempted(cloud, 2)
    assert machine(cloud) == OTHER
    tries = ledger(cloud, JOB)[-1]["tries"]
    assert [(trying["place"], trying.get("machine", "")) for trying in tries] == [(HOME, ""), (HOME, OTHER)]
    assert f"{HOME}, {HOME} on {OTHER}" in command(cloud, "show", JOB)

    cloud.end("/local/stockout", {"zone": HOME, "machine": OWN})
    cloud.post("/local/travel", {"seconds": TEN_MINUTES})
    preempted(cloud, 3)
    assert machine(cloud) == OWN
    assert ledger(cloud, JOB)[-1]["lost_on"] == OTHER

    cloud.write(Layout().build(StatusCode(job=JOB)), b"0\n")
    cloud.delete_vm(HOME, JOB)
    assert [notice["kind"] for notice in cloud.notices()].count("recovered") == 2
