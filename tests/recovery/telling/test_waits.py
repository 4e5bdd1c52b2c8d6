"""Notices of a job that waits for room: at three moments, once each, with what would help."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import Tell, Wait, WriteAttempt
from spotwarden.model.attempt import AttemptState, Lease, Try
from spotwarden.model.instance import Status
from spotwarden.model.jobfile import JobFile
from spotwarden.recovery.telling.waits import STAGES, tell_of_wait
from tests.recovery.facts import HOME, NOW

NEXT = "us-central1-b"
SHORT = "ZONE_RESOURCE_POOL_EXHAUSTED: [resource_availability]"
SECOND = timedelta(seconds=1)
HALF, FOUR, DAY = STAGES


@pytest.fixture
def waiting(some):
    """A job whose second attempt backs off since so long, refused in these places for these reasons."""

    def build(
        since=HALF,
        errors=((HOME, SHORT), (NEXT, SHORT)),
        *,
        launch=None,
        file=JobFile(),
        instances=(),
        **facts,
    ):
        tries = tuple(
            Try(place=place, request_id="r", at=NOW - SECOND, error=error) for place, error in errors
        )
        given = {"not_before": NOW + timedelta(minutes=5), "tries": tries, "created": NOW - since, **facts}
        attempt = some.attempt(2, AttemptState.BACKING_OFF, **given)
        ledger = (some.attempt(instances={"test-vm": "1001"}), attempt)
        launch = launch or some.launch(NEXT)
        return some.job(ledger=ledger, nodes=(), launch=launch, file=file, instances=instances)

    return build


def told(facts, policy, tick):
    """The notice that is due, None for none."""
    found = tell_of_wait(facts, facts.ledger[-1], policy, tick)
    return found.notice if isinstance(found, Tell) else None


@pytest.mark.parametrize(
    ("since", "stages", "due"),
    [
        (HALF - SECOND, 0, False),
        (HALF, 0, True),
        (HALF, 1, False),
        (FOUR - SECOND, 1, False),
        (FOUR, 1, True),
        (DAY - SECOND, 2, False),
        (DAY, 2, True),
        (10 * DAY, 3, False),
    ],
)
def test_each_stage_is_told_once_and_to_the_second(waiting, policy, tick, since, stages, due):
    """What was told stands on the attempt's record."""
    assert bool(told(waiting(since, waits_told=stages), policy, tick)) is due


def test_after_a_gap_of_ours_only_the_newest_is_told(waiting, policy, tick):
    """Nobody needs three messages at once."""
    assert "1 d" in told(waiting(DAY), policy, tick).what or "24 h" in told(waiting(DAY), policy, tick).what


def test_two_sweeps_tell_the_same_notice(waiting, walk, policy, tick):
    """One that was cut off before it wrote that down is repeated under the same id."""
    steps, after = walk(waiting())
    assert [type(step) for step in steps] == [Tell, WriteAttempt, Wait]
    assert (steps[1].record.waits_told, steps[1].record.state) == (1, AttemptState.BACKING_OFF)
    assert steps[0].notice.id == told(waiting(), policy, tick).id
    assert told(after, policy, tick) is None


def test_it_says_who_refused_and_what_would_help(waiting, policy, tick):
    """Each place with its newest word."""
    quota = "QUOTA_EXCEEDED: Quota 'CPUS' exceeded."
    notice = told(waiting(errors=((HOME, SHORT), (NEXT, SHORT), (NEXT, quota))), policy, tick)
    assert notice.what == "test-vm has waited 30 min for a VM"
    assert notice.why == f"attempt 2 asked {HOME} (no capacity), {NEXT} (quota exceeded)"
    assert "`places = " in notice.todo
    assert "on_demand_after" in notice.todo


def test_what_cannot_help_is_not_advised(some, waiting, policy, tick):
    """A job that is tied to its zone, one that names its places, one that is on demand."""
    tied = told(waiting(launch=some.launch(fixed=("its disk is there",))), policy, tick)
    assert f"remove what keeps it in {HOME}: its disk is there" in tied.todo
    assert "places" not in tied.todo
    named = told(waiting(file=JobFile(places=(NEXT,))), policy, tick)
    assert "places" not in named.todo
    assert "on_demand" not in told(waiting(launch=some.launch(NEXT, spot=False)), policy, tick).todo


@pytest.mark.parametrize(
    "error", ["forbidden: Required 'compute.instances.create'", "invalid: bad name", "503: try again"]
)
def test_what_is_no_lack_of_room_is_told_elsewhere(waiting, policy, tick, error):
    """A missing permission has its own notice."""
    assert told(waiting(errors=((HOME, SHORT), (NEXT, error))), policy, tick) is None


def test_a_flex_start_request_in_line_counts(some, waiting, policy, tick):
    """No place has refused it yet; one that is just being made does not wait."""
    pending = some.instance(id="2001", status=Status.PENDING, job="test-vm", attempt=2, turn=1)
    facts = waiting(launch=some.launch(NEXT, flexible=True, spot=False), instances=(pending,))
    tries = (Try(place=HOME, request_id="r", at=NOW, operation="op"),)
    in_line = replace(facts.newest, state=AttemptState.PLACING, tries=tries, not_before=None)
    for launch, waits in ((facts.launch, True), (some.launch(NEXT), False)):
        ledger = (facts.ledger[0], replace(facts.ledger[1], attempt=in_line))
        notice = told(replace(facts, ledger=ledger, launch=launch), policy, tick)
        assert bool(notice) is waits
    given_room = replace(pending, status=Status.PROVISIONING)
    assert told(replace(facts, ledger=ledger, instances=(given_room,)), policy, tick) is None
    again = told(replace(facts, ledger=ledger), policy, tick)
    assert (HOME in again.why, "next zone" in again.then) == (True, True)


@pytest.mark.parametrize(("until", "due"), [(NOW + SECOND, False), (NOW, True)])
def test_whoever_works_on_it_is_left_alone(waiting, policy, tick, until, due):
    """A write would take the record from under the holder of the lease."""
    held = waiting(lease=Lease(holder="another", until=until))
    assert bool(told(held, policy, tick)) is due


def test_a_disks_name_that_somebody_holds_is_told_with_what_holds_it(waiting, policy, tick):
    """No list of VMs shows it, and it may be held for ever."""
    error = f"alreadyExists: The resource 'projects/p/zones/{HOME}/disks/train-data' already exists"
    notice = told(waiting(errors=((HOME, error),)), policy, tick)
    assert f"{HOME} (disk train-data has the name already)" in notice.why
    assert notice.todo.startswith("find out whose disk train-data is. If nobody needs it, delete it")
    assert told(waiting(HALF - SECOND, errors=((HOME, error),)), policy, tick) is None
