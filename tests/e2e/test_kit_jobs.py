"""Existing programs as they are, on spot VMs: started, taken, brought back, ended, by the real functions."""

import contextlib
import importlib.util
import json
import os
import runpy
import sys
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from spotwarden.cli.main import main
from tests.e2e.chaos.cloud import BASE, served
from tests.job.lab import told
from tests.long import long
from tests.waiting import wait

EXAMPLES = Path(__file__).resolve().parents[2] / "infra/job/example"
POLICY = """
version = "kit"
mode = "enforce"
[notify]
email = true
settle = "0s"
[governance]
launch_grace = "0s"
[early_stop]
grace = "0s"
"""
AT = ("--machine", "e2-standard-4", "--zone", "us-central1-a")
MEASURED = ("--metric", "loss=loss ([0-9.a-z]+)", "--metric", "step=^step ([0-9]+)")
QUICK = (
    "--flag=--metadata=spotwarden-heartbeat=1,spotwarden-sync=1,spotwarden-grace=2,spotwarden-engine-wait=0"
)
"""What lets a test see within seconds what takes minutes by default."""

LIMIT_SECONDS = 60
NEEDS_TORCH = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed; it is no dependency of ours"
)


class Laptop:
    """A developer's shell beside the local cloud."""

    def __init__(self, cloud):
        self.cloud = cloud

    def run(self, *words):
        """Run `spotwarden …` in this process."""
        return CliRunner().invoke(main, list(words))

    def ok(self, *words):
        """Run it, expect success, give its output."""
        done = self.run(*words)
        assert done.exit_code == 0, done.output
        return done.output

    def start(self, job, *words, code, command, at=AT):
        """Launch a job whose VMs are taken without a notice, and go on; gives it."""
        words = (*at, *MEASURED, QUICK, "--no-handover", *words, "--no-follow", "--code", str(code))
        words = ("run", "--job", job, *words)
        self.ok(*words, "--", *command)
        return Job(laptop=self, name=job)

    def until(self, fact, what):
        """Wait until something is so; gives what it came to."""
        return wait(LIMIT_SECONDS, fact, f"waited in vain for {what}", every=0.2)

    def tick(self, name):
        """Let a function's tick come now."""
        self.cloud.post("/local/tick", {"job": f"spotwarden-{name}"})


class Job:
    """One job, as its bucket and its VMs show it."""

    def __init__(self, *, laptop, name):
        self.laptop, self.name = laptop, name

    def read(self, path):
        """The text of one of its objects; "" where there is none, or a fault hides it."""
        try:
            return (self.laptop.cloud.read(f"{self.name}/{path}") or b"").decode()
        except httpx.HTTPStatusError:
            return ""

    def attempt(self, number):
        """What the ledger says of an attempt."""
        return json.loads(self.read(f"metadata/attempts/{number}.json") or "{}")

    def said(self, number=1, node=""):
        """What its program has printed in an attempt."""
        return self.read(f"metadata/logs/{node or self.name}/{number}.log")

    def vms(self):
        """Its VMs as they are."""
        return [one for one in self.laptop.cloud.instances() if one["name"].startswith(self.name)]

    def resources(self):
        """The same, as Compute Engine describes them."""
        path = f"{BASE}/zones/{{zone}}/instances/{{name}}"
        return [self.laptop.cloud.get(path.format_map(vm)) for vm in self.vms()]

    def until(self, fact, what):
        """Wait for something about it."""
        try:
            return self.laptop.until(fact, f"{self.name}: {what}")
        except AssertionError as error:
            log = "".join(self.said(number) for number in (1, 2))
            raise AssertionError(f"{error}\n{log}\n{self.laptop.run('show', self.name).output}") from error

    def until_step(self, step):
        """Wait until it has told of this step."""
        self.until(lambda: self.beat.get("step", 0) >= step, f"step {step}")

    @property
    def beat(self):
        """Its newest heartbeat."""
        return told(self.laptop.cloud.metadata(f"heartbeats/{self.name}"))

    def until_saved(self):
        """Wait until a checkpoint is in the bucket."""
        self.until(lambda: self.laptop.cloud.objects(f"{self.name}/output/"), "a checkpoint")

    def preempt(self, node=""):
        """Take a VM of it away."""
        self.laptop.cloud.post("/local/preempt", {"node": node or self.name})

    def status(self):
        """Its status, once it has ended and its VMs are gone."""
        status = self.until(lambda: self.read("metadata/status-code").strip(), "a status")
        self.until(lambda: not self.vms(), "its VMs' end")
        return status

    def measured(self, number, node=""):
        """Step and loss of each beat of an attempt."""
        lines = self.read(f"metadata/metrics/{node or self.name}/{number}.jsonl").splitlines()
        beats = [json.loads(line) for line in lines]
        return [(one["step"], one["metrics"]["loss"]) for one in beats if "loss" in one.get("metrics", {})]


