"""`spotwarden stop`, `restart`, `keep` and `extend`: a person's word, against a real ledger and real VMs."""

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from spotwarden.cli.acting import stopping
from spotwarden.layout import AttemptRecord, CreateScript, JobFileName, OpenJob, StatusCode
from spotwarden.model.attempt import Attempt, AttemptState, Removal
from spotwarden.model.case import Case, CaseState
from spotwarden.model.finding import Subject, Target
from spotwarden.model.governance import Remedy

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)
IMAGE = "projects/debian-cloud/global/images/family/debian-12"
ZONE, ELSEWHERE = "us-central1-a", "us-central1-f"
PRICES = Path(__file__).parents[2] / "infra/prices.toml"
NO_SPOT = """version = "1"
mode = "enforce"
[compliance]
mode = "enforce"
remedy = "stop"
provisioning = ["STANDARD"]
"""


class Shop:
    """A workstation at which a job of two nodes runs, its ledger and its VMs."""

    def __init__(self, workstation, world):
        self.workstation, self.world = workstation, world
        workstation._environment["SPOTWARDEN_COMPUTE_ENDPOINT"] = world.url
        self.ok, self.refused = workstation.ok, workstation.refused

    def create(self, name, job="my-job", zone=ZONE, **more):
        """A VM of the job."""
        body = {
            "name": name,
            "machineType": f"zones/{zone}/machineTypes/e2-small",
            "labels": {"spotwarden-job": job} if job else {},
            "disks": [
                {
                    "boot": True,
                    "autoDelete": True,
                    "initializeParams": {"sourceImage": IMAGE, "diskSizeGb": "50"},
                }
            ],
            "networkInterfaces": [{"network": "global/networks/default"}],
        }
        self.world._post(f"zones/{zone}/instances", body | more)
        self.world.until(lambda: self.status(name) == "RUNNING")

    def vms(self):
        """All VMs, by name."""
        return {one.name: one for one in self.world.compute.fleet().items}

    def named(self, name):
        """All VMs of a name, by their zones."""
        found = [one for one in self.world.compute.fleet().items if one.name == name]
        return sorted(found, key=lambda vm: vm.zone)

    def status(self, name):
        """How a VM stands; "" where it is gone."""
        found = self.vms().get(name)
        return found.status.value if found else ""

    def put(self, thing, data):
        """Write an object."""
        self.workstation.store.write(self.workstation.layout.build(thing), data, generation=None)

    def read(self, thing):
        """An object's text; None where there is none."""
        stored = self.workstation.store.read(self.workstation.layout.build(thing))
        return stored.data.decode() if stored else None

    def launch(self, *nodes):
        """The job's first attempt, on VMs of these names."""
        for node in nodes:
            self.create(node)
        self.record(instances={node: self.vms()[node].id for node in nodes})

    def record(self, number=1, **facts):
        """An attempt of the ledger; it runs, unless told otherwise."""
        common = {"state": AttemptState.RUNNING, "created": NOW, "updated": NOW, "owner": "ada@example.com"}
        attempt = Attempt(**{"job": "my-job", "number": number, **common, **facts})
        self.put(AttemptRecord(job="my-job", attempt=number), msgspec.json.encode(attempt))

    def attempt(self, number=1):
        """An attempt as it is on record; None where there is none."""
        text = self.read(AttemptRecord(job="my-job", attempt=number))
        return msgspec.json.decode(text, type=Attempt) if text else None

    def case(self, rule="idle", key="my-job", **facts):
        """An open case about the job that was warned about."""
        subject = Subject(
            key=key, job="my-job", owner="ada", targets=(Target(id="1", name="my-job-1", zone=ZONE),)
        )
        common = {"state": CaseState.WARNED, "opened": NOW - HOUR, "looked": NOW, "remedy": Remedy.STOP}
        self.workstation.file(Case(**{"rule": rule, "subject": subject, **common, **facts}))

    def file(self):
        """What the job's file says now."""
        return tomllib.loads(self.read(JobFileName(job="my-job")) or "")


@pytest.fixture
def shop(workstation, world, monkeypatch):
    """A workstation with Compute Engine, at which nobody waits long."""
    monkeypatch.setattr(stopping, "EACH", timedelta(milliseconds=10))
    return Shop(workstation, world)


