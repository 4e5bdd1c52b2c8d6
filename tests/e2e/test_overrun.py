"""A function that overruns its timeout in the middle of its work, while Pub/Sub delivers once more.

As on Cloud Run the caller is answered 504, the function is neither told nor ended, and what it was at goes on
beside the next delivery. Functions, Pub/Sub, Compute Engine and the mail server are those of the local cloud.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from spotwarden.layout import JobFileName, Layout
from tests.e2e.chaos.cast import RUNNING, Job, Kind
from tests.e2e.chaos.cloud import PROJECT, Cloud, served
from tests.e2e.chaos.judge import ledger
from tests.e2e.conftest import SPOTWARDEN
from tests.long import long
from tests.waiting import wait

POLICY = """
version = "overrun"
mode = "enforce"
[recovery]
settle = "1s"
[notify]
email = true
settle = "0s"
first_backoff = "1s"
"""
ADA, ZONE = "ada@example.com", "us-central1-a"
SECONDS = 90.0
TOO_SHORT = 2 / 120
"""Of the 120 s that both functions have: 2 s."""
LATE = 7.0
"""How late an answer comes: after the function's time is over, and before its client gives it up."""
TOO_LATE = 60.0
"""Later than anybody waits for it."""
LEASE = 180
"""Longer than a sender that died keeps its recipient to itself."""
OVERRUN = "{}: the request has been terminated because it has reached the maximum request timeout"
NAMES = Layout()


class Overrun:
    """A local cloud in which a function has too little time for as long as somebody asks for it."""

    def __init__(self, cloud: Cloud, log: Path) -> None:
        self.cloud = cloud
        self._log = log

    def times(self, function: str) -> int:
        """How often a function was answered for so far."""
        return self._log.read_text(encoding="utf-8").count(OVERRUN.format(function))

    def limit(self, part: float) -> None:
        """Which part of its timeout each function has from now on."""
        self.cloud.post("/local/limits", {"function_timeouts": part})

    def overruns(self, function: str, since: int) -> None:
        """Wait until a function was answered for, and give all functions their whole time back."""
        wait(SECONDS, lambda: self.times(function) > since, f"{function} does not overrun")
        self.limit(1)

    def at_rest(self) -> None:
        """Wait until every message is taken, and nobody is at work on one."""

        def in_flight() -> int:
            topics = self.cloud.get("/local/topics")["topics"]
            every = [
                held for topic in topics for held in topic["subscriptions"] if "chaos" not in held["name"]
            ]
            return sum(held["backlog"] + held["outstanding"] for held in every)

        wait(SECONDS, lambda: not in_flight(), "messages are left")

    def mails(self, kind: str) -> list[dict[str, str]]:
        """The mails to the owner of that kind, oldest first."""
        every = self.cloud.get("/local/mailbox.json")
        ours = ("mail", ADA, kind)
        return [mail for mail in every if (mail["channel"], mail["to"], mail["kind"]) == ours][::-1]

    def overruns_at_mail(self, kind: str, late: float) -> None:
        """Publish a notice, and let the function overrun while the server has its mail and says nothing."""
        cloud = self.cloud
        cloud.post("/local/mail", {"late_seconds": late})
        before = self.times("notify_developers")
        environment = {**os.environ, **cloud.get("/local/env")}
        sample = [str(SPOTWARDEN), "notices", "test", "--to", ADA, "--kind", kind]
        subprocess.run(sample, env=environment, check=True, capture_output=True, timeout=60)
        self.at_rest()
        self.limit(TOO_SHORT)

        def sent() -> bool:
            self.scheduled()
            return bool(self.mails(kind))

        wait(SECONDS, sent, "no mail comes", every=2.0)
        self.overruns("notify_developers", before)

    def scheduled(self) -> None:
        """Let the function look, and do not wait for what it does."""
        path = f"/v1/projects/{PROJECT}/topics/spotwarden-notify-developers:publish"
        self.cloud.post(path, {"messages": [{"data": "e30=", "attributes": {"spotwarden-tick": "yes"}}]})

    def waiting(self, kind: str) -> bool:
        """Whether a notice of that kind still waits, once the function has looked again."""
        self.scheduled()
        self.at_rest()
        records = [self.cloud.read(name) for name in self.cloud.objects("spotwarden/outbox/")]
        return kind in [json.loads(record)["notice"]["kind"] for record in records if record]


