"""What belongs to instances: disks, addresses, images, networks, templates; and what is on offer."""

import pytest

from localcloud.compute.catalog import Catalog
from tests.localcloud.compute.conftest import IMAGE, REGION, ZONE, World, request

INSTANCES = f"zones/{ZONE}/instances"
DISKS = f"zones/{ZONE}/disks"
HERE = "http://127.0.0.1:1/compute/v1/projects/project"


def test_a_boot_disk_is_made_and_deleted_with_its_instance(world: World):
    """Named after it, and in use by it."""
    vm = world.create()
    disk = world.get(f"{DISKS}/vm")
    assert (disk["users"], disk["sizeGb"], disk["status"]) == ([vm["selfLink"]], "10", "READY")
    assert disk["sourceImage"].startswith(
        "http://127.0.0.1:1/compute/v1/projects/debian-cloud/global/images/"
    )
    world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    assert world.refused("GET", f"{DISKS}/vm")[0] == 404


def test_a_disk_without_auto_delete_stays(world: World):
    """And blocks its name: the next instance of that name cannot have a new disk of it."""
    boot = {"boot": True, "autoDelete": False, "initializeParams": {"sourceImage": IMAGE}}
    world.create(disks=[boot])
    world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    assert "users" not in world.get(f"{DISKS}/vm")
    assert world.refused("POST", INSTANCES, request())[2] == (
        f"The resource 'projects/project/{DISKS}/vm' already exists"
    )
    again = {"boot": True, "source": f"{DISKS}/vm"}
    assert world.create(disks=[again])["disks"][0]["source"] == f"{HERE}/{DISKS}/vm"


def test_further_disks_and_local_ssds(world: World):
    """A data disk has a name of its own; a local SSD is no disk resource."""
    disks = [
        {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE, "diskSizeGb": "50"}},
        {
            "autoDelete": True,
            "initializeParams": {"diskName": "data", "diskType": "pd-ssd", "diskSizeGb": 200},
        },
        {"autoDelete": True, "initializeParams": {"diskType": "pd-balanced"}},
        {
            "type": "SCRATCH",
            "autoDelete": True,
            "interface": "NVME",
            "initializeParams": {"diskType": "local-ssd"},
        },
    ]
    vm = world.create(disks=disks)
    assert [disk["index"] for disk in vm["disks"]] == [0, 1, 2, 3]
    assert [disk["diskSizeGb"] for disk in vm["disks"]] == ["50", "200", "100", "375"]
    assert "source" not in vm["disks"][3]
    assert [disk["name"] for disk in world.get(DISKS)["items"]] == ["data", "vm", "vm-2"]


def test_a_disk_in_use_is_attached_to_no_other_instance_but_to_read(world: World):
    """And is not deleted."""
    world.post(DISKS, {"name": "data", "sizeGb": "20"})
    boot = request()["disks"][0]
    world.create("a", disks=[boot, {"source": f"{DISKS}/data"}])
    body = request("b", disks=[boot, {"source": f"{DISKS}/data"}])
    status, reason, message = world.refused("POST", INSTANCES, body)
    assert (status, reason) == (400, "resourceInUseByAnotherResource")
    assert message.endswith("is already being used by 'projects/project/zones/us-central1-a/instances/a'")
    world.create("b", disks=[boot, {"source": f"{DISKS}/data", "mode": "READ_ONLY"}])
    assert world.refused("DELETE", f"{DISKS}/data")[1] == "resourceInUseByAnotherResource"


def test_a_disk_of_another_zone_is_refused(world: World):
    """A job with such a disk cannot be moved."""
    world.post("zones/us-east1-b/disks", {"name": "data"})
    disks = [request()["disks"][0], {"source": "zones/us-east1-b/disks/data"}]
    assert f"The disk is not in zone '{ZONE}'." in world.refused("POST", INSTANCES, request(disks=disks))[2]