@contextlib.contextmanager
def laptop_at(cloud, folder, **more):
    """A laptop whose commands run in a folder and ask this cloud, with `more` in their environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**cloud.get("/local/env"), **more}.items():
            patch.setenv(name, value)
        # The python of a program is the one that runs the tests.
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        # Scripts are written where `run` is typed.
        patch.chdir(folder)
        yield Laptop(cloud)


@pytest.fixture(scope="module")
def laptop(tmp_path_factory):
    """One local cloud with its functions for all tests of this file."""
    home = tmp_path_factory.mktemp("kit")
    policy = home / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in [one for one in os.environ if one.startswith("SPOTWARDEN")]:
            patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(home))
        with (
            served(home, policy) as cloud,
            laptop_at(cloud, home, SPOTWARDEN_OWNER="ada@example.com") as typed,
        ):
            yield typed


@pytest.fixture
def well(laptop):
    """The cloud, without the faults of a test when it has ended."""
    yield laptop
    laptop.cloud.end("/local/faults")


def right(steps):
    """The loss at each step where nobody disturbs."""
    step, curve, a, b = runpy.run_path(str(EXAMPLES / "line/train.py"))["step"], {}, 0.0, 0.0
    for number in range(1, steps + 1):
        a, b, curve[number] = step(a, b, 0.05)
    return curve


def holds(job, steps):
    """Whether the curve of both attempts is that of a training that nobody disturbed."""
    first, second = job.measured(1), job.measured(2)
    assert first
    # Nothing is left out between the two, and nothing begins from the start.
    began = int(job.said(2).partition("begins after step ")[2].split()[0])
    last = max(int(line.split()[1]) for line in job.said(1).splitlines() if line.startswith("step "))
    assert 0 < began <= last
    assert second[-1][0] == steps
    truth = right(steps)
    for step, loss in [*first, *second]:
        assert loss == pytest.approx(truth[step], abs=1e-6)


UNFLUSHED = """
import pathlib, time, os
for number in range(1000):
    print("line", number)
    pathlib.Path(os.environ["SPOTWARDEN_OUTPUT"], "said.txt").write_text(str(number))
    time.sleep(1)
"""


@long
def test_a_program_that_never_flushes_is_seen_and_loses_no_line(laptop, tmp_path):
    """Its first line is in `spotwarden logs` while it prints; all before a preemption are attempt 1's."""
    (tmp_path / "talk.py").write_text(UNFLUSHED)
    job = laptop.start("talk", code=tmp_path, command=("python", "talk.py"))
    job.until(lambda: "line 0" in laptop.run("logs", "talk").output, "its first line")
    seen = laptop.run("logs", "talk").output.count("\nline ")
    # A buffer of eight kilobytes would have been full after some nine hundred.
    assert seen < 100
    job.until(lambda: "line 3\n" in job.said(), "some lines")
    job.preempt()
    job.until(lambda: "line 0" in job.said(2), "the second attempt")
    lines = [line for line in job.said(1).splitlines() if line.startswith("line ")]
    assert lines == [f"line {number}" for number in range(len(lines))]
    assert len(lines) > 3
    laptop.ok("stop", "talk", "--delete", "--yes")