@pytest.fixture(scope="module")
def overrun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Overrun]:
    """One for all tests of this file."""
    home = tmp_path_factory.mktemp("overrun")
    policy = home / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    with served(home, policy, "--no-machines") as cloud:
        cloud.subscribe()
        yield Overrun(cloud, home / "cloud.log")


def running(cloud: Cloud, job: Job) -> list[dict[str, str]]:
    """The VMs of a job that run."""
    return [vm for vm in cloud.instances() if vm["name"] in job.nodes and vm["status"] == RUNNING]


def test_a_recovery_that_overruns_brings_its_job_back_once(overrun: Overrun) -> None:
    """Compute Engine makes the VM and says so late: the next delivery makes no second. It is told once."""
    cloud, job = overrun.cloud, Job(name="slow", kind=Kind.SILENT, zone=ZONE)
    cloud.write(NAMES.build(JobFileName(job=job.name)), f'email = "{ADA}"\n'.encode())
    job.launch(cloud)
    wait(SECONDS, lambda: running(cloud, job), "the job does not run")
    [first] = running(cloud, job)
    job.register(cloud, [first])
    before = overrun.times("recover_spot")
    slow = {"service": "compute", "method": "POST", "path": "/instances$", "after_work": True, "count": 1}
    cloud.post("/local/faults", {**slow, "delay_seconds": LATE})
    overrun.limit(TOO_SHORT)
    assert cloud.try_post("/local/preempt", {"id": first["id"]})
    overrun.overruns("recover_spot", before)

    def back() -> bool:
        cloud.tick()
        return [record["state"] for record in ledger(cloud, job.name)][-1:] == ["running"]

    wait(SECONDS, back, "the job does not come back", every=1.0)
    overrun.at_rest()
    [second] = running(cloud, job)
    asked = [
        operation["targetId"]
        for operation in cloud.operations()
        if operation["operationType"] == "insert" and "error" not in operation
    ]
    assert asked == [first["id"], second["id"]]
    assert [record["number"] for record in ledger(cloud, job.name)][-1] == 2
    assert [notice["kind"] for notice in cloud.notices()].count("recovered") == 1


@long
def test_a_mail_of_a_function_that_overruns_comes_once(overrun: Overrun) -> None:
    """The server takes it and says so late: the next delivery finds it under way, and sends no second one."""
    overrun.overruns_at_mail("gave_up", LATE)
    wait(SECONDS, lambda: not overrun.waiting("gave_up"), "the mail stays in the outbox", every=1.0)
    overrun.cloud.post("/local/mail", {})
    assert len(overrun.mails("gave_up")) == 1


def test_a_mail_of_a_function_that_is_killed_after_it_overran_comes_again_and_says_so(
    overrun: Overrun,
) -> None:
    """Nobody knows whether the server took it: the second has the same id, and there is no third."""
    kind, cloud = "not_recoverable", overrun.cloud
    overrun.overruns_at_mail(kind, TOO_LATE)
    functions = cloud.get("/local/functions")["functions"]
    [function] = [row for row in functions if row["name"] == "notify_developers"]
    os.killpg(function["pid"], signal.SIGKILL)
    cloud.post("/local/mail", {})
    assert len(overrun.mails(kind)) == 1
    cloud.post("/local/travel", {"seconds": LEASE})
    wait(SECONDS, lambda: not overrun.waiting(kind), "the mail stays in the outbox", every=1.0)
    first, second = overrun.mails(kind)
    assert first["id"] == second["id"]
    assert "already have this message" in "".join(second["text"].splitlines()[:3])
    assert "already have this message" not in first["text"]
