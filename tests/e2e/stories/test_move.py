"""A running job is moved to where it costs less, by the real functions: no step lost, the bill is right."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from spotwarden.model.watch import Watch, Watched
from spotwarden.recovery.places.moving import TURNS, turns
from tests.e2e.chaos.cloud import SPOTWARDEN, served
from tests.job.training import TRAIN, stepped, undisturbed
from tests.waiting import wait

POLICY = Path(__file__).resolve().parents[3] / "infra/policy.toml"
JOB, HOME, FAR = "mover", "us-central1-a", "us-east4"
MACHINE = "g2-standard-4"
HOURS = 10
"""So long it runs before it is moved, by the clock of the cloud, and half as long afterwards."""
STEPS = 2400
"""Two minutes: the job kit looks for a move each half minute."""
PATIENCE_SECONDS = 150
KIT = "--flag=--metadata=spotwarden-notice=20,spotwarden-reserve=6,spotwarden-heartbeat=2"
WORDS = ("--machine", MACHINE, "--zone", HOME, "--no-code", "--no-follow", KIT, "--work", "60h")


@pytest.fixture
def cloud(tmp_path):
    """A local cloud whose jobs may go to a region where spot costs less."""
    text = POLICY.read_text()
    changed = text.replace("regions = []", f'regions = ["{FAR}"]', 1).replace('"12m"', '"5s"')
    assert changed.count("5s") > text.count("5s")
    policy = tmp_path / "policy.toml"
    policy.write_text(changed)
    with served(tmp_path, policy) as cloud:
        cloud.subscribe()
        yield cloud


def until(fact, what):
    """Wait until something is so; gives what it came to."""
    return wait(PATIENCE_SECONDS, fact, f"waited in vain for {what}", every=0.2)


def spotwarden(cloud, folder, *words):
    """What the command prints."""
    environment = {**os.environ, **cloud.get("/local/env")}
    done = subprocess.run(
        [str(SPOTWARDEN), *words], env=environment, cwd=folder, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def go_on(cloud, hours):
    """Let hours pass, up to the minute in which the job may be moved."""
    now = datetime.fromisoformat(cloud.get("/local/travel")["now"]) + timedelta(hours=hours)
    watched = Watched(watch=Watch(job=JOB, movable=True), generation=1, since=now)
    minutes = (now + timedelta(minutes=ahead) for ahead in range(TURNS))
    due = next(minute for minute in minutes if turns([watched], minute, 1))
    due = due.replace(second=1, microsecond=0)
    cloud.post("/local/travel", {"seconds": (due - now).total_seconds() + hours * 3600})


def log(cloud, attempt):
    """The steps that an attempt has said it made, and when."""
    return stepped((cloud.read(f"{JOB}/metadata/logs/{JOB}/{attempt}.log") or b"").decode())


def record(cloud, attempt):
    """What the chain says of an attempt."""
    return json.loads(cloud.read(f"{JOB}/metadata/attempts/{attempt}.json") or b"{}")


def up(cloud):
    """The hours that its VMs were up, by region, as the cloud has seen it."""
    spans = {}
    for change in cloud.get("/local/history")["changes"]:
        if change["name"] == JOB:
            region = change["zone"].rpartition("-")[0]
            at = datetime.fromisoformat(change["at"]).astimezone(UTC)
            spans[region] = (*spans.get(region, ()), at)
    return {region: (max(moments) - min(moments)) / timedelta(hours=1) for region, moments in spans.items()}


def test_a_job_goes_on_where_it_costs_less_and_loses_no_step(cloud, tmp_path):
    """Its owner hears of one move, and pays each VM at the price of its region."""
    (tmp_path / "more.toml").write_text("handover = true\n")
    program = ("--job-toml", "more.toml", "--owner", "ada@example.com", "--", TRAIN % STEPS)
    spotwarden(cloud, tmp_path, "run", "--job", JOB, *WORDS, *program)
    until(lambda: log(cloud, 1), "the first steps")
    cloud.tick()
    go_on(cloud, HOURS)
    until(lambda: cloud.tick() or record(cloud, 2).get("state") == "running", "the move")
    moved = record(cloud, 2)
    assert moved["tries"][-1]["place"].startswith(FAR)
    assert moved["planned"].startswith(f"spot in {moved['tries'][-1]['place']} costs $0.31 an hour")
    until(lambda: log(cloud, 2), "the first steps of the new VM")
    until(lambda: len(cloud.instances()) == 1, "the end of the old VM")
    cloud.post("/local/travel", {"seconds": HOURS / 2 * 3600})
    assert until(lambda: cloud.read(f"{JOB}/metadata/status-code"), "a status").strip() == b"0"
    old, new = log(cloud, 1), log(cloud, 2)
    assert (new[0][0], new[0][1] > old[-1][1]) == (old[-1][0] + 1, True)
    assert cloud.read(f"{JOB}/output/curve.csv").decode().splitlines() == undisturbed(STEPS)
    until(lambda: not cloud.instances(), "the end of both VMs")
    kinds = [notice["kind"] for notice in cloud.notices()]
    assert (kinds.count("moved"), kinds.count("recovered")) == (1, 0)
    assert record(cloud, 3) == {}
    hours = up(cloud)
    shown = json.loads(spotwarden(cloud, tmp_path, "show", JOB, "--json"))
    assert shown["hours_up"] == pytest.approx(sum(hours.values()), abs=0.05)
    paid = hours["us-central1"] * 0.397336 + hours[FAR] * 0.310596
    assert float(shown["cost"].strip("$")) == pytest.approx(paid, abs=0.03)
