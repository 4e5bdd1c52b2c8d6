"""How the adapter reads a long list of VMs: its first page, and then every zone by itself."""

from typing import Any

import pytest

from spotwarden.gcp import fleet_lists
from spotwarden.gcp.compute import ComputeEngine
from spotwarden.gcp.fleet_lists import IN_A_ROW, FleetSeen
from spotwarden.ports import RejectedError, UnansweredError
from tests.contract.local_world import LocalWorld
from tests.contract.scripted import Scripted

ALL = "/compute/v1/projects/demo/aggregated/instances"
EMPTY = {"warning": {"code": "NO_RESULTS_ON_PAGE", "data": [{"key": "scope", "value": "zones/b"}]}}


def known(*zones: str, vms: int) -> None:
    """What the last list showed."""
    fleet_lists._SEEN["demo"] = FleetSeen(vms, frozenset(zones))


def vm(number: int, status: str = "RUNNING") -> dict[str, Any]:
    """An instance as Google lists it."""
    return {"id": str(number), "name": f"vm-{number}", "status": status}


def path(zone: str) -> str:
    """Where a zone's own list is."""
    return f"/compute/v1/projects/demo/zones/{zone}/instances"


def first_of_many(google: Scripted, **more: Any) -> None:
    """A first page that names the zones a and b, and says that there is more."""
    items = {"zones/a": {"instances": [vm(1)]}, "zones/b": EMPTY, "regions/r": EMPTY}
    google.say_at(ALL, {"items": items, "nextPageToken": "more", **more})


def ids(compute: ComputeEngine) -> list[str]:
    """The VMs of the fleet."""
    return [machine.id for machine in compute.fleet().items]


def test_a_list_of_one_page_is_one_call(google: Scripted, compute: ComputeEngine):
    """A small project pays for no empty zone, however many there are."""
    google.say({"items": {"zones/a": {"instances": [vm(1)]}, "zones/b": EMPTY}})
    assert ids(compute) == ["1"]
    assert len(google.asked) == 1


def test_where_there_is_more_every_zone_is_listed(google: Scripted, compute: ComputeEngine):
    """Each to its last page, with the same fields; what the first page showed is not counted twice."""
    first_of_many(google)
    google.say_at(path("a"), {"items": [vm(1)], "nextPageToken": "t"})
    google.say_at(path("a"), {"items": [vm(2)]}, token="t")
    google.say_at(path("b"), {"items": [vm(3)]})
    assert ids(compute) == ["1", "2", "3"]
    assert sorted(asked.path for asked in google.asked) == [ALL, path("a"), path("a"), path("b")]
    of_zones = {asked.query["fields"] for asked in google.asked if asked.path != ALL}
    [fields] = of_zones
    assert fields.startswith("items(id,name,status,")
    assert fields.endswith("),nextPageToken,warning")


def test_a_zone_that_cannot_be_listed_is_unreachable(google: Scripted, compute: ComputeEngine):
    """Its VMs are not gone, and the other zones are there."""
    first_of_many(google)
    google.say_at(path("a"), {"error": {"code": 403, "message": "no"}}, status=403)
    google.say_at(path("b"), {"items": [vm(3)]})
    fleet = compute.fleet()
    assert [machine.id for machine in fleet.items] == ["3"]
    assert (fleet.hides("a"), fleet.hides("b")) == (True, False)


def test_a_zone_that_does_not_answer_is_unreachable(google: Scripted, hasty: ComputeEngine):
    """What of it was shown before is there, and it may hide more."""
    first_of_many(google)
    google.say_at(path("a"), {"items": [vm(1)], "nextPageToken": "t"})
    google.say_at(path("a"), {}, token="t", status=503)
    google.say_at(path("b"), {})
    fleet = hasty.fleet()
    assert [machine.id for machine in fleet.items] == ["1"]
    assert fleet.unreachable == ("a",)


