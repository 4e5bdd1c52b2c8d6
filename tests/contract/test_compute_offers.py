"""Where a machine can be had."""

import pytest

from localcloud.compute.catalog import Catalog
from spotwarden.gcp.compute import ComputeEngine
from spotwarden.model.placement import MachineZones
from spotwarden.ports import RejectedError, UnansweredError
from tests.contract.local_world import LocalWorld
from tests.contract.scripted import Scripted
from tests.contract.worlds import ZONE, World


def offer(*names: str, **more: object) -> dict[str, object]:
    """What a zone has of one list, as the API words it."""
    return {"machineTypes": [{"name": name, **more} for name in names]}


def cards(*names: str) -> dict[str, object]:
    """The accelerators of a zone."""
    return {"acceleratorTypes": [{"name": name} for name in names]}


def test_a_machine_is_offered_somewhere(world: World):
    """Among others in the zone of these tests."""
    assert ZONE in world.compute.offers("e2-medium", []).zones


def test_a_machine_with_a_card_is_offered_where_both_are(local_world: LocalWorld):
    """As the catalog of the local cloud has them."""
    catalog = Catalog()
    both = {
        zone
        for zone in catalog.zones
        if catalog.machine("n1-standard-8", zone) and "nvidia-tesla-t4" in catalog.accelerators_in(zone)
    }
    assert local_world.compute.offers("n1-standard-8", ["nvidia-tesla-t4"]).zones == both
    assert both < set(catalog.zones)


def test_a_machine_that_is_nowhere_is_offered_nowhere(local_world: LocalWorld):
    """No error: it is an answer."""
    assert local_world.compute.offers("x9-standard-1", []).zones == frozenset()


@pytest.mark.parametrize(
    ("machine", "listed"),
    [
        ("custom-4-8192", "n1-standard-4"),
        ("n2-custom-4-16384", "n2-standard-4"),
        ("e2-custom-medium-4096", "e2-standard-4"),
        ("n2d-custom-8-65536-ext", "n2d-standard-4"),
        ("a3-highgpu-8g", "a3-highgpu-8g"),
    ],
)
def test_a_custom_machine_is_offered_where_its_family_is(
    google: Scripted, compute: ComputeEngine, machine: str, listed: str
):
    """No list holds custom types."""
    google.say({"items": {"zones/a": offer(listed)}})
    assert compute.offers(machine, []).zones == {"a"}
    assert google.asked[0].query["filter"] == f'(name = "{listed}")'


def test_every_card_has_to_be_there(google: Scripted, compute: ComputeEngine):
    """One of two is not enough."""
    google.say({"items": {"zones/a": offer("m"), "zones/b": offer("m")}})
    google.say({"items": {"zones/a": cards("x"), "zones/b": cards("x", "y")}})
    assert compute.offers("m", ["y", "x"]).zones == {"b"}
    assert google.asked[1].query["filter"] == '(name = "x") OR (name = "y")'


def test_what_stands_on_several_pages_is_put_together(google: Scripted, compute: ComputeEngine):
    """A zone may go on over pages."""
    google.say({"items": {"zones/a": offer("m")}})
    google.say({"items": {"zones/a": cards("x")}, "nextPageToken": "t"})
    google.say({"items": {"zones/a": cards("y")}})
    assert compute.offers("m", ["x", "y"]).zones == {"a"}


@pytest.mark.parametrize("state", ["DEPRECATED", "OBSOLETE", "DELETED"])
def test_a_zone_where_it_is_on_its_way_out_is_left_out(google: Scripted, compute: ComputeEngine, state: str):
    """Where it stands, it is offered."""
    gone = offer("m", deprecated={"state": state})
    google.say({"items": {"zones/a": gone, "zones/b": offer("m", deprecated={"state": "ACTIVE"})}})
    assert compute.offers("m", []).zones == {"b"}


def test_a_zone_that_could_not_be_asked_is_left_out(google: Scripted, compute: ComputeEngine):
    """Whatever it may have, and is named; one that merely has none hides nothing."""
    google.say(
        {
            "items": {
                "zones/a": {**offer("m"), "warning": {"code": "PARTIAL_SUCCESS"}},
                "zones/b": offer("m"),
                "zones/c": {"warning": {"code": "NO_RESULTS_ON_PAGE"}},
            },
            "unreachables": ["zones/d"],
        }
    )
    assert compute.offers("m", []) == MachineZones(frozenset({"b"}), frozenset({"a", "d"}))


def test_nobody_answering_is_no_offer_of_nothing(google: Scripted, hasty: ComputeEngine):
    """An empty answer would be remembered for a day."""
    google.say(b"", status=503)
    with pytest.raises(UnansweredError):
        hasty.offers("m", [])


def test_a_name_that_can_be_none_is_not_asked_for(google: Scripted, compute: ComputeEngine):
    """It says which one."""
    google.say({})
    with pytest.raises(ValueError, match="projects/x"):
        compute.offers("projects/x", [])
    assert google.asked == []


def test_the_kinds_of_a_zone_are_its_machines_and_cards(local_world: LocalWorld):
    """As the catalog of the local cloud has them, and of no other zone."""
    kinds = local_world.compute.kinds_offered(ZONE)
    assert {"e2-medium", "n1-standard-1"} <= kinds
    assert kinds & {"x9-standard-1"} == set()
    assert set(Catalog().accelerators_in(ZONE)) <= kinds


def test_the_kinds_of_a_zone_that_is_not_there_are_refused(world: World):
    """Whoever asks knows then that the zone is mistyped."""
    with pytest.raises(RejectedError):
        world.compute.kinds_offered("us-nowhere1-z")


def test_what_a_zone_will_lose_is_none_of_its_kinds(google: Scripted, compute: ComputeEngine):
    """A deprecated type is not what anybody means."""
    google.say({"items": [{"name": "m1"}, {"name": "m0", "deprecated": {"state": "DEPRECATED"}}]})
    google.say({"items": [{"name": "c1"}]})
    assert compute.kinds_offered("a") == {"m1", "c1"}
