"""What a ladder's kinds of VM may cost: who is asked, who is not, and what is said of either."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import Tell, WriteAttempt
from spotwarden.model.attempt import AttemptState, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile, MachineOrder
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.recovery.kinds.price_limits import kept_away, spot_limit
from spotwarden.recovery.places import choosing
from spotwarden.recovery.steps.asking import ask
from spotwarden.recovery.steps.leasing import lease
from spotwarden.recovery.telling.waits import tell_of_wait
from tests.recovery.facts import HOME, NOW

SPOT, FLEX, STANDARD = VmModel.SPOT, VmModel.FLEX, VmModel.STANDARD
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
NEXT = "us-central1-b"
OTHER = "a2-highgpu-1g"
LADDER = (Rung(model=SPOT, up_to=2 * HOUR, max_price=2.0), Rung(model=STANDARD, max_price=5.0))
CHEAP = {HOME: {SPOT: 2.0, STANDARD: 5.0}, NEXT: {SPOT: 1.0, STANDARD: 4.0}}
AT_HOME_DEAR = {**CHEAP, HOME: {SPOT: 2.01, STANDARD: 5.01}}
SPOT_DEAR = {HOME: {SPOT: 2.01, STANDARD: 4.0}, NEXT: {SPOT: 2.5, STANDARD: 4.0}}
ALL_DEAR = {HOME: {SPOT: 3.0, STANDARD: 6.0}, NEXT: {SPOT: 3.0, STANDARD: 6.0}}


@pytest.fixture
def waiting(some):
    """A job of two zones with this ladder, whose second attempt waits since so long, at these prices."""

    def build(prices=CHEAP, *, waited=timedelta(0), tries=(), file=JobFile(ladder=LADDER), **facts):
        state = AttemptState.BACKING_OFF if tries else AttemptState.CLAIMED
        attempt = some.attempt(2, state, created=NOW - waited, tries=tries)
        own = replace(some.launch(NEXT), machine="g2-standard-4")
        instead = (replace(some.launch(NEXT), machine=OTHER),) if file.machines else ()
        ledger = (some.attempt(instances={"test-vm": "1001"}), attempt)
        launch = replace(own, instead=instead)
        return some.job(ledger=ledger, nodes=(), launch=launch, file=file, prices=prices, **facts)

    return build


def chosen(facts: JobFacts, policy, tick):
    """The kind that is asked for next, and where; None for nothing."""
    found = choosing.choose(facts, facts.newest, policy, tick, waited=False)
    return found and (found.model, found.place)


@pytest.mark.parametrize(
    ("prices", "asked"),
    [
        (CHEAP, (SPOT, NEXT)),
        ({**CHEAP, NEXT: {SPOT: 2.01}}, (SPOT, HOME)),
        (AT_HOME_DEAR, (SPOT, NEXT)),
        (SPOT_DEAR, (STANDARD, HOME)),
        (ALL_DEAR, None),
        ({}, (SPOT, HOME)),
        ({HOME: {SPOT: 9.0}}, (SPOT, NEXT)),
    ],
    ids=["to the cent", "a cent more", "at home", "all spot", "all", "unknown", "one unknown"],
)
def test_a_place_that_costs_more_is_not_asked(waiting, policy, tick, prices, asked):
    """A kind that costs too much everywhere is passed over; what nobody knows is no reason."""
    assert chosen(waiting(prices), policy, tick) == asked


def test_a_kind_may_be_asked_for_again_at_a_higher_price(waiting, policy, tick):
    """After some time its owner pays more."""
    ladder = (Rung(model=SPOT, up_to=HOUR, max_price=1.0), Rung(model=SPOT, max_price=2.0))
    dear = {HOME: {SPOT: 2.0}, NEXT: {SPOT: 3.0}}
    cheap = {HOME: {SPOT: 2.0}, NEXT: {SPOT: 1.0}}
    file = JobFile(ladder=ladder)
    refused = (Try(place=NEXT, request_id="r", at=NOW - SECOND, error="ZONE_RESOURCE_POOL_EXHAUSTED"),)
    refused = (replace(refused[0], model=SPOT),)
    assert chosen(waiting(cheap, tries=refused, file=file), policy, tick) is None
    assert chosen(waiting(cheap, waited=HOUR, tries=refused, file=file), policy, tick) == (SPOT, HOME)
    assert chosen(waiting(dear, file=file), policy, tick) == (SPOT, HOME)


def test_what_asks_for_on_demand_has_no_price(waiting, policy, tick):
    """A deadline is worth more than the ladder's limit."""
    file = JobFile(ladder=LADDER, on_demand_after=0)
    assert chosen(waiting(ALL_DEAR, file=file), policy, tick) == (STANDARD, HOME)


