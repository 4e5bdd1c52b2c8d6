"""`spotwarden show` of a gang that goes on with fewer nodes: which run, and what is done about the others."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.cli.looking.members import changes, members
from spotwarden.model.attempt import Attempt, AttemptState, LackingNode, Recorded, Removal, Try, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile
from spotwarden.model.slices import SliceGroup
from spotwarden.recovery.folder.standing import timeline

NOW = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)
BLOCK = timedelta(minutes=10)


def record(number, *nodes, tries=(), **more):
    """A record that names these nodes."""
    return Attempt(
        job="gang",
        number=number,
        state=AttemptState.RUNNING,
        created=NOW,
        updated=NOW,
        started=NOW,
        bent=number > 1,
        instances={node: node.upper() for node in nodes},
        tries=tries,
        **more,
    )


def asked(name, **more):
    """A request for the missing node, a minute ago."""
    minute = NOW - timedelta(minutes=1)
    return Try(place="us-central1-a", request_id=name, at=minute, kind=TryKind.REFILL, nodes=("c",), **more)


FIRST = replace(asked("first"), kind=TryKind.CREATE, nodes=())
LACKING = {"c": LackingNode(instance_id="C", since=NOW)}


def facts(*attempts, nodes="2:3"):
    """A job with these records."""
    ledger = tuple(Recorded(attempt=attempt, generation=1) for attempt in attempts)
    return JobFacts(job="gang", ledger=ledger, file=JobFile(nodes=nodes))


def test_a_gang_that_needs_all_its_nodes_has_no_line():
    """All of them are in its timeline."""
    job = facts(record(1, "a", "b"), nodes="")
    assert (changes(job), members(job, BLOCK, NOW)) == ("", "")


@pytest.mark.parametrize(
    ("tries", "said"),
    [
        ((FIRST,), "requested next"),
        ((FIRST, asked("second")), "requested at 09:59:00 UTC"),
        (
            (FIRST, asked("second", error="no room", refused=NOW)),
            "us-central1-a refused (no room), requested again at 10:10:00 UTC",
        ),
    ],
)
def test_what_is_done_about_a_missing_node_is_said(tries, said):
    """How many run of how many, and when the rest is asked for."""
    job = facts(record(1, "a", "b", "c", tries=(FIRST,)), record(2, "a", "b", tries=tries, lacking=LACKING))
    assert members(job, BLOCK, NOW) == f"2 of 3, at least 2; missing c: {said}"
    assert changes(job) == " (1 of them changed which nodes run)"


def test_a_node_that_somebody_removed_is_no_missing_one():
    """It is not requested again."""
    gone = {"c": Removal(instance_id="C", operation="op", kind="delete", user="ada@example.com", at=NOW)}
    job = facts(record(1, "a", "b", "c"), record(2, "a", "b", removed=gone))
    assert members(job, BLOCK, NOW) == "2 of 3, at least 2; c was removed by ada@example.com"


def test_a_slice_that_lacks_a_vm_says_who_removed_it():
    """It needs no range for that."""
    made = replace(FIRST, group=SliceGroup(name="gang-1-1-abcd", id="7"))
    gone = {"b": Removal(instance_id="B", operation="op", kind="delete", user="ada@example.com", at=NOW)}
    job = facts(record(1, "a", "b", "c", tries=(made,), removed=gone), nodes="")
    assert members(job, BLOCK, NOW) == "2 of 3, and a slice needs all; b was removed by ada@example.com"
    whole = facts(record(1, "a", "b", "c", tries=(made,)), nodes="")
    assert members(whole, BLOCK, NOW) == ""


def test_the_timeline_says_of_a_change_only_what_is_new():
    """Not the nodes that go on, nor what the record before had asked for."""
    job = facts(
        record(1, "a", "b", "c", tries=(FIRST,)),
        record(2, "a", "b", tries=(FIRST, asked("second")), lacking=LACKING, reason="c was lost"),
        record(3, "a", "b", "d", tries=(asked("second"),), reason="d joined"),
    )
    said = [event.what for event in timeline(job) if "attempt 1" not in event.what]
    assert sorted(said) == [
        "attempt 2 asked us-central1-a",
        "attempt 2: c was lost",
        "attempt 3: d is instance D",
        "attempt 3: d joined",
    ]