# --- stop ---


def test_stopping_closes_the_ledger_and_stops_every_node(shop):
    """It says what stays and what it goes on costing."""
    shop.launch("my-job-1", "my-job-2")
    said = shop.ok("stop", "my-job", "--yes", "--why", "wrong data")
    assert "100 GB of disks are kept and cost money. `spotwarden stop my-job --delete` deletes" in said
    assert "my-job is closed as stopped; Compute Engine was asked to stop my-job-1, my-job-2" in said
    closed = shop.attempt(2)
    assert (closed.state, closed.reason) == (AttemptState.STOPPED, "stopped by ada@example.com: wrong data")
    shop.world.until(lambda: {one.status.value for one in shop.vms().values()} == {"TERMINATED"})


def test_deleting_takes_what_was_stopped_before_as_well(shop):
    """Nothing is left that costs, but disks that outlive their VMs, which are named."""
    shop.launch("my-job-1")
    shop.ok("stop", "my-job", "--yes")
    shop.world.until(lambda: shop.status("my-job-1") == "TERMINATED")
    said = shop.ok("stop", "my-job", "--delete", "--yes")
    assert "outlive" not in said
    shop.world.until(lambda: shop.vms() == {})


def test_a_disk_that_outlives_its_vm_is_named(shop):
    """By its size: nobody else will tell for a day."""
    disk = {"initializeParams": {"sourceImage": IMAGE, "diskSizeGb": "50"}, "boot": True, "autoDelete": False}
    shop.create("my-job", disks=[disk])
    shop.record(instances={"my-job": shop.vms()["my-job"].id})
    said = shop.ok("stop", "my-job", "--delete", "--yes")
    assert "50 GB of disks stay and cost money until you delete them" in said
    assert shop.attempt(2).state is AttemptState.STOPPED


def test_whoever_does_not_say_yes_has_changed_nothing(shop):
    """The question comes after what would be done was said."""
    shop.launch("my-job-1")
    done = shop.workstation.run("stop", "my-job")
    assert done.exit_code == 1
    assert "my-job will be closed as stopped" in done.output
    assert (shop.attempt().state, shop.status("my-job-1")) == (AttemptState.RUNNING, "RUNNING")


def test_only_the_jobs_own_vms_are_stopped(shop):
    """A namesake goes on, with no label or with the job's own: no request of the job has made it."""
    shop.launch("my-job-1")
    shop.create("my-job", job="")
    shop.create("other", job="other")
    shop.create("my-job-2", labels={"spotwarden-job": "my-job", "spotwarden-attempt": "1"})
    shop.ok("stop", "my-job", "--delete", "--yes")
    shop.world.until(lambda: shop.status("my-job-1") == "")
    assert [shop.status(name) for name in ("my-job", "other", "my-job-2")] == ["RUNNING"] * 3


def test_a_zone_that_does_not_answer_is_said_to_hide_what_may_run(shop):
    """The job is closed all the same: that much is sure."""
    shop.launch("my-job-1")
    shop.world.hide(ZONE)
    said = shop.refused("stop", "my-job", "--yes")
    assert "my-job is closed as stopped" in said
    assert f"unreachable: {ZONE}: a VM there may still run; run the command again" in said
    assert AttemptState.STOPPED in {shop.attempt(number).state for number in (1, 2) if shop.attempt(number)}


def test_what_is_no_job_is_refused(shop):
    """An unknown one, and a name that cannot be one."""
    assert "Unknown job nothing-here" in shop.refused("stop", "nothing-here", "--yes")
    assert "is not a valid name" in shop.refused("stop", "No Job", "--yes")
    assert "is not a valid name" in shop.refused("restart", "../x")


def test_a_job_that_is_over_need_not_be_stopped(shop):
    """It is no failure to ask."""
    shop.record(state=AttemptState.ENDED)
    shop.put(StatusCode(job="my-job"), b"0")
    assert "ended with status 0, and none of its VMs runs" in shop.ok("stop", "my-job")


