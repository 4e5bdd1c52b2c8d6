"""Which place is asked next, once the former is known to have refused."""

from datetime import timedelta

import pytest

from spotwarden.model.action import LaunchInstances, Look, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import AttemptState
from spotwarden.model.jobfile import JobFile
from spotwarden.model.outcome import Rejected
from spotwarden.model.placement import PlacementRecord, ZoneAvailability

A, B, C, EAST = "us-central1-a", "us-central1-b", "us-central1-c", "us-east1-b"
STOCKOUT = "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: no [reason=resource_availability]"
NOT_OFFERED = "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: no [reason=configuration_availability]"
QUOTA = "QUOTA_EXCEEDED: Quota 'NVIDIA_L4_GPUS' exceeded"
SECOND = timedelta(seconds=1)


def claims(some, *places, state=AttemptState.CLAIMED, tries=(), attempt=(), **facts):
    """A job whose second attempt may be asked for in these places."""
    record = some.attempt(2, state, replaces={"test-vm": "1001"}, tries=tries, **dict(attempt))
    return some.job(**{"ledger": (record,), "launch": some.launch(*places), "nodes": (), **facts})


@pytest.fixture
def asks(walk):
    """The places that a sweep asks for one after the other, and what is known at its end."""

    def go(facts, answers=None):
        steps, known = walk(facts, answers)
        return [one.reason.split()[-1] for one in steps if isinstance(one, LaunchInstances)], known

    return go


@pytest.fixture
def failing(some, asked):
    """A job whose newest try of home was accepted and has failed so."""

    def build(error, *places, **facts):
        tries = (asked(operation="op-2"),)
        operation = some.operation("insert", name="op-2", error=error)
        return claims(
            some, *places, **{"state": AttemptState.PLACING, "tries": tries, "operation": operation, **facts}
        )

    return build


def test_home_is_asked_first(some, asks):
    """Where the script puts it."""
    assert asks(claims(some, B))[0] == [A]


def test_the_next_place_is_asked_once_the_former_is_known_to_have_failed(failing, asks):
    """At once, in the same sweep and under the next turn; the record keeps both tries."""
    places, facts = asks(failing(STOCKOUT, B))
    assert places == [B]
    assert [(one.place, one.turn, bool(one.error)) for one in facts.newest.tries] == [
        (A, 1, True),
        (B, 2, False),
    ]
    assert len({one.request_id for one in facts.newest.tries}) == 2


@pytest.mark.parametrize("done", [False, True])
def test_no_other_place_is_asked_while_nobody_knows(some, failing, step, done):
    """An operation that is under way, or of which nobody has heard, is waited for."""
    facts = failing("", B, operation=some.operation("insert", name="op-2", done=False) if done else None)
    assert isinstance(step(facts), Wait if done else Look)


@pytest.mark.parametrize("code", ["quotaExceeded", "ZONE_RESOURCE_POOL_EXHAUSTED", "internalError"])
def test_a_refused_request_is_as_good_as_a_failed_operation(some, asks, code):
    """Compute Engine says so at once, and the other region is asked in the same sweep."""
    places, facts = asks(claims(some, EAST), {LaunchInstances: Rejected(code=code, message="no")})
    assert places == [A, EAST]
    assert facts.newest.state is AttemptState.BACKING_OFF


def test_an_instance_in_the_middle_of_something_is_waited_for(some, asks):
    """It says nothing about the place, and the next place would be no better."""
    not_ready = {LaunchInstances: Rejected(code="resourceNotReady", message="is stopping")}
    places, facts = asks(claims(some, EAST), not_ready)
    assert places == [A]
    assert facts.newest.state is AttemptState.BACKING_OFF


def test_a_stockout_blocks_the_place_and_no_other(failing, asks):
    """In its own region too."""
    assert asks(failing(STOCKOUT, B, EAST))[0] == [B]


def test_a_quota_blocks_the_whole_region(failing, asks):
    """It is the region's; a job that cannot leave it backs off."""
    assert asks(failing(QUOTA, B, EAST))[0] == [EAST]
    places, facts = asks(failing(QUOTA, B))
    assert places == []
    assert facts.newest.state is AttemptState.BACKING_OFF


def test_a_block_ends_to_the_second(some, asks, asked, policy, tick):
    """A place that refused this very attempt is asked again when the block is over."""

    def after(span):
        tries = (asked(place=A, at=tick.now - span, error=STOCKOUT), asked(place=B, error=STOCKOUT, turn=2))
        return asks(claims(some, B, tries=tries))[0]

    assert after(policy.placement.block - SECOND) == []
    assert after(policy.placement.block) == [A]


