"""A create request whose name is taken: by itself, by its developer, or by a stranger."""

import pytest
from msgspec.structs import replace

from spotwarden.model.action import LaunchInstances, RegisterInstance, Survey, Wait
from spotwarden.model.attempt import AttemptState
from spotwarden.model.outcome import Rejected

A, B = "us-central1-a", "us-central1-b"
TAKEN = {LaunchInstances: Rejected(code="alreadyExists", message="'test-vm'")}


@pytest.fixture
def asking(some, asked, ours):
    """A job whose second attempt is about to ask its home."""
    record = some.attempt(2, AttemptState.PLACING, replaces={"test-vm": "1001"}, tries=(asked(),), lease=ours)
    return some.job(ledger=(record,), launch=some.launch(B), nodes=())


def test_a_name_that_is_taken_by_this_very_try_is_adopted(some, asking, walk):
    """An earlier sweep's request was carried out after all: list, and register what is there."""
    mine = some.instance(id="2002", job="test-vm", attempt=2, turn=1)
    steps, _ = walk(asking, {**TAKEN, **some.surveyed(mine)})
    assert [type(one) for one in steps][:3] == [LaunchInstances, Survey, RegisterInstance]
    assert steps[2].instance_id == "2002"


@pytest.mark.parametrize("other", [{"attempt": 1}, {"job": "another"}, {"turn": 9}])
def test_a_name_that_another_has_taken_is_not_adopted(some, asking, walk, other):
    """It is not what was asked for, so the next place is asked."""
    theirs = some.instance(**{"id": "7777", "job": "test-vm", "attempt": 2, "turn": 1, **other})
    _, facts = walk(asking, {**TAKEN, **some.surveyed(theirs)})
    assert [one.place for one in facts.newest.tries][:2] == [A, B]
    assert facts.newest.instances == {}


@pytest.mark.parametrize(
    "by_hand", [{"id": "7777"}, {"id": "1001", "job": "test-vm", "attempt": 1}], ids=["anew", "again"]
)
def test_a_name_that_its_developer_has_taken_is_taken_as_it_runs(some, asking, walk, by_hand):
    """Launched anew or started again a moment ago: no second VM beside it."""
    vm = some.instance(**by_hand)
    steps, facts = walk(replace(asking, fetched=some.ran(vm)), {**TAKEN, **some.surveyed(vm)})
    assert (facts.newest.state, facts.newest.instances) == (AttemptState.RUNNING, {"test-vm": by_hand["id"]})
    assert sum(isinstance(one, LaunchInstances) for one in steps) == 1


REFUSED = {LaunchInstances: Rejected(code="ZONE_RESOURCE_POOL_EXHAUSTED", message="no")}


def inserted(some, **facts):
    """The insert of the VM 2002, while this attempt asked."""
    return some.operation("insert", **{"name": "op-7", "target_id": "2002", "request_id": "r-1", **facts})


def test_a_vm_that_came_of_an_unanswered_request_and_is_gone_is_the_trys(some, asking, walk):
    """The repetition was refused, but the log tells that it ran: what befell it is judged by its id."""
    log = some.surveyed(inserts=(inserted(some),))
    steps, facts = walk(asking, {**REFUSED, **log}, most=8)
    assert (facts.newest.state, facts.newest.instances) == (AttemptState.RUNNING, {"test-vm": "2002"})
    assert sum(isinstance(one, LaunchInstances) for one in steps) == 1


@pytest.mark.parametrize(
    "other", [{"error": "QUOTA_EXCEEDED: no"}, {"request_id": "r-0"}, {"request_id": ""}]
)
def test_other_inserts_are_not_the_trys(some, asking, walk, other):
    """One that failed, one that another request made, or none of ours: the next place is asked."""
    log = some.surveyed(inserts=(inserted(some, **other),))
    _, facts = walk(asking, {**REFUSED, **log})
    assert [one.place for one in facts.newest.tries][:2] == [A, B]
    assert facts.newest.instances == {}


def test_a_vm_of_another_that_is_there_is_not_the_trys_whoever_inserted_it(some, asking, walk):
    """Its labels say whose it is."""
    theirs = some.instance(id="2002", job="another")
    _, facts = walk(asking, {**TAKEN, **some.surveyed(theirs, inserts=(inserted(some),))})
    assert facts.newest.instances == {}


def test_a_taken_name_is_looked_into_only_with_a_whole_list(some, asking, walk):
    """What hides may be ours."""
    steps, facts = walk(asking, {**TAKEN, **some.surveyed(unreachable=(A,))})
    assert isinstance(steps[-1], Wait)
    assert [one.place for one in facts.newest.tries] == [A]


def test_a_zone_in_which_another_holds_the_name_is_left_out(some, asking, walk):
    """Two VMs cannot have one name in one zone, so nothing is asked for there."""
    claimed = replace(asking, ledger=(some.attempt(2, AttemptState.CLAIMED, replaces={"test-vm": "1001"}),))

    def asked_of(theirs):
        _, facts = walk(replace(claimed, instances=(theirs,)))
        return facts.newest.tries[0].place

    theirs = some.instance(id="7777", job="another")
    assert asked_of(theirs) == B
    assert asked_of(replace(theirs, name="their-vm")) == A