def test_a_disk_is_made_from_a_snapshot_of_another(world: World):
    """With its size."""
    world.post(DISKS, {"name": "data", "sizeGb": "70"})
    world.post("global/snapshots", {"name": "snap", "sourceDisk": f"{DISKS}/data"})
    world.post(DISKS, {"name": "copy", "sourceSnapshot": "global/snapshots/snap"})
    assert world.get(f"{DISKS}/copy")["sizeGb"] == "70"
    got = world.refused("POST", DISKS, {"name": "x", "sourceSnapshot": "global/snapshots/none"})
    assert got[0] == 404


@pytest.mark.parametrize("kind", sorted(Catalog().disk_types))
def test_every_disk_type_can_be_asked_for(world: World, kind):
    """With its own size where none is given."""
    world.post(DISKS, {"name": "d", "type": f"{HERE}/zones/{ZONE}/diskTypes/{kind}"})
    disk = world.get(f"{DISKS}/d")
    assert disk["sizeGb"] == world.get(f"zones/{ZONE}/diskTypes/{kind}")["defaultDiskSizeGb"]


class TestAddresses:
    """Static addresses of a region."""

    def test_an_instance_uses_a_reserved_address_and_gives_it_back(self, world: World):
        """IN_USE while the instance is there, also while it is stopped."""
        world.post(f"regions/{REGION}/addresses", {"name": "ip"})
        reserved = world.get(f"regions/{REGION}/addresses/ip")
        assert (reserved["status"], reserved["addressType"]) == ("RESERVED", "EXTERNAL")
        cards = [{"accessConfigs": [{"natIP": reserved["address"]}]}]
        vm = world.create(networkInterfaces=cards)
        assert world.get(f"regions/{REGION}/addresses/ip")["users"] == [vm["selfLink"]]
        world.post(f"{INSTANCES}/vm/stop")
        world.advance(1)
        access = world.instance()["networkInterfaces"][0]["accessConfigs"][0]
        assert access["natIP"] == reserved["address"]
        assert (
            world.refused("DELETE", f"regions/{REGION}/addresses/ip")[1] == "resourceInUseByAnotherResource"
        )
        world.delete(f"{INSTANCES}/vm")
        world.advance(1)
        assert world.get(f"regions/{REGION}/addresses/ip")["status"] == "RESERVED"
        world.delete(f"regions/{REGION}/addresses/ip")

    def test_two_instances_cannot_have_it(self, world: World):
        """The second is told who has it."""
        world.post(f"regions/{REGION}/addresses", {"name": "ip"})
        address = world.get(f"regions/{REGION}/addresses/ip")["address"]
        cards = [{"accessConfigs": [{"natIP": address}]}]
        world.create("a", networkInterfaces=cards)
        status, reason, message = world.refused("POST", INSTANCES, request("b", networkInterfaces=cards))
        assert (status, reason) == (400, "resourceInUseByAnotherResource")
        assert "instances/a" in message

    def test_no_ephemeral_address_is_a_reserved_one(self, world: World):
        """They come out of one pool."""
        world.post(f"regions/{REGION}/addresses", {"name": "ip"})
        address = world.get(f"regions/{REGION}/addresses/ip")["address"]
        vm = world.create(networkInterfaces=[{"accessConfigs": [{}]}])
        assert vm["networkInterfaces"][0]["accessConfigs"][0]["natIP"] != address

    def test_an_internal_one_is_of_the_subnetwork(self, world: World):
        """And is not given to an instance that did not ask for it."""
        body = {
            "name": "inner",
            "addressType": "INTERNAL",
            "subnetwork": f"regions/{REGION}/subnetworks/default",
        }
        world.post(f"regions/{REGION}/addresses", body)
        inner = world.get(f"regions/{REGION}/addresses/inner")
        assert inner["address"].startswith("10.128.0.")
        assert world.create()["networkInterfaces"][0]["networkIP"] != inner["address"]
        world.delete(f"regions/{REGION}/addresses/inner")


