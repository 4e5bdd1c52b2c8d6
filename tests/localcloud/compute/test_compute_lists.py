"""Lists: pages, order, filters, scopes, and lists that are not what they should be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcloud.compute.listing import Query, page
from localcloud.compute.shelf import Shelf
from tests.localcloud.compute.world import ZONE, World, request

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