def test_a_training_that_is_taken_away_goes_on_where_it_was(laptop, tmp_path):
    """Its curves are one, `download` gives the bucket's bytes, and another job works on them."""
    steps = 60
    job = laptop.start("line", code=EXAMPLES / "line", command=("python", "train.py", f"--steps={steps}"))
    job.until_saved()
    job.until_step(5)
    job.preempt()
    assert job.status() == "0"
    holds(job, steps)
    shown = json.loads(laptop.ok("show", "line", "--json"))
    assert (shown["status"], shown["attempts"], shown["progress"]["step"]) == ("ended", 2, steps)
    laptop.ok("download", "line", str(tmp_path), "--logs", "--metrics")
    for name in laptop.cloud.objects("line/output/"):
        assert (tmp_path / name.removeprefix("line/")).read_bytes() == laptop.cloud.read(name)
    logs = sorted(path.name for path in (tmp_path / "logs").rglob("*.log"))
    assert logs == ["1.log", "2.log"]

    words = ("--input-job", "line", "--no-code", "--no-follow")
    laptop.ok("run", "--job", "next", *AT, QUICK, *words, "--", "cat $SPOTWARDEN_INPUT/line/checkpoint.json")
    chained = Job(laptop=laptop, name="next")
    assert chained.status() == "0"
    assert job.read("output/checkpoint.json") in chained.said()


ON_TPUS = """\
echo "device $PJRT_DEVICE, worker $TPU_WORKER_ID of $TPU_WORKER_HOSTNAMES"
echo "driver of attempt $SPOTWARDEN_ATTEMPT" > "$TPU_LOG_DIR/tpu_driver.INFO.1"
exec python train.py --steps=60"""


def test_a_training_on_a_tpu_that_is_taken_away_goes_on_where_it_was(laptop):
    """Another spot VM with the same chips and the same image; what the driver said of both is kept."""
    zone = ("--tpu", "v6e-4", "--zone", "us-east5-b")
    job = laptop.start("chips", code=EXAMPLES / "line", command=(ON_TPUS,), at=zone)
    job.until_saved()
    job.until_step(5)
    [first] = job.resources()
    job.preempt()
    job.until(lambda: [vm for vm in job.vms() if vm["id"] != first["id"]], "the second VM")
    for vm in (first, *job.resources()):
        assert vm["machineType"].endswith("us-east5-b/machineTypes/ct6e-standard-4t")
        assert vm["scheduling"]["provisioningModel"] == "SPOT"
        assert "ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e" in vm["disks"][0]["licenses"][0]
    assert job.status() == "0"
    holds(job, 60)
    assert "device TPU, worker 0 of localhost" in job.said(2)
    for number in (1, 2):
        kept = job.read(f"output/logs/libtpu/chips-{number}/tpu_driver.INFO.1")
        assert kept == f"driver of attempt {number}\n"


def test_a_vm_that_its_developer_deletes_is_not_brought_back(laptop):
    """Though it trains and leaves no status; its owner is told that it was stopped."""
    job = laptop.start("mine", code=EXAMPLES / "line", command=("python", "train.py", "--steps=600"))
    job.until_step(1)
    [vm] = job.vms()
    laptop.cloud.delete_vm(vm["zone"], vm["id"])
    job.until(lambda: not job.vms(), "the VM's end")

    def stopped():
        laptop.tick("recover-spot")
        return job.attempt(2).get("state") == "stopped"

    job.until(stopped, "the next record to say stopped")
    laptop.tick("recover-spot")
    assert laptop.cloud.read("preempted-jobs/mine") is None
    assert job.attempt(3) == {}
    assert job.vms() == []
    assert job.read("metadata/status-code") == ""

    def told():
        mails = laptop.cloud.get("/local/mailbox.json")
        return [one for one in mails if "mine" in json.dumps(one) and "stopped" in json.dumps(one)]

    job.until(told, "a mail")


