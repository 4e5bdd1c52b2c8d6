"""A mistyped machine or zone is refused before anything is sent; a zone that nobody could ask is not."""

import click
import pytest
from msgspec.structs import replace

from spotwarden.cli.launching.offered import check_offered
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
