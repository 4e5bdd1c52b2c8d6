"""Two sweeps at the same time, with Google's real clients, over the local cloud's real services."""

import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import httpx
import msgspec
import pytest

from localcloud.clock import Clock
from localcloud.compute import ComputeService, Timings
from localcloud.machines import NoMachines
from localcloud.pubsub import PubSubService
from localcloud.storage import StorageService
from spotwarden.create_script.request.stored import with_launch
from spotwarden.engine.context import SweepContext
from spotwarden.engine.settings import Settings
from spotwarden.gcp.connect import connect
from spotwarden.layout import CreateScript, InstanceId, Layout, MarkerName
from spotwarden.model.attempt import AttemptState
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.folder.job_folder import look_at_job
from tests.fakes.world import load
from tests.localcloud.stand import Stand
from tests.long import ASKED

PROJECT, BUCKET, TOPIC = "demo", "demo-jobs", "notices"
ROUNDS = int(os.environ.get("SPOTWARDEN_RACES") or (25 if ASKED else 10))
"""200 were run before this was settled; they take two minutes."""
AT_ONCE = dict.fromkeys(("accepting", "changing", "provisioning", "staging", "stopping", "deleting"), 0)
NAMES = Layout()


class Project:
    """One project of the local cloud, its VMs empty, everything in it immediate."""

    def __init__(self, stand: Stand, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stand = stand
        clock = Clock()
        self.pubsub = stand.call(PubSubService, project=PROJECT, clock=clock, post=stand.outbound.post)
        self.storage = stand.call(
            StorageService,
            project=PROJECT,
            folder=folder,
            publish=self.pubsub.publish,
            clock=clock,
            base_url=lambda: stand.http,
        )
        self.compute = stand.call(
            ComputeService,
            project=PROJECT,
            clock=clock,
            machines=NoMachines(),
            audit=lambda _entry: None,
            base_url=lambda: stand.http,
            timings=Timings().with_seconds(AT_ONCE),
        )
        stand.serve([self.storage, self.pubsub, self.compute])
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", stand.http)
        stand.call(self.storage.ensure_bucket, BUCKET)
        httpx.put(f"{stand.http}/v1/projects/{PROJECT}/topics/{TOPIC}", json={}, trust_env=False)
        self.settings = Settings(
            project=PROJECT,
            bucket=BUCKET,
            notices=TOPIC,
            compute_endpoint=stand.http,
            pubsub_endpoint=f"http://{stand.grpc}",
            policy_file=Path("policy.toml"),
        )
        self.clouds = [connect(**self.settings.connection()) for _ in range(2)]
        self.recover = load("recover_spot")

    def store(self, thing, data: bytes) -> None:
        """Write an object."""
        self.clouds[0].store.write(NAMES.build(thing), data, generation=None)

    def launch(self, job: str) -> str:
        """A job and its first VM; gives the VM's id."""
        script = (
            f"gcloud compute instances create {job} --zone=us-central1-a --machine-type=e2-small"
            " --provisioning-model=SPOT --instance-termination-action=DELETE --image-family=debian-12"
            " --image-project=debian-cloud --no-scopes"
        )
        self.store(CreateScript(job=job), script.encode())
        facts = with_launch(look_at_job(self.clouds[0].store, NAMES, job), PROJECT)
        vm = self.clouds[0].compute.launch(facts.launch.request, str(uuid4())).target_id
        self.until(lambda: self.status(vm) == "RUNNING")
        self.store(InstanceId(job=job, node=job), vm.encode())
        return vm

    def status(self, vm: str) -> str:
        """The status of a VM; "" where it is gone."""
        found = [one for one in self.clouds[0].compute.instances().items if one.id == vm]
        return found[0].status.value if found else ""

    def until(self, condition) -> None:
        """Look until it is so; a bound on looks, no sleep."""
        for _ in range(500):
            if condition():
                return
        raise AssertionError("it never came")

    def sweep(self, cloud, job) -> None:
        """Sweep as an event about the job's marker does, until nothing waits."""
        policy = Policy(version="race", mode=Mode.ENFORCE)
        for _ in range(100):
            now = datetime.now(UTC)
            tick = Tick(function="recover_spot", sweep=uuid4().hex, now=now, patient=False, about=job)
            swept = self.recover.sweep(SweepContext.open(cloud, self.settings, policy, tick))
            assert not swept.failures
            if not swept.waiting:
                return
        raise AssertionError(f"still waiting: {swept.waiting}")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project; its clients are pointed at it by Google's own variables."""
    stand = Stand()
    try:
        yield Project(stand, tmp_path, monkeypatch)
    finally:
        stand.close()


def test_two_sweeps_at_once_make_one_attempt_and_one_vm(project, capsys):
    """Many times over: one marker, two sweeps that start at the same moment, one new VM."""
    together = threading.Barrier(2)
    for number in range(ROUNDS):
        job = f"job-{number}"
        first = project.launch(job)
        project.stand.call(project.compute.preempt, first)
        project.until(lambda first=first: project.status(first) == "")
        project.store(MarkerName(node=job), msgspec.json.encode({"job": job, "instance_id": first}))

        def sweep(cloud, job=job) -> None:
            together.wait()
            project.sweep(cloud, job)

        sweeps = [threading.Thread(target=sweep, args=(cloud,), daemon=True) for cloud in project.clouds]
        for one in sweeps:
            one.start()
        for one in sweeps:
            one.join()
        ledger = look_at_job(project.clouds[0].store, NAMES, job).ledger
        assert [(one.attempt.number, one.attempt.state) for one in ledger] == [(2, AttemptState.RUNNING)]
        vms = [one.id for one in project.clouds[0].compute.instances().items if one.name == job]
        assert vms == list(ledger[0].attempt.instances.values())
        assert project.clouds[0].store.entries(NAMES.markers()) == []
    lost = capsys.readouterr().out.count('"outcome":"Lost"')
    assert lost > 0, "the sweeps never met"
