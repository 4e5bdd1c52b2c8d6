"""A gang is one job: however many of its nodes fell, there is one answer, and it is whole or it is not."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import (
    ClearMarker,
    DeleteInstance,
    KeepWatch,
    LaunchInstances,
    Survey,
    Tell,
    Wait,
    WriteAttempt,
)
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.marker import MarkerBody
from spotwarden.model.outcome import Rejected
from spotwarden.recovery.requests.clearing import clear_the_way
from tests.recovery.facts import NOW

IDS = {"gang-1": "1001", "gang-2": "1002"}


def fallen(some, name, number, **facts):
    """A node of the gang that was preempted, with its marker."""
    ids = {"target_id": number, "target_name": name, "name": f"op-{name}"}
    return some.node(
        **{
            "node": name,
            "instance_id": number,
            "marker": some.marker(node=name, generation=int(number)),
            "history": (some.operation(**ids),),
            **facts,
        }
    )


def test_one_lost_node_is_a_lost_gang(some, claimed):
    """The record stands in for all its instances and answers all its markers."""
    record = claimed(some.gang_job())
    assert (record.number, record.replaces) == (2, IDS)
    assert record.markers == {"gang-1": 11}


def test_all_nodes_lost_is_one_lost_gang(some, claimed):
    """Two markers make one attempt, and each of them has its answer."""
    nodes = (fallen(some, "gang-1", "1001"), fallen(some, "gang-2", "1002"))
    record = claimed(some.gang_job(nodes=nodes, instances=()))
    assert record.markers == {"gang-1": 1001, "gang-2": 1002}
    running = some.attempt(2, job="gang", markers=record.markers, replaces=IDS)
    assert running.attempt.markers == record.markers


@pytest.mark.parametrize("turned", [False, True], ids=["the first one first", "the last one first"])
def test_a_gang_is_lost_since_its_first_loss_in_whatever_order_its_nodes_are_named(some, claimed, turned):
    """What is left of its limits would else hang on which marker woke the sweep."""
    first, last = NOW - timedelta(minutes=21), NOW - timedelta(minutes=1)
    nodes = [
        fallen(some, name, number, history=(some.operation(target_id=number, target_name=name, at=at),))
        for name, number, at in (("gang-1", "1001", first), ("gang-2", "1002", last))
    ]
    record = claimed(some.gang_job(nodes=tuple(reversed(nodes) if turned else nodes), instances=()))
    assert record.lost == first


def test_the_markers_of_all_nodes_are_cleared_by_the_one_answer(some, walk):
    """Once the attempt runs, each marker goes, under its own generation."""
    nodes = (fallen(some, "gang-1", "1001"), fallen(some, "gang-2", "1002"))
    markers = {"gang-1": 1001, "gang-2": 1002}
    new = {"gang-1": "2001", "gang-2": "2002"}
    running = some.attempt(2, job="gang", markers=markers, replaces=IDS, instances=new)
    steps, _ = walk(some.gang_job(nodes=nodes, ledger=(running,), instances=()))
    cleared = {one.node: one.generation for one in steps if isinstance(one, ClearMarker)}
    assert cleared == markers


def test_a_gang_of_which_nothing_is_lost_is_left_alone(some, step):
    """Every node runs: nothing to do."""
    both = [some.instance(id=number, name=name) for name, number in IDS.items()]
    nodes = [
        some.node(node=one.name, instance_id=one.id, instance=one, marker=None, history=()) for one in both
    ]
    assert step(some.gang_job(nodes=tuple(nodes), instances=tuple(both))) is None


def test_a_lost_node_is_answered_while_another_is_still_stopping(some, walk):
    """The claim comes first; what stops holds its name, so nothing is asked until it is gone."""
    going = some.instance(id="1002", name="gang-2", status=Status.STOPPING)
    nodes = (fallen(some, "gang-1", "1001"), fallen(some, "gang-2", "1002", instance=going))
    steps, facts = walk(some.gang_job(nodes=nodes, instances=(going,)))
    assert [type(one) for one in steps] == [WriteAttempt, Wait]
    assert set(facts.newest.markers) == {"gang-1", "gang-2"}


def test_a_node_that_is_hidden_keeps_the_others_waiting(some, walk):
    """It may run: not knowing comes before everything else."""
    hides = "unreachable: us-central1-b"
    hidden = some.node(node="gang-2", instance_id="1002", marker=None, history=(), unsure=hides)
    nodes = (fallen(some, "gang-1", "1001"), hidden)
    steps, facts = walk(some.gang_job(nodes=nodes, instances=(), unsure=hides))
    assert isinstance(steps[-1], Wait)
    assert "us-central1-b" in steps[-1].reason
    assert facts.newest.number == 1


def test_survivors_of_a_gang_that_is_replaced_early_run_on(some, walk):
    """They are announced to be taken, and their successors start elsewhere."""
    alive = tuple(some.instance(name=name, id=number) for name, number in IDS.items())
    early = some.attempt(2, AttemptState.CLAIMED, job="gang", replaces=IDS, early=True, lost=NOW)
    facts = some.gang_job(ledger=(early,), nodes=(), instances=alive, launch=some.gang("us-central1-b"))
    steps, known = walk(facts)
    assert DeleteInstance not in [type(one) for one in steps]
    assert [one.place for one in known.newest.tries] == ["us-central1-b"]


def test_a_gang_that_runs_whole_was_not_lost(some, walk):
    """Whoever claimed it had an older list: it is taken as it runs, and no node of it is deleted."""
    both = tuple(some.instance(name=name, id=number, job="gang") for name, number in IDS.items())
    mistaken = some.attempt(2, AttemptState.CLAIMED, job="gang", replaces=IDS, lost=NOW)
    facts = some.gang_job(ledger=(mistaken,), nodes=(), instances=())
    steps, known = walk(facts, some.surveyed(*both))
    assert DeleteInstance not in [type(one) for one in steps]
    assert (known.newest.state, known.newest.instances) == (AttemptState.RUNNING, IDS)
    steps, _ = walk(facts, some.surveyed(both[0]))
    assert DeleteInstance in [type(one) for one in steps]


PERSON, ROBOT = "ann@example.com", "reaper@p.iam.gserviceaccount.com"


@pytest.mark.parametrize(
    ("kind", "user", "stopped"),
    [
        ("delete", PERSON, True),
        ("stop", PERSON, True),
        ("delete", ROBOT, False),
        ("compute.instances.guestTerminate", "system", False),
    ],
)
def test_a_gang_of_which_a_person_removed_a_node_is_stopped(some, claim_of, kind, user, stopped):
    """Whatever else befell it. A node that ends by itself, its peer gone, asks for no stop."""
    removed = some.operation(kind, name="op-9", user=user)
    nodes = (fallen(some, "gang-1", "1001"), fallen(some, "gang-2", "1002", history=(removed,)))
    one = claim_of(some.gang_job(nodes=nodes, instances=()))
    assert isinstance(one, Tell) is stopped
    assert isinstance(one, WriteAttempt) is not stopped


OUR_RULE = "spotwarden-cap-runtime@p.iam.gserviceaccount.com"


@pytest.mark.parametrize("status", [Status.STOPPING, Status.TERMINATED, None])
def test_a_lost_node_is_not_answered_while_the_log_does_not_tell_what_stopped_another(
    some, step, claim_of, tick, limits, status
):
    """A rule may have stopped the rest: told, it closes the job; never told, the gang comes back."""
    there = some.instance(id="1002", name="gang-2", status=status) if status else None
    shown = (there,) if there else ()

    def beside(history=(), ago=timedelta(0)):
        marker = some.marker(node="gang-2", written=tick.now - ago)
        other = fallen(some, "gang-2", "1002", instance=there, marker=marker, history=history)
        return some.gang_job(nodes=(fallen(some, "gang-1", "1001"), other), instances=shown)

    assert isinstance(step(beside()), Wait)
    assert isinstance(claim_of(beside(ago=limits.log_delay)), WriteAttempt)
    if status is not Status.STOPPING:
        told = step(beside((some.operation("stop", name="op-9", user=OUR_RULE),)))
        assert (type(told), told.notice.kind) == (Tell, "stopped")


@pytest.mark.parametrize(
    ("known", "first"), [({"watched": None}, KeepWatch), ({"ledger": (), "registrations": IDS}, WriteAttempt)]
)
def test_nothing_is_waited_for_where_no_record_says_since_when_a_node_is_gone(some, claim_of, known, first):
    """Without its marker the wait would have no end: the lost node is answered at once."""
    nodes = (fallen(some, "gang-1", "1001"), fallen(some, "gang-2", "1002", marker=None, history=()))
    assert isinstance(claim_of(some.gang_job(nodes=nodes, instances=(), **known)), first)


@pytest.mark.parametrize(("user", "stopped"), [(PERSON, True), (ROBOT, False)])
def test_a_job_that_a_person_removes_while_it_is_brought_back_is_stopped(some, walk, user, stopped):
    """Told, written down; nothing is asked for any more. Our own delete of a survivor is no such word."""
    claimed = some.attempt(2, AttemptState.BACKING_OFF, job="gang", replaces=IDS)
    nodes = (fallen(some, "gang-2", "1002", marker=None, history=(some.operation("delete", user=user),)),)
    steps, facts = walk(some.gang_job(ledger=(claimed,), nodes=nodes, instances=()), some.surveyed())
    assert (facts.newest.state is AttemptState.STOPPED) is stopped
    assert (LaunchInstances in [type(one) for one in steps]) is not stopped


def test_a_gang_is_claimed_without_a_lease(some, claimed):
    """Its survivors go first, which takes longer than one sweep and is safe for any."""
    assert claimed(some.gang_job()).lease is None


def test_a_survivor_is_deleted_by_its_id_before_anything_is_asked(some, walk):
    """Then the sweep waits until it is gone."""
    steps, _ = walk(some.gang_job())
    assert [type(one) for one in steps] == [WriteAttempt, DeleteInstance, Wait]
    assert (steps[1].node, steps[1].zone, steps[1].instance_id) == ("gang-2", some.home, "1002")
    assert "gang-2" in steps[2].reason


def test_the_same_survivor_is_always_deleted_by_the_same_request(some, walk):
    """So that a repeated delete is one delete, whoever sends it."""
    ids = {walk(some.gang_job())[0][1].request_id for _ in range(2)}
    assert len(ids) == 1


def test_a_survivor_that_is_gone_already_is_no_hindrance(some, walk):
    """Not found is what was wanted."""
    gone = {DeleteInstance: Rejected(code="notFound", message="gone")}
    steps, _ = walk(some.gang_job(), {**gone, **some.surveyed()})
    assert LaunchInstances in [type(one) for one in steps]


def test_a_list_older_than_the_claim_says_nothing_of_survivors(some, walk):
    """A sweep that was held up lists once more before it asks, and sees what was not there."""
    claimed = some.attempt(2, AttemptState.CLAIMED, job="gang", replaces=IDS, lost=NOW)
    stale = some.gang_job(ledger=(claimed,), nodes=(), instances=())
    steps, _ = walk(stale, some.surveyed(some.instance(id="1002", name="gang-2")))
    assert [type(one) for one in steps] == [Survey, DeleteInstance, Wait]


def test_a_stopped_node_of_a_gang_is_deleted_too(some, walk):
    """A gang is always made anew, and a stopped VM holds its name."""
    kept = some.instance(id="1001", name="gang-1", status=Status.TERMINATED)
    left = some.instance(id="1002", name="gang-2", status=Status.TERMINATED)
    nodes = (fallen(some, "gang-1", "1001", instance=kept), fallen(some, "gang-2", "1002", instance=left))
    steps, _ = walk(some.gang_job(nodes=nodes, instances=(kept, left)))
    assert [one.instance_id for one in steps if isinstance(one, DeleteInstance)] == ["1001", "1002"]


def test_an_incomplete_list_hides_survivors_and_is_waited_for(some, step):
    """Nothing is asked while a zone that may hold one does not answer."""
    claimed = some.attempt(2, AttemptState.CLAIMED, job="gang", replaces=IDS)
    facts = some.gang_job(ledger=(claimed,), nodes=(), instances=(), unsure="unreachable: us-central1-a")
    waits = step(facts)
    assert isinstance(waits, Wait)
    assert not waits.soon
    assert isinstance(step(replace(facts, unsure="")), Survey)


@pytest.mark.parametrize(
    "other",
    [{"id": "7777"}, {"name": "gang-9"}, {"job": "another"}],
    ids=["another id", "another name", "another job's"],
)
def test_a_stranger_is_never_deleted(some, other):
    """Whatever a marker names: name, id and job must all be the gang's own."""
    claimed = some.attempt(2, AttemptState.CLAIMED, job="gang", replaces=IDS).attempt
    survivor = {"id": "1002", "name": "gang-2"}
    own = some.gang_job(instances=(some.instance(**survivor),))
    assert isinstance(clear_the_way(own, claimed), DeleteInstance)
    theirs = some.gang_job(instances=(some.instance(**{**survivor, **other}),))
    assert clear_the_way(theirs, claimed) is None


