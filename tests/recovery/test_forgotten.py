"""An operation that Compute Engine has forgotten: what came of it is adopted, else asked for anew."""

from datetime import timedelta

import pytest

from spotwarden.model.action import LaunchInstances, Look, StartInstance, Survey, Wait, WriteAttempt
from spotwarden.model.attempt import AttemptState, TryKind
from spotwarden.model.instance import Status
from spotwarden.model.outcome import Done, Rejected
from tests.recovery.facts import NOW

FORGOTTEN = {Look: Rejected(code="notFound", message="The resource 'operations/op-2' was not found")}
IDS = {"gang-1": "1001", "gang-2": "1002"}


@pytest.fixture
def placing(some, asked):
    """A job whose second attempt was asked for; its request was accepted as `op-2`."""

    def build(*, kind=TryKind.CREATE, **facts):
        tries = (asked(operation="op-2", kind=kind),)
        ledger = (some.attempt(2, AttemptState.PLACING, replaces={"test-vm": "1001"}, tries=tries),)
        return some.job(**{"ledger": ledger, "instances": (), "nodes": (), **facts})

    return build


@pytest.fixture
def gang(some, asked):
    """The same of a gang."""
    tries = (asked(operation="op-2"),)
    ledger = (some.attempt(2, AttemptState.PLACING, job="gang", replaces=IDS, tries=tries),)
    return some.gang_job(ledger=ledger, instances=(), nodes=())


def made(some, number="2001", **facts):
    """An instance that carries the labels of the second attempt's first try."""
    return some.instance(**{"id": number, "job": "test-vm", "attempt": 2, "turn": 1, **facts})


def test_what_was_made_is_adopted(some, placing, walk):
    """It is listed by its labels; nothing is asked for."""
    steps, facts = walk(placing(), {**FORGOTTEN, **some.surveyed(made(some))})
    assert not [one for one in steps if isinstance(one, LaunchInstances)]
    assert (facts.newest.state, facts.newest.instances) == (AttemptState.RUNNING, {"test-vm": "2001"})


def test_what_was_made_and_is_gone_is_adopted_by_the_log(some, placing, walk):
    """What befell it is then judged by its id: its owner may have deleted it."""
    insert = some.operation("insert", name="op-3", target_id="2001", request_id="r-1")
    _, facts = walk(placing(), {**FORGOTTEN, **some.surveyed(inserts=[insert])})
    assert facts.newest.instances == {"test-vm": "2001"}


def test_where_nothing_was_made_the_same_request_is_sent_again(some, placing, walk):
    """Under the lease, with the id it had: what Compute Engine remembers it does not do twice."""
    steps, _ = walk(placing(), {**FORGOTTEN, **some.surveyed()})
    assert [type(one) for one in steps[:4]] == [Look, Survey, WriteAttempt, LaunchInstances]
    assert steps[2].record.lease.holder == "this-sweep"
    assert steps[3].request_id == "r-1"
    assert isinstance(steps[-1], Wait)


def test_nothing_is_sent_while_the_lists_may_hide_what_was_made(some, placing, walk):
    """An incomplete list proves nothing."""
    steps, _ = walk(placing(), {**FORGOTTEN, **some.surveyed(unreachable=("us-central1-a",))})
    assert [type(one) for one in steps] == [Look, Survey, Wait]


def test_an_operation_that_is_known_is_only_waited_for(some, placing, walk):
    """Whatever a list would show."""
    steps, _ = walk(placing(), {Look: Done(operation=some.operation("insert", name="op-2", done=False))})
    assert [type(one) for one in steps] == [Look, Wait]


@pytest.mark.parametrize(("status", "adopted"), [(Status.RUNNING, True), (Status.TERMINATED, False)])
def test_a_forgotten_start_is_told_by_the_vm_itself(some, placing, walk, status, adopted):
    """It runs, or it is started again with the id that the start had."""
    old = some.instance(id="1001", status=status)
    steps, facts = walk(placing(kind=TryKind.START), {**FORGOTTEN, **some.surveyed(old)})
    assert (facts.newest.state is AttemptState.RUNNING) is adopted
    assert [one.request_id for one in steps if isinstance(one, StartInstance)] == ([] if adopted else ["r-1"])


def test_a_whole_gang_is_adopted(some, gang, walk):
    """By its labels."""
    both = [made(some, f"200{n}", name=f"gang-{n}", job="gang") for n in (1, 2)]
    _, facts = walk(gang, {**FORGOTTEN, **some.surveyed(*both)})
    assert facts.newest.instances == {"gang-1": "2001", "gang-2": "2002"}


def test_half_a_gang_is_neither_adopted_nor_asked_for_at_once(some, gang, walk):
    """The lists may still fill up."""
    half = made(some, "2001", name="gang-1", job="gang")
    steps, facts = walk(gang, {**FORGOTTEN, **some.surveyed(half)})
    assert isinstance(steps[-1], Wait)
    assert facts.newest.state is AttemptState.PLACING


def test_a_gang_of_which_only_the_log_tells_is_asked_for_again(some, gang, walk):
    """An earlier try of the same minute looks the same in the log."""
    inserts = [
        some.operation("insert", name=f"op-{n}", target_id=f"200{n}", target_name=f"gang-{n}") for n in (1, 2)
    ]
    steps, _ = walk(gang, {**FORGOTTEN, **some.surveyed(inserts=inserts)})
    assert [one.request_id for one in steps if isinstance(one, LaunchInstances)] == ["r-1"]


@pytest.fixture
def unanswered(some, asked):
    """A gang, asked for so long ago by a sweep that was never answered."""

    def build(age):
        tries = (asked(at=NOW - age),)
        ledger = (some.attempt(2, AttemptState.PLACING, job="gang", replaces=IDS, tries=tries),)
        return some.gang_job(ledger=ledger, instances=(), nodes=())

    return build


def test_what_an_old_unanswered_request_made_is_adopted_without_those_lost_since(some, unanswered, walk):
    """Its ID may be forgotten by now, and a request for a region would make the gang a second time."""
    half = made(some, "2001", name="gang-1", job="gang")
    insert = some.operation("insert", name="op-3", target_id="2002", target_name="gang-2", request_id="r-1")
    steps, facts = walk(unanswered(timedelta(minutes=6)), some.surveyed(half, inserts=[insert]))
    assert not [one for one in steps if isinstance(one, LaunchInstances)]
    assert facts.newest.instances == {"gang-1": "2001", "gang-2": "2002"}


def test_an_old_unanswered_request_that_made_nothing_is_sent_again_after_a_look(some, unanswered, walk):
    """With the ID that it had."""
    steps, _ = walk(unanswered(timedelta(minutes=6)), some.surveyed())
    assert Survey in [type(one) for one in steps]
    assert [one.request_id for one in steps if isinstance(one, LaunchInstances)] == ["r-1"]


def test_an_old_unanswered_request_waits_while_the_lists_may_hide_what_it_made(some, unanswered, walk):
    """An incomplete list proves nothing."""
    steps, _ = walk(unanswered(timedelta(minutes=6)), some.surveyed(unreachable=("us-central1-a",)))
    assert not [one for one in steps if isinstance(one, LaunchInstances)]


def test_a_request_of_a_moment_ago_is_sent_again_without_a_look(some, unanswered, walk):
    """Its ID is surely remembered."""
    steps, _ = walk(unanswered(timedelta(minutes=5)), some.surveyed())
    kinds = [type(one) for one in steps]
    assert LaunchInstances in kinds
    assert Survey not in kinds[: kinds.index(LaunchInstances)]
