"""What a job's VMs cost in each place: by its request, and only where that could matter."""

from datetime import date

import pytest
from msgspec.structs import replace

from spotwarden.model.facts import JobFacts
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Choice, Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.prices import PriceTable, Rate
from spotwarden.model.request import Request
from spotwarden.recovery.kinds.price_file import with_prices
from spotwarden.recovery.kinds.prices import place_prices

HOME, NEXT, FAR = "us-central1-a", "us-central1-b", "us-east4-a"
SHEET = """
[[sheet]]
date = 2026-11-01
source = "made up"
rows = [
  { machine = "g2-standard-4", region = "us-central1", standard = 0.7, spot = 0.3 },
  { machine = "g2-standard-4", region = "us-east4", spot = 0.2 },
]
"""


def request(gpus=0):
    """A create request, with so many GPUs attached."""
    cards = [{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": gpus}] if gpus else []
    return Request(method="POST", path="", query={}, body={"name": "job", "guestAccelerators": cards})


def launch(*places, machine="g2-standard-4", gpus=0):
    """A job that may go to these places."""
    return Launch(
        nodes=("job",),
        choices=tuple(Choice(place=place, request=request(gpus)) for place in places),
        script=None,
        machine=machine,
        accelerators=("nvidia-tesla-t4",) if gpus else (),
        spot=True,
    )


@pytest.fixture
def sheet(tmp_path):
    """A price file of two regions."""
    file = tmp_path / "prices.toml"
    file.write_text(SHEET)
    return file


def test_a_place_costs_what_its_region_does(sheet):
    """Each kind of VM that has a price there."""
    facts = with_prices(JobFacts(job="job", launch=launch(HOME, NEXT, FAR)), sheet, PlacementLimits())
    at_home = {VmModel.SPOT: 0.3, VmModel.STANDARD: 0.7}
    assert facts.prices == {HOME: at_home, NEXT: at_home, FAR: {VmModel.SPOT: 0.2}}


def test_a_job_that_stays_in_its_region_needs_no_prices(sheet):
    """All its places cost the same: no file is read for it."""
    assert with_prices(JobFacts(job="job", launch=launch(HOME, NEXT)), sheet, PlacementLimits()).prices == {}


def test_attached_gpus_are_counted():
    """By the number that the request asks for."""
    rates = (
        Rate(machine="n1-standard-8", region="us-central1", spot=0.1, date=date(2026, 11, 1)),
        Rate(gpu="nvidia-tesla-t4", gpus=1, region="us-central1", spot=0.2, date=date(2026, 11, 1)),
    )
    found = place_prices(launch(HOME, machine="n1-standard-8", gpus=4), PriceTable(rates=rates))
    assert found == {HOME: {VmModel.SPOT: pytest.approx(0.9)}}


def test_a_preempted_job_comes_back_where_it_costs_least(world, sheet):
    """A region that ops allow beside its own is cheaper."""
    world.policy = replace(world.policy, placement=PlacementLimits(regions=("us-east4",)))
    world.settings = replace(world.settings, prices_file=sheet)
    world.cloud.compute.zones += (FAR,)
    world.preempt()
    world.sweep_until_quiet()
    assert [tried.place for tried in world.attempts()[-1].tries] == [FAR]
