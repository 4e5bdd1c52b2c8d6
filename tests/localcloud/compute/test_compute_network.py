"""Networks, subnetworks and addresses."""

import pytest

from tests.localcloud.compute.world import REGION, ZONE, World, request

INSTANCES = f"zones/{ZONE}/instances"


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


class TestDeletion:
    """What is in use stays; the wording is that of Compute Engine's answers to Terraform and gcloud."""

    SUBNETWORKS = f"regions/{REGION}/subnetworks"
    CARDS = ({"subnetwork": f"regions/{REGION}/subnetworks/part"},)

    @pytest.fixture
    def lab(self, world: World) -> World:
        """A custom mode network with one subnetwork."""
        world.post("global/networks", {"name": "lab", "autoCreateSubnetworks": False})
        part = {"name": "part", "network": "global/networks/lab", "ipCidrRange": "192.168.7.0/24"}
        world.post(self.SUBNETWORKS, part)
        return world

    def test_a_network_is_deleted_after_its_subnetworks(self, lab: World):
        """The request is taken, and its operation fails while there is one."""
        status, code, message = lab.failure(lab.delete("global/networks/lab"))
        assert (status, code) == (400, "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE")
        named = "The network resource 'projects/project/global/networks/lab' is already being used by"
        assert message == f"{named} 'projects/project/regions/us-central1/subnetworks/part'"
        lab.delete(f"{self.SUBNETWORKS}/part")
        lab.delete("global/networks/lab")
        assert lab.refused("GET", "global/networks/lab")[0] == 404

    def test_a_subnetwork_is_deleted_after_its_instances(self, lab: World):
        """It is refused at once."""
        lab.create(networkInterfaces=self.CARDS)
        status, reason, message = lab.refused("DELETE", f"{self.SUBNETWORKS}/part")
        assert (status, reason) == (400, "resourceInUseByAnotherResource")
        assert message.startswith("The subnetwork resource 'projects/project/regions/us-central1/")
        assert message.endswith("already being used by 'projects/project/zones/us-central1-a/instances/vm'")
        lab.delete(f"{INSTANCES}/vm")
        lab.advance(1)
        lab.delete(f"{self.SUBNETWORKS}/part")

    def test_a_subnetwork_is_deleted_after_the_addresses_reserved_in_it(self, lab: World):
        """Which an instance may ask for."""
        inner = {"name": "inner", "addressType": "INTERNAL", **self.CARDS[0]}
        lab.post(f"regions/{REGION}/addresses", inner)
        assert lab.refused("DELETE", f"{self.SUBNETWORKS}/part")[2].endswith("/addresses/inner'")
        lab.delete(f"regions/{REGION}/addresses/inner")
        lab.delete(f"{self.SUBNETWORKS}/part")

    def test_the_subnetworks_of_an_auto_mode_network_go_with_it_only(self, world: World):
        """Nobody deletes one of them, and they do not keep the network."""
        world.post("global/networks", {"name": "auto"})
        status, _, message = world.refused("DELETE", f"{self.SUBNETWORKS}/auto")
        assert (status, "auto subnet mode network" in message) == (400, True)
        world.delete("global/networks/auto")
        assert world.refused("GET", f"{self.SUBNETWORKS}/auto")[0] == 404

    def test_an_auto_mode_network_is_deleted_after_its_instances(self, world: World):
        """Also where they name the network only."""
        world.post("global/networks", {"name": "auto"})
        world.create(networkInterfaces=[{"network": "global/networks/auto"}])
        assert world.failure(world.delete("global/networks/auto"))[2].endswith("/instances/vm'")
        assert world.get(f"{self.SUBNETWORKS}/auto")["name"] == "auto"
