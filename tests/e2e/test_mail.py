"""One mail for one notice, whatever befalls the messages, the mail server and the functions on its way."""

import asyncio
import json
import os
import signal
import subprocess
from datetime import timedelta

import pytest

from localcloud.story.watch import until
from spotwarden.layout import JobFileName, Layout
from tests.e2e.chaos.cloud import BASE, served
from tests.e2e.conftest import SPOTWARDEN

POLICY = """
version = "mail"
mode = "enforce"
[notify]
email = true
settle = "0s"
first_backoff = "1s"
[idle]
remedy = "stop"
warn = ["20m"]
act = "2h"
"""
ADA, OPS = "ada@example.com", "ops@example.com"
JOB, ZONE = "nap", "us-central1-a"
TIMEOUT = timedelta(seconds=90)
TICKS = 100
"""Each takes until everybody is at rest; so many are a bound on time."""
FUNCTION = "notify_developers"
NAMES = Layout()


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """A local cloud whose every message comes twice and out of order."""
    home = tmp_path_factory.mktemp("mail")
    policy = home / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    with served(home, policy, "--no-machines") as cloud:
        cloud.post("/local/messages", {"double": 1, "reorder": 0.5, "reorder_seconds": 0.5})
        yield cloud


def wait(look, good, what):
    """Look again and again until what is seen is good; gives what was seen."""

    async def seen():
        return look()

    return asyncio.run(until(seen, good, within=TIMEOUT, waiting_for=what))


def travel(cloud, minutes):
    """Let time pass; every function is started anew, and ticked."""
    cloud.post("/local/travel", {"seconds": minutes * 60})


def tick(cloud, function):
    """Let a function look now."""
    cloud.post("/local/tick", {"job": f"spotwarden-{function.replace('_', '-')}"})


def mails(cloud, kind="", to=ADA):
    """The mails to somebody, of a kind or all, oldest first."""
    every = [one for one in cloud.get("/local/mailbox.json") if one["channel"] == "mail" and one["to"] == to]
    return [one for one in every if kind in {"", one["kind"]}][::-1]


def records(cloud, prefix):
    """What stands below a prefix of ours."""
    read = [cloud.read(name) for name in cloud.objects(f"spotwarden/{prefix}/")]
    return [json.loads(one) for one in read if one is not None]


def settle(cloud):
    """Let every message arrive, its double too, and whoever is woken by it come to its end."""

    def in_flight():
        topics = cloud.get("/local/topics")["topics"]
        every = [one for topic in topics for one in topic["subscriptions"]]
        return sum(one["backlog"] + one["outstanding"] for one in every)

    wait(in_flight, lambda count: not count, "all messages to be taken")


def sample(cloud, kind):
    """Publish a sample for Ada, as a person would."""
    command(cloud, "test", "--to", ADA, "--kind", kind)
    settle(cloud)


def command(cloud, *words):
    """Run `spotwarden notices …`."""
    environment = {**os.environ, **cloud.get("/local/env")}
    argv = [str(SPOTWARDEN), "notices", *words]
    subprocess.run(argv, env=environment, check=True, capture_output=True, timeout=60)


def kill(cloud):
    """Kill -9 the function; it is started again, as on Cloud Run."""
    functions = cloud.get("/local/functions")["functions"]
    [before] = [one for one in functions if one["name"] == FUNCTION]
    os.killpg(before["pid"], signal.SIGKILL)


