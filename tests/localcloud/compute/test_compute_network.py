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
