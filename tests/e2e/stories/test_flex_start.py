"""A job on Flex-start: it waits for room, tries the next zone, outlives its time limit, and ends.

Functions, Compute Engine and Cloud Storage are those of the local cloud; hours pass by journeys of its clock.
"""

import os
import subprocess
from pathlib import Path

import pytest

from spotwarden.layout import Layout, StatusCode
from tests.e2e.chaos.cloud import Cloud, served
from tests.e2e.chaos.judge import ledger
from tests.e2e.conftest import SPOTWARDEN
from tests.waiting import wait

JOB, HOME, NEXT = "flex", "us-central1-a", "us-central1-b"
SECONDS = 90.0
TWO_HOURS = 7200
SILENT = "function_silent"
"""A journey skips the ticks of all functions."""
SCRIPT = f"""#!/bin/bash
gcloud compute instances create {JOB} --zone={HOME} --machine-type=g2-standard-4 \\
  --provisioning-model=FLEX_START --request-valid-for-duration=2h --max-run-duration=6h \\
  --instance-termination-action=DELETE --maintenance-policy=TERMINATE \\
  --image-family=debian-12 --image-project=debian-cloud
"""
POLICY = """
version = "flex"
mode = "enforce"
[recovery]
settle = "1s"
"""


@pytest.fixture
def cloud(tmp_path: Path):
    """A local cloud whose first zone has no such machine."""
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    with served(tmp_path, policy, "--no-machines") as cloud:
        cloud.subscribe()
        cloud.post("/local/stockout", {"zone": HOME, "machine": "g2-standard-4"})
        yield cloud


def submit(cloud: Cloud, folder: Path) -> str:
    """Do what the developer does; gives what the command said."""
    script = folder / "create.sh"
    script.write_text(SCRIPT, encoding="utf-8")
    words = [str(SPOTWARDEN), "submit", str(script), "--owner", "ada@example.com"]
    environment = {**os.environ, **cloud.get("/local/env")}
    done = subprocess.run(words, env=environment, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def vm(cloud: Cloud) -> tuple[str, str]:
    """Where the job's VM is, and how it stands; nowhere where there is none."""
    found = [(instance["zone"], instance["status"]) for instance in cloud.instances()]
    return found[0] if found else ("", "GONE")


def newest(cloud: Cloud) -> dict:
    """The newest attempt on record."""
    return ledger(cloud, JOB)[-1]


def ticks(cloud: Cloud, good, what: str) -> None:
    """Let recovery have its minutes until this is so."""

    def look() -> bool:
        cloud.tick()
        return good()

    wait(SECONDS, look, what, every=1.0)


def test_a_job_waits_moves_expires_and_ends(cloud: Cloud, tmp_path: Path):
    """One attempt for the wait and the move, another after the time limit; nobody hears of a fault."""
    assert f"waits for capacity in {HOME}" in submit(cloud, tmp_path)
    cloud.post("/local/travel", {"seconds": TWO_HOURS - 600})
    for _ in range(3):
        cloud.tick()
    assert (vm(cloud), newest(cloud)["state"]) == ((HOME, "PENDING"), "placing")

    cloud.post("/local/travel", {"seconds": 700})
    ticks(cloud, lambda: newest(cloud)["state"] == "running", "the next zone does not give it")
    assert vm(cloud) == (NEXT, "RUNNING")
    assert [trying["place"] for trying in newest(cloud)["tries"]] == [HOME, NEXT]

    cloud.end("/local/stockout", {"zone": HOME, "machine": "g2-standard-4"})
    cloud.post("/local/travel", {"seconds": 6 * 3600 + 60})
    ticks(cloud, lambda: newest(cloud)["number"] == 2 and newest(cloud)["state"] == "running", "no attempt 2")
    assert newest(cloud)["fate"] == "Compute Engine ended it at its time limit"

    zone, _ = vm(cloud)
    cloud.write(Layout().build(StatusCode(job=JOB)), b"0\n")
    cloud.delete_vm(zone, JOB)
    ticks(cloud, lambda: newest(cloud)["state"] == "ended", "the job does not end")
    told = {notice["kind"] for notice in cloud.notices()}
    assert told - {SILENT} == {"waits_for_room", "launched", "recovered"}
