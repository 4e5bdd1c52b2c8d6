"""Bulk requests that let Compute Engine choose among machine types: by rank, by room, by zone."""

import pytest

from localcloud.compute.bulk.flexible import Shape, chosen
from tests.localcloud.compute.world import REGION, ZONE, World, request

REGIONAL = f"regions/{REGION}/instances/bulkInsert"
FIRST, SECOND = "n2-standard-4", "n4-standard-4"
A, B, C, F = (f"{REGION}-{letter}" for letter in "abcf")


def flexible(count: int, *ranked: tuple[int | None, list[str]], **fields) -> dict:
    """A request for so many, with selections of ranks and machine types."""
    properties = {key: value for key, value in request(machineType=None).items() if key != "name"}
    selections = {
        f"s{number}": {"machineTypes": machines, **({} if rank is None else {"rank": str(rank)})}
        for number, (rank, machines) in enumerate(ranked)
    }
    return {
        "count": str(count),
        "namePattern": "w-#",
        "instanceProperties": properties,
        "instanceFlexibilityPolicy": {"instanceSelections": selections},
        **fields,
    }


def made(world: World, body: dict) -> list[tuple[str, str]]:
    """The zone and machine type of every instance that such a request makes."""
    operation = world.post(REGIONAL, body)
    world.advance(3)
    assert "error" not in world.operation(operation), world.operation(operation)
    found = world.get("/local/instances")["instances"]
    vms = [world.instance(vm["name"], vm["zone"]) for vm in found]
    return sorted((vm["zone"].rpartition("/")[2], vm["machineType"].rpartition("/")[2]) for vm in vms)


def out(world: World, machine: str, *zones: str, left: int = 0) -> None:
    """Let these zones have so many machines of a type, and no more."""
    for zone in zones:
        world.post("/local/stockout", {"zone": zone, "machine": machine, "left": left})


def test_the_lowest_rank_is_made_where_there_is_room(world: World):
    """Whichever stands first in the request."""
    assert made(world, flexible(2, (2, [FIRST]), (1, [SECOND]))) == [(A, SECOND)] * 2


def test_without_a_rank_a_selection_comes_first(world: World):
    """It is 0."""
    assert made(world, flexible(1, (1, [FIRST]), (None, [SECOND]))) == [(A, SECOND)]


def test_a_machine_type_that_has_run_out_gives_way_to_the_next(world: World):
    """In the one zone that a request is for by default: the one with room for all, most of it preferred."""
    out(world, FIRST, A, B, C, F)
    assert made(world, flexible(2, (1, [FIRST]), (2, [SECOND]))) == [(A, SECOND)] * 2


def test_a_zone_with_the_preferred_machine_beats_one_without(world: World):
    """Both have room for all."""
    out(world, FIRST, A, B, F)
    assert made(world, flexible(2, (1, [FIRST]), (2, [SECOND]))) == [(C, FIRST)] * 2


def test_one_zone_may_have_several_machine_types(world: World):
    """As many as there are of the preferred one, then the next."""
    out(world, FIRST, A, B, C, F, left=1)
    assert made(world, flexible(3, (1, [FIRST]), (2, [SECOND]))) == [(A, FIRST), (A, SECOND), (A, SECOND)]


def test_any_zone_with_the_preferred_machine_comes_before_another_machine(world: World):
    """Where the request may be spread."""
    out(world, FIRST, A, B, C, F, left=1)
    body = flexible(5, (1, [FIRST]), (2, [SECOND]), locationPolicy={"targetShape": "ANY"})
    assert made(world, body) == [(A, FIRST), (A, SECOND), (B, FIRST), (C, FIRST), (F, FIRST)]


def test_a_balanced_request_goes_through_the_zones_in_turn(world: World):
    """Each gives what is preferred of what it has left."""
    out(world, FIRST, A, B, left=0)
    body = flexible(4, (1, [FIRST]), (2, [SECOND]), locationPolicy={"targetShape": "BALANCED"})
    assert made(world, body) == [(A, SECOND), (B, SECOND), (C, FIRST), (F, FIRST)]


def test_a_zone_that_is_denied_is_left_out(world: World):
    """As in any bulk request."""
    policy = {"locations": {f"zones/{A}": {"preference": "DENY"}}}
    assert made(world, flexible(1, (1, [FIRST]), locationPolicy=policy)) == [(B, FIRST)]


def test_what_no_zone_takes_is_left_out_and_alone_refused(world: World):
    """A mistyped machine type, or one that does not take the disk that is asked for."""
    assert made(world, flexible(1, (1, ["n2-standard-5"]), (2, [FIRST]))) == [(A, FIRST)]
    status, _, message = world.refused(
        "POST", REGIONAL, flexible(1, (1, ["n2-standard-5"]), namePattern="x-#")
    )
    assert (status, "n2-standard-5" in message) == (400, True)


def test_a_disk_of_a_selection_takes_the_place_of_the_others(world: World):
    """So that machine types of two series may be in one request."""
    ssd, hyper = ("pd-ssd", "hyperdisk-balanced")
    body = flexible(1, (1, [SECOND]), (2, [FIRST]))
    (boot,) = body["instanceProperties"]["disks"]
    boot["initializeParams"]["diskType"] = ssd
    assert made(world, body) == [(A, FIRST)]
    selections = body["instanceFlexibilityPolicy"]["instanceSelections"]
    params = {**boot["initializeParams"], "diskType": hyper}
    selections["s0"]["disks"] = [{**boot, "initializeParams": params}]
    assert sorted(machine for _, machine in made(world, body)) == [FIRST, SECOND]


def test_it_is_for_regional_requests_that_name_a_machine(world: World):
    """Else 400."""
    zonal = f"zones/{ZONE}/instances/bulkInsert"
    assert world.refused("POST", zonal, flexible(1, (1, [FIRST])))[0] == 400
    assert world.refused("POST", REGIONAL, flexible(1, (1, [])))[0] == 400


def test_where_not_enough_is_left_nothing_stays(world: World):
    """The least number is the count."""
    out(world, FIRST, A, B, C, F, left=1)
    operation = world.post(REGIONAL, flexible(2, (1, [FIRST])))
    world.advance(60)
    assert world.failure(operation)[1] == "VM_MIN_COUNT_NOT_REACHED"
    assert world.get("/local/instances")["instances"] == []


@pytest.mark.parametrize("target", ["ANY_SINGLE_ZONE", "ANY", "BALANCED"])
@pytest.mark.parametrize("count", [1, 3, 7])
def test_every_instance_has_a_place_whatever_is_left(target, count):
    """What there is no room for is asked for all the same, and fails."""
    offers = {A: [Shape(machine=FIRST), Shape(machine=SECOND, rank=1)], B: [Shape(machine=SECOND, rank=1)]}
    found = chosen(count, target, offers, lambda _zone, _machine, taken: max(1 - sum(taken.values()), 0))
    assert len(found) == count
    assert all(shape in offers[zone] for zone, shape in found)
