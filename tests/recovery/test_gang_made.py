"""What becomes of a gang's request: all of its nodes, or none."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import DeleteInstance, RegisterInstance, Survey, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Instances, Operations, Status
from spotwarden.model.marker import MarkerBody
from spotwarden.model.outcome import Done
from spotwarden.recovery.requests.clearing import clear_the_way
from spotwarden.recovery.steps.finishing import inserted
from spotwarden.recovery.steps.progress import after
from tests.recovery.facts import NOW

IDS = {"gang-1": "1001", "gang-2": "1002"}


@pytest.fixture
def placing(some, asked):
    """A gang whose second attempt asks a place, for the `turn`-th time."""

    def build(*, turn=1, attempt=(), **facts):
        tries = (asked(operation="op-2", turn=turn),)
        record = some.attempt(
            2, AttemptState.PLACING, job="gang", replaces=IDS, **{"tries": tries, **dict(attempt)}
        )
        return some.gang_job(**{"ledger": (record,), "instances": (), **facts})

    return build


def made(some, name, number, **facts):
    """An instance that carries the label of the gang's second attempt, made by its first try."""
    labels = {"job": "gang", "attempt": 2, "turn": 1}
    return some.instance(**{"id": number, "name": name, **labels, **facts})


def done(some, **facts):
    """A bulk operation that is over; it names no instance."""
    return some.operation("bulkInsert", name="op-2", target_id="", target_name="", **facts)


@pytest.mark.parametrize(
    ("left", "goes"),
    [
        ({}, True),
        ({"turn": 2}, False),
        ({"attempt": 3}, False),
        ({"attempt": 1}, True),
        ({"job": "another"}, False),
    ],
)
def test_only_what_the_newest_try_left_is_in_the_way(some, placing, left, goes):
    """Older attempts are past; but a sweep that was held up may know less than Compute Engine does."""
    facts = placing(instances=(made(some, "gang-1", "2001", **left),))
    assert isinstance(clear_the_way(facts, facts.newest), DeleteInstance) is goes


def test_a_whole_gang_has_its_ids_registered_node_by_node(some, placing, walk):
    """Listed by its label, told once, then it runs."""
    both = (made(some, "gang-1", "2001"), made(some, "gang-2", "2002"))
    steps, facts = walk(placing(operation=done(some)), some.surveyed(*both))
    assert [type(one) for one in steps][:5] == [
        Survey, RegisterInstance, RegisterInstance, Tell, WriteAttempt,
    ]  # fmt: skip
    assert facts.newest.state is AttemptState.RUNNING
    assert facts.newest.instances == {"gang-1": "2001", "gang-2": "2002"}


def test_a_node_that_was_lost_at_once_is_a_node_of_its_attempt(some, placing, walk):
    """The log tells its id, so that its loss is judged like any other."""
    one = made(some, "gang-1", "2001")
    insert = some.operation("insert", name="op-3", target_id="2002", target_name="gang-2", group="g")
    steps, facts = walk(placing(operation=done(some)), some.surveyed(one, inserts=(bulk(some), insert)))
    assert facts.newest.instances == {"gang-1": "2001", "gang-2": "2002"}
    [told] = [step.notice.what for step in steps if isinstance(step, Tell)]
    assert told.endswith("; gang-2 is gone again")


def test_nodes_that_are_shown_stopped_are_told_as_gone_though_the_answer_is_incomplete(some, placing, walk):
    """What a list shows is so, whatever it hides beside."""
    both = [made(some, name, f"200{name[-1]}", status=Status.TERMINATED) for name in IDS]
    steps, _ = walk(placing(operation=done(some)), some.surveyed(*both, unreachable=("us-central1-f",)))
    [told] = [step.notice.what for step in steps if isinstance(step, Tell)]
    assert told.endswith("; gang-1, gang-2 are gone again")


def test_an_insert_that_failed_is_no_node(some, placing, walk):
    """Its id never ran."""
    one = made(some, "gang-1", "2001")
    insert = some.operation("insert", target_id="2002", target_name="gang-2", error="QUOTA_EXCEEDED: no")
    steps, facts = walk(placing(operation=done(some)), some.surveyed(one, inserts=(insert,)))
    assert isinstance(steps[-1], Wait)
    assert facts.newest.state is AttemptState.PLACING


def test_a_gang_that_is_not_all_shown_is_waited_for_and_then_made_again(some, placing, walk, asked, limits):
    """What is there goes first; the list gets as long as the log to show the rest."""
    one = made(some, "gang-1", "2001")
    late = timedelta(seconds=1)
    for ago, last in ((limits.log_delay - late, Wait), (limits.log_delay, DeleteInstance)):
        tries = (asked(operation="op-2", at=asked().at - ago),)
        steps, _ = walk(placing(attempt={"tries": tries}, operation=done(some)), some.surveyed(one))
        assert last in [type(step) for step in steps]
    assert DeleteInstance in [type(step) for step in steps]


