"""What a job has cost by its records and the prices, against its own budget."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.attempt import AttemptState, Script, Try
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import VmModel
from spotwarden.model.prices import PriceTable, Rate
from spotwarden.recovery.kinds.used_budget import used_budget
from tests.recovery.facts import HOME, NOW

HOUR = timedelta(hours=1)
STANDARD = VmModel.STANDARD


def rate(machine, spot, standard):
    """Prices of a machine in the region of the job."""
    region, day = HOME.rpartition("-")[0], NOW.date()
    return Rate(machine=machine, region=region, spot=spot, standard=standard, date=day, source="a page")


TABLE = PriceTable(rates=(rate("g2-standard-4", 1.0, 3.0), rate("a2-highgpu-1g", 2.0, 6.0)))


def asked(**said):
    """What a launch asked for at home."""
    return Try(place=HOME, request_id="r", at=NOW, **said)


@pytest.fixture
def used(some):
    """The budget that is used up by a stopped job of one spot VM; None where something is left."""

    def look(budget, *tries, nodes=("test-vm",), granted=timedelta(), attempt=None, **said):
        """Each try was the launch of an attempt that was up for two hours."""
        ledger = tuple(
            some.attempt(
                number,
                AttemptState.STOPPED,
                created=NOW - 3 * HOUR,
                started=NOW - 3 * HOUR,
                updated=NOW - HOUR,
                tries=(each,),
                instances=dict.fromkeys(nodes, str(number)),
                **(attempt or {}),
            )
            for number, each in enumerate(tries, 1)
        )
        launch = replace(some.launch(), machine="g2-standard-4")
        file = JobFile(budget=budget, **said)
        facts = some.job(ledger=ledger, launch=launch, file=file, granted=granted)
        return used_budget(facts, launch, TABLE, NOW)

    return look


def test_a_budget_is_used_up_at_its_limit(used):
    """Two hours at a dollar each."""
    assert used(2.0, asked()) == (2.0, 2.0)
    assert used(2.01, asked()) is None
    assert used(None, asked()) is None


@pytest.mark.parametrize(
    ("said", "cost"),
    [({"model": STANDARD}, 6.0), ({"spot": False}, 6.0), ({"machine": "a2-highgpu-1g"}, 4.0)],
)
def test_each_attempt_costs_what_it_was_launched_as(used, said, cost):
    """On demand, or on another machine type; the one before it as the script says."""
    assert used(2.0 + cost, asked(), asked(**said)) == (2.0 + cost, 2.0 + cost)
    assert used(2.01 + cost, asked(), asked(**said)) is None


def test_an_attempt_of_another_script_costs_what_that_asked_for(used):
    """Its machine type is on record; its provisioning model isn't, and the cheaper one is assumed."""
    script = Script(generation=9, sha256="another")
    assert used(4.0, asked(), attempt={"machine": "a2-highgpu-1g", "script": script}) == (4.0, 4.0)
    assert used(2.0, asked(), attempt={"machine": "g2-standard-4", "script": script}) == (2.0, 2.0)


def test_each_node_of_a_gang_costs_as_much(used):
    """Two of them."""
    assert used(4.0, asked(), nodes=("test-1", "test-2")) == (4.0, 4.0)
    assert used(4.01, asked(), nodes=("test-1", "test-2")) is None


def test_what_has_no_price_uses_nothing_up(used):
    """What is known may be enough all the same."""
    assert used(2.0, asked(), asked(machine="x9")) == (2.0, 2.0)
    assert used(0.01, asked(machine="x9")) is None


def test_granted_hours_are_on_top_at_the_price_of_the_script(used):
    """One more hour, one more dollar."""
    assert used(1.0, asked(), granted=HOUR) == (2.0, 2.0)
    assert used(1.01, asked(), granted=HOUR) is None


def test_a_job_with_a_price_of_its_own_is_counted_at_that(used):
    """Elsewhere, in its own currency."""
    assert used(2.0, asked(), price_per_hour=0.5) is None
