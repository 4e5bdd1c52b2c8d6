"""Lists that are not what they should be: partial ones and stale ones."""

from hypothesis import given
from hypothesis import strategies as st

from localcloud.compute.shelf import Shelf
from tests.localcloud.compute.world import ZONE, World

EAST = "us-east1-b"


def fleet(world: World, count: int, **fields) -> None:
    """Instances with nothing behind them."""
    world.post("/local/fleet", {"count": count, **fields})


def names(answer) -> list[str]:
    """The names in an answer of `list`."""
    return [item["name"] for item in answer.get("items", [])]


def pages(world: World, path: str, **query) -> list[dict]:
    """All pages of a list."""
    found = [world.get(path, **query)]
    while token := found[-1].get("nextPageToken"):
        found.append(world.get(path, pageToken=token, **query))
    return found


def all_names(found) -> list[str]:
    """The names of all instances on pages of an aggregated list, in their order."""
    return [
        item["name"]
        for answer in found
        for scoped in answer["items"].values()
        for item in scoped.get("instances", [])
    ]


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["put", "take", "wait"]), st.sampled_from("abcd"), st.integers(0, 9)),
    max_size=30,
)


class TestUnreachable:
    """A zone that cannot be looked into."""

    def test_it_is_left_out_and_named(self, world: World):
        """Warned of in its scope; listed in `unreachables` for who opted in to partial success."""
        fleet(world, 8)
        world.post("/local/unreachable", {"zone": EAST, "for_seconds": 60})
        answer = world.get("aggregated/instances", returnPartialSuccess="true")
        assert answer["unreachables"] == [f"zones/{EAST}"]
        assert answer["items"][f"zones/{EAST}"]["warning"]["code"] == "UNREACHABLE"
        assert len(all_names([answer])) == 6
        assert "unreachables" not in world.get("aggregated/instances")

    def test_it_hides_its_operations_too(self, world: World):
        """A look at the operations that misses a zone says so."""
        world.post("/local/unreachable", {"zone": EAST, "for_seconds": 60})
        scoped = world.get("aggregated/operations")["items"][f"zones/{EAST}"]
        assert scoped["warning"]["code"] == "UNREACHABLE"

    def test_its_own_list_is_empty_with_a_warning(self, world: World):
        """Not simply empty."""
        fleet(world, 8)
        world.post("/local/unreachable", {"zone": EAST, "for_seconds": 60})
        answer = world.get(f"zones/{EAST}/instances")
        assert (answer["warning"]["code"], "items" in answer) == ("UNREACHABLE", False)
        assert len(names(world.get(f"zones/{ZONE}/instances"))) == 2

    def test_it_comes_back_after_its_time(self, world: World):
        """Or when it is told to."""
        world.post("/local/unreachable", {"zone": EAST, "for_seconds": 60})
        world.advance(59)
        assert "unreachables" in world.get("aggregated/instances", returnPartialSuccess="true")
        world.advance(1)
        assert "unreachables" not in world.get("aggregated/instances", returnPartialSuccess="true")
        world.post("/local/unreachable", {"zone": EAST, "for_seconds": 60})
        world.post("/local/unreachable", {"zone": EAST, "for_seconds": 0})
        assert "unreachables" not in world.get("aggregated/instances", returnPartialSuccess="true")

    def test_an_instance_in_it_can_still_be_got(self, world: World):
        """Only lists are partial."""
        fleet(world, 2, zones=[EAST])
        world.post("/local/unreachable", {"zone": EAST, "for_seconds": 60})
        assert world.instance("idle-1", EAST)["status"] == "RUNNING"


class TestStale:
    """Lists that lag behind."""

    def test_a_list_shows_what_was(self, world: World):
        """A deleted instance is still there, a new one not yet, a status is old; `get` knows better."""
        for name in ("old", "stopped"):
            world.create(name)
        world.post("/local/stale", {"seconds": 30})
        world.delete(f"zones/{ZONE}/instances/old")
        world.post(f"zones/{ZONE}/instances/stopped/stop")
        world.create("new")
        answer = world.get(f"zones/{ZONE}/instances")
        assert [(item["name"], item["status"]) for item in answer["items"]] == [
            ("old", "RUNNING"),
            ("stopped", "RUNNING"),
        ]
        assert (world.status("old"), world.status("stopped"), world.status("new")) == (
            "GONE",
            "TERMINATED",
            "RUNNING",
        )
        world.advance(31)
        answer = world.get(f"zones/{ZONE}/instances")
        assert [(item["name"], item["status"]) for item in answer["items"]] == [
            ("new", "RUNNING"),
            ("stopped", "TERMINATED"),
        ]

    def test_a_name_used_again_shows_its_former_instance(self, world: World):
        """The id in a stale list is the id of the instance that is gone."""
        first = world.create()
        world.post("/local/stale", {"seconds": 30})
        world.delete(f"zones/{ZONE}/instances/vm")
        world.advance(1)
        second = world.create()
        assert world.get(f"zones/{ZONE}/instances")["items"][0]["id"] == first["id"] != second["id"]

    def test_the_operation_log_lags_alone(self, world: World):
        """The VM is gone from its list at once; who deleted it shows later, unless one asks by the name."""
        world.create("old")
        world.post("/local/log-lag", {"seconds": 240})
        name = world.delete(f"zones/{ZONE}/instances/old")["name"]
        operations = f"zones/{ZONE}/operations"
        world.advance(120)
        assert "items" not in world.get(f"zones/{ZONE}/instances")
        assert name not in names(world.get(operations))
        assert world.get(f"{operations}/{name}")["status"] == "DONE"
        world.advance(121)
        assert name in names(world.get(operations))

    def test_it_ends_when_it_is_told_to(self, world: World):
        """Zero seconds behind is now."""
        world.post("/local/stale", {"seconds": 30})
        world.create()
        assert "items" not in world.get(f"zones/{ZONE}/instances")
        world.post("/local/stale", {"seconds": 0})
        assert names(world.get(f"zones/{ZONE}/instances")) == ["vm"]


@given(ACTIONS, st.integers(0, 5))
def test_a_lagging_shelf_shows_exactly_what_it_was(actions, behind):
    """Against a history of whole copies."""
    now = 0.0
    shelf = Shelf(elapsed=lambda: now)
    shelf._lag = float(behind)
    history = [(0.0, {})]
    for act, name, number in actions:
        if act == "wait":
            now += 1 + number % 3
        elif act == "put":
            shelf.put("zones/z", name, {"name": name, "n": number})
        else:
            shelf.take("zones/z", name)
        history.append((now, {item["name"]: item["n"] for item in shelf.all()}))
    expected = [state for at, state in history if at <= now - behind][-1] if now >= behind else {}
    rows = shelf.seen()
    assert {name: item["n"] for name, item in (rows["zones/z"].by_name if rows else {}).items()} == expected
    if rows:
        assert rows["zones/z"].names == sorted(expected)
