"""Whose an instance is: by record, by a request of the chain, by the stored script; else a namesake."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import Fetch, Wait
from spotwarden.model.attempt import AttemptState, LackingNode, TryKind
from spotwarden.recovery.instances.ownership import blocking, foreign, identity_of, sift, unsettled, whose
from spotwarden.recovery.observed.identity import Ownership
from tests.recovery.facts import NOW, REQUEST, STORED

LAG = timedelta(minutes=2)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def placed(some, asked):
    """A job whose second attempt has asked its home, a minute ago."""
    tries = (asked(at=NOW - MINUTE),)
    record = some.attempt(2, AttemptState.PLACING, replaces={"test-vm": "1001"}, tries=tries)
    return some.job(ledger=(record,), nodes=())


def owned(facts, instance):
    """What the instance is to the job."""
    return whose(instance, identity_of(facts), NOW, LAG)


def made(some, **facts):
    """An instance with the labels of the second attempt's first try."""
    return some.instance(**{"id": "2002", "job": "test-vm", "attempt": 2, "turn": 1, **facts})


def insert(some, **facts):
    """The insert of that instance."""
    return some.operation("insert", **{"name": "op-2", "target_id": "2002", "request_id": "r-1", **facts})


def test_an_instance_on_record_is_the_jobs(some):
    """By the chain, as its own or as one that an attempt stands in for, and by a registered id."""
    record = some.attempt(2, instances={"test-vm": "2002"}, replaces={"test-vm": "1001"})
    facts = some.job(ledger=(record,), registrations={"test-vm": "3003"})
    for number in ("1001", "2002", "3003"):
        theirs = some.instance(id=number, zone="us-central1-f", job="another")
        assert owned(facts, theirs) is Ownership.RECORDED
    assert owned(facts, some.instance(id="4004", zone="us-central1-f")) is Ownership.NAMESAKE


def test_labels_count_with_an_insert_that_the_chain_has_asked_for(some, placed):
    """And with no other: anybody can copy labels."""
    ours = replace(placed, inserts=(insert(some),))
    assert owned(ours, made(some)) is Ownership.MADE
    copied = replace(placed, inserts=(insert(some, request_id="somebody's"),))
    assert owned(copied, made(some)) is Ownership.NAMESAKE
    by_console = replace(placed, inserts=(insert(some, request_id=""),))
    assert owned(by_console, made(some)) is Ownership.NAMESAKE


def test_a_request_without_an_id_was_not_asked_for_by_a_try_that_sent_none(some, placed):
    """A job that stays where it is, since every other place refused a move, has such a try on record."""
    newest = placed.ledger[0]
    stays = replace(newest.attempt.tries[0], kind=TryKind.KEEP, request_id="", turn=2)
    record = replace(newest, attempt=replace(newest.attempt, tries=(*newest.attempt.tries, stays)))
    by_console = replace(placed, ledger=(record,), inserts=(insert(some, request_id=""),))
    assert owned(by_console, made(some)) is Ownership.NAMESAKE


def test_an_insert_of_a_bulk_request_is_known_by_its_group(some, placed):
    """The bulk insert bears the request's id, and shares its group with the inserts that came of it."""
    whole = insert(some, name="op-1", target_id="", target_name="z", group="g")
    whole = replace(whole, kind="bulkInsert")
    node = insert(some, request_id="", group="g")
    assert owned(replace(placed, inserts=(whole, node)), made(some)) is Ownership.MADE
    other = replace(whole, request_id="somebody's")
    assert owned(replace(placed, inserts=(other, node)), made(some)) is Ownership.NAMESAKE


@pytest.mark.parametrize("other", [{"job": "another"}, {"attempt": 3}, {"attempt": None}, {"job": None}])
def test_labels_of_no_attempt_on_record_are_no_proof(some, placed, other):
    """Whoever inserted it: a notebook may carry the label of a job."""
    facts = replace(placed, inserts=(insert(some),))
    assert owned(facts, made(some, **other)) is Ownership.NAMESAKE


def test_while_the_log_may_be_behind_nobody_knows_whose_labels_these_are(some, placed):
    """Then the try must fit: the log keeps operations for some time only."""
    created = {"created": NOW - LAG + timedelta(seconds=1)}
    young = replace(placed.ledger[0].attempt.tries[0], at=NOW - 2 * LAG)
    record = replace(placed.ledger[0], attempt=replace(placed.ledger[0].attempt, tries=(young,)))
    facts = replace(placed, ledger=(record,))
    assert owned(facts, made(some, **created)) is Ownership.UNTOLD
    assert owned(facts, made(some, created=NOW - LAG)) is Ownership.MADE