@long
def test_a_container_where_there_is_no_engine_ends_the_job_with_a_clear_message(laptop):
    """As failed, its VM gone, and nobody starts it again."""
    job = laptop.start("boxed", "--container", "img", code=EXAMPLES / "line", command=("true",))
    assert job.status() == "127"
    said = laptop.ok("logs", "boxed")
    assert "docker" in said, said
    laptop.tick("recover-spot")
    assert json.loads(laptop.ok("show", "boxed", "--json"))["status"] == "failed"
    assert job.attempt(2) == {}


def test_a_loss_that_is_no_number_ends_the_job_early(laptop, tmp_path):
    """It was asked for; the reason is on record, and nothing brings the job back."""
    rules = tmp_path / "job.toml"
    rules.write_text("[rules.early_stop]\nunreal = true\n")
    program = 'i=0; while sleep 0.2; do i=$((i+1)); echo "step $i loss nan"; done'
    job = laptop.start("wild", "--job-toml", str(rules), code=EXAMPLES / "line", command=(program,))
    job.until(lambda: job.beat.get("metrics", {}).get("loss") == "nan", "a heartbeat")

    def stopped():
        laptop.tick("reap-vms")
        laptop.tick("notify-developers")
        return job.attempt(2).get("state") == "stopped"

    job.until(stopped, "its end")
    job.until(lambda: [one["status"] for one in job.vms()] in ([], ["TERMINATED"]), "its VM to be off")
    laptop.tick("recover-spot")
    assert job.attempt(3) == {}
    shown = laptop.ok("show", "wild")
    assert "stopped" in shown
    assert "is nan" in shown
    laptop.ok("stop", "wild", "--delete", "--yes")


@long
def test_a_bucket_that_is_away_for_a_while_loses_nothing(well):
    """Nor a token server: what is not taken now is taken later, and a preemption after it is as any other."""
    steps = 80
    job = well.start("cut", code=EXAMPLES / "line", command=("python", "train.py", f"--steps={steps}"))
    job.until_saved()
    for service in ("storage", "metadata"):
        path = "cut/" if service == "storage" else "token"
        well.cloud.post("/local/faults", {"service": service, "path": path, "status": 503, "for_seconds": 3})
    job.until_step(40)
    job.preempt()
    assert job.status() == "0"
    holds(job, steps)


@NEEDS_TORCH
def test_a_pytorch_training_goes_on_where_it_was(laptop):
    """Model and optimizer come back: the loss goes on falling from where it was."""
    steps = 60
    job = laptop.start("torch", code=EXAMPLES / "torch", command=("python", "train.py", f"--steps={steps}"))
    job.until_saved()
    job.until_step(8)
    job.preempt()
    assert job.status() == "0"
    falls(job, "torch", steps)


@NEEDS_TORCH
def test_a_pytorch_training_of_two_nodes_is_restarted_as_one(laptop):
    """By gloo; the node that is left is stopped, both begin again at the same checkpoint."""
    steps = 60
    job = laptop.start(
        "ddp", "--nodes=2", code=EXAMPLES / "torch", command=("python", "train.py", f"--steps={steps}")
    )
    job.until_saved()
    job.preempt("ddp-2")
    assert job.status() == "0"
    falls(job, "ddp-1", steps)
    falls(job, "ddp-2", steps)


def falls(job, node, steps):
    """Whether the second attempt began at a checkpoint of the first one and went to the end."""
    first = dict(said_steps(job.said(1, node)))
    second = dict(said_steps(job.said(2, node)))
    began = min(second)
    assert began > 1
    assert max(second) == steps
    for step in set(first) & set(second):
        assert second[step] == pytest.approx(first[step], rel=1e-3)


def said_steps(log):
    """Steps and losses that a program has printed."""
    for line in log.splitlines():
        words = line.split()
        if len(words) == 4 and words[0] == "step":
            with contextlib.suppress(ValueError):
                yield int(words[1]), float(words[3])