class TestImages:
    """Images of the project and public ones."""

    def test_a_custom_image_is_found_by_name_and_family(self, world: World):
        """The newest of the family."""
        for name in ("golden-1", "golden-2"):
            world.post("global/images", {"name": name, "family": "golden", "diskSizeGb": "30"})
        assert world.get("global/images/family/golden")["name"] == "golden-2"
        view = world.get(f"zones/{ZONE}/imageFamilyViews/golden")
        assert view["image"]["name"] == "golden-2"
        disks = [{"boot": True, "initializeParams": {"sourceImage": "global/images/family/golden"}}]
        assert world.create(disks=disks)["disks"][0]["diskSizeGb"] == "30"

    def test_an_image_can_be_made_known_without_a_source(self, world: World):
        """A knob, for scripts that name images of their own."""
        disks = [{"boot": True, "initializeParams": {"sourceImage": "global/images/lab-golden"}}]
        assert "cannot be found" in world.refused("POST", INSTANCES, request(disks=disks))[2]
        world.post("/local/images", {"name": "lab-golden"})
        assert world.create(disks=disks)["status"] == "RUNNING"

    def test_an_image_of_another_project_can_be_made_known(self, world: World):
        """Companies keep theirs in a project of its own; ours does not list them."""
        world.post("/local/images", {"name": "golden-1", "family": "golden", "project": "images-of-acme"})
        path = "projects/images-of-acme/global/images"
        view = "projects/images-of-acme/zones/-/imageFamilyViews/golden"
        for number, source in enumerate((f"{path}/golden-1", f"{path}/family/golden", view)):
            disks = [{"boot": True, "initializeParams": {"sourceImage": source}}]
            assert world.create(f"vm-{number}", disks=disks)["status"] == "RUNNING"
        assert "items" not in world.get("global/images")
        assert world.get(f"/compute/v1/{path}")["items"][0]["selfLink"].endswith(f"/{path}/golden-1")

    def test_public_images_are_got_and_listed_in_their_project(self, world: World):
        """By name, by family, as the view of a zone or of any zone."""
        base = "/compute/v1/projects/debian-cloud"
        image = world.get(f"{base}/global/images/family/debian-12")
        assert world.get(f"{base}/global/images/{image['name']}")["selfLink"] == image["selfLink"]
        assert world.get(f"{base}/zones/{ZONE}/imageFamilyViews/debian-12") == {"image": image}
        listed = world.get(f"{base}/global/images", filter="family=debian-12")["items"]
        assert [one["name"] for one in listed] == [image["name"]]

    def test_every_family_of_the_catalog_leads_to_an_image(self, world: World):
        """And the image is found by its name again."""
        for project, public in Catalog().public_images.items():
            for family in public.families:
                image = world.get(f"/compute/v1/projects/{project}/global/images/family/{family}")
                again = world.get(f"/compute/v1/projects/{project}/global/images/{image['name']}")
                assert again["selfLink"] == image["selfLink"]

    def test_what_is_not_there_is_not_found(self, world: World):
        """Neither in a public project nor in one that we do not know."""
        for path in (
            "debian-cloud/global/images/family/none",
            "debian-cloud/global/images/x",
            "who/global/images",
        ):
            assert world.refused("GET", f"/compute/v1/projects/{path}")[:2] == (404, "notFound")


