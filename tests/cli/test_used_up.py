"""A job that has nothing left of its own limits isn't launched again, unless they are raised."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from spotwarden.cli.launching import starting
from spotwarden.layout import JobFileName
from spotwarden.model.attempt import AttemptState
from tests.cli.test_acting import Shop

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)
PRICES = Path(__file__).parents[2] / "infra/prices.toml"
SCRIPT = """#!/bin/bash
gcloud compute instances create my-job --zone=us-central1-a --machine-type=a2-highgpu-1g \\
  --provisioning-model=SPOT --maintenance-policy=TERMINATE \\
  --image-family=debian-12 --image-project=debian-cloud --no-scopes
"""


@pytest.fixture
def shop(served, workstation, world, monkeypatch):
    """A workstation with Compute Engine, and a job of a spot VM that was stopped after two hours."""
    monkeypatch.setattr(starting, "TIMEOUT_SECONDS", 0)
    topic = f"{served.url}/v1/projects/demo/topics/notices"
    httpx.put(topic, json={}, trust_env=False, timeout=60)
    workstation._environment["SPOTWARDEN_PRICES"] = str(PRICES)
    shop = Shop(workstation, world)
    at, ids = NOW - 2 * HOUR, {"my-job": "1"}
    shop.record(state=AttemptState.STOPPED, created=at, started=at, updated=NOW, instances=ids)
    return shop


@pytest.fixture
def again(tmp_path):
    """The command that launches it again."""
    file = tmp_path / "create-instance.sh"
    file.write_text(SCRIPT)
    return ("submit", str(file), "--owner", "ada@example.com", "--again")


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (b'max_runtime = "2h"\n', "its VMs were up for 2 h over all attempts, and its limits allow no more"),
        (b"budget = 3\n", "it has used $3.86 of its budget of $3.00"),
        (b"budget = 3\nprice_per_hour = 1.5\n", "its VMs were up for 2 h over all attempts"),
    ],
)
def test_a_job_with_nothing_left_is_not_launched_again(shop, again, limits, says):
    """Its VM would be ended within a minute, or warned about at once."""
    shop.put(JobFileName(job="my-job"), limits)
    said = shop.refused(*again)
    assert f"my-job can't go on: {says}" in said
    assert "Nothing was sent." in said
    assert shop.attempt(2) is None


@pytest.mark.parametrize("limits", [b'max_runtime = "3h"\n', b"budget = 4\n", b""])
def test_a_job_with_something_left_is_launched_again(shop, again, limits):
    """Or one without limits."""
    shop.put(JobFileName(job="my-job"), limits)
    assert "can't go on" not in shop.workstation.run(*again).output
    assert shop.attempt(2) is not None


def test_run_counts_the_limits_that_it_is_given(shop, monkeypatch, tmp_path):
    """Those that it raises, too."""
    monkeypatch.chdir(tmp_path)
    run = ("run", "--job", "my-job", "--again", "--machine", "e2-small", "--zone", "us-central1-a")
    more = ("--no-code", "--no-follow", "--", "true")
    assert "my-job can't go on" in shop.refused(*run, "--max-runtime", "1h", *more)
    assert shop.attempt(2) is None
    shop.workstation.run(*run, "--max-runtime", "9h", *more)
    assert shop.attempt(2) is not None
