"""A mistyped machine or zone is refused before anything is sent; a zone that nobody could ask is not."""

import click
import pytest
from msgspec.structs import replace

from spotwarden.cli.launching.offered import check_offered
from spotwarden.model.launch import Choice
from tests.fakes.compute import MemoryCompute
from tests.recovery.facts import launch

LAUNCH = replace(launch(), machine="g2-standard-4")
OTHER = "us-central1-b"


@pytest.fixture
def compute():
    """Compute Engine, where one zone has the machine, and it is not the one that is asked."""
    fake = MemoryCompute()
    fake.offer(LAUNCH.machine, [OTHER])
    return fake


def test_a_zone_without_the_machine_is_refused_with_those_that_have_it(compute):
    """Nothing is sent."""
    with pytest.raises(click.UsageError, match=OTHER):
        check_offered(compute, LAUNCH)


def test_a_zone_that_could_not_be_asked_is_left_to_the_launch(compute):
    """During an outage the lists lack zones that may have the machine."""
    compute.hide(LAUNCH.place)
    check_offered(compute, LAUNCH)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("us-centrl1-b", "Did you mean us-central1-b?"),
        (
            "us-central1",
            "is a region, not a zone. Nothing was sent.\nIts zones that offer g2-standard-4: us-central1-b",
        ),
        ("mars-north1-a", "Zones that do: us-central1-b"),
    ],
)
def test_a_mistyped_zone_is_told_which_was_meant(compute, place, says):
    """A region in the place of a zone, too: Compute Engine would refuse it after everything is sent."""
    with pytest.raises(click.UsageError) as refused:
        check_offered(compute, at(place))
    assert says in str(refused.value)


def test_a_request_for_a_region_is_for_one_that_has_the_machine(compute):
    """There Compute Engine chooses the zone; a mistyped one is told which was meant."""
    check_offered(compute, at("us-central1", "regions"))
    with pytest.raises(click.UsageError, match="Did you mean us-central1"):
        check_offered(compute, at("us-cental1", "regions"))


def at(place, kind="zones"):
    """The launch of one VM there."""
    request = LAUNCH.request
    path = request.path.replace(f"zones/{LAUNCH.place}", f"{kind}/{place}")
    return replace(LAUNCH, choices=(Choice(place=place, request=replace(request, path=path)),))
