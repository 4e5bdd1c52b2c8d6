"""What `recover_spot` needs: to look, to start again what each kind of script makes, and to say so."""

from functools import partial
from unittest.mock import patch

import msgspec
from msgspec.structs import replace

from spotwarden.create_script.request.stored import launch_of
from spotwarden.layout import AttemptRecord, CreateScript, InstanceId, MarkerName, OpenJob, PlacementMemory
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.launch import Launch, StoredScript
from spotwarden.model.watch import Watch
from tests.localcloud.permissions.scenes import scene
from tests.localcloud.permissions.stage import PROJECT, ZONE, Stage
from tests.recovery.slice_world import launch_of_slice

OWN = f"projects/{PROJECT}/global"
SPOT = "--provisioning-model=SPOT"
GONE = f"{SPOT} --machine-type=g2-standard-4 --instance-termination-action=DELETE"


def submit(stage: Stage, command: str, job: str = "train", track: str = "") -> dict[str, str]:
    """Store a create script and launch it, as its developer does; gives the ids by node."""
    text = f"gcloud {track} compute instances {command}\n".encode()
    stage.store(CreateScript(job=job), text)
    launch = launch_of(StoredScript(name="by-hand.sh", text=text, generation=1), PROJECT)
    assert isinstance(launch, Launch), launch
    before = stage.ids()
    stage.owner.compute.launch(launch.request, "11111111-1111-4111-8111-111111111111")
    stage.until(lambda: all_run(stage) and len(stage.resources()) > len(before))
    ids = {name: one for name, one in stage.ids().items() if name not in before}
    for node, instance_id in ids.items():
        stage.store(InstanceId(job=job, node=node), instance_id.encode())
    stage.wait(minutes=10)
    return ids


def all_run(stage: Stage) -> bool:
    """Whether every VM runs."""
    return all(one["status"] == "RUNNING" for one in stage.resources())


def _stands(stage: Stage, node: str, status: str) -> bool:
    return stage.status(node) == status


def preempt(stage: Stage, *nodes: str, until: str = "") -> None:
    """Take VMs away; their shutdown scripts write markers."""
    for node in nodes or ("train",):
        stage.call(stage.local.compute.knobs.preempt, node)
        stage.until(partial(_stands, stage, node, until))
        stage.store(MarkerName(node=node))


def back(stage: Stage, old: dict[str, str]) -> bool:
    """Whether every node is there anew, running, and nothing waits for it any more."""
    new = {name: one for name, one in stage.ids().items() if name in old}
    runs = new.keys() == old.keys() and not set(new.values()) & set(old.values())
    return runs and stage.call(all_run, stage) and stage.names("preempted-jobs/") == []


def comes_back(stage: Stage, command: str) -> None:
    """A job of one VM is made anew, and its owner is told."""
    ids = submit(stage, f"create train --zone={ZONE} {GONE} {command}")
    made_anew(stage, ids)
    assert "recovered" in stage.kinds()


def made_anew(stage: Stage, ids: dict[str, str]) -> None:
    """A VM is taken away, and is there again."""
    preempt(stage)
    stage.sweep_until(lambda: back(stage, ids), seconds=20)


@scene("recover_spot")
def an_ordinary_job(stage: Stage) -> None:
    """With all that an ordinary script gives a VM: labels, tags, metadata, an account, an image of ours."""
    stage.call(stage.local.compute.knobs.add_image, "ours")
    words = f"--image=ours --image-project={PROJECT} --labels=team=a --tags=ssh --metadata=a=b"
    comes_back(stage, words)


@scene("recover_spot")
def a_vm_without_an_address(stage: Stage) -> None:
    """Inside a network only."""
    comes_back(stage, "--no-address --no-service-account --no-scopes")


@scene("recover_spot")
def a_reserved_address(stage: Stage) -> None:
    """The VM is found where it always was."""
    stage.make("regions/us-central1/addresses", name="home")
    address = stage.get("regions/us-central1/addresses/home")["address"]
    comes_back(stage, f"--address={address}")


@scene("recover_spot")
def disks_of_its_own(stage: Stage) -> None:
    """One that it writes to, one that it reads, and one made from a snapshot."""
    place = f"zones/{ZONE}/disks"
    stage.make(place, name="work", sizeGb="20")
    stage.make(place, name="data", sizeGb="20")
    stage.make("global/snapshots", name="base", sourceDisk=f"projects/{PROJECT}/{place}/data")
    comes_back(
        stage,
        "--disk=name=work --disk=name=data,mode=ro"
        " --create-disk=name=scratch,source-snapshot=base,auto-delete=yes",
    )


@scene("recover_spot")
def a_disk_with_labels(stage: Stage) -> None:
    """Which gcloud sends in beta only."""
    disk = "--create-disk=name=scratch,size=10GB,labels=team=a,auto-delete=yes"
    made_anew(stage, submit(stage, f"create train --zone={ZONE} {GONE} {disk}", track="beta"))


