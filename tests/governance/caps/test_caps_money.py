"""Caps on what a job costs: by the price table, by its own price, and where nobody knows."""

from datetime import date, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.caps.facts import JobAttempts
from spotwarden.model.attempt import AttemptState
from spotwarden.model.jobfile import JobFile
from spotwarden.model.prices import PriceTable
from spotwarden.model.rule_limits import JobCap
from tests.governance.caps.capped import (
    CHEAP,
    G2,
    HOUR,
    NOW,
    TABLE,
    asked,
    attempt,
    extended,
    facts,
    found,
    policy,
    up_for,
    verdict,
    vm,
)

TEN_DOLLARS = policy(job=JobCap(budget=10.0))
MONEY, OWN = "cost", "cost within its own budget"


@pytest.mark.parametrize(
    ("hours", "says"),
    [
        (7.99, None),
        (8.0, ("bad", 1, False)),
        (9.49, ("bad", 1, False)),
        (9.5, ("bad", 2, False)),
        (9.99, ("bad", 2, False)),
        (10.0, ("bad", 2, True)),
    ],
)
def test_a_job_at_a_dollar_an_hour_may_spend_ten(hours, says):
    """Both sides of every limit."""
    assert verdict(found(up_for(hours * HOUR), TEN_DOLLARS)) == says


def test_a_gang_costs_what_all_its_vms_cost():
    """Three VMs for three hours at a dollar each."""
    nodes = [vm(str(n), f"gang-{n}", "gang", up=3 * HOUR) for n in (1, 2, 3)]
    finding = found(facts(*nodes), TEN_DOLLARS)
    assert finding.evidence[MONEY] == "$9.00 (prices of 2026-03-01) of $10.00 (90%)"
    assert finding.due == NOW + HOUR / 3


def test_each_attempt_costs_what_it_ran_on():
    """Twenty hours of spot, then four on demand after it was moved there."""
    past = attempt(1, ago=100 * HOUR, tries=asked())
    now = attempt(2, ago=4 * HOUR, lost=80 * HOUR, tries=asked(spot=False))
    seen = facts(vm(up=4 * HOUR), records={"test-vm": JobAttempts(attempts=(past, now))})
    assert found(seen, TEN_DOLLARS).evidence[MONEY].startswith("$9.00")


@pytest.mark.parametrize(
    ("past_on", "now_on", "costs"),
    [("", "", "$12.00"), ("a2-highgpu-1g", "", "$32.00"), ("", "a2-highgpu-1g", "$16.00")],
)
def test_an_attempt_on_another_machine_type_costs_what_that_one_does(past_on, now_on, costs):
    """Ten hours on demand on the one, two on the other: a dollar an hour and three."""
    was = replace(asked(spot=False)[0], machine=past_on)
    past = attempt(1, ago=100 * HOUR, tries=(was,), machine=G2)
    runs = replace(asked(spot=False)[0], machine=now_on)
    now = attempt(2, ago=2 * HOUR, lost=90 * HOUR, tries=(runs,), machine=G2)
    a100 = replace(CHEAP, machine="a2-highgpu-1g", standard=3.0)
    up = vm(up=2 * HOUR)
    if now_on:
        up = replace(up, machine_type=now_on, gpu="nvidia-tesla-a100")
    records = {"test-vm": JobAttempts(attempts=(past, now))}
    seen = facts(up, records=records, table=PriceTable(rates=(CHEAP, a100)))
    assert found(seen, TEN_DOLLARS).evidence[MONEY].startswith(costs)