def test_a_job_whose_places_all_cost_too_much_is_not_given_up(waiting, policy, tick):
    """Prices change, and so does its owner's mind: it backs off, and says why."""
    facts = waiting(ALL_DEAR)
    step = ask(facts, facts.ledger[-1], policy, tick, lease=lease(policy.recovery, tick), waited=True)
    assert isinstance(step, WriteAttempt)
    assert step.record.state is AttemptState.BACKING_OFF
    assert "spot in us-central1-a costs $3.00 an hour, max_price is $2.00" in step.reason
    assert "on-demand in us-central1-b costs $6.00 an hour, max_price is $5.00" in step.reason


def test_its_owner_is_told_after_half_an_hour(waiting, policy, tick):
    """Though no place was ever asked, and nobody has refused anything."""
    facts = waiting(ALL_DEAR, waited=HOUR / 2)
    step = tell_of_wait(facts, facts.ledger[-1], policy, tick)
    assert isinstance(step, Tell)
    assert "asked no place. Not asked: spot in us-central1-a costs $3.00 an hour" in step.notice.why
    assert "raise max_price" in step.notice.todo
    early = waiting(ALL_DEAR, waited=HOUR / 2 - SECOND)
    assert tell_of_wait(early, early.ledger[-1], policy, tick) is None
    cheap = waiting(CHEAP, waited=HOUR / 2)
    assert tell_of_wait(cheap, cheap.ledger[-1], policy, tick) is None


def test_only_what_is_left_out_now_is_told(waiting, policy):
    """The next kind's prices matter once its turn comes."""
    limits = policy.placement
    assert [item.place for item in kept_away(waiting(AT_HOME_DEAR), limits, timedelta(0))] == [HOME]
    assert kept_away(waiting(CHEAP), limits, timedelta(0)) == []
    later = kept_away(waiting(ALL_DEAR), limits, 2 * HOUR)
    assert [(item.rung.model, item.place) for item in later] == [(STANDARD, HOME), (STANDARD, NEXT)]


@pytest.mark.parametrize(("prices", "said"), [({}, True), (CHEAP, False)])
def test_a_price_that_nobody_knows_is_said(waiting, policy, tick, prices, said):
    """Where a limit was set, and only there."""
    for file, expected in ((JobFile(ladder=LADDER), said), (JobFile(ladder=(Rung(model=SPOT),)), False)):
        facts = waiting(prices, file=file)
        step = ask(facts, facts.ledger[-1], policy, tick, lease=lease(policy.recovery, tick), waited=False)
        assert ("its price is unknown" in step.reason) is expected


def test_a_move_back_to_spot_keeps_to_the_highest_price(waiting, policy):
    """Of all spot in the ladder; one without a limit has none."""
    some = (LADDER[0], Rung(model=SPOT, up_to=HOUR, max_price=3.0))
    assert spot_limit(waiting(file=JobFile(ladder=some)), policy.placement) == 3.0
    assert spot_limit(waiting(file=JobFile(ladder=(*some, Rung(model=SPOT)))), policy.placement) is None
    assert spot_limit(waiting(file=JobFile()), policy.placement) is None


@pytest.mark.parametrize(
    ("order", "others", "asked"),
    [
        (MachineOrder.WRITTEN, {HOME: {SPOT: 0.5}}, ("", NEXT)),
        (MachineOrder.PRICE, {HOME: {SPOT: 0.99}}, (OTHER, HOME)),
        (MachineOrder.PRICE, {HOME: {SPOT: 1.0}}, ("", NEXT)),
        (MachineOrder.PRICE, {}, ("", NEXT)),
        (MachineOrder.PRICE, {HOME: {STANDARD: 0.5}}, ("", NEXT)),
    ],
    ids=["as written", "cheaper", "the same", "unknown", "of another kind"],
)
def test_machines_come_by_price_where_their_owner_says_so(waiting, policy, tick, order, others, asked):
    """The script's own is no exception; a machine without a known price comes last."""
    file = JobFile(machines=(OTHER,), machine_order=order)
    facts = waiting(file=file, other_prices={OTHER: others})
    found = choosing.choose(facts, facts.newest, policy, tick, waited=False)
    assert (found.machine, found.place) == asked


def test_a_kind_that_is_never_reached_is_refused():
    """As in the policy: what has no end is the last."""
    with pytest.raises(ValueError, match="'spot' has no up_to"):
        JobFile(ladder=(Rung(model=SPOT), Rung(model=STANDARD)))
    assert JobFile(ladder=(Rung(model=SPOT, up_to=HOUR), Rung(model=STANDARD))).ladder
