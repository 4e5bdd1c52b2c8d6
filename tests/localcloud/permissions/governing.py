"""What the functions of governance need: to look, to warn, to look again, and to do what the policy says."""

from datetime import timedelta
from uuid import uuid4

import msgspec

from spotwarden.layout import AttemptRecord, Heartbeat, LaunchedRecord, OpenJob, StatusCode
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.governance import Remedy
from spotwarden.model.rule_limits import (
    ComplianceLimits,
    EarlyStopLimits,
    IdleLimits,
    InstanceCap,
    LeftoverLimits,
    OrphanLimits,
    StallLimits,
)
from spotwarden.model.watch import Watch
from tests.localcloud.permissions.scenes import scene
from tests.localcloud.permissions.stage import PROJECT, ZONE, Stage

SOON = timedelta(minutes=5)
A2_ONLY = ComplianceLimits(remedy=Remedy.STOP, machine_types=("a2-*",), grace=SOON)
GPU = "agent.googleapis.com/gpu/utilization"
CPU = "compute.googleapis.com/instance/cpu/utilization"


def job(stage: Stage, name: str = "train") -> str:
    """A job of one VM, on record as recovery writes it down; gives the VM's id."""
    made = stage.vm(name)
    attempt = Attempt(
        job=name,
        number=1,
        state=AttemptState.RUNNING,
        created=stage.now,
        updated=stage.now,
        started=stage.now,
        instances={name: made},
        owner="ada@example.com",
    )
    stage.store(AttemptRecord(job=name, attempt=1), attempt)
    stage.store(OpenJob(job=name), Watch(job=name, attempt=1, instances={name: made}, recorded=True))
    return made


def stopped(stage: Stage, name: str = "train") -> bool:
    """Whether the VM stands still, or is about to."""
    return stage.call(stage.status, name) in {"STOPPING", "TERMINATED"}


@scene("check_compliance", compliance=A2_ONLY)
def a_machine_that_is_not_allowed(stage: Stage) -> None:
    """Its owner is told, and it is stopped."""
    job(stage)
    stage.sweep_until(lambda: stopped(stage), minutes=5)
    assert "compliance_warning" in stage.kinds()


@scene("cap_runtime", instance_cap=InstanceCap(max_uptime=timedelta(hours=1), remedy=Remedy.STOP, grace=SOON))
def a_vm_that_is_up_for_too_long(stage: Stage) -> None:
    """Its owner is told, and it is stopped."""
    job(stage)
    stage.wait(minutes=58)
    stage.sweep_until(lambda: stopped(stage), minutes=5)
    assert "instance_cap_warning" in stage.kinds()


@scene("flag_idle_gpus", idle=IdleLimits(remedy=Remedy.STOP, warn=(3 * SOON,), act=4 * SOON, grace=SOON))
def a_gpu_that_sleeps(stage: Stage) -> None:
    """The VM bears a label, its owner is told, and it is stopped."""
    stage.measured(GPU, job(stage), 0.0, gpu_number="0", model="L4", uuid="u")
    stage.wait(minutes=30)
    stage.sweep_until(lambda: stopped(stage), limit=10, minutes=5)
    assert "idle_warning" in stage.kinds()
    assert "spotwarden-idle" in stage.seen("train")["labels"]


@scene("reap_vms", orphan=OrphanLimits(after=timedelta(0), looks=1, grace=SOON))
def a_vm_whose_job_has_ended(stage: Stage) -> None:
    """It is deleted after a warning."""
    job(stage)
    stage.store(StatusCode(job="train"), b"0")
    stage.wait(minutes=20)
    stage.sweep_until(lambda: stage.ids() == {}, minutes=6)
    assert "orphan_warning" in stage.kinds()


@scene("reap_vms", orphan=OrphanLimits(after=timedelta(0), looks=1, grace=SOON))
def a_vm_that_only_the_log_tells_of(stage: Stage) -> None:
    """Its id was never written down: that a request of the job's chain made it is in the operation log."""
    request = str(uuid4())
    asked = Try(place=ZONE, request_id=request, at=stage.now)
    attempt = Attempt(
        job="train",
        number=1,
        state=AttemptState.RUNNING,
        created=stage.now,
        updated=stage.now,
        tries=(asked,),
        owner="ada@example.com",
    )
    stage.store(AttemptRecord(job="train", attempt=1), attempt)
    stage.vm("train", request_id=request)
    stage.store(StatusCode(job="train"), b"0")
    stage.wait(minutes=20)
    stage.sweep_until(lambda: stage.ids() == {}, minutes=6)
    assert "orphan_warning" in stage.kinds()


@scene("reap_vms", stall=StallLimits(after=timedelta(minutes=30), grace=SOON))
def a_job_that_hangs(stage: Stage) -> None:
    """Nothing of it moves any more, its CPU neither: it is stopped."""
    stage.measured(CPU, job(stage), 0.001)
    stage.store(Heartbeat(job="train", node="train"))
    for _ in range(2):
        stage.wait(minutes=20)
        stage.sweep()
    stage.sweep_until(lambda: stopped(stage), minutes=20)
    assert "stall_warning" in stage.kinds()


@scene("reap_vms", early_stop=EarlyStopLimits(unreal=True, grace=SOON))
def a_loss_that_is_no_number(stage: Stage) -> None:
    """Its job is closed in the ledger, and its VM stopped."""
    said = f'{{"attempt": 1, "instance_id": "{job(stage)}", "metrics": {{"loss": "nan"}}}}'
    stage.store(Heartbeat(job="train", node="train"), said.encode())
    stage.wait(minutes=20)
    stage.sweep_until(lambda: stopped(stage), minutes=6)
    assert "early_stop_warning" in stage.kinds()


@scene("reap_vms", leftover=LeftoverLimits(remedy=Remedy.DELETE, after=timedelta(0), grace=SOON, looks=1))
def what_a_job_left_behind(stage: Stage) -> None:
    """Its disk, its address and its snapshot go."""
    labels = {"spotwarden-job": "gone"}
    stage.make(f"zones/{ZONE}/disks", name="work", sizeGb="20", labels=labels)
    stage.make("regions/us-central1/addresses", name="home", labels=labels)
    source = f"projects/{PROJECT}/zones/{ZONE}/disks/work"
    stage.make("global/snapshots", name="base", sourceDisk=source, labels=labels)
    stage.store(StatusCode(job="gone"), b"0")
    places = (f"zones/{ZONE}/disks", "regions/us-central1/addresses", "global/snapshots")
    [disk], [address] = (stage.get(place)["items"] for place in places[:2])
    network = {"accessConfigs": [{"natIP": address["address"]}]}
    ran = {"gone": {"disks": {"work": {"id": disk["id"]}}, "instance": {"networkInterfaces": [network]}}}
    stage.store(LaunchedRecord(job="gone", attempt=1), msgspec.json.encode(ran))
    stage.wait(hours=1)
    stage.sweep_until(lambda: not any(stage.get(one).get("items") for one in places), minutes=6)


@scene("flag_idle_gpus")
@scene("cap_runtime")
@scene("check_compliance", compliance=A2_ONLY)
@scene("reap_vms", orphan=OrphanLimits(after=timedelta(0), looks=1, grace=SOON))
def a_vm_with_the_labels_of_a_job(stage: Stage) -> None:
    """The operation log tells that another has made it, so that nothing is done to it."""
    job(stage)
    stage.vm("copy", labels={"spotwarden-job": "train", "spotwarden-attempt": "1"})
    for _ in range(3):
        stage.wait(minutes=20)
        stage.sweep()
    assert stage.call(stage.status, "copy") == "RUNNING"