@pytest.mark.parametrize(("kind", "number"), [("stop", 2), ("delete", 1)])
def test_a_stopped_vm_that_is_gone_may_have_been_started_so_a_stop_is_written_down(shop, kind, number):
    """The log may lag: a start and a preemption would bring the job back, though its owner said stop."""
    removal = Removal(instance_id="7", operation="operation-1", kind=kind, user="ada@example.com")
    shop.record(state=AttemptState.STOPPED, replaces={"my-job": "7"}, removed={"my-job": removal})
    shop.ok("stop", "my-job", "--yes")
    assert (shop.attempt(2) is not None) == (number == 2)
    again = shop.ok("stop", "my-job", "--yes")
    assert "There is nothing to stop" in again
    assert shop.attempt(3) is None


# --- restart ---


def test_restarting_claims_the_next_attempt_and_takes_the_end_back(shop):
    """Recovery carries it on: the job is on the list of open ones again."""
    shop.put(CreateScript(job="my-job"), b"gcloud compute instances create my-job --zone=us-central1-a\n")
    shop.record(state=AttemptState.ENDED, instances={"my-job": "1"})
    shop.put(StatusCode(job="my-job"), b"1")
    said = shop.ok("restart", "my-job")
    assert "It ended with status 1. That status is removed first." in said
    assert "my-job restarts: attempt 2 is on record" in said
    second = shop.attempt(2)
    assert (second.state, second.reason) == (AttemptState.CLAIMED, "ada@example.com asked for it")
    assert shop.read(StatusCode(job="my-job")) is None
    assert shop.read(OpenJob(job="my-job")) is not None
    assert "has already been requested" not in said
    assert "as attempt 2" in shop.ok("restart", "my-job")
    assert shop.attempt(3) is None


def test_a_job_without_a_script_or_a_launch_cannot_be_started_again(shop):
    """It says what can be done instead."""
    assert "spotwarden submit --job my-job" in shop.refused("restart", "my-job")
    shop.record(state=AttemptState.STOPPED)
    assert "no stored create script" in shop.refused("restart", "my-job")


def test_a_deployment_that_only_observes_starts_nothing(shop):
    """Nobody would carry the claim on."""
    shop.put(CreateScript(job="my-job"), b"gcloud compute instances create my-job --zone=us-central1-a\n")
    shop.record(state=AttemptState.STOPPED)
    shop.workstation._environment["SPOTWARDEN_MODE"] = "observe"
    assert "only observes" in shop.refused("restart", "my-job")
    assert shop.attempt(2) is None


SPOT = "gcloud compute instances create my-job --zone=us-central1-a --provisioning-model=SPOT --machine-type="


def test_what_submit_would_refuse_by_now_is_not_restarted(shop, tmp_path):
    """A budget that nobody can count, and a kind of VM that the policy stops by now."""
    shop.workstation._environment["SPOTWARDEN_PRICES"] = str(PRICES)
    shop.put(CreateScript(job="my-job"), f"{SPOT}n4-custom-4-8192\n".encode())
    shop.put(JobFileName(job="my-job"), b"budget = 20\n")
    shop.record(state=AttemptState.STOPPED)
    assert "so we can't enforce the budget of $20" in shop.refused("restart", "my-job")
    shop.put(JobFileName(job="my-job"), b"")
    (tmp_path / "policy.toml").write_text(NO_SPOT)
    said = shop.refused("restart", "my-job")
    assert "can't launch it: the provisioning model 'SPOT' is not among STANDARD" in said
    (tmp_path / "policy.toml").write_text(
        NO_SPOT.replace('provisioning = ["STANDARD"]', 'machine_types = ["g2-*"]')
    )
    assert "the machine type 'n4-custom-4-8192' is not among g2-*" in shop.refused("restart", "my-job")
    assert shop.attempt(2) is None
    assert shop.read(OpenJob(job="my-job")) is None


def test_a_restart_behind_its_deadline_says_so(shop):
    """Its owner may want another one; it is started all the same."""
    shop.put(CreateScript(job="my-job"), f"{SPOT}e2-small\n".encode())
    shop.put(JobFileName(job="my-job"), b"deadline = 2020-01-01T00:00:00Z\n")
    shop.record(state=AttemptState.STOPPED)
    assert "warning: its deadline, 2020-01-01 00:00 UTC, is past" in shop.ok("restart", "my-job")
    assert shop.attempt(2) is not None


# --- keep ---