def let_a_vm_idle(cloud):
    """A VM of a job of Ada's whose GPU has done nothing for 40 minutes."""
    cloud.write(NAMES.build(JobFileName(job=JOB)), f'email = "{ADA}"\n'.encode())
    image = "projects/debian-cloud/global/images/family/debian-12"
    body = {
        "name": JOB,
        "labels": {"spotwarden-job": JOB},
        "machineType": f"zones/{ZONE}/machineTypes/g2-standard-4",
        "scheduling": {"onHostMaintenance": "TERMINATE"},
        "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": image}}],
        "networkInterfaces": [{"network": "global/networks/default"}],
    }
    cloud.post(f"{BASE}/zones/{ZONE}/instances", body)
    [vm] = wait(cloud.instances, lambda seen: [one["status"] for one in seen] == ["RUNNING"], "the VM to run")
    point = {
        "metric": "agent.googleapis.com/gpu/utilization",
        "value": 0.0,
        "metric_labels": {"gpu_number": "0"},
        "resource_labels": {"instance_id": vm["id"], "zone": ZONE},
    }
    cloud.post("/local/points", point)
    for _ in range(2):
        travel(cloud, 25)
        tick(cloud, "flag_idle_gpus")
        settle(cloud)


def brought(cloud, look, good, what):
    """Let notify_developers look again and again until what is seen is good; gives what was seen."""
    for _ in range(TICKS):
        tick(cloud, FUNCTION)
        settle(cloud)
        if good(seen := look()):
            return seen
    raise AssertionError(f"{TICKS} ticks did not bring {what}")


def test_a_warning_is_mailed_once_though_everything_goes_wrong(cloud):
    """Every message comes twice; nobody takes mail; the function is killed; then the mail server is back."""
    cloud.post("/local/mail", {"down": True})
    let_a_vm_idle(cloud)

    def tried():
        return [one for one in records(cloud, "rounds") if one.get("failures")]

    [remembered] = brought(cloud, tried, bool, "a try that fails")
    assert "Connection refused" in remembered["error"]
    assert mails(cloud) == []
    [waiting] = [one for one in records(cloud, "outbox") if one["notice"]["kind"] == "idle_warning"]
    assert waiting["recipient"]["address"] == ADA

    kill(cloud)
    cloud.post("/local/mail", {})
    [mail] = brought(cloud, lambda: mails(cloud, "idle_warning"), bool, "the mail")
    assert mail["job"] == JOB
    assert any(link["says"].startswith("Keep") for link in mail["links"])
    for _ in range(2):
        tick(cloud, FUNCTION)
        settle(cloud)
    assert len(mails(cloud, "idle_warning")) == 1
    arrived = [one["message_id"] for one in records(cloud, "delivered")]
    assert arrived.count(mail["id"]) == 1
    # Whatever else is told of this VM comes once as well.
    assert sorted(arrived) == sorted(one["id"] for one in mails(cloud))


def test_a_mail_of_which_nobody_knows_comes_once_more_and_says_so(cloud):
    """The server took it and hung up: the second has the same id, and there is no third."""
    cloud.post("/local/mail", {"mute": 1})
    sample(cloud, "gave_up")
    first, second = brought(
        cloud, lambda: mails(cloud, "gave_up"), lambda found: len(found) > 1, "a second copy"
    )
    assert first["id"] == second["id"]
    assert "already have this message" in "".join(second["text"].splitlines()[:3])
    assert "already have this message" not in first["text"]
    tick(cloud, FUNCTION)
    settle(cloud)
    assert len(mails(cloud, "gave_up")) == 2


def test_ops_hear_of_what_a_server_does_not_take_for_its_owner(cloud):
    """It is kept, with the reason; it goes out when a person says so, and then only to its owner."""
    kind = "not_recoverable"
    cloud.post("/local/mail", {"refuses": [ADA]})
    sample(cloud, kind)
    [stand_in] = brought(cloud, lambda: mails(cloud, kind, OPS), bool, "a mail to ops")
    assert ADA in stand_in["text"]
    [kept] = records(cloud, "undelivered")
    assert "no such user here" in kept["reason"]

    cloud.post("/local/mail", {})
    command(cloud, "retry", "--all")
    assert len(brought(cloud, lambda: mails(cloud, kind), bool, "the mail after all")) == 1
    assert records(cloud, "undelivered") == []
    assert len(mails(cloud, kind, OPS)) == 1