@pytest.mark.parametrize(
    "other", [{"zone": "us-central1-f"}, {"turn": 2}, {"created": NOW - timedelta(hours=1)}]
)
def test_labels_that_no_try_fits_are_no_proof(some, placed, other):
    """Another zone, a try that never was, or older than the try."""
    assert owned(placed, made(some, **other)) is Ownership.NAMESAKE


def test_labels_of_a_try_that_is_on_record_as_refused_are_no_proof(some, placed):
    """What it had made was gone by then; until that is on record it may be a remainder of ours."""
    newest = placed.ledger[0]
    later = made(some, created=NOW - LAG)

    def tried(**facts):
        trying = replace(newest.attempt.tries[0], at=NOW - 2 * LAG, error="stockout: no room", **facts)
        return replace(placed, ledger=(replace(newest, attempt=replace(newest.attempt, tries=(trying,))),))

    assert owned(tried(refused=NOW - LAG), later) is Ownership.NAMESAKE
    assert owned(tried(), later) is Ownership.MADE


@pytest.mark.parametrize(
    ("node", "lacking", "held"),
    [
        ("test-vm", (), Ownership.NAMESAKE),
        ("other", (), Ownership.NAMESAKE),
        ("other", ("third",), Ownership.NAMESAKE),
        ("other", ("test-vm",), Ownership.MADE),
    ],
)
def test_labels_of_an_attempt_whose_vms_are_on_record_are_no_proof(some, placed, node, lacking, held):
    """It has made these, and what a gang lacks may come; the log keeps operations for some time only."""
    newest = placed.ledger[0]
    missing = {name: LackingNode(since=NOW) for name in lacking}
    runs = replace(newest.attempt, state=AttemptState.RUNNING, instances={node: "3003"}, lacking=missing)
    facts = replace(placed, ledger=(replace(newest, attempt=runs),))
    assert owned(facts, made(some, created=NOW - LAG)) is held


def test_labels_of_an_attempt_that_was_closed_long_before_are_no_proof(some, placed):
    """Its requests are over; somebody has made a VM like its own."""
    newest = placed.ledger[0]
    over = replace(newest.attempt, state=AttemptState.STOPPED, updated=NOW - timedelta(minutes=11))
    late = made(some, created=NOW)
    assert owned(replace(placed, ledger=(replace(newest, attempt=over),)), late) is Ownership.NAMESAKE


@pytest.fixture
def unseen(some):
    """A job whose script is stored, and whose VM nobody has written down."""
    return some.job(ledger=(), nodes=(), watched=None)


def test_a_launch_by_hand_is_known_by_place_time_and_request(some, unseen):
    """All of them, once somebody has looked at it."""
    vm = some.instance()
    assert owned(unseen, vm) is Ownership.UNSEEN
    assert owned(replace(unseen, fetched=some.ran(vm)), vm) is Ownership.BY_HAND


@pytest.mark.parametrize(
    "other",
    [
        {"zone": "us-central1-f"},
        {"name": "other"},
        {"created": None},
        {"created": NOW - timedelta(hours=2, seconds=61)},
    ],
    ids=["another zone", "another name", "nobody knows when", "before the script was stored"],
)
def test_what_the_script_cannot_have_made_is_a_namesake(some, unseen, other):
    """Though it were made by the very same request."""
    vm = some.instance(**other)
    assert owned(replace(unseen, fetched=some.ran(vm)), vm) is Ownership.NAMESAKE


def test_a_vm_of_another_request_in_the_very_place_is_a_namesake(some, unseen):
    """A colleague's `gcloud compute instances create`, with another machine or start-up script."""
    vm = some.instance()
    other = replace(REQUEST, body={**REQUEST.body, "machineType": "n1-standard-1"})
    assert owned(replace(unseen, fetched=some.ran(vm, request=other)), vm) is Ownership.NAMESAKE
    bare = replace(REQUEST, body={**REQUEST.body, "metadata": {}})
    assert owned(replace(unseen, fetched=some.ran(vm, request=bare)), vm) is Ownership.NAMESAKE


def test_what_was_added_to_a_vm_since_does_not_make_it_anothers(some, unseen):
    """Keys for logging in, labels, tags and disks are put on by people."""
    vm = some.instance()
    ran = dict(some.ran(vm)["1001"]["instance"])
    items = [*ran["metadata"]["items"], {"key": "note", "value": "mine"}]
    ran |= {"labels": {"owner": "ada"}, "tags": {"items": ["ssh"]}, "metadata": {"items": items}}
    ran |= {"disks": [{"source": "zones/z/disks/more"}]}
    fetched = {"1001": {"instance": ran, "disks": {}}}
    assert owned(replace(unseen, fetched=fetched), vm) is Ownership.BY_HAND