def test_a_marker_that_names_a_strangers_id_deletes_nobody(some, walk):
    """The id is on no instance of that name, so nothing is in the way."""
    theirs = some.instance(id="5555", name="their-vm")
    lying = some.marker(node="gang-1", body=MarkerBody(instance_id="5555"))
    nodes = (fallen(some, "gang-1", "5555", marker=lying), fallen(some, "gang-2", "1002", marker=None))
    steps, _ = walk(some.gang_job(nodes=nodes, instances=(theirs,)))
    assert DeleteInstance not in [type(one) for one in steps]


def claimed_gang(some, instances):
    """A gang whose next attempt is claimed, its old nodes gone, and what a fresh list shows."""
    record = some.attempt(2, AttemptState.CLAIMED, job="gang", replaces=IDS)
    return some.gang_job(ledger=(record,), nodes=(), instances=instances, surveyed=True)


def test_a_gang_that_its_developer_launches_by_hand_meanwhile_is_taken_as_it_runs(some, walk):
    """All of its nodes under new ids: nothing is asked for beside them."""
    new = tuple(some.instance(id=f"900{n}", name=f"gang-{n}") for n in (1, 2))
    steps, facts = walk(replace(claimed_gang(some, new), fetched=some.ran(*new)))
    assert facts.newest.instances == {"gang-1": "9001", "gang-2": "9002"}
    assert not any(isinstance(one, LaunchInstances | DeleteInstance) for one in steps)


