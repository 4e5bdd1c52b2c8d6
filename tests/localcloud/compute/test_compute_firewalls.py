"""Firewall rules: made, shown, changed and deleted; and what Google refuses of them."""

import json

import pytest
from google.cloud import compute_v1

from tests.localcloud.compute.conftest import Cloud
from tests.localcloud.compute.world import PROJECT, World

RULES = "global/firewalls"
HERE = "http://127.0.0.1:1/compute/v1/projects/project"
SSH = {"name": "ssh", "allowed": [{"IPProtocol": "TCP", "ports": ["22", "8000-8080"]}]}


def made(world: World, **fields: object) -> dict[str, object]:
    """A rule of these fields over those of `SSH`."""
    world.post(RULES, {**SSH, **fields})
    return world.get(f"{RULES}/ssh")


def test_a_new_project_has_the_rules_of_its_default_network(world: World):
    """As Google makes them, at the lowest priority but one."""
    rules = world.get(RULES)["items"]
    assert [rule["name"] for rule in rules] == [
        "default-allow-icmp",
        "default-allow-internal",
        "default-allow-rdp",
        "default-allow-ssh",
    ]
    assert {rule["priority"] for rule in rules} == {65534}
    assert rules[1]["sourceRanges"] == ["10.128.0.0/9"]


def test_what_is_left_open_is_filled_in(world: World):
    """Inbound from anywhere on the default network, at priority 1000, and not logged."""
    rule = made(world, params={"resourceManagerTags": {"tagKeys/1": "tagValues/2"}})
    assert {key: rule[key] for key in rule if key not in ("id", "creationTimestamp")} == {
        "kind": "compute#firewall",
        "name": "ssh",
        "network": f"{HERE}/global/networks/default",
        "direction": "INGRESS",
        "priority": 1000,
        "disabled": False,
        "logConfig": {"enable": False},
        "allowed": [{"IPProtocol": "tcp", "ports": ["22", "8000-8080"]}],
        "sourceRanges": ["0.0.0.0/0"],
        "selfLink": f"{HERE}/{RULES}/ssh",
    }


@pytest.mark.parametrize(
    ("fields", "ranges"),
    [
        ({"sourceTags": ["web"]}, (None, None)),
        ({"sourceServiceAccounts": ["a@example.com"]}, (None, None)),
        ({"direction": "EGRESS"}, (None, ["0.0.0.0/0"])),
        ({"destinationRanges": ["10.0.0.0/8"]}, (["0.0.0.0/0"], ["10.0.0.0/8"])),
        ({"sourceRanges": ["::/0"]}, (["::/0"], None)),
    ],
)
def test_a_rule_that_does_not_say_where_is_about_everywhere(world: World, fields, ranges):
    """Unless it says from whom."""
    rule = made(world, **fields)
    assert (rule.get("sourceRanges"), rule.get("destinationRanges")) == ranges


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"allowed": []}, "Exactly one of allowed and denied"),
        ({"denied": [{"IPProtocol": "all"}]}, "Exactly one of allowed and denied"),
        ({"priority": 65536}, "'resource.priority': '65536'. Must be greater than or equal to 0"),
        ({"priority": -1}, "Must be greater than or equal to 0"),
        (
            {"sourceRanges": ["10.0.0.0/8", "nowhere"]},
            "'resource.sourceRanges[1]': 'nowhere'. Must be a valid",
        ),
        ({"sourceRanges": ["10.0.0.1/8"]}, "Must be a valid CIDR"),
        ({"destinationRanges": ["10.0.0.0/33"]}, "'resource.destinationRanges[0]'"),
        ({"sourceRanges": ["10.0.0.0/8", "::/0"]}, "either IPv4 or IPv6 ranges, but not both"),
        ({"direction": "EGRESS", "sourceTags": ["web"]}, "sourceTags cannot be specified for EGRESS rules"),
        ({"targetTags": ["web"], "sourceServiceAccounts": ["a@example.com"]}, "cannot be used in one"),
        ({"network": "global/networks/none"}, "The referenced network resource cannot be found."),
        ({"network": "projects/other/global/networks/default"}, "Cross-project references"),
        ({"allowed": [{"IPProtocol": "icmp", "ports": ["1"]}]}, "one of [TCP, UDP, SCTP]"),
        ({"allowed": [{"IPProtocol": "http"}]}, "'resource.allowed[0].IPProtocol': 'http'"),
        ({"allowed": [{"IPProtocol": "256"}]}, "'resource.allowed[0].IPProtocol': '256'"),
        ({"allowed": [{"IPProtocol": "tcp", "ports": ["80-22"]}]}, "'resource.allowed[0].ports[0]': '80-22'"),
        ({"allowed": [{"IPProtocol": "tcp", "ports": ["65536"]}]}, "from 0 to 65535"),
        ({"allowed": [{"IPProtocol": "tcp", "ports": ["ssh"]}]}, "from 0 to 65535"),
    ],
)
def test_what_cannot_be_is_refused_and_not_made(world: World, fields, said):
    """400, and the field is named."""
    status, _, message = world.refused("POST", RULES, {**SSH, **fields})
    assert (status, said in message) == (400, True), message
    assert world.refused("GET", f"{RULES}/ssh")[0] == 404


