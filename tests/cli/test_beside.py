"""A launch beside what is there already: a VM that stays by request, and one that holds the name."""

from datetime import UTC, datetime

import httpx
import pytest

from spotwarden.cli.launching import starting
from spotwarden.layout import StatusCode
from spotwarden.model.attempt import AttemptState
from tests.cli.test_acting import ZONE, Shop

NOW = datetime.now(UTC)
SCRIPT = """#!/bin/bash
gcloud compute instances create my-job --zone=us-central1-a --machine-type=e2-small {more}\\
  --image-family=debian-12 --image-project=debian-cloud --no-scopes
"""
BOUND = "--disk=name=data,auto-delete=no "
OWNER = ("--owner", "ada@example.com")


@pytest.fixture
def shop(served, workstation, world):
    """A workstation with Compute Engine and a topic of notices."""
    topic = f"{served.url}/v1/projects/demo/topics/notices"
    httpx.put(topic, json={}, trust_env=False, timeout=60)
    return Shop(workstation, world)


@pytest.fixture
def submitted(tmp_path):
    """The create script, bound to its zone by a disk where `more` says so."""

    def build(more=""):
        file = tmp_path / "create-instance.sh"
        file.write_text(SCRIPT.format(more=more))
        return ("submit", str(file), *OWNER)

    return build


def test_a_vm_that_stays_by_request_is_not_waited_for(shop, submitted):
    """Its job has ended, and --keep-vm keeps it: that is said at once, with what deletes it."""
    metadata = {"items": [{"key": "spotwarden-keep-vm", "value": "1"}]}
    shop.create("my-job", metadata=metadata)
    shop.record(state=AttemptState.ENDED, instances={"my-job": shop.vms()["my-job"].id})
    shop.put(StatusCode(job="my-job"), b"0\n")
    said = shop.refused(*submitted(), "--again")
    assert "my-job of my-job stays by request (--keep-vm)" in said
    assert "`spotwarden stop my-job --delete`" in said
    assert "waiting until" not in said


def test_a_launch_behind_a_colleagues_vm_names_it(shop, submitted):
    """Its name is taken in the one zone to which a disk binds the job: no capacity is missing there."""
    shop.world._post(f"zones/{ZONE}/disks", {"name": "data", "sizeGb": "10"})
    shop.create("my-job", job="")
    theirs = shop.vms()["my-job"].id
    shop.record(state=AttemptState.STOPPED)
    said = shop.refused(*submitted(BOUND), "--again")
    assert f"{ZONE} already has a VM my-job (ID {theirs}), so my-job waits until the name is free" in said
    assert f"VM my-job in {ZONE} (ID {theirs}, RUNNING) has the name, and it is not one of my-job" in said
    assert "capacity" not in said
    assert "another zone" not in said


def test_a_launch_that_may_go_elsewhere_is_said_to(shop, submitted, monkeypatch):
    """The name is free in the other zones of the region. Nobody waits for the VM there."""
    monkeypatch.setattr(starting, "TIMEOUT_SECONDS", 0)
    shop.create("my-job", job="")
    shop.record(state=AttemptState.STOPPED)
    assert "so my-job is launched in another zone" in shop.workstation.run(*submitted(), "--again").output


def test_a_first_launch_beside_a_colleagues_vm_says_why_it_is_elsewhere(shop, submitted, monkeypatch):
    """Nobody else would tell that the zone of the script was not even asked."""
    monkeypatch.setattr(starting, "TIMEOUT_SECONDS", 1)
    shop.create("my-job", job="")
    theirs = shop.vms()["my-job"].id
    done = shop.workstation.run(*submitted())
    assert f"VM my-job in {ZONE} (ID {theirs}, RUNNING) has the name" in done.output
    assert "it is not one of my-job: it is launched in us-central1-" in done.output
    assert "own earlier VM" not in done.output