@scene("recover_spot")
def a_template(stage: Stage) -> None:
    """The script names it and little else."""
    properties = {
        "machineType": "g2-standard-4",
        "disks": [
            {
                "boot": True,
                "autoDelete": True,
                "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"},
            }
        ],
        "networkInterfaces": [{"network": f"{OWN}/networks/default"}],
        "scheduling": {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"},
    }
    stage.make("global/instanceTemplates", name="usual", properties=properties)
    ids = submit(stage, f"create train --zone={ZONE} --source-instance-template=usual")
    made_anew(stage, ids)


@scene("recover_spot")
def a_machine_image(stage: Stage) -> None:
    """A VM as another one was."""
    stage.vm("model", labels={})
    stage.make("global/machineImages", name="golden", sourceInstance=f"zones/{ZONE}/instances/model")
    comes_back(stage, "--source-machine-image=golden")


@scene("recover_spot")
def a_resource_policy(stage: Stage) -> None:
    """A placement policy, say."""
    stage.make("regions/us-central1/resourcePolicies", name="near", groupPlacementPolicy={})
    comes_back(stage, "--resource-policies=near")


@scene("recover_spot")
def a_vm_that_was_only_stopped(stage: Stage) -> None:
    """It is started again where it is."""
    ids = submit(stage, f"create train --zone={ZONE} {SPOT} --instance-termination-action=STOP")
    preempt(stage, until="TERMINATED")
    stage.sweep_until(lambda: stage.call(all_run, stage) and stage.names("preempted-jobs/") == [], seconds=20)
    assert stage.ids() == ids


@scene("recover_spot")
def a_gang_with_a_survivor(stage: Stage) -> None:
    """The survivor is deleted, and all are made anew, wherever in the region there is room."""
    ids = submit(stage, f"bulk create --predefined-names=one,two --region=us-central1 {GONE}", job="gang")
    preempt(stage, "one")
    # Nobody had seen the gang before; its marker goes once the new VM has settled, after three minutes.
    stage.sweep_until(lambda: back(stage, ids), limit=15, seconds=20)


@scene("recover_spot")
def a_stockout_at_home(stage: Stage) -> None:
    """Another zone that offers the machine and its GPUs is asked."""
    machine = "--machine-type=n1-standard-4 --accelerator=type=nvidia-tesla-t4,count=1"
    words = f"{SPOT} --instance-termination-action=DELETE {machine}"
    ids = submit(stage, f"create train --zone={ZONE} {words}")
    stage.call(stage.local.compute.knobs.begin_stockout, ZONE)
    made_anew(stage, ids)
    assert not stage.seen("train")["zone"].endswith(ZONE)


@scene("recover_spot")
def advice_about_the_places(stage: Stage) -> None:
    """Google is asked how each of them would serve the next request, and what it says is remembered."""
    ids = submit(stage, f"create train --zone={ZONE} {GONE}")
    made_anew(stage, ids)
    stored = stage.owner.store.read(stage.layout.build(PlacementMemory(machine="g2-standard-4")))
    assert stored is not None
    said = msgspec.json.decode(stored.data)["advice"]["places"]
    assert said
    assert all(place["obtainability"] and place["preempted"] is not None for place in said.values())


@scene("recover_spot")
def a_script_that_was_never_stored(stage: Stage) -> None:
    """What ran is written down while it runs, with its disks, and made anew from that."""
    ids = submit(stage, f"create train --zone={ZONE} {GONE}")
    stage.sweep_until(lambda: stage.names("train/metadata/launched/") != [], minutes=1)
    stage.forget(CreateScript(job="train"))
    made_anew(stage, ids)


@scene("recover_spot")
def a_slice(stage: Stage) -> None:
    """Policy, template and group are made, and made anew once a VM of it was taken."""
    launch = launch_of_slice(machine="e2-medium")
    now = stage.now
    asked = Attempt(
        job="slice", number=1, state=AttemptState.CLAIMED, created=now, updated=now, reason="submitted"
    )
    with patch("spotwarden.recovery.sweep.with_launch", lambda facts, *_: replace(facts, launch=launch)):
        stage.store(CreateScript(job="slice"), b"#!/bin/bash")
        stage.store(OpenJob(job="slice"), Watch(job="slice", attempt=1))
        stage.store(AttemptRecord(job="slice", attempt=1), asked)
        stage.sweep_until(lambda: _runs(stage, 1), seconds=20)
        ids = stage.ids()
        stage.call(stage.local.compute.knobs.preempt, "slice-2")
        stage.sweep_until(lambda: _runs(stage, 2), seconds=20)
        assert not {*ids.values()} & {*stage.ids().values()}


def _runs(stage: Stage, number: int) -> bool:
    stored = stage.owner.store.read(stage.layout.build(AttemptRecord(job="slice", attempt=number)))
    return stored is not None and msgspec.json.decode(stored.data)["state"] == "running"
