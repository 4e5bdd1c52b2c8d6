"""A job takes an on-demand VM while there is no spot VM, then hands over to one, by the real functions."""

from datetime import datetime, timedelta

import pytest

from tests.e2e.chaos.cloud import served
from tests.e2e.stories.test_move import HOME, JOB, KIT, POLICY, go_on, log, record, spotwarden, until
from tests.job.training import TRAIN
from tests.long import long, longest

WORDS = ("--machine", "g2-standard-4", "--zone", HOME, "--no-code", "--no-follow", KIT, "--work", "60h")
JOB_TOML = """
handover = true
ladder = [{ model = "spot", up_to = "1m" }, { model = "standard" }]
"""
STEPS = 20_000
"""More than it comes to: it is stopped after the move."""
SPOT = [{"zone": f"us-central1-{letter}", "model": "SPOT"} for letter in "abcf"]


@pytest.fixture
def cloud(tmp_path):
    """A local cloud whose region has no spot VM left once the job runs."""
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY.read_text().replace('"12m"', '"5s"'))
    with served(tmp_path, policy) as cloud:
        cloud.subscribe()
        yield cloud


def runs(cloud, attempt):
    """Where an attempt runs, and as what; recovery has its minute first."""
    cloud.tick()
    found = record(cloud, attempt)
    return (
        (found["tries"][-1]["place"], found["tries"][-1]["model"])
        if found.get("state") == "running"
        else None
    )


@long
def test_a_job_goes_up_the_ladder_and_back_to_spot(cloud, tmp_path):
    """Its on-demand VM hands over to a spot VM, in another zone, and no step is lost."""
    (tmp_path / "more.toml").write_text(JOB_TOML)
    program = ("--job-toml", "more.toml", "--owner", "ada@example.com", "--", TRAIN % STEPS)
    spotwarden(cloud, tmp_path, "run", "--job", JOB, *WORDS, *program)
    until(lambda: log(cloud, 1), "the first steps")
    (first,) = (vm["id"] for vm in cloud.instances())
    for zone in SPOT:
        cloud.post("/local/stockout", zone)
    cloud.post("/local/preempt", {"node": JOB})
    until(lambda: cloud.tick() or record(cloud, 2).get("state") == "backing off", "the first refusal")
    until(lambda: first not in [vm["id"] for vm in cloud.instances()], "the end of the first VM")
    cloud.post("/local/travel", {"seconds": 90})
    dear, model = until(lambda: runs(cloud, 2), "an on-demand VM")
    assert model == "standard"
    until(lambda: log(cloud, 2), "the first steps on demand")

    for zone in SPOT:
        cloud.end("/local/stockout", zone)
    go_on(cloud, 2)  # An hour more, and it might also go beside its on-demand VM.
    cheap, model = until(lambda: runs(cloud, 3), "the move to spot")
    assert (model, cheap != dear) == ("spot", True)
    assert record(cloud, 3)["planned"].startswith(f"spot in {cheap} costs $")
    until(lambda: log(cloud, 3), "the first steps of the spot VM")
    until(lambda: [vm["zone"] for vm in cloud.instances()] == [cheap], "the end of the on-demand VM")
    assert log(cloud, 3)[0][0] == log(cloud, 2)[-1][0] + 1
    spotwarden(cloud, tmp_path, "stop", JOB, "--delete", "--yes")
    until(lambda: not cloud.instances(), "the end of the job")
    kinds = [notice["kind"] for notice in cloud.notices()]
    assert (kinds.count("recovered"), kinds.count("moved")) == (1, 1)


def kind(cloud, attempt):
    """Where an attempt runs, and whether as a spot VM; recovery has its minute first."""
    cloud.tick()
    found = record(cloud, attempt)
    newest = found["tries"][-1] if found.get("state") == "running" else None
    return (newest["place"], newest.get("spot", True)) if newest else None


def behind_its_line(cloud, tmp_path, settings):
    """Train until no spot VM is left, and the job is behind its line; where it runs then, and as what."""
    now = datetime.fromisoformat(cloud.get("/local/travel")["now"])
    deadline = (now + timedelta(hours=70)).strftime("%Y-%m-%dT%H:%M:%SZ")
    (tmp_path / "more.toml").write_text(settings)
    program = ("--job-toml", "more.toml", "--owner", "ada@example.com", "--", TRAIN % STEPS)
    spotwarden(cloud, tmp_path, "run", "--job", JOB, *WORDS, "--deadline", deadline, *program)
    until(lambda: log(cloud, 1), "the first steps")
    (first,) = (vm["id"] for vm in cloud.instances())
    for zone in SPOT:
        cloud.post("/local/stockout", zone)
    cloud.post("/local/preempt", {"node": JOB})
    until(lambda: cloud.tick() or record(cloud, 2).get("state") == "backing off", "the first refusal")
    until(lambda: first not in [vm["id"] for vm in cloud.instances()], "the end of the first VM")
    cloud.post("/local/travel", {"seconds": 2 * 3600})
    found = until(lambda: kind(cloud, 2), "an on-demand VM")
    until(lambda: log(cloud, 2), "the first steps on demand")
    return found


def spot_again(cloud):
    """There is room for spot VMs again: where the job goes, and as what."""
    for zone in SPOT:
        cloud.end("/local/stockout", zone)
    go_on(cloud, 2)
    return until(lambda: kind(cloud, 3), "the move to spot")


def until_moved(cloud, what, left):
    """Wait for the spot VM's steps, none of them lost, and for the end of the on-demand VM."""
    until(lambda: log(cloud, 3), "the first steps of the spot VM")
    until(lambda: [vm[what] for vm in cloud.instances()] == [left], "the end of the on-demand VM")
    assert log(cloud, 3)[0][0] == log(cloud, 2)[-1][0] + 1


@longest
def test_a_job_behind_its_line_takes_an_on_demand_vm_and_comes_back_to_spot(cloud, tmp_path):
    """It has hours in hand when it stops waiting, and its on-demand VM stands where spot was not."""
    dear, spot = behind_its_line(cloud, tmp_path, "handover = true\n")
    assert (spot, dear == HOME) == (False, False)
    cheap, spot = spot_again(cloud)
    assert (spot, cheap != dear) == (True, True)
    until_moved(cloud, "zone", cheap)
    spotwarden(cloud, tmp_path, "stop", JOB, "--delete", "--yes")
    until(lambda: not cloud.instances(), "the end of the job")


@longest
def test_a_job_in_one_zone_comes_back_to_spot_beside_its_on_demand_vm(cloud, tmp_path):
    """Its spot VM has the node's second name there, and writes under the first as the one before it."""
    assert behind_its_line(cloud, tmp_path, "handover = true\nplaces = []\n") == (HOME, False)
    assert spot_again(cloud) == (HOME, True)
    assert sorted(vm["name"] for vm in cloud.instances()) == [JOB, f"{JOB}-alt"]
    until_moved(cloud, "name", f"{JOB}-alt")

    cloud.post("/local/preempt", {"node": f"{JOB}-alt"})
    until(lambda: kind(cloud, 4), "its return under the first name")
    assert [vm["name"] for vm in cloud.instances() if vm["status"] == "RUNNING"] == [JOB]
    spotwarden(cloud, tmp_path, "stop", JOB, "--delete", "--yes")
    until(lambda: not cloud.instances(), "the end of the job")
