"""What an instance is made of: defaults, checks, refusals."""

from datetime import timedelta

import pytest

from tests.localcloud.compute.world import IMAGE, ZONE, World, request, spot

INSTANCES = f"zones/{ZONE}/instances"
HERE = "http://127.0.0.1:1/compute/v1/projects/project"


def refusal(world: World, **fields) -> tuple[int, str, str]:
    """How a request with these fields is refused; nothing may be left of it."""
    answer = world.refused("POST", INSTANCES, request(**fields))
    assert world.get("/local/instances")["count"] == 0
    assert "items" not in world.get(f"zones/{ZONE}/disks")
    return answer


def test_an_instance_is_shown_complete(world: World):
    """What clients look at is there, in the forms of the real API."""
    vm = world.create(
        labels={"job": "a"},
        metadata={"items": [{"key": "startup-script", "value": "echo hello\n"}]},
        tags={"items": ["train"]},
        serviceAccounts=[{"email": "default", "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}],
    )
    assert (vm["kind"], vm["selfLink"]) == ("compute#instance", f"{HERE}/{INSTANCES}/vm")
    assert vm["id"].isdecimal()
    assert len(vm["id"]) == 19
    assert vm["zone"] == f"{HERE}/zones/{ZONE}"
    assert vm["machineType"] == f"{HERE}/zones/{ZONE}/machineTypes/n1-standard-1"
    assert vm["cpuPlatform"] == "Intel Haswell"
    assert vm["metadata"]["items"] == [{"key": "startup-script", "value": "echo hello\n"}]
    assert (
        vm["serviceAccounts"][0]["email"]
        == world.get("/compute/v1/projects/project")["defaultServiceAccount"]
    )
    (disk,) = vm["disks"]
    assert disk["source"] == f"{HERE}/zones/{ZONE}/disks/vm"
    assert (disk["boot"], disk["autoDelete"], disk["diskSizeGb"]) == (True, True, "10")
    (card,) = vm["networkInterfaces"]
    assert card["networkIP"] == "10.128.0.2"
    assert card["subnetwork"] == f"{HERE}/regions/us-central1/subnetworks/default"
    assert "guestAccelerators" not in vm


def test_a_standard_instance_migrates_and_restarts(world: World):
    """The defaults of scheduling."""
    assert world.create()["scheduling"] == {
        "onHostMaintenance": "MIGRATE",
        "automaticRestart": True,
        "preemptible": False,
        "provisioningModel": "STANDARD",
    }


def test_a_spot_vm_terminates_and_stops(world: World):
    """The defaults of scheduling for spot VMs."""
    assert world.create(scheduling={"provisioningModel": "SPOT"})["scheduling"] == {
        "onHostMaintenance": "TERMINATE",
        "automaticRestart": False,
        "preemptible": True,
        "provisioningModel": "SPOT",
        "instanceTerminationAction": "STOP",
    }


def test_a_legacy_preemptible_instance_is_of_the_standard_model(world: World):
    """As gcloud's --preemptible sends it."""
    scheduling = world.create(scheduling={"automaticRestart": False, "preemptible": True})["scheduling"]
    assert (scheduling["preemptible"], scheduling["provisioningModel"]) == (True, "STANDARD")
    assert "instanceTerminationAction" not in scheduling


@pytest.mark.parametrize(
    "url",
    [
        "n1-standard-1",
        f"zones/{ZONE}/machineTypes/n1-standard-1",
        f"projects/project/zones/{ZONE}/machineTypes/n1-standard-1",
        f"https://www.googleapis.com/compute/v1/projects/project/zones/{ZONE}/machineTypes/n1-standard-1",
        f"https://compute.googleapis.com/compute/v1/projects/project/zones/{ZONE}/machineTypes/n1-standard-1",
        f"{HERE}/zones/{ZONE}/machineTypes/n1-standard-1",
    ],
)
def test_every_form_of_a_url_is_understood(world: World, url):
    """Full with any host of Google's or ours, partial, or a bare name."""
    assert world.create(machineType=url)["machineType"] == f"{HERE}/zones/{ZONE}/machineTypes/n1-standard-1"


@pytest.mark.parametrize(
    "url",
    [
        "projects/debian-cloud/global/images/family/debian-12",
        "projects/debian-cloud/zones/-/imageFamilyViews/debian-12",
        "projects/debian-cloud/global/images/debian-12-bookworm-v20250610",
        "https://compute.googleapis.com/compute/v1/projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts",
        "projects/deeplearning-platform-release/global/images/family/pytorch-2-4-cu124",
        "projects/cos-cloud/global/images/cos-stable-113-18244-1-60",
    ],
)
def test_public_images_are_there(world: World, url):
    """By family, by the view of a family in a zone, and by the name of one image."""
    disks = [{"boot": True, "initializeParams": {"sourceImage": url}}]
    assert world.create(disks=disks)["status"] == "RUNNING"


def test_accelerators_of_an_n1_machine_are_shown(world: World):
    """With the full URL of their type; maintenance has to terminate."""
    gpus = [{"acceleratorType": f"zones/{ZONE}/acceleratorTypes/nvidia-tesla-t4", "acceleratorCount": 2}]
    vm = world.create(guestAccelerators=gpus, scheduling={"onHostMaintenance": "TERMINATE"})
    url = f"{HERE}/zones/{ZONE}/acceleratorTypes/nvidia-tesla-t4"
    assert vm["guestAccelerators"] == [{"acceleratorType": url, "acceleratorCount": 2}]


@pytest.mark.parametrize(
    ("machine", "kind", "count"),
    [
        ("g2-standard-4", "nvidia-l4", 1),
        ("a2-highgpu-8g", "nvidia-tesla-a100", 8),
        ("a3-highgpu-8g", "nvidia-h100-80gb", 8),
    ],
)
def test_accelerators_that_come_with_a_machine_are_shown(world: World, machine, kind, count):
    """Nobody has to ask for them, and whoever does gets the same."""
    for name, asked in (("a", None), ("b", [{"acceleratorType": kind, "acceleratorCount": count}])):
        vm = world.create(name, machineType=machine, scheduling=spot(), guestAccelerators=asked)
        (gpus,) = vm["guestAccelerators"]
        assert gpus["acceleratorType"].endswith(f"/acceleratorTypes/{kind}")
        assert gpus["acceleratorCount"] == count


def test_a_machine_with_gpus_is_only_where_they_are(world: World):
    """us-central1-f has no H100."""
    body = request(machineType="a3-highgpu-8g", scheduling=spot())
    assert "does not exist in zone" in world.refused("POST", "zones/us-central1-f/instances", body)[2]


def test_an_arm_image_does_not_fit_an_x86_machine(world: World):
    """And the other way round it does."""
    arm = [{"boot": True, "initializeParams": {"sourceImage": IMAGE + "-arm64"}}]
    assert "is not compatible with machine type" in refusal(world, disks=arm)[2]
    assert world.create(disks=arm, machineType="t2a-standard-1")["status"] == "RUNNING"


def test_an_address_asked_for_is_given_once(world: World):
    """`networkIP` is taken, then refused to another."""
    cards = [{"networkIP": "10.128.0.77"}]
    assert world.create(networkInterfaces=cards)["networkInterfaces"][0]["networkIP"] == "10.128.0.77"
    body = request("other", networkInterfaces=cards)
    assert "is already being used" in world.refused("POST", INSTANCES, body)[2]
    world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    assert world.create("other", networkInterfaces=cards)["status"] == "RUNNING"


def test_a_request_from_a_template_has_what_the_template_says(world: World):
    """The body counts where both say something; bare names of the template are resolved in the zone."""
    properties = {key: value for key, value in request(machineType="e2-small").items() if key != "name"}
    properties["labels"] = {"from": "template"}
    world.post("global/instanceTemplates", {"name": "t", "properties": properties})
    for name, source in (("a", "global/instanceTemplates/t"), ("b", f"{HERE}/global/instanceTemplates/t")):
        world.post(INSTANCES, {"name": name, "description": "d"}, sourceInstanceTemplate=source)
        world.advance(1)
        vm = world.instance(name)
        assert vm["machineType"].endswith(f"/zones/{ZONE}/machineTypes/e2-small")
        assert (vm["labels"], vm["description"]) == ({"from": "template"}, "d")
    got = world.refused("POST", INSTANCES, {"name": "c"}, sourceInstanceTemplate="global/instanceTemplates/u")
    assert got[0] == 404


def test_a_machine_image_makes_another_instance_like_the_first(world: World):
    """Its disks are made from the same sources."""
    vm = world.create(labels={"a": "b"}, machineType="e2-small")
    world.post("global/machineImages", {"name": "m", "sourceInstance": vm["selfLink"]})
    world.post(INSTANCES, {"name": "twin", "sourceMachineImage": "global/machineImages/m"})
    world.advance(1)
    twin = world.instance("twin")
    assert (twin["labels"], twin["machineType"]) == (vm["labels"], vm["machineType"])
    assert twin["disks"][0]["source"].endswith("/disks/twin")


def test_an_insert_takes_the_time_that_is_drawn_for_it(world: World) -> None:
    """It is STAGING until then, and a start takes its own time."""
    world.service._site.insert_time = lambda: timedelta(seconds=30)

    def insert() -> None:
        world.post(INSTANCES, request("slow"))

    def start() -> None:
        world.post(f"{INSTANCES}/slow/start")

    for call in (insert, start):
        call()
        world.advance(30)
        assert world.status("slow") == "STAGING"
        world.advance(1)
        assert world.status("slow") == "RUNNING"
        world.post(f"{INSTANCES}/slow/stop")
        world.advance(200)
