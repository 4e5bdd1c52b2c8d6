"""The ladder: which kind of VM an attempt asks for, how long, and what its request then says."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import LaunchInstances
from spotwarden.model.attempt import AttemptState, Try
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.recovery.kinds.flexible import is_flexible
from spotwarden.recovery.kinds.ladder import as_model, from_now_on, ladder_of
from spotwarden.recovery.places import choosing, usable_places
from tests.recovery.facts import HOME, NOW, REQUEST
from tests.recovery.slice_world import launch_of_slice

SPOT, FLEX, STANDARD = VmModel.SPOT, VmModel.FLEX, VmModel.STANDARD
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
LADDER = (Rung(model=SPOT, up_to=2 * HOUR), Rung(model=FLEX, up_to=24 * HOUR), Rung(model=STANDARD))
NEXT = "us-central1-b"
SHORT = "ZONE_RESOURCE_POOL_EXHAUSTED: [resource_availability]"
AS_SPOT = {"provisioningModel": "SPOT", "preemptible": True, "instanceTerminationAction": "STOP"}
AS_FLEX = {"provisioningModel": "FLEX_START", "maxRunDuration": {"seconds": "3600"}, "automaticRestart": True}


ON_DEMAND = {"provisioningModel": "STANDARD", "onHostMaintenance": "TERMINATE"}


@pytest.mark.parametrize(
    ("waited", "models"),
    [
        (timedelta(0), [SPOT, FLEX, STANDARD]),
        (2 * HOUR - SECOND, [SPOT, FLEX, STANDARD]),
        (2 * HOUR, [FLEX, STANDARD]),
        (26 * HOUR - SECOND, [FLEX, STANDARD]),
        (26 * HOUR, [STANDARD]),
        (9999 * HOUR, [STANDARD]),
    ],
)
def test_each_kind_has_its_time_to_the_second(waited, models):
    """The last one has no end."""
    assert [rung.model for rung in from_now_on(LADDER, waited)] == models


def test_the_last_kind_is_asked_for_though_its_time_is_over():
    """A ladder never runs out."""
    short = (Rung(model=SPOT, up_to=HOUR), Rung(model=FLEX, up_to=HOUR))
    assert list(from_now_on(short, 9 * HOUR)) == [short[-1]]


@pytest.fixture
def waiting(some):
    """A job with this ladder whose second attempt waits since so long, and what it was refused."""

    def build(waited=timedelta(0), tries=(), *, launch=None, file=JobFile(ladder=LADDER), **facts):
        attempt = some.attempt(
            2, AttemptState.BACKING_OFF if tries else AttemptState.CLAIMED, created=NOW - waited, tries=tries
        )
        ledger = (some.attempt(instances={"test-vm": "1001"}), attempt)
        launch = launch or some.launch(NEXT)
        return some.job(ledger=ledger, nodes=(), launch=launch, file=file, **facts)

    return build


def chosen(facts, policy, tick):
    """What is asked for next, and where; None for nothing."""
    found = choosing.choose(facts, facts.newest, policy, tick, waited=False)
    return found and (found.model, found.place, found.spot)


def refused(model, place=HOME, error=SHORT, ago=SECOND):
    """A try that was refused."""
    return Try(place=place, request_id="r", at=NOW - ago, error=error, model=model, spot=model is SPOT)


def test_an_attempt_goes_down_the_ladder_while_it_waits(waiting, policy, tick):
    """What one kind of VM was refused says nothing about the next."""
    both = (refused(SPOT), refused(SPOT, NEXT))
    assert chosen(waiting(), policy, tick) == (SPOT, HOME, True)
    assert chosen(waiting(HOUR, both), policy, tick) is None
    assert chosen(waiting(2 * HOUR, both), policy, tick) == (FLEX, HOME, False)
    assert chosen(waiting(26 * HOUR, both), policy, tick) == (STANDARD, HOME, False)


def test_a_kind_that_no_place_takes_is_passed_over(waiting, policy, tick):
    """A machine that is not offered on Flex-start; once all kinds are refused for good, nothing is left."""
    bad = "invalid: Flex-start VMs need another machine type"
    tries = (refused(FLEX, HOME, bad), refused(FLEX, NEXT, bad))
    assert chosen(waiting(3 * HOUR, tries), policy, tick) == (STANDARD, HOME, False)
    facts = waiting(3 * HOUR, tries)
    assert not usable_places.hopeless(facts, facts.newest, policy)
    every = tuple(refused(model, place, bad) for model in VmModel for place in (HOME, NEXT))
    facts = waiting(3 * HOUR, every)
    assert usable_places.hopeless(facts, facts.newest, policy)


def test_what_asks_for_on_demand_comes_before_the_ladder(waiting, policy, tick):
    """`on_demand_after` and the deadline."""
    file = JobFile(ladder=LADDER, on_demand_after=0)
    assert chosen(waiting(file=file), policy, tick) == (STANDARD, HOME, False)


def test_whose_ladder_it_is(some, waiting, policy):
    """The job's own, else the policy's; a gang has no Flex-start, a reservation no ladder."""
    limits = replace(policy.placement, ladder=LADDER[:1])
    assert ladder_of(waiting(), limits) == LADDER
    assert ladder_of(waiting(file=JobFile()), limits) == LADDER[:1]
    assert ladder_of(waiting(file=JobFile(ladder=())), limits) == ()
    gang = some.gang(NEXT)
    assert [rung.model for rung in ladder_of(waiting(launch=gang), limits)] == [SPOT, STANDARD]
    body = {**REQUEST.body, "scheduling": {"provisioningModel": "RESERVATION_BOUND"}}
    home = some.launch().choices[0]
    bound = some.launch(choices=(replace(home, request=replace(REQUEST, body=body)),))
    assert ladder_of(waiting(launch=bound), limits) == ()


@pytest.mark.parametrize(
    ("model", "has"), [("SPOT", True), ("FLEX_START", False), ("RESERVATION_BOUND", False)]
)
def test_a_slice_has_no_ladder_where_its_group_is_made_for_one_kind_of_vm(waiting, policy, model, has):
    """It asks for what its template says: never for on-demand VMs beside capacity that is paid for."""
    launch = launch_of_slice(model=model)
    assert bool(ladder_of(waiting(launch=launch), policy.placement)) is has


def test_without_a_ladder_nothing_is_said_of_a_kind(waiting, policy, tick):
    """The request is the script's."""
    assert chosen(waiting(file=JobFile()), policy, tick) == (None, HOME, True)


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize(
    ("said", "model", "sent"),
    [
        (AS_SPOT, SPOT, AS_SPOT),
        (AS_SPOT, STANDARD, ON_DEMAND),
        (
            AS_SPOT,
            FLEX,
            {
                "provisioningModel": "FLEX_START",
                "instanceTerminationAction": "STOP",
                "maxRunDuration": {"seconds": "604800"},
                "onHostMaintenance": "TERMINATE",
            },
        ),
        (AS_FLEX, STANDARD, ON_DEMAND),
        ({}, STANDARD, {"provisioningModel": "STANDARD"}),
        (
            AS_FLEX,
            SPOT,
            {
                "provisioningModel": "SPOT",
                "preemptible": True,
                "automaticRestart": False,
                "instanceTerminationAction": "DELETE",
                "onHostMaintenance": "TERMINATE",
            },
        ),
        (
            AS_SPOT | {"maxRunDuration": {"seconds": "7200"}},
            STANDARD,
            {
                **ON_DEMAND,
                "instanceTerminationAction": "STOP",
                "maxRunDuration": {"seconds": "7200"},
            },
        ),
    ],
)
def test_a_request_says_what_its_kind_may_have_and_no_more(said, model, sent, bulk):
    """A run time that its owner chose stays; the one that Flex-start needs does not."""
    inner = {"scheduling": said, "machineType": "g2-standard-4"}
    body = as_model({"instanceProperties": inner} if bulk else inner, model)
    assert (body["instanceProperties"] if bulk else body)["scheduling"] == sent