def test_half_a_gang_launched_by_hand_is_waited_for(some, walk, limits):
    """Its developer is still at it: nothing is deleted, nothing is asked."""
    just = NOW - limits.settle + timedelta(seconds=1)
    half = some.instance(id="9001", name="gang-1", started=just)
    steps, _ = walk(replace(claimed_gang(some, (half,)), fetched=some.ran(half)))
    assert [type(one) for one in steps] == [Wait]
    assert "gang-1 was launched by hand" in steps[0].reason


def test_half_a_gang_that_has_run_by_hand_for_a_while_is_the_gang(some, walk, limits):
    """Whoever stops it then stops the job; a claim that waited for the rest would make all of it anew."""
    half = some.instance(id="9001", name="gang-1", started=NOW - limits.settle)
    facts = replace(claimed_gang(some, (half,)), fetched=some.ran(half))
    steps, known = walk(facts, some.surveyed(half))
    assert not any(isinstance(one, LaunchInstances | DeleteInstance) for one in steps)
    assert (known.newest.state, known.newest.instances) == (AttemptState.RUNNING, {"gang-1": "9001"})
    assert known.newest.seen


@pytest.mark.parametrize("number", ["1001", "9001"])
def test_what_an_earlier_attempt_had_is_waited_for_until_it_is_gone(some, number):
    """A node of a gang that bent, launched by hand without labels, still stops; a stranger hinders nobody."""
    first = some.attempt(1, job="gang", instances=IDS)
    bent = some.attempt(2, job="gang", instances={"gang-2": "1002"}, replaces={"gang-1": "1001"}, bent=True)
    claimed = some.attempt(3, AttemptState.CLAIMED, job="gang", replaces={"gang-2": "1002"})
    stops = some.instance(id=number, name="gang-1", status=Status.STOPPING)
    facts = some.gang_job(ledger=(first, bent, claimed), nodes=(), instances=(stops,))
    assert isinstance(clear_the_way(facts, claimed.attempt), Wait) is (number == "1001")