class TestNetworks:
    """VPC networks and their subnetworks."""

    def test_a_project_has_a_default_network_with_a_subnet_in_each_region(self, world: World):
        """As every new project has."""
        assert [one["name"] for one in world.get("global/networks")["items"]] == ["default"]
        subnets = world.get("aggregated/subnetworks")["items"]
        assert all(scoped["subnetworks"][0]["name"] == "default" for scoped in subnets.values())
        assert len(subnets) == len(world.get("regions")["items"])

    def test_a_custom_network_needs_a_subnetwork(self, world: World):
        """Which then gives the addresses."""
        world.post("global/networks", {"name": "lab", "autoCreateSubnetworks": False})
        cards = [{"network": "global/networks/lab"}]
        message = world.refused("POST", INSTANCES, request(networkInterfaces=cards))[2]
        assert "custom subnet mode requires a subnetwork" in message
        subnet = {"name": "lab-uc1", "network": "global/networks/lab", "ipCidrRange": "192.168.7.0/24"}
        world.post(f"regions/{REGION}/subnetworks", subnet)
        vm = world.create(networkInterfaces=[{"subnetwork": f"regions/{REGION}/subnetworks/lab-uc1"}])
        card = vm["networkInterfaces"][0]
        assert card["networkIP"].startswith("192.168.7.")
        assert card["network"].endswith("/global/networks/lab")

    def test_a_small_subnetwork_runs_out_of_addresses(self, world: World):
        """Four addresses of eight are not usable ("Subnets")."""
        world.post("global/networks", {"name": "lab", "autoCreateSubnetworks": False})
        subnet = {"name": "tiny", "network": "global/networks/lab", "ipCidrRange": "192.168.7.0/29"}
        world.post(f"regions/{REGION}/subnetworks", subnet)
        cards = [{"subnetwork": f"regions/{REGION}/subnetworks/tiny"}]
        for name in "abcd":
            world.post(INSTANCES, request(name, networkInterfaces=cards))
        assert "is exhausted" in world.refused("POST", INSTANCES, request("e", networkInterfaces=cards))[2]

    def test_a_network_of_another_project_is_taken_as_it_is(self, world: World):
        """A shared VPC is not ours to check."""
        cards = [{"subnetwork": "projects/hub/regions/us-central1/subnetworks/shared"}]
        vm = world.create(networkInterfaces=cards)
        assert vm["networkInterfaces"][0]["subnetwork"].endswith(
            "/projects/hub/regions/us-central1/subnetworks/shared"
        )

    @pytest.mark.parametrize("cidr", ["", "10.0.0.1/24", "10.0.0.0/99", "x"])
    def test_a_range_that_is_none_is_refused(self, world: World, cidr):
        """With what is wrong with it."""
        subnet = {"name": "s", "network": "global/networks/default", "ipCidrRange": cidr}
        assert (
            "Must be a valid IP CIDR range"
            in world.refused("POST", f"regions/{REGION}/subnetworks", subnet)[2]
        )


THINGS = [
    (f"zones/{ZONE}/disks", {}),
    (f"zones/{ZONE}/reservations", {}),
    (f"regions/{REGION}/addresses", {}),
    (f"regions/{REGION}/resourcePolicies", {}),
    (
        f"regions/{REGION}/subnetworks",
        {"network": "global/networks/default", "ipCidrRange": "192.168.0.0/24"},
    ),
    ("global/images", {}),
    ("global/instanceTemplates", {"properties": {"machineType": "e2-small"}}),
    ("global/networks", {}),
    ("global/snapshots", {}),
]


@pytest.mark.parametrize(("path", "body"), THINGS)
def test_everything_is_made_got_listed_and_deleted_the_same_way(world: World, path, body):
    """With operations, 409 on a name in use, 404 on one that is not there."""
    operation = world.post(path, body | {"name": "thing"})
    assert operation["operationType"] == "insert"
    world.advance(1)
    assert world.operation(operation)["status"] == "DONE"
    made = world.get(f"{path}/thing")
    assert (made["selfLink"], made["id"]) == (f"{HERE}/{path}/thing", operation["targetId"])
    assert made in world.get(path)["items"]
    assert world.refused("POST", path, body | {"name": "thing"})[:2] == (409, "alreadyExists")
    assert world.refused("POST", path, body | {"name": "Thing"})[:2] == (400, "invalid")
    assert world.delete(f"{path}/thing")["operationType"] == "delete"
    assert world.refused("GET", f"{path}/thing")[:2] == (404, "notFound")
    assert world.refused("DELETE", f"{path}/thing")[:2] == (404, "notFound")


