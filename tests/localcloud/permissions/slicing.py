"""What the functions of governance need for a slice: to see its group by its ID, and to delete it as one."""

from typing import Any

from spotwarden.layout import AttemptRecord, Heartbeat, OpenJob, StatusCode
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.notice import Way
from spotwarden.model.rule_limits import IdleLimits, InstanceCap, OrphanLimits
from spotwarden.model.slices import SliceGroup
from spotwarden.model.watch import Watch
from tests.localcloud.permissions.governing import A2_ONLY, GPU, SOON
from tests.localcloud.permissions.scenes import scene
from tests.localcloud.permissions.stage import BOOT, ZONE, Stage
from tests.localcloud.permissions.telling import web

PLACE = f"zones/{ZONE}/instanceGroupManagers"
NAME = "train-1-1-abcd"
ROOM = GovernanceLimits(ops="ops@x.org", launch_grace=SOON * 0, blast_least=8)
HOUR = 12 * SOON
OWNER = "ada@example.com"


def sliced(stage: Stage) -> dict[str, str]:
    """A job that runs as a group of two VMs, on record as recovery writes it down; gives their ids."""
    properties = {
        "machineType": "g2-standard-4",
        "scheduling": {"onHostMaintenance": "TERMINATE"},
        "labels": {"spotwarden-job": "train", "spotwarden-attempt": "1"},
        "disks": [BOOT],
        "networkInterfaces": [{"network": "global/networks/default"}],
    }
    stage.make("global/instanceTemplates", name=NAME, properties=properties)
    life = {"defaultActionOnFailure": "DO_NOTHING"}
    template = f"global/instanceTemplates/{NAME}"
    asked: dict[str, Any] = {"instanceTemplate": template, "targetSize": 2, "instanceLifecyclePolicy": life}
    stage.make(PLACE, name=NAME, **asked)
    stage.until(lambda: [vm["status"] for vm in stage.resources()] == ["RUNNING", "RUNNING"])
    ids = stage.ids()
    group = SliceGroup(name=NAME, id=stage.get(f"{PLACE}/{NAME}")["id"])
    attempt = Attempt(
        job="train",
        number=1,
        state=AttemptState.RUNNING,
        created=stage.now,
        updated=stage.now,
        started=stage.now,
        instances=ids,
        tries=(Try(place=ZONE, request_id="r", at=stage.now, group=group),),
        owner=OWNER,
    )
    stage.store(AttemptRecord(job="train", attempt=1), attempt)
    stage.store(OpenJob(job="train"), Watch(job="train", attempt=1, instances=ids, recorded=True))
    return ids


def is_gone(stage: Stage) -> bool:
    """Whether the group is, with all of its VMs."""
    return not stage.ids() and not stage.get(PLACE).get("items")


@scene("check_compliance", compliance=A2_ONLY, governance=ROOM)
def a_slice_that_is_not_allowed(stage: Stage) -> None:
    """Its owner is told, and it is deleted."""
    sliced(stage)
    stage.sweep_until(lambda: is_gone(stage), minutes=5)
    assert "compliance_warning" in stage.kinds()


@scene(
    "cap_runtime", instance_cap=InstanceCap(max_uptime=HOUR, remedy=Remedy.STOP, grace=SOON), governance=ROOM
)
def a_slice_that_is_up_for_too_long(stage: Stage) -> None:
    """Its owner is told, and it is deleted."""
    sliced(stage)
    stage.wait(minutes=58)
    stage.sweep_until(lambda: is_gone(stage), minutes=5)
    assert "instance_cap_warning" in stage.kinds()


@scene(
    "flag_idle_gpus",
    idle=IdleLimits(remedy=Remedy.STOP, warn=(3 * SOON,), act=4 * SOON, grace=SOON),
    governance=ROOM,
)
def a_slice_that_sleeps(stage: Stage) -> None:
    """Its VMs bear a label, its owner is told, and it is deleted."""
    for made in sliced(stage).values():
        stage.measured(GPU, made, 0.0, gpu_number="0", model="L4", uuid="u")
    stage.wait(minutes=30)
    stage.sweep_until(lambda: is_gone(stage), limit=10, minutes=5)
    assert "idle_warning" in stage.kinds()


@scene("reap_vms", orphan=OrphanLimits(after=SOON * 0, looks=1, grace=SOON), governance=ROOM)
def a_slice_whose_job_has_ended(stage: Stage) -> None:
    """It is deleted after a warning."""
    sliced(stage)
    stage.store(StatusCode(job="train"), b"0")
    stage.wait(minutes=20)
    stage.sweep_until(lambda: is_gone(stage), minutes=6)
    assert "orphan_warning" in stage.kinds()


@scene("answer_notice", compliance=A2_ONLY, governance=ROOM)
def a_click_that_deletes_a_slice(stage: Stage) -> None:
    """The page says what it would do, and the click does it."""
    for name in sliced(stage):
        stage.store(Heartbeat(job="train", node=name))
    stage.sweep("check_compliance")
    warning = next(told for told in stage.heard() if Way.STOP in told.ways)
    browser = web(stage)
    token = browser.token(browser.offer(Way.STOP, warning, warning.owner))
    with stage.acting():
        assert browser.open(token).status_code == 200
        assert browser.click(token).status_code == 200
    stage.until(lambda: not stage.resources())
