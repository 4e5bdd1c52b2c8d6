"""VMs with TPUs: ordinary instances of machine types of their own."""

import pytest

from tests.localcloud.compute.world import World, request, spot

ZONE = "us-east5-b"
INSTANCES = f"zones/{ZONE}/instances"
V6E = f"zones/{ZONE}/machineTypes/ct6e-standard-4t"
TERMINATE = {"onHostMaintenance": "TERMINATE"}


def test_a_machine_type_says_which_chips_come_with_it(world: World):
    """Four of v6e; the family is the accelerator's type."""
    found = world.get(V6E)
    assert (found["guestCpus"], found["memoryMb"]) == (180, 737280)
    assert found["accelerators"] == [{"guestAcceleratorType": "ct6e", "guestAcceleratorCount": 4}]


@pytest.mark.parametrize(
    ("machine", "zone"),
    [
        ("ct6e-standard-1t", "europe-west4-a"),
        ("ct6e-standard-4t", "us-east5-b"),
        ("ct6e-standard-8t", "us-east1-d"),
        ("ct5p-hightpu-4t", "us-east5-a"),
        ("tpu7x-standard-4t", "us-central1-c"),
    ],
)
def test_a_single_host_is_created_as_an_instance(world: World, machine, zone):
    """Spot, where its TPUs are; its resource lists no accelerators."""
    kind = f"zones/{zone}/machineTypes/{machine}"
    made = world.create(zone=zone, machineType=kind, scheduling=spot())
    assert made["status"] == "RUNNING"
    assert made["scheduling"]["onHostMaintenance"] == "TERMINATE"
    assert "guestAccelerators" not in made


def test_a_zone_without_the_tpus_does_not_have_the_machine(world: World):
    """As with GPUs."""
    wanted = request(machineType="zones/us-west1-a/machineTypes/ct6e-standard-4t")
    _, _, text = world.refused("POST", "zones/us-west1-a/instances", wanted)
    assert "Machine type with name 'ct6e-standard-4t' does not exist in zone 'us-west1-a'." in text


def test_it_cannot_be_migrated(world: World):
    """An on-demand one has to say TERMINATE."""
    _, _, text = world.refused("POST", INSTANCES, request(machineType=V6E))
    assert "do not support live migration" in text
    assert world.create(zone=ZONE, machineType=V6E, scheduling=TERMINATE)["status"] == "RUNNING"


def test_it_cannot_be_made_to_migrate_later(world: World):
    """The options are checked with the machine type, since the resource lists no accelerators."""
    world.create(zone=ZONE, machineType=V6E, scheduling=TERMINATE)
    wanted = {"onHostMaintenance": "MIGRATE"}
    _, _, text = world.refused("POST", f"{INSTANCES}/vm/setScheduling", wanted)
    assert "do not support live migration" in text


def test_it_takes_no_guest_accelerators(world: World):
    """Neither GPUs nor its own TPUs by a name of theirs."""
    gpu = [{"acceleratorType": "zones/us-east5-a/acceleratorTypes/nvidia-h100-80gb", "acceleratorCount": 1}]
    kind = "zones/us-east5-a/machineTypes/ct6e-standard-4t"
    wanted = request(machineType=kind, guestAccelerators=gpu, scheduling=TERMINATE)
    assert "does not take nvidia-h100-80gb" in world.refused("POST", "zones/us-east5-a/instances", wanted)[2]
    tpu = [{"acceleratorType": f"zones/{ZONE}/acceleratorTypes/ct6e", "acceleratorCount": 4}]
    wanted = request(machineType=V6E, guestAccelerators=tpu, scheduling=TERMINATE)
    assert world.refused("POST", INSTANCES, wanted)[0] == 404


def test_no_vm_is_made_of_v5e(world: World):
    """Its machine types stand in the lists, for GKE; a caller is refused."""
    kind = "zones/us-west4-a/machineTypes/ct5lp-hightpu-4t"
    assert world.get(kind)["accelerators"][0]["guestAcceleratorCount"] == 4
    wanted = request(machineType=kind, scheduling=spot())
    _, _, text = world.refused("POST", "zones/us-west4-a/instances", wanted)
    assert text == "This user agent is not allowed to use the machine type [ct5lp-hightpu-4t]."


def test_a_spot_one_that_was_stopped_is_made_anew(world: World):
    """It cannot be started again, other than one on demand."""
    world.create("spot", zone=ZONE, machineType=V6E, scheduling=spot("STOP"))
    world.create("kept", zone=ZONE, machineType=V6E, scheduling=TERMINATE)
    for name in ("spot", "kept"):
        world.post(f"{INSTANCES}/{name}/stop")
    world.advance(200)
    _, _, text = world.refused("POST", f"{INSTANCES}/spot/start")
    assert "delete it and create it again" in text
    world.post(f"{INSTANCES}/kept/start")


def test_the_images_for_tpus_are_there_by_family(world: World):
    """One family for v5e to v6e, one for TPU7x."""
    base = f"/compute/v1/projects/ubuntu-os-accelerator-images/zones/{ZONE}/imageFamilyViews"
    for family in ("ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e", "ubuntu-accel-2404-amd64-tpu-tpu7x"):
        assert world.get(f"{base}/{family}")["image"]["family"] == family