def test_a_vm_on_another_machine_type_that_a_person_started_again_costs_what_it_did():
    """The start leaves no try. Ten hours on demand on the script's machine, ten on the other, two started."""
    own, other = (replace(asked(spot=False)[0], machine=name) for name in ("", "a2-highgpu-1g"))
    a100 = replace(CHEAP, machine="a2-highgpu-1g", standard=3.0)
    first = attempt(1, ago=100 * HOUR, tries=(own,), machine=G2, instances={"test-vm": "1"})
    second = attempt(2, ago=80 * HOUR, lost=90 * HOUR, tries=(other,), machine=G2)
    stopped = {"state": AttemptState.STOPPED, "updated": NOW - 70 * HOUR}
    again = attempt(3, ago=2 * HOUR, seen=True)
    up = replace(vm(up=2 * HOUR), machine_type="a2-highgpu-1g", gpu="nvidia-tesla-a100")
    records = {"test-vm": JobAttempts(attempts=(first, replace(second, **stopped), again))}
    seen = facts(up, records=records, table=PriceTable(rates=(CHEAP, a100)))
    assert found(seen, TEN_DOLLARS).evidence[MONEY].startswith("$46.00")


def test_an_attempt_with_gpus_attached_costs_them_also_when_it_has_moved():
    """How many its script attaches is on record."""
    past = attempt(
        1, ago=100 * HOUR, tries=asked(spot=False), machine="n1-standard-8-nvidia-tesla-t4", gpus=2
    )
    moved = replace(asked(spot=False)[0], machine=G2)
    now = attempt(
        2, ago=HOUR, lost=90 * HOUR, tries=(moved,), machine="n1-standard-8-nvidia-tesla-t4", gpus=2
    )
    n1 = replace(CHEAP, machine="n1-standard-8", gpus=0, standard=0.5)
    t4 = replace(CHEAP, machine="", gpu="nvidia-tesla-t4", gpus=1, standard=0.25)
    records = {"test-vm": JobAttempts(attempts=(past, now))}
    seen = facts(vm(up=HOUR), records=records, table=PriceTable(rates=(CHEAP, n1, t4)))
    assert found(seen, TEN_DOLLARS).evidence[MONEY].startswith("$11.00")


def test_an_attempt_in_another_region_has_that_regions_price():
    """And where that is not known, nobody claims to know it."""
    past = attempt(1, ago=100 * HOUR, tries=asked("us-east4-b"))
    now = attempt(2, ago=4 * HOUR, lost=96 * HOUR, tries=asked())
    records = {"test-vm": JobAttempts(attempts=(past, now))}
    east = PriceTable(rates=(CHEAP, replace(CHEAP, region="us-east4", standard=2.0)))
    assert (
        found(facts(vm(up=4 * HOUR), records=records, table=east), TEN_DOLLARS)
        .evidence[MONEY]
        .startswith("$12.00")
    )
    unsure = found(facts(vm(up=4 * HOUR), records=records), TEN_DOLLARS)
    assert unsure.reading.value == "unknown"
    assert "at least $4.00; 4.0 VM-hours have no known price" in unsure.reason


def test_what_is_known_is_enough_where_it_is_too_much_already():
    """Ten dollars at least, and some VM-hours on top of which nobody knows the price."""
    past = attempt(1, ago=100 * HOUR, tries=asked("us-east4-b"))
    now = attempt(2, ago=10 * HOUR, lost=96 * HOUR, tries=asked())
    seen = facts(vm(up=10 * HOUR), records={"test-vm": JobAttempts(attempts=(past, now))})
    finding = found(seen, TEN_DOLLARS)
    assert verdict(finding) == ("bad", 2, True)
    assert "at least $10.00" in finding.evidence[MONEY]


@pytest.mark.parametrize("table", [PriceTable(), PriceTable(problem="prices.toml cannot be read: gone")])
def test_an_unknown_price_is_never_nothing(table):
    """However long it runs, nothing is done; its owner is told that nobody can know."""
    finding = found(replace(up_for(1000 * HOUR), prices=table), TEN_DOLLARS)
    assert verdict(finding) == ("unknown", 1, False)
    assert "no known price" in finding.reason
    assert table.problem in finding.evidence[MONEY]


