"""A training that is handed over by the real functions: no step is lost, and one VM is left."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.chaos.cloud import SPOTWARDEN, served
from tests.job.training import TRAIN, stepped, undisturbed
from tests.waiting import wait

POLICY = Path(__file__).resolve().parents[3] / "infra/policy.toml"
JOB = "relay"
NOTICE_SECONDS = 20
"""Instead of 120: long enough for a successor on a busy machine."""
STEPS = 900
"""Some 50 s: longer than the notice."""
PATIENCE_SECONDS = 120
KIT = f"--flag=--metadata=spotwarden-notice={NOTICE_SECONDS},spotwarden-reserve=6,spotwarden-heartbeat=5"
WORDS = ("--machine", "e2-small", "--zone", "us-central1-a", "--no-code", "--no-follow", KIT)


@pytest.fixture
def cloud(tmp_path):
    """A local cloud with its functions, whose notices are short."""
    with served(tmp_path, POLICY) as cloud:
        cloud.post("/local/timings", {"preemption_notice": NOTICE_SECONDS})
        yield cloud


def until(fact, what):
    """Wait until something is so; gives what it came to."""
    return wait(PATIENCE_SECONDS, fact, f"waited in vain for {what}", every=0.2)


def log(cloud, attempt):
    """The steps that an attempt has said it made, and when."""
    return stepped((cloud.read(f"{JOB}/metadata/logs/{JOB}/{attempt}.log") or b"").decode())


def launch(cloud, folder, steps):
    """`spotwarden run` of a training with so many steps."""
    words = [str(SPOTWARDEN), "run", "--job", JOB, *WORDS, "--owner", "ada@example.com", "--", TRAIN % steps]
    environment = {**os.environ, **cloud.get("/local/env")}
    done = subprocess.run(words, env=environment, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def asked(cloud, attempt):
    """Which of an attempt's requests were to have a notice."""
    record = json.loads(cloud.read(f"{JOB}/metadata/attempts/{attempt}.json") or b"{}")
    return [tried.get("notice") for tried in record.get("tries", ())]


@pytest.mark.parametrize("how", ["field", "machine"])
def test_a_machine_type_that_takes_no_notice_is_launched_without(cloud, tmp_path, how):
    """By `run` in the same command, and by recovery at the first try, for it is remembered."""
    cloud.post("/local/preemption-notice", {"machine": "e2-small", "refused": how})
    launch(cloud, tmp_path, 150)
    assert asked(cloud, 1) == [True, False]
    until(lambda: log(cloud, 1), "the first steps")
    cloud.post("/local/preempt", {"node": JOB})
    assert until(lambda: cloud.read(f"{JOB}/metadata/status-code"), "a status").strip() == b"0"
    assert asked(cloud, 2) == [False]


def test_a_preemption_that_is_announced_costs_no_step(cloud, tmp_path):
    """`run`, one preemption: two VMs, one after the other, make the curve of one."""
    launch(cloud, tmp_path, STEPS)
    until(lambda: log(cloud, 1), "the first steps")
    cloud.post("/local/preempt", {"node": JOB})
    assert until(lambda: cloud.read(f"{JOB}/metadata/status-code"), "a status").strip() == b"0"
    old, new = log(cloud, 1), log(cloud, 2)
    assert (new[0][0], new[0][1] > old[-1][1]) == (old[-1][0] + 1, True)
    curve = cloud.read(f"{JOB}/output/curve.csv").decode().splitlines()
    assert curve == undisturbed(STEPS)
    record = json.loads(cloud.read(f"{JOB}/metadata/attempts/2.json"))
    assert (record["early"], list(record["replaces"])) == (True, [JOB])
    until(lambda: not cloud.instances(), "the end of both VMs")
    assert cloud.read(f"{JOB}/metadata/attempts/3.json") is None
