"""Governance beside a managed instance group whose VMs have a job's labels: what is made anew is let be."""

from datetime import timedelta

from spotwarden.layout import StatusCode
from spotwarden.model.rule_limits import OrphanLimits
from tests.localcloud.permissions.governing import SOON, job
from tests.localcloud.permissions.stage import BOOT, ZONE, Stage

GROUP = f"zones/{ZONE}/instanceGroupManagers/copies"
ORPHANS = OrphanLimits(after=timedelta(0), looks=1, grace=SOON)


def grouped(stage: Stage) -> dict[str, str]:
    """The ids of the group's VMs, by name."""
    return {name: made for name, made in stage.ids().items() if name.startswith("copies-")}


def form(stage: Stage, size: int) -> None:
    """A managed instance group whose template was made of a VM of the job, labels and all."""
    properties = {
        "machineType": "g2-standard-4",
        "scheduling": {"onHostMaintenance": "TERMINATE"},
        "labels": {"spotwarden-job": "train", "spotwarden-attempt": "1"},
        "disks": [BOOT],
        "networkInterfaces": [{"network": "global/networks/default"}],
    }
    stage.make("global/instanceTemplates", name="t", properties=properties)
    template = "global/instanceTemplates/t"
    place, _, name = GROUP.rpartition("/")
    stage.make(place, name=name, instanceTemplate=template, targetSize=size)
    stage.until(lambda: is_stable(stage))


def is_stable(stage: Stage) -> bool:
    """Whether every VM of the group runs. In the cloud's loop."""
    copies = [vm for vm in stage.resources() if vm["name"].startswith("copies-")]
    return [vm["status"] for vm in copies] == ["RUNNING", "RUNNING"]


def test_the_vms_of_a_group_are_let_be_and_it_makes_anew_what_is_deleted():
    """The job has ended: its own VM is deleted; of the group's, ops are told once, and no more is done."""
    with Stage("reap_vms", orphan=ORPHANS) as stage:
        job(stage)
        form(stage, 2)
        before = grouped(stage)
        stage.store(StatusCode(job="train"), b"0")
        stage.wait(minutes=20)
        stage.sweep_until(lambda: "train" not in stage.ids(), minutes=6)
        assert grouped(stage) == before
        told = [notice for notice in stage.heard() if "copies-" in str(notice)]
        assert [notice.kind for notice in told] == ["orphan_unknown"]
        assert "a managed instance group" in str(told)
        lost = min(before)
        stage.delete(lost)
        stage.until(lambda: any(vm["name"] == lost and vm["id"] != before[lost] for vm in stage.resources()))
        stage.until(lambda: is_stable(stage))
        anew = grouped(stage)
        for _ in range(4):
            stage.wait(minutes=20)
            stage.sweep()
        assert grouped(stage) == anew
        assert anew.keys() == before.keys()