def test_keeping_answers_every_open_case_about_it(shop):
    """To the minute, and nothing is written elsewhere."""
    shop.record()
    shop.case("idle")
    shop.case("stall", key="other-key")
    shop.case("orphan", key="x", subject=Subject(key="x", job="other"))
    said = shop.ok("keep", "my-job", "--for", "8h", "--why", "debugging")
    assert "idle of my-job-1: ada@example.com keeps it until" in said
    for rule, key in (("idle", "my-job"), ("stall", "other-key")):
        left = shop.workstation.case(rule, key).keep_until - datetime.now(UTC)
        assert timedelta(hours=7, minutes=59) < left <= timedelta(hours=8)
    assert shop.workstation.case("orphan", "x").keep_until is None
    assert shop.read(JobFileName(job="my-job")) is None


def test_a_keep_that_is_too_long_for_a_case_is_refused(shop):
    """As by the link in a message."""
    shop.record()
    shop.case("idle")
    assert "governance.longest_keep" in shop.refused("keep", "my-job", "--for", "8d")


def test_keeping_a_job_without_a_case_exempts_it_to_the_end_of_that_day(shop):
    """In its job.toml, which keeps all else; and off again."""
    shop.record()
    shop.put(JobFileName(job="my-job"), b'# mine\nowner = "ada"\n[rules.idle]\nact = "1h"\n')
    said = shop.ok("keep", "my-job", "--until", "2099-12-30")
    assert "exempt from every rule to the end of 2099-12-30 (keep_until in its job.toml)" in said
    text = shop.read(JobFileName(job="my-job"))
    assert text.startswith('# mine\nowner = "ada"\nkeep_until = 2099-12-30\n\n[rules.idle]\n')
    assert "no longer keeps it" in shop.ok("keep", "my-job", "--off")
    assert "keep_until" not in shop.file()
    assert shop.ok("keep", "my-job", "--off") == "nothing keeps my-job\n"


def test_keeping_a_vm_labels_it(shop):
    """A VM of a job, or of none; the label is a day."""
    shop.create("my-vm", job="")
    shop.ok("keep", "my-vm", "--until", "2099-12-30")
    assert shop.vms()["my-vm"].labels["spotwarden-keep"] == "2099-12-30"
    shop.ok("keep", "my-vm", "--off")
    assert "spotwarden-keep" not in shop.vms()["my-vm"].labels


def test_of_two_vms_of_one_name_none_is_labelled_until_one_is_named_by_its_id(shop):
    """A name is unique only in its zone: the other may be a colleague's."""
    for zone in (ZONE, ELSEWHERE):
        shop.create("my-vm", job="", zone=zone)
    mine, another = shop.named("my-vm")
    said = shop.refused("keep", "my-vm", "--until", "2099-12-30")
    assert f"{mine.id}  in {ZONE}" in said
    assert f"{another.id}  in {ELSEWHERE}" in said
    shop.ok("keep", mine.id, "--until", "2099-12-30")
    assert [vm.labels.get("spotwarden-keep") for vm in shop.named("my-vm")] == ["2099-12-30", None]


def test_a_veto_on_a_colleagues_vm_of_the_same_name_stays(shop):
    """Of two cases about VMs of one name the one that is named by its VM's ID is answered."""
    for number, job in (("11", "mine"), ("12", "another")):
        target = Target(id=number, name="my-vm", zone=ZONE)
        subject = Subject(key=number, job=job, targets=(target,))
        shop.case("idle", key=number, subject=subject, keep_until=NOW + HOUR, kept_by="ada")
    assert "2 VMs are named my-vm, and nothing was changed" in shop.refused("keep", "my-vm", "--off")
    shop.ok("keep", "11", "--off")
    assert shop.workstation.case("idle", "11").keep_until <= datetime.now(UTC)
    assert shop.workstation.case("idle", "12").keep_until == NOW + HOUR


def test_what_keeps_a_colleagues_vm_of_the_jobs_name_is_the_colleagues(shop):
    """Off ends what keeps the job's own VM."""
    kept = {"spotwarden-keep": "2099-12-30"}
    shop.create("my-job", labels={"spotwarden-job": "my-job", **kept})
    shop.record(instances={"my-job": shop.vms()["my-job"].id})
    shop.create("my-job", zone=ELSEWHERE, labels=kept)
    shop.ok("keep", "my-job", "--off")
    assert [vm.labels.get("spotwarden-keep") for vm in shop.named("my-job")] == [None, "2099-12-30"]


