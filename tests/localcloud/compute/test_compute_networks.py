"""The firewall rules that hold in a network, and the subnetworks that a project may use."""

from localcloud.compute.catalog import Catalog
from tests.localcloud.compute.world import REGION, ZONE, World

NETWORK = {"name": "own", "autoCreateSubnetworks": False}
RULE = {"name": "ssh", "allowed": [{"IPProtocol": "tcp", "ports": ["22"]}]}
USABLE = "aggregated/subnetworks/listUsable"


def effective(world: World, network: str) -> list[str]:
    """The names of the rules that hold in a network, in their order."""
    found = world.get(f"global/networks/{network}/getEffectiveFirewalls")
    return [rule["name"] for rule in found.get("firewalls", [])]


def test_the_rules_of_a_network_hold_in_it_by_priority(world: World):
    """Those of another network do not."""
    world.post("global/networks", NETWORK)
    assert effective(world, "own") == []
    for name, priority in (("last", 900), ("first", 10)):
        world.post("global/firewalls", {**RULE, "name": name, "priority": priority, "network": "own"})
    assert effective(world, "own") == ["first", "last"]
    assert effective(world, "default") == [
        "default-allow-icmp",
        "default-allow-internal",
        "default-allow-rdp",
        "default-allow-ssh",
    ]


def test_a_network_that_is_not_there_has_no_rules(world: World):
    """It is refused, as everywhere."""
    status, _, message = world.refused("GET", "global/networks/none/getEffectiveFirewalls")
    assert (status, message) == (404, "The resource 'projects/project/global/networks/none' was not found")


def test_every_subnetwork_may_be_used(world: World):
    """In a flat list of all regions, with its network."""
    world.post("global/networks", NETWORK)
    given = {"name": "part", "network": "global/networks/own", "ipCidrRange": "10.9.0.0/20"}
    world.post(f"regions/{REGION}/subnetworks", given)
    found = world.get(USABLE)["items"]
    assert len(found) == len(Catalog().regions) + 1
    [own] = [item for item in found if item["network"].endswith("/networks/own")]
    assert own == {
        "subnetwork": world.get(f"regions/{REGION}/subnetworks/part")["selfLink"],
        "network": world.get("global/networks/own")["selfLink"],
        "ipCidrRange": "10.9.0.0/20",
        "purpose": "PRIVATE",
        "stackType": "IPV4_ONLY",
    }


def test_subnetworks_that_may_be_used_come_in_pages(world: World):
    """And by a filter."""
    first = world.get(USABLE, maxResults=1)
    second = world.get(USABLE, maxResults=1, pageToken=first["nextPageToken"])
    names = [item["subnetwork"] for answer in (first, second) for item in answer["items"]]
    assert len(set(names)) == 2
    [found] = world.get(USABLE, filter="ipCidrRange=10.128.0.0/20")["items"]
    assert found["subnetwork"].endswith("/regions/us-central1/subnetworks/default")


def test_of_the_rules_of_its_network_those_that_name_it_hold_for_an_instance(world: World):
    """By a tag or by its account; those that name nobody hold for all."""
    targets: dict[str, dict[str, list[str]]] = {
        "account": {"targetServiceAccounts": ["me@example.com"]},
        "everybody": {},
        "other-account": {"targetServiceAccounts": ["you@example.com"]},
        "other-tag": {"targetTags": ["mail"]},
        "tag": {"targetTags": ["mail", "web"]},
    }
    world.post("global/networks", {"name": "own"})
    world.post("global/firewalls", {**RULE, "network": "own"})
    for name, fields in targets.items():
        world.post("global/firewalls", {**RULE, "name": name, **fields})
    accounts = [{"email": "me@example.com", "scopes": []}]
    world.create(tags={"items": ["web"]}, serviceAccounts=accounts)
    world.create("plain")
    found = {
        name: world.get(f"zones/{ZONE}/instances/{name}/getEffectiveFirewalls", networkInterface="nic0")
        for name in ("vm", "plain")
    }
    names = {name: [rule["name"] for rule in found[name]["firewalls"][:4]] for name in found}
    assert names["vm"] == ["account", "everybody", "tag", "default-allow-icmp"]
    assert names["plain"][:2] == ["everybody", "default-allow-icmp"]


def test_of_a_card_that_is_not_there_no_rules_hold(world: World):
    """It is refused, with its name."""
    world.create()
    path = f"zones/{ZONE}/instances/vm/getEffectiveFirewalls"
    status, _, message = world.refused("GET", path, networkInterface="nic1")
    assert (status, "'networkInterface': 'nic1'" in message) == (400, True)