def test_where_no_zone_can_be_listed_that_rises(google: Scripted, compute: ComputeEngine):
    """It is no project whose zones are all hidden, and never an empty one."""
    first_of_many(google)
    google.refuse(403, "forbidden")
    with pytest.raises(RejectedError, match="forbidden"):
        compute.fleet()


def test_a_zone_cut_short_is_no_answer(google: Scripted, hasty: ComputeEngine):
    """As for the whole list."""
    first_of_many(google)
    google.say(b'{"items": [')
    with pytest.raises(UnansweredError):
        hasty.fleet()


def test_what_a_zones_list_warns_of_is_unreachable(google: Scripted, compute: ComputeEngine):
    """As in the aggregated list; an empty zone's warning is none."""
    first_of_many(google)
    google.say_at(path("a"), {"items": [vm(1)], "warning": {"code": "PARTIAL_SUCCESS"}})
    google.say_at(path("b"), EMPTY)
    assert compute.fleet().unreachable == ("a",)


def test_what_the_first_page_hides_stays_hidden(google: Scripted, compute: ComputeEngine):
    """A zone that it could not reach may not even be among those that it names."""
    first_of_many(google, unreachables=["zones/c"])
    google.say({})
    assert compute.fleet().unreachable == ("c",)


def test_a_status_of_tomorrow_hides_its_zone(google: Scripted, compute: ComputeEngine):
    """Also in a zone's own list."""
    first_of_many(google)
    google.say_at(path("a"), {"items": [vm(1), vm(2, "LEVITATING")]})
    google.say_at(path("b"), {})
    fleet = compute.fleet()
    assert ([machine.id for machine in fleet.items], fleet.unreachable) == (["1"], ("a",))


def two_pages(google: Scripted) -> None:
    """A list that can be read in a row."""
    google.say_at(ALL, {"items": {"zones/a": {"instances": [vm(1)]}}, "nextPageToken": "t", **HIDES})
    google.say_at(ALL, {"items": {"zones/a": {"instances": [vm(2)]}}}, token="t")


HIDES = {"unreachables": ["zones/us-east1-b"]}


def test_a_project_known_to_be_small_is_read_in_a_row(google: Scripted, compute: ComputeEngine):
    """Until there is no next page; what one of them hides, the whole hides."""
    known("a", vms=IN_A_ROW)
    two_pages(google)
    fleet = compute.fleet()
    assert [machine.id for machine in fleet.items] == ["1", "2"]
    assert fleet.unreachable == ("us-east1-b",)
    assert [asked.query.get("pageToken") for asked in google.asked] == [None, "t"]


def test_a_project_known_to_be_larger_is_not(google: Scripted, compute: ComputeEngine):
    """One more VM, and its zones are listed."""
    known("a", vms=IN_A_ROW + 1)
    two_pages(google)
    google.say({})
    compute.fleet()
    assert {asked.path for asked in google.asked} == {ALL, path("a")}


def test_each_list_tells_how_the_next_one_is_read(google: Scripted, compute: ComputeEngine):
    """Nobody knows a process's first list; its second one knows that two VMs are few."""
    two_pages(google)
    google.say_at(path("a"), {"items": [vm(1), vm(2)]})
    assert ids(compute) == ids(compute) == ["1", "2"]
    assert [asked.path for asked in google.asked] == [ALL, path("a"), ALL, ALL]


def test_a_zone_that_had_vms_is_asked_though_the_first_page_is_silent_on_it(
    google: Scripted, compute: ComputeEngine
):
    """What was there is not gone because a page does not name its zone."""
    known("c", vms=IN_A_ROW + 1)
    first_of_many(google)
    google.say_at(path("c"), {"items": [vm(9)]})
    google.say({})
    assert ids(compute) == ["9"]


def test_many_zones_of_the_local_cloud_show_what_one_list_shows(local_world: LocalWorld):
    """More VMs than a page has, spread over zones: the same ones either way."""
    local_world.fill(1_203)
    known_large = local_world.compute.fleet()
    in_a_row = local_world.compute.fleet()
    assert len({machine.id for machine in known_large.items}) == len(known_large.items) == 1_203
    assert known_large.items == in_a_row.items