@pytest.mark.parametrize("protocol", ["all", "255", "ipip", "0"])
def test_a_protocol_is_a_word_or_a_number(world: World, protocol):
    """Both sides of the largest number that there is."""
    rule = made(world, allowed=[{"IPProtocol": protocol}])
    assert rule["allowed"] == [{"IPProtocol": protocol}]


def test_a_name_is_taken_once(world: World):
    """As other names are."""
    made(world)
    assert world.refused("POST", RULES, SSH)[:2] == (409, "alreadyExists")


class TestChanges:
    """`patch` and `update`."""

    def test_a_patch_replaces_what_it_names_and_takes_away_what_is_null(self, world: World):
        """All else stays, the id too."""
        before = made(world, description="d", targetTags=["web"])
        body = {"name": "ssh", "sourceRanges": ["10.0.0.0/8"], "priority": 7, "description": None}
        operation = world.call("PATCH", f"{RULES}/ssh", body).json()
        assert (operation["operationType"], operation["targetId"]) == ("patch", before["id"])
        kept = {key: value for key, value in before.items() if key != "description"}
        assert world.get(f"{RULES}/ssh") == {**kept, "sourceRanges": ["10.0.0.0/8"], "priority": 7}

    def test_an_update_replaces_the_whole(self, world: World):
        """What it does not name is as if it had never been said; what never changes stays."""
        before = made(world, description="d", targetTags=["web"], priority=7, direction="INGRESS")
        world.call("PUT", f"{RULES}/ssh", {"name": "ssh", "allowed": [{"IPProtocol": "icmp"}]})
        after = world.get(f"{RULES}/ssh")
        assert (after["priority"], after["allowed"]) == (1000, [{"IPProtocol": "icmp"}])
        assert (after["id"], after["network"]) == (before["id"], before["network"])
        assert not {"description", "targetTags"} & after.keys()

    @pytest.mark.parametrize("verb", ["PATCH", "PUT"])
    @pytest.mark.parametrize(
        "fields",
        [
            {"name": "other"},
            {"direction": "EGRESS"},
            {"allowed": None, "denied": [{"IPProtocol": "all"}]},
            {"priority": 70000},
        ],
    )
    def test_what_cannot_be_changed_stays(self, world: World, verb, fields):
        """The name, the direction and the action; and what could not be made cannot come about either."""
        before = made(world)
        assert world.refused(verb, f"{RULES}/ssh", {**SSH, **fields})[0] == 400
        assert world.get(f"{RULES}/ssh") == before

    def test_the_same_request_changes_it_once(self, world: World):
        """Said again with its request id it gives the operation of the first time."""
        made(world)
        asked = {"requestId": "11111111-1111-1111-1111-111111111111"}
        body = {"name": "ssh", "priority": 7}
        said = [world.call("PATCH", f"{RULES}/ssh", body, **asked).json()["name"] for _ in "12"]
        assert said[0] == said[1]

    @pytest.mark.parametrize("verb", ["PATCH", "PUT", "DELETE"])
    def test_one_that_there_is_not_is_not_found(self, world: World, verb):
        """404 with its path."""
        status, reason, message = world.refused(verb, f"{RULES}/ssh", None if verb == "DELETE" else SSH)
        assert (status, reason) == (404, "notFound")
        assert f"projects/project/{RULES}/ssh" in message


def test_a_network_is_deleted_after_its_rules(world: World):
    """Until then it is in use, and the failure of the operation says by which rule."""
    world.post("global/networks", {"name": "net"})
    made(world, network="global/networks/net")
    message = world.failure(world.delete("global/networks/net"))[2]
    assert message.endswith("already being used by 'projects/project/global/firewalls/ssh'")
    world.delete(f"{RULES}/ssh")
    world.delete("global/networks/net")


def test_googles_client_makes_changes_and_deletes_one(cloud: Cloud):
    """With the operations of all three."""
    rules = cloud.client(compute_v1.FirewallsClient)
    rule = compute_v1.Firewall.from_json(json.dumps({"name": "ssh", "allowed": [{"I_p_protocol": "tcp"}]}))
    cloud.done(rules.insert_unary(project=PROJECT, firewall_resource=rule))
    change = compute_v1.Firewall(name="ssh", disabled=True)
    cloud.done(rules.patch_unary(project=PROJECT, firewall="ssh", firewall_resource=change))
    assert rules.get(project=PROJECT, firewall="ssh").disabled
    cloud.done(rules.delete_unary(project=PROJECT, firewall="ssh"))
    assert "ssh" not in [found.name for found in rules.list(project=PROJECT)]