@pytest.mark.parametrize(("own", "sent"), [("60", "600"), ("7200", "7200"), ("999999", "604800")])
def test_a_flex_start_request_keeps_its_limits(own, sent):
    """The script's own run time within ten minutes and seven days; its own wait, else two hours."""
    body = as_model({"scheduling": {"maxRunDuration": {"seconds": own}}}, FLEX)
    assert body["scheduling"]["maxRunDuration"] == {"seconds": sent}
    assert body["params"] == {"requestValidForDuration": {"seconds": "7200"}}
    own_wait = {"params": {"requestValidForDuration": {"seconds": "90"}, "resourceManagerTags": {"a": "b"}}}
    assert as_model(own_wait, FLEX)["params"] == own_wait["params"]
    assert as_model(own_wait, SPOT)["params"] == {"resourceManagerTags": {"a": "b"}}


def test_a_try_is_sent_as_its_kind(waiting, walk):
    """With the job's labels on it; what became of it is judged by its kind, too."""
    facts = waiting(3 * HOUR)
    sent = replace(
        facts.newest,
        state=AttemptState.PLACING,
        tries=(Try(place=HOME, request_id="r", at=NOW, model=FLEX, spot=False),),
    )
    ledger = (facts.ledger[0], replace(facts.ledger[1], attempt=sent))
    steps, _ = walk(replace(facts, ledger=ledger))
    (launch,) = [step for step in steps if isinstance(step, LaunchInstances)]
    assert launch.request.body["scheduling"]["provisioningModel"] == "FLEX_START"
    assert launch.request.body["labels"]["spotwarden-job"] == "test-vm"
    assert is_flexible(replace(facts, ledger=ledger))
