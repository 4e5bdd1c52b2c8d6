"""Make before break: the successor runs before its predecessor is taken, and one of the two is left."""

import asyncio
import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from localcloud.story.watch import until
from spotwarden.layout import AttemptRecord, JobFileName, Layout, SweepTurn
from tests.e2e.chaos.cloud import BASE, served
from tests.e2e.conftest import SPOTWARDEN

INFRA = Path(__file__).resolve().parents[3] / "infra"
EXAMPLE = INFRA / "job" / "example" / "early"
JOB = "relay"
NAMES = Layout()
NOTICE_SECONDS = 20
"""Instead of 120: long enough for a successor on a busy machine, short enough to wait for its end."""
PATIENCE = timedelta(seconds=120)
EVER = "1970-01-01T00:00:00Z"
TEMPLATE = {
    "name": "with-notice",
    "properties": {
        "machineType": "e2-small",
        "scheduling": {
            "provisioningModel": "SPOT",
            "preemptible": True,
            "automaticRestart": False,
            "instanceTerminationAction": "DELETE",
            "preemptionNoticeDuration": {"seconds": "120"},
        },
        "disks": [
            {
                "boot": True,
                "autoDelete": True,
                "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"},
            }
        ],
        "networkInterfaces": [{"network": "global/networks/default"}],
        "serviceAccounts": [
            {"email": "default", "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}
        ],
    },
}


@pytest.fixture
def cloud(tmp_path):
    """A local cloud with its functions, and the template that asks for the notice."""
    with served(tmp_path, INFRA / "policy.toml") as cloud:
        cloud.post(f"{BASE}/global/instanceTemplates", TEMPLATE)
        cloud.post("/local/timings", {"preemption_notice": NOTICE_SECONDS})
        yield cloud


def wait(look, good, what):
    """Look again and again until what is seen is good; gives what was seen."""

    async def seen():
        return look()

    return asyncio.run(until(seen, good, within=PATIENCE, waiting_for=what))


def submit(cloud):
    """Do what the developer does; gives the first VM."""
    cloud.write(NAMES.build(JobFileName(job=JOB)), (EXAMPLE / "job.toml").read_bytes())
    words = [str(SPOTWARDEN), "submit", str(EXAMPLE / "create-relay.sh"), "--owner", "ada@example.com"]
    environment = {**os.environ, **cloud.get("/local/env")}
    done = subprocess.run(words, env=environment, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (first,) = cloud.instances()
    wait(lambda: cloud.read(f"{JOB}/output/step"), bool, "the job to work")
    return first


def record(cloud, number):
    """The ledger's record of an attempt; None where there is none."""
    raw = cloud.read(NAMES.build(AttemptRecord(job=JOB, attempt=number)))
    return raw and json.loads(raw)


def cleared(cloud):
    """The generations of the markers that were cleared, by the audit."""
    objects = cloud.objects("spotwarden/audit/")
    found = (record for name in objects for record in json.loads(cloud.read(name)))
    return {one["detail"]["generation"] for one in found if one["action"] == "ClearMarker"}


def sweep_to_the_end(cloud):
    """Let a tick look at everything, and wait until it has."""
    asked = datetime.now(UTC)
    cloud.tick()

    def turn():
        return json.loads(cloud.read(NAMES.build(SweepTurn(function="recover_spot"))) or b"{}")

    def done(now):
        return not now.get("holder") and datetime.fromisoformat(now.get("swept") or EVER) >= asked

    wait(turn, done, "a whole sweep")


def when(cloud, vm, status):
    """The first moment at which a VM had this status."""
    history = cloud.get("/local/history")["changes"]
    return next(one["at"] for one in history if one["id"] == vm["id"] and one["status"] == status)


def test_the_successor_runs_before_its_predecessor_is_taken(cloud):
    """Announced, replaced in another zone, handed over, taken; one VM and one attempt are left."""
    first = submit(cloud)
    cloud.post("/local/preempt", {"node": JOB})
    both = wait(
        lambda: [one for one in cloud.instances() if one["status"] == "RUNNING"],
        lambda seen: len(seen) > 1,
        "a successor beside the first VM",
    )
    (second,) = [one for one in both if one["id"] != first["id"]]
    assert first["id"] in {one["id"] for one in both}
    assert (second["name"], second["zone"] != first["zone"]) == (JOB, True)

    wait(
        lambda: cleared(cloud), lambda markers: len(markers) > 1, "an answer to both markers of the first VM"
    )
    sweep_to_the_end(cloud)
    assert when(cloud, second, "RUNNING") < when(cloud, first, "STOPPING")
    assert [(one["id"], one["status"]) for one in cloud.instances()] == [(second["id"], "RUNNING")]
    assert cloud.objects("preempted-jobs/") == {}
    attempt = record(cloud, 2)
    assert (attempt["state"], attempt["early"]) == ("running", True)
    assert (attempt["replaces"], attempt["instances"]) == ({JOB: first["id"]}, {JOB: second["id"]})
    assert record(cloud, 3) is None
