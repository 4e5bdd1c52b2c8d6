"""Guest attributes, as those outside of the VM read them."""

import pytest

from tests.localcloud.compute.world import ZONE, World

VM = f"zones/{ZONE}/instances/vm"
ON = {"items": [{"key": "enable-guest-attributes", "value": "TRUE"}]}
STEP = {"namespace": "training", "key": "step", "value": "42"}
LOSS = {"namespace": "training", "key": "loss", "value": "0.5"}
READY = {"namespace": "host", "key": "ready", "value": "1"}


@pytest.fixture
def written(world: World) -> World:
    """A world with a VM whose guest has written three attributes."""
    vm = world.create(metadata=ON)
    world.machines.written[vm["id"]] = {"training": {"step": "42", "loss": "0.5"}, "host": {"ready": "1"}}
    return world


@pytest.mark.parametrize(
    ("path", "items"),
    [
        ("", [READY, LOSS, STEP]),
        ("training/", [LOSS, STEP]),
        ("training/step", [STEP]),
        ("host/", [READY]),
    ],
)
def test_a_path_is_everything_a_namespace_or_a_key(written: World, path, items):
    """Each attribute with its namespace."""
    answer = written.get(f"{VM}/getGuestAttributes", queryPath=path)
    assert (answer["queryPath"], answer["queryValue"]) == (path, {"items": items})
    assert answer["kind"] == "compute#guestAttributes"


def test_one_key_gives_one_value(written: World):
    """`variableKey`."""
    answer = written.get(f"{VM}/getGuestAttributes", variableKey="training/step")
    assert (answer["variableKey"], answer["variableValue"]) == ("training/step", "42")


@pytest.mark.parametrize("path", ["training/none", "none/", "none/step"])
def test_what_was_not_written_is_not_found(written: World, path):
    """404 in Google's words."""
    status, reason, message = written.refused("GET", f"{VM}/getGuestAttributes", queryPath=path)
    assert (status, reason) == (404, "notFound")
    assert message.endswith(f"guestAttributes/{path}' of type 'Guest Attribute' was not found.")


def test_where_nothing_was_written_there_is_nothing_to_find(world: World):
    """404 as well, also of a VM that only stands in lists."""
    world.create(metadata=ON)
    assert world.refused("GET", f"{VM}/getGuestAttributes")[0] == 404
    world.post("/local/fleet", {"count": 1, "zones": [ZONE], "metadata": {"enable-guest-attributes": "TRUE"}})
    assert world.refused("GET", f"zones/{ZONE}/instances/idle-1/getGuestAttributes")[0] == 404


@pytest.mark.parametrize(
    "query", [{"queryPath": "training"}, {"queryPath": "a/b/c"}, {"variableKey": "step"}]
)
def test_a_path_that_is_none_is_refused(written: World, query):
    """400."""
    assert written.refused("GET", f"{VM}/getGuestAttributes", **query)[:2] == (400, "invalid")


def test_they_are_off_unless_the_metadata_says_otherwise(world: World):
    """As they are inside of the VM."""
    vm = world.create()
    world.machines.written[vm["id"]] = {"training": {"step": "42"}}
    refusal = (403, "forbidden", "Guest attributes endpoint access is disabled.")
    assert world.refused("GET", f"{VM}/getGuestAttributes") == refusal