def test_what_is_neither_job_nor_vm_cannot_be_kept(shop):
    """Nor for a time that is over, or for two at once."""
    assert "unknown job or VM 'nobody'" in shop.refused("keep", "nobody", "--for", "1h")
    assert "is in the past" in shop.refused("keep", "my-job", "--until", "2020-01-01")
    assert "use one of" in shop.refused("keep", "my-job")
    assert "use one of" in shop.refused("keep", "my-job", "--for", "1h", "--off")


def test_a_veto_is_taken_back(shop):
    """Off ends what a person said before."""
    shop.record()
    shop.case("idle", keep_until=NOW + HOUR, kept_by="ada")
    assert "no longer keeps it" in shop.ok("keep", "my-job", "--off")
    assert shop.workstation.case("idle", "my-job").keep_until <= datetime.now(UTC)


# --- extend ---


def test_extending_a_job_that_was_warned_grants_hours_on_top(shop):
    """By the case, as the link in the message does."""
    shop.record()
    shop.put(JobFileName(job="my-job"), b'max_runtime = "20h"\n')
    shop.case("job_cap")
    shop.ok("extend", "my-job", "--by", "4h")
    assert shop.workstation.case("job_cap", "my-job").extended == 4.0
    assert shop.file() == {"max_runtime": "20h"}


@pytest.mark.parametrize(
    ("policy", "by", "says"),
    [
        ("", "4h", "24h"),
        ('[job_cap]\nmax_runtime = "1d"\n', "4h", "24h"),
        ('[job_cap]\nmax_runtime = "1d"\n', "5h", "the policy allows 4h more"),
        ('[job_cap]\nmax_runtime = "20h"\n', "1h", "the policy's limit is 20h"),
    ],
)
def test_extending_before_any_warning_raises_the_jobs_own_limit(shop, policy, by, says):
    """Up to the policy's, and not a second beyond."""
    Path(shop.workstation.policy).write_text(f'version = "1"\n{policy}')
    shop.record()
    shop.put(JobFileName(job="my-job"), b'max_runtime = "20h"\n')
    if says == "24h":
        assert "may be up for 1d over all attempts" in shop.ok("extend", "my-job", "--by", by)
        assert shop.file() == {"max_runtime": "1d"}
    else:
        assert says in shop.refused("extend", "my-job", "--by", by)
        assert shop.file() == {"max_runtime": "20h"}


def test_a_job_that_nothing_bounds_need_not_be_extended(shop):
    """Nor one that is unknown, or whose file is broken."""
    assert "unknown job or VM" in shop.refused("extend", "my-job", "--by", "1h")
    shop.record()
    assert "it has no time limit" in shop.refused("extend", "my-job", "--by", "1h")
    shop.put(JobFileName(job="my-job"), b"max_runtime = \n")
    assert "job.toml can't be read" in shop.refused("extend", "my-job", "--by", "1h")


def test_a_second_stop_says_who_came_first(shop):
    """And when."""
    shop.launch("my-job-1")
    shop.ok("stop", "my-job", "--yes", "--why", "wrong data")
    shop.world.until(lambda: shop.status("my-job-1") == "TERMINATED")
    said = shop.ok("stop", "my-job", "--yes")
    assert "There is nothing to stop: my-job is closed since " in said
    assert "stopped by ada@example.com: wrong data, and none of its VMs runs" in said


def test_a_job_that_has_used_up_its_budget_is_not_restarted(shop):
    """By the price table; cap_runtime would stop it again a quarter of an hour later."""
    shop.workstation._environment["SPOTWARDEN_PRICES"] = str(PRICES)
    shop.put(CreateScript(job="my-job"), f"{SPOT}a2-highgpu-1g\n".encode())
    shop.put(JobFileName(job="my-job"), b"budget = 3\n")
    at, ids = NOW - 2 * HOUR, {"my-job": "1"}
    shop.record(state=AttemptState.STOPPED, created=at, started=at, updated=NOW, instances=ids)
    said = shop.refused("restart", "my-job")
    assert "It has used $3.86 of its budget of $3.00. Nothing was changed." in said
    assert "Raise `budget` in my-job/metadata/job.toml" in said
    assert shop.attempt(2) is None