def test_what_an_incomplete_list_may_hide_is_waited_for(some, placing, walk, asked, limits):
    """However late it is."""
    tries = (asked(operation="op-2", at=asked().at - 2 * limits.log_delay),)
    facts = placing(attempt={"tries": tries}, operation=done(some))
    answer = some.surveyed(made(some, "gang-1", "2001"), unreachable=("us-central1-a",))
    steps, _ = walk(facts, answer)
    assert [type(step) for step in steps] == [Survey, Wait]


def test_what_a_failed_try_left_is_deleted_before_the_next_place_is_asked(some, placing, walk):
    """All or none, and nothing of the half stays behind."""
    error = "ZONE_RESOURCE_POOL_EXHAUSTED: no"
    facts = placing(operation=done(some, error=error), launch=some.gang("us-central1-b"))
    steps, _ = walk(facts, some.surveyed(made(some, "gang-1", "2001")))
    assert [type(step) for step in steps] == [Survey, DeleteInstance, Wait]
    assert steps[1].instance_id == "2001"
    steps, facts = walk(facts, some.surveyed())
    assert [one.place for one in facts.newest.tries] == ["us-central1-a", "us-central1-b"]


def test_the_nodes_of_an_older_try_are_not_taken_for_the_newest(some, placing, walk):
    """A leftover of the first try, elsewhere and on its way out, gives the gang no id."""
    whole = [made(some, name, f"300{name[-1]}", turn=2) for name in IDS]
    old = made(some, "gang-1", "2001", zone="us-central1-c", status=Status.STOPPING)
    _, facts = walk(placing(turn=2, operation=done(some)), some.surveyed(*whole, old))
    assert facts.newest.instances == {"gang-1": "3001", "gang-2": "3002"}


def bulk(some, **facts):
    """The bulk insert that the newest try has asked for."""
    asked = {
        "name": "op-2",
        "target_id": "",
        "target_name": "us-central1-a",
        "request_id": "r-1",
        "group": "g",
    }
    return some.operation("bulkInsert", **{**asked, **facts})


def inserts(some, *ids, **facts):
    """The operations that made a gang's nodes, in the order of their names."""
    names = ("gang-1", "gang-2")
    return tuple(
        some.operation(
            "insert",
            **{"name": f"op-{number}", "target_id": number, "target_name": name, "group": "g", **facts},
        )
        for name, number in zip(names, ids, strict=True)
    )


def surveyed(facts, log, unreachable=()):
    """The facts after a survey that shows no instance, and this log."""
    survey = Survey(job="gang", names=("gang-1", "gang-2"), since=facts.newest.created)
    seen = Instances(unreachable=unreachable)
    return after(
        facts, survey, Done(instances=seen, operations=Operations(items=log, unreachable=unreachable))
    )


def test_the_nodes_of_another_request_are_not_taken_for_the_newest(some, placing):
    """They were made within the same minute, in the same zone, under the same names."""
    log = (bulk(some, request_id="r-0"), *inserts(some, "3001", "3002"))
    facts = surveyed(placing(), log)
    assert inserted(facts, facts.newest) == {}


def test_what_the_log_says_that_the_newest_request_made_is_the_newest_trys(some, placing):
    """Each insert shares the group of the bulk insert that bears the request's id."""
    facts = surveyed(placing(), (bulk(some), *inserts(some, "3001", "3002")))
    assert inserted(facts, facts.newest) == {"gang-1": "3001", "gang-2": "3002"}


def test_a_list_that_hides_a_zone_finishes_no_gang_from_the_log(some, placing, step):
    """The log may hide the newest nodes as well, and tell of older ones: look again."""
    facts = replace(
        surveyed(placing(), inserts(some, "3001", "3002"), ("us-central1-a",)), operation=done(some)
    )
    assert isinstance(step(facts), Wait)


def test_a_record_stands_in_for_the_ledgers_instances_whatever_a_marker_says(some, claimed):
    """One that names somebody else's VM neither hides the one that is to go nor makes that the job's."""
    said = some.marker(node="gang-1", written=NOW, body=MarkerBody(instance_id="7777"))
    stray = some.node(
        node="gang-1", instance_id="7777", marker=said, history=(some.operation(target_id="7777"),)
    )
    living = (some.instance(id="1001", name="gang-1"), some.instance(id="1002", name="gang-2"))
    taken = some.operation(target_id="1002")
    lost = some.node(node="gang-2", instance_id="1002", marker=None, history=(taken,))
    assert claimed(some.gang_job(nodes=(stray, lost), instances=living[:1])).replaces == IDS
    assert claimed(some.gang_job(nodes=(stray, lost), instances=())).replaces == IDS