def test_what_others_saw_of_a_place_counts(some, asks, tick):
    """A place that had none for another job is not asked first."""
    memory = PlacementRecord(
        machine="", availability={A: ZoneAvailability(trouble=1.0, at=tick.now, out=tick.now)}
    )
    assert asks(claims(some, B, places=memory))[0] == [B]


def test_a_place_that_does_not_offer_it_is_never_asked_again(some, asks, asked, policy, tick):
    """However long ago; a stockout of the same age is over."""
    long_ago = tick.now - 10 * policy.placement.block

    def after(error):
        tries = (asked(at=long_ago, error=error),)
        facts = claims(some, B, state=AttemptState.BACKING_OFF, tries=tries)
        return asks(facts)[0]

    assert after(NOT_OFFERED) == [B]
    assert after(STOCKOUT) == [A]


@pytest.mark.parametrize("code", ["invalid", "badRequest", "notFound"])
def test_a_lasting_refusal_of_home_tries_the_others(some, asks, code):
    """Only once every place has said so is there nothing left to try."""
    no = {LaunchInstances: Rejected(code=code, message="no")}
    places, facts = asks(claims(some, B, EAST), no)
    assert places == [A, B, EAST]
    assert facts.newest.state is AttemptState.GAVE_UP


def test_what_is_given_up_is_told_first(some, walk):
    """With the last error; the record says the same."""
    no = {LaunchInstances: Rejected(code="invalid", message="no such machine")}
    steps, facts = walk(claims(some), no)
    kinds = [type(one) for one in steps]
    assert kinds.index(Tell) < len(kinds) - 1
    assert facts.newest.reason == "invalid: no such machine"


def test_one_place_that_may_still_give_is_not_given_up(some, asks, asked):
    """Two are useless, the third has none now."""
    tries = (asked(place=A, error="invalid: no"), asked(place=B, error=NOT_OFFERED, turn=2))
    facts = claims(some, B, C, tries=tries)
    _, known = asks(facts, {LaunchInstances: Rejected(code="stockout", message="none")})
    assert known.newest.state is AttemptState.BACKING_OFF


def test_a_place_that_left_the_script_is_not_asked(some, asks, ours, asked):
    """A try that was written down for a place that the script no longer names ends as refused."""
    facts = claims(some, state=AttemptState.PLACING, tries=(asked(place=B),), attempt={"lease": ours})
    places, known = asks(facts)
    assert places == [A]
    assert "doesn't allow this zone any more" in known.newest.tries[0].error


def test_spot_is_asked_for_until_the_job_has_had_enough_of_it(some, asks):
    """From so many preemptions on, its next attempt is on demand; not for a job that never was spot."""

    def tried(*, preempted, most=2, spot=True):
        former = [
            some.attempt(number, lost=some.marker().written, fate="Compute Engine preempted it")
            for number in range(2, preempted + 1)
        ]
        newest = some.attempt(
            9, AttemptState.CLAIMED, replaces={"test-vm": "1001"}, fate="Compute Engine preempted it"
        )
        facts = some.job(
            ledger=(*former, newest),
            nodes=(),
            file=JobFile(on_demand_after=most),
            launch=some.launch(spot=spot),
        )
        _, known = asks(facts)
        return known.newest.tries[-1].spot

    assert tried(preempted=1)
    assert not tried(preempted=2)
    assert tried(preempted=2, spot=False)


def test_a_place_without_spot_vms_may_have_others(some, asks, asked, tick):
    """What it, or others, saw of its spot VMs says nothing about those on demand."""
    tries = (asked(error=STOCKOUT), asked(place=B, error=STOCKOUT, turn=2))
    memory = PlacementRecord(
        machine="", availability={A: ZoneAvailability(trouble=1.0, at=tick.now, out=tick.now)}
    )
    waiting = {
        "state": AttemptState.BACKING_OFF,
        "attempt": {"fate": "Compute Engine preempted it"},
        "places": memory,
    }
    facts = claims(some, B, tries=tries, file=JobFile(on_demand_after=1), **waiting)
    _, known = asks(facts)
    assert [(one.place, one.spot) for one in known.newest.tries][2:] == [(A, False)]


def test_what_is_asked_on_demand_says_why(some, walk):
    """People pay for it."""
    taken = {"fate": "Compute Engine preempted it"}
    steps, _ = walk(claims(some, attempt=taken, file=JobFile(on_demand_after=1)))
    (asking,) = (one for one in steps if isinstance(one, WriteAttempt) and "asks" in one.reason)
    assert "on demand: preempted 1 times" in asking.reason