def test_templates_and_machine_images_need_what_they_are_about(world: World):
    """A machine type, an instance."""
    assert "machine type is required" in world.refused("POST", "global/instanceTemplates", {"name": "t"})[2]
    body = {"name": "m", "sourceInstance": f"{INSTANCES}/none"}
    assert world.refused("POST", "global/machineImages", body)[0] == 404


class TestOffers:
    """Projects, regions, zones and types."""

    def test_zones_and_regions_know_each_other(self, world: World):
        """Every zone is one of its region."""
        regions = {one["selfLink"]: one["zones"] for one in world.get("regions")["items"]}
        for zone in world.get("zones")["items"]:
            assert zone["selfLink"] in regions[zone["region"]]
            assert (zone["status"], world.get(f"zones/{zone['name']}")) == ("UP", zone)

    def test_machine_types_of_a_zone(self, world: World):
        """Predefined ones are listed, custom ones can be got."""
        listed = [one["name"] for one in world.get(f"zones/{ZONE}/machineTypes")["items"]]
        assert listed == sorted(listed)
        assert {"n1-standard-1", "e2-medium", "a3-highgpu-8g", "g2-standard-4"} < set(listed)
        gpu = world.get(f"zones/{ZONE}/machineTypes/a2-highgpu-1g")
        assert (gpu["guestCpus"], gpu["memoryMb"]) == (12, 87040)
        assert gpu["accelerators"] == [
            {"guestAcceleratorType": "nvidia-tesla-a100", "guestAcceleratorCount": 1}
        ]
        custom = world.get(f"zones/{ZONE}/machineTypes/n2-custom-4-16384")
        assert (custom["guestCpus"], custom["memoryMb"]) == (4, 16384)
        assert world.refused("GET", f"zones/{ZONE}/machineTypes/n1-standard-3")[0] == 404

    @pytest.mark.parametrize(
        "name",
        ["custom-3-8192", "custom-2-8193", "n2-custom-4-1024", "m3-custom-2-4096", "e2-custom-big-4096"],
    )
    def test_custom_machine_types_keep_to_their_rules(self, name):
        """Even numbers of vCPUs, steps of 256 MB, memory in proportion, families that have them."""
        assert Catalog().machine(name, ZONE) is None

    @pytest.mark.parametrize(
        "name",
        [
            "custom-1-1024",
            "custom-4-8192",
            "e2-custom-medium-4096",
            "n2-custom-4-65536-ext",
            "n2d-custom-224-458752",
        ],
    )
    def test_custom_machine_types_within_their_rules_are_there(self, name):
        """In all forms of their names."""
        assert Catalog().machine(name, ZONE) is not None

    def test_accelerator_types_are_where_the_machines_with_them_are(self, world: World):
        """The aggregated list shows the zones of each."""
        items = world.get("aggregated/acceleratorTypes", filter="name=nvidia-h100-80gb")["items"]
        found = {scope for scope, scoped in items.items() if "acceleratorTypes" in scoped}
        catalog = Catalog()
        assert found == {f"zones/{zone}" for zone in catalog.zones if catalog.machine("a3-highgpu-8g", zone)}

    def test_the_catalog_names_only_zones_that_exist(self):
        """A typing error in the data would hide a zone's accelerators."""
        catalog = Catalog()
        for accelerator in catalog.accelerators.values():
            assert set(accelerator.zone_names) <= set(catalog.zones)
        bundled = {machine.gpu for machine in catalog.machines.values() if machine.gpu}
        assert bundled == {name for name, one in catalog.accelerators.items() if not one.attach}

    def test_aggregated_machine_types_come_in_pages(self, world: World):
        """There are thousands; only the zones that are looked at are made."""
        first = world.get("aggregated/machineTypes")
        assert sum(len(scoped.get("machineTypes", ())) for scoped in first["items"].values()) == 500
        assert first["nextPageToken"]
