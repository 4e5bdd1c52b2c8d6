"""What is on offer: regions, zones, machine types, accelerators; and public and custom images."""

import pytest

from localcloud.compute.catalog import Catalog
from tests.localcloud.compute.world import ZONE, World, request

INSTANCES = f"zones/{ZONE}/instances"


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
        for family in catalog.families.values():
            assert family.tpu is None or set(family.tpu.zone_names) <= set(catalog.zones)
        bundled = {machine.gpu for machine in catalog.machines.values() if machine.gpu}
        assert bundled == {name for name, one in catalog.accelerators.items() if not one.attach}

    def test_aggregated_machine_types_come_in_pages(self, world: World):
        """There are thousands; only the zones that are looked at are made."""
        first = world.get("aggregated/machineTypes")
        assert sum(len(scoped.get("machineTypes", ())) for scoped in first["items"].values()) == 500
        assert first["nextPageToken"]