def test_without_a_budget_prices_do_not_matter():
    """Who has no limit of money is not bothered with what it costs."""
    assert (
        found(replace(up_for(HOUR), prices=PriceTable()), policy(job=JobCap(max_runtime=10 * HOUR))) is None
    )


@pytest.mark.parametrize(("age", "old"), [(180, False), (181, True)])
def test_old_prices_are_said_to_be_old(age, old):
    """After half a year; they count all the same."""
    table = PriceTable(rates=(replace(CHEAP, date=NOW.date() - timedelta(days=age)),))
    finding = found(replace(up_for(9 * HOUR), prices=table), TEN_DOLLARS)
    assert verdict(finding) == ("bad", 1, False)
    assert (f"{age} days old" in finding.evidence[MONEY]) is old


def test_a_job_that_names_its_price_is_judged_by_it():
    """In its own currency, for all nodes together; no table is asked."""
    own = JobFile(budget=100.0, price_per_hour=10.0)
    seen = replace(up_for(8 * HOUR, file=own), prices=PriceTable())
    finding = found(seen, policy())
    assert verdict(finding) == ("bad", 1, False)
    assert finding.evidence[OWN] == "80.00 at 10 an hour of 100.00 (80%)"


def test_a_job_without_a_price_of_its_own_is_judged_by_the_table():
    """Its budget is then in USD."""
    finding = found(up_for(8 * HOUR, file=JobFile(budget=10.0)), policy())
    assert verdict(finding) == ("bad", 1, False)
    assert OWN in finding.evidence


def test_a_jobs_own_low_price_does_not_lift_the_policys_budget():
    """What was agreed on is counted by the table."""
    cheap = JobFile(budget=100.0, price_per_hour=0.01)
    assert found(up_for(10 * HOUR, file=cheap), TEN_DOLLARS).ripe


def test_the_measure_that_is_nearest_to_its_limit_speaks():
    """And what comes first is when it is due."""
    both = policy(job=JobCap(budget=10.0, max_runtime=100 * HOUR))
    finding = found(up_for(9 * HOUR), both)
    assert "cost" in finding.reason
    assert finding.due == NOW + HOUR
    assert set(finding.evidence) == {MONEY, "run time over all attempts"}


@pytest.mark.parametrize(("dearest", "ripe_at"), [(20.0, 14), (12.0, 12), (None, 10)])
def test_hours_that_were_granted_lift_a_budget_by_what_they_cost(dearest, ripe_at):
    """Four hours at a dollar, up to the policy's dearest; without one, up to its own budget."""
    said = policy(job=JobCap(budget=10.0, dearest=dearest))
    assert not found(up_for((ripe_at - 0.1) * HOUR), said, a=extended(4.0)).ripe
    assert found(up_for(ripe_at * HOUR), said, a=extended(4.0)).ripe


def test_hours_that_were_granted_lift_a_budget_at_the_price_of_now():
    """Eight hours of spot at a quarter are two dollars: ten become twelve, which last 48 hours."""
    spot = vm(up=47.9 * HOUR, provisioning="SPOT")
    said = policy(job=JobCap(budget=10.0, dearest=20.0))
    assert not found(facts(spot), said, a=extended(8.0)).ripe
    assert found(facts(replace(spot, started=NOW - 48 * HOUR)), said, a=extended(8.0)).ripe


def test_hours_that_were_granted_lift_a_budget_at_the_jobs_own_price():
    """Four hours at ten each, on a hundred."""
    own = JobFile(budget=100.0, price_per_hour=10.0)
    assert not found(up_for(13.9 * HOUR, file=own), policy(), a=extended(4.0)).ripe
    assert found(up_for(14 * HOUR, file=own), policy(), a=extended(4.0)).ripe


def test_the_table_of_the_tests_is_what_they_say():
    """A dollar on demand, a quarter on spot."""
    assert (CHEAP.standard, CHEAP.spot, CHEAP.date) == (1.0, 0.25, date(2026, 3, 1))
    assert TABLE.rates == (CHEAP,)
