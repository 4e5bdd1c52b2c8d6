"""Lists: pages, order, filters, scopes, and lists that are not what they should be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcloud.compute.listing import Query, page
from localcloud.compute.shelf import Shelf
from tests.localcloud.compute.conftest import ZONE, World, request

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


def test_a_list_has_the_instances_of_its_zone_in_the_order_of_names(world: World):
    """And no others."""
    for name, zone in (("b", ZONE), ("a", ZONE), ("c", EAST)):
        world.post(f"zones/{zone}/instances", request(name, zone=zone))
    answer = world.get(f"zones/{ZONE}/instances")
    assert names(answer) == ["a", "b"]
    assert answer["kind"] == "compute#instanceList"
    assert answer["id"] == f"projects/project/zones/{ZONE}/instances"


def test_an_empty_list_has_no_items(world: World):
    """As the real API leaves them out."""
    assert "items" not in world.get(f"zones/{ZONE}/instances")


def test_an_aggregated_list_names_every_zone(world: World):
    """With its instances, or with a warning that there are none on this page."""
    world.post(f"zones/{ZONE}/instances", request())
    items = world.get("aggregated/instances")["items"]
    assert names({"items": items[f"zones/{ZONE}"]["instances"]}) == ["vm"]
    warning = items[f"zones/{EAST}"]["warning"]
    assert warning["code"] == "NO_RESULTS_ON_PAGE"
    assert warning["message"] == f"There are no results for scope 'zones/{EAST}' on this page."
    assert all(scope.startswith("zones/") for scope in items)
    everywhere = world.get("aggregated/instances", includeAllScopes="true")["items"]
    assert {"global", "regions/us-east1"} < set(everywhere)


def test_pages_together_have_everything_once(world: World):
    """500 at most on a page, and as many as asked for below that."""
    fleet(world, 1203)
    found = pages(world, "aggregated/instances")
    assert [len(all_names([answer])) for answer in found] == [500, 500, 203]
    assert len(set(all_names(found))) == 1203
    assert len(pages(world, f"zones/{ZONE}/instances", maxResults=100)) == 4


def test_the_last_page_has_no_token_even_when_it_is_full(world: World):
    """No empty page follows."""
    fleet(world, 8)
    assert [len(all_names([answer])) for answer in pages(world, "aggregated/instances", maxResults=4)] == [
        4,
        4,
    ]


def test_a_filter_counts_before_the_page_is_full(world: World):
    """A page has as many matches as asked for, not fewer because others were passed over."""
    fleet(world, 40, labels={"job": "a"})
    fleet(world, 40, prefix="other-", labels={"job": "b"})
    found = pages(world, "aggregated/instances", filter="labels.job=b", maxResults=15)
    assert [len(all_names([answer])) for answer in found] == [15, 15, 10]
    assert all(name.startswith("other-") for name in all_names(found))


def test_an_instance_that_comes_or_goes_between_pages_moves_no_other(world: World):
    """The token says after which name to go on, not after how many."""
    for name in ("b", "c", "d"):
        world.post(f"zones/{ZONE}/instances", request(name))
    first = world.get(f"zones/{ZONE}/instances", maxResults=2)
    world.advance(1)
    world.delete(f"zones/{ZONE}/instances/b")
    world.post(f"zones/{ZONE}/instances", request("a"))
    world.advance(1)
    second = world.get(f"zones/{ZONE}/instances", maxResults=2, pageToken=first["nextPageToken"])
    assert (names(first), names(second)) == (["b", "c"], ["d"])


def test_the_newest_can_come_first(world: World):
    """`creationTimestamp desc`, across pages as well."""
    for name in ("b", "c", "a"):
        world.create(name)
    order = {"orderBy": "creationTimestamp desc", "maxResults": 2}
    found = pages(world, f"zones/{ZONE}/instances", **order)
    assert [names(answer) for answer in found] == [["a", "c"], ["b"]]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            {"maxResults": "501"},
            "Invalid value for field 'maxResults': '501'. Must be less than or equal to 500",
        ),
        ({"maxResults": "-1"}, "It must be a number from 0 to 500."),
        ({"maxResults": "many"}, "It must be a number"),
        ({"pageToken": "xyz"}, "Invalid value for field 'pageToken': 'xyz'."),
        ({"pageToken": "WzFd"}, "It is not a token of this list."),
        ({"orderBy": "status"}, "Lists are sorted by `name` or by `creationTimestamp desc`."),
        ({"filter": "state=RUNNING"}, "Invalid list filter expression."),
        ({"returnPartialSuccess": "perhaps"}, "It must be true or false."),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(world: World, query, message):
    """With the parameter, its value and the reason."""
    status, reason, text = world.refused("GET", "aggregated/instances", **query)
    assert (status, reason) == (400, "invalid")
    assert message in text


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

    def test_it_ends_when_it_is_told_to(self, world: World):
        """Zero seconds behind is now."""
        world.post("/local/stale", {"seconds": 30})
        world.create()
        assert "items" not in world.get(f"zones/{ZONE}/instances")
        world.post("/local/stale", {"seconds": 0})
        assert names(world.get(f"zones/{ZONE}/instances")) == ["vm"]


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["put", "take", "wait"]), st.sampled_from("abcd"), st.integers(0, 9)),
    max_size=30,
)


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


@given(
    st.dictionaries(st.sampled_from(["zones/a", "zones/b"]), st.sets(st.text("abc", min_size=1, max_size=3))),
    st.integers(1, 4),
)
def test_pages_of_any_size_have_everything_once_in_order(content, most):
    """However items spread over scopes."""
    shelf = Shelf(elapsed=lambda: 0.0)
    for scope, found in content.items():
        for name in found:
            shelf.put(scope, name, {"name": name})
    query = Query(matches=None, newest_first=False, most=most, after=None)
    seen, token = [], None
    while token != "":
        got = page(shelf.seen(), content, query)
        assert len(got.items) <= most
        seen += [(scope, item["name"]) for scope, item in got.items]
        token = got.token
        query = Query(matches=None, newest_first=False, most=most, after=seen[-1] if seen else None)
    assert seen == sorted((scope, name) for scope, found in content.items() for name in found)