@pytest.mark.parametrize("gone", [{"script": None}, {"launch": None}])
def test_without_a_stored_script_no_launch_by_hand_is_known(some, unseen, gone):
    """Then only an id on record makes a VM the job's."""
    vm = some.instance()
    assert owned(replace(unseen, fetched=some.ran(vm), **gone), vm) is Ownership.NAMESAKE


def test_a_script_that_was_made_from_what_ran_knows_no_launch_by_hand(some, unseen):
    """It is what ran before, and nobody's script."""
    vm = some.instance()
    facts = replace(unseen, launch=some.launch(script=None), fetched=some.ran(vm))
    assert owned(facts, vm) is Ownership.NAMESAKE


def test_who_is_not_known_is_looked_at_or_waited_for(some, unseen, placed, limits, tick):
    """Before anything is judged."""
    fetch = unsettled(replace(unseen, instances=(some.instance(),)), limits, tick)
    assert isinstance(fetch, Fetch)
    assert fetch.instance_id == "1001"
    untold = made(some, created=NOW - timedelta(seconds=30))
    assert isinstance(unsettled(replace(placed, instances=(untold,)), limits, tick), Wait)
    strange = replace(unseen, instances=(some.instance(zone="us-central1-f"),))
    assert unsettled(strange, limits, tick) is None


def test_what_is_not_the_jobs_is_set_apart(some, limits, tick):
    """A namesake is no instance of the job, and no other one of a node of it."""
    theirs = some.instance(id="7777", zone="us-central1-f")
    facts = sift(some.job(instances=(theirs,), nodes=(some.node(others=(theirs,)),)), limits, tick)
    assert (facts.instances, facts.namesakes) == ((), (theirs,))
    assert facts.nodes[0].others == ()


def test_a_marker_without_an_id_is_about_what_the_script_has_made(some, unseen, limits, tick):
    """Where nothing is on record: the VM that is there, or the insert that the log tells of."""
    node = some.node(instance_id="", history=(some.operation(), some.operation(target_id="7777")))
    vm = some.instance()
    seen = replace(unseen, nodes=(node,), instances=(vm,), fetched=some.ran(vm))
    [known] = sift(seen, limits, tick).nodes
    assert (known.instance_id, known.instance, len(known.history)) == ("1001", vm, 1)
    gone = insert(some, target_id="1001", request_id="", at=NOW - timedelta(hours=1))
    [known] = sift(replace(seen, instances=(), inserts=(gone,)), limits, tick).nodes
    assert (known.instance_id, len(known.history)) == ("1001", 1)
    for other in ({"zone": "us-central1-f"}, {"at": STORED.stored - 2 * MINUTE}, {"error": "QUOTA: no"}):
        theirs = replace(gone, **other)
        [unknown] = sift(replace(seen, instances=(), inserts=(theirs,)), limits, tick).nodes
        assert (unknown.instance_id, unknown.history) == ("", ())


def test_a_marker_that_names_an_instance_of_nobody_knows_whom_is_foreign(some, limits, tick):
    """It is a hint; an id on record, or an insert that was the job's, makes it more."""
    node = some.node(instance_id="7777", history=(some.operation(target_id="7777"),))
    facts = sift(some.job(nodes=(node,)), limits, tick)
    assert [*foreign(facts)] == [node]
    assert [*foreign(sift(some.job(), limits, tick))] == []
    told = insert(some, target_id="7777", request_id="", at=NOW - timedelta(minutes=30))
    assert [*foreign(replace(facts, inserts=(told,)))] == []


def test_a_namesake_is_told_of_where_it_holds_a_name_that_may_be_asked_for(some, placed):
    """Not one elsewhere, nor one that a sweep may have made that knows more of this attempt than we do."""
    theirs = some.instance(id="7777", zone="us-central1-b")
    facts = replace(placed, launch=some.launch("us-central1-b"), namesakes=(theirs,))
    assert blocking(facts) == [theirs]
    assert blocking(replace(facts, launch=some.launch())) == []
    for other, told in (({"attempt": 1}, True), ({"attempt": 2}, False), ({"attempt": 3}, False)):
        labelled = some.instance(id="7777", zone="us-central1-b", job="test-vm", **other)
        assert bool(blocking(replace(facts, namesakes=(labelled,)))) is told
