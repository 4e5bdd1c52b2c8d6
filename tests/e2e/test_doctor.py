"""`spotwarden doctor` against a whole local cloud: content with what is well, and it names what is not."""

import os
import subprocess

import pytest

from tests.e2e.chaos.cloud import BUCKET, PROJECT, served
from tests.e2e.conftest import SPOTWARDEN

POLICY = """
version = "doctor"
mode = "{mode}"
[notify]
email = true
settle = "0s"
"""
TOPICS = f"/v1/projects/{PROJECT}"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """A local cloud with all functions."""
    home = tmp_path_factory.mktemp("doctor")
    policy = home / "policy.toml"
    policy.write_text(POLICY.format(mode="enforce"), encoding="utf-8")
    with served(home, policy, "--no-machines") as cloud:
        yield cloud


def examine(cloud, *words):
    """Run `spotwarden doctor …`; gives the table's rows as what → the rest, and the status."""
    environment = {**os.environ, **cloud.get("/local/env")}
    argv = [str(SPOTWARDEN), "doctor", *words]
    done = subprocess.run(argv, env=environment, check=False, capture_output=True, text=True, timeout=120)
    rows = [line for line in done.stdout.splitlines()[1:] if "  " in line]
    return {row.split("  ")[0]: row for row in rows}, done


def test_a_deployment_that_is_well_is_found_so(cloud):
    """Every function sweeps, a marker goes through, a mail arrives; and nothing of it stays."""
    rows, done = examine(cloud, "--mail-to", "ops@example.com")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks passed" in done.stdout
    tried = ("recover-spot sweeps", "cap-runtime sweeps", "a marker goes through", "answers are taken")
    for what in (*tried, "a mail to ops@example.com arrives"):
        assert " good" in rows[what]
    mails = [one for one in cloud.get("/local/mailbox.json") if one["channel"] == "mail"]
    assert len({one["id"] for one in mails if one["kind"] == "launched"}) == 1
    left = [name for name in cloud.objects("") if "spotwarden-doctor" in name and "/audit/" not in name]
    assert left == []


def test_what_is_missing_or_wrong_is_named_with_what_to_do(cloud):
    """One of each kind: a subscription, a schedule, a sink, a notification."""
    cloud.post(f"{TOPICS}/locations/us-central1/jobs/spotwarden-reap-vms:pause", {})
    http = cloud._http
    http.delete(f"{TOPICS}/subscriptions/spotwarden-cap-runtime").raise_for_status()
    http.delete(f"/v2/projects/{PROJECT}/sinks/spotwarden-check-compliance").raise_for_status()
    configs = f"/storage/v1/b/{BUCKET}/notificationConfigs"
    (config,) = http.get(configs).json()["items"]
    http.delete(f"{configs}/{config['id']}").raise_for_status()
    rows, done = examine(cloud, "--look-only")
    assert done.returncode == 1
    bad = {what for what, row in rows.items() if " BAD" in row}
    assert bad == {
        "subscription spotwarden-cap-runtime",
        "schedule spotwarden-reap-vms",
        "log sink spotwarden-check-compliance",
        "bucket notification preempted-jobs/",
    }
    assert "it is PAUSED" in rows["schedule spotwarden-reap-vms"]
    assert "it is not there" in rows["subscription spotwarden-cap-runtime"]
    assert "deploy again" in rows["log sink spotwarden-check-compliance"]


def test_a_function_that_does_not_come_to_an_end_is_named(cloud):
    """Nobody hears the ticks of cap_runtime since its subscription went; the others are well."""
    rows, done = examine(cloud, "--within", "8s")
    assert done.returncode == 1
    assert " BAD" in rows["cap-runtime sweeps"]
    assert "jsonPayload.function=cap_runtime" in rows["cap-runtime sweeps"]
    assert " good" in rows["reap-vms sweeps"]
