"""Caps on a gang that goes on with fewer nodes: it is up all the time, and costs what is there."""

import pytest

from spotwarden.governance.caps.facts import JobAttempts
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.rule_limits import JobCap
from tests.governance.caps.capped import GRANTED, HOUR, NOW, facts, found, policy, vm

MONEY = "cost"


def record(number: int, ago: float, asked: float, **instances: str) -> Attempt:
    """Who the members are since so many hours; what was asked for last was asked so many hours ago."""
    since = NOW - ago * HOUR
    return Attempt(
        job="gang",
        number=number,
        state=AttemptState.RUNNING,
        created=since,
        updated=since,
        started=since,
        lost=since if number > 1 else None,
        bent=number > 1,
        instances=instances,
        tries=(Try(place="us-central1-a", request_id="r", at=NOW - asked * HOUR),),
    )


@pytest.fixture
def bent():
    """Ten hours: three nodes, after two hours two; one is asked for after four, and joins after five."""
    return (
        record(1, 10, 10, a="1", b="2", c="3"),
        record(2, 8, 10, a="1", b="2"),
        record(3, 5, 6, a="1", b="2", c="4"),
    )


def gang(records):
    """The gang as it is now."""
    nodes = [
        vm(key, name, "gang", up=up * HOUR)
        for key, name, up in (("1", "a", 10), ("2", "b", 10), ("4", "c", 6))
    ]
    return facts(*nodes, records={"gang": JobAttempts(attempts=records)})


def test_it_is_up_while_any_of_it_is(bent):
    """Ten hours of twelve, not the sum over its nodes or its records."""
    finding = found(gang(bent), policy(job=JobCap(max_runtime=12 * HOUR)))
    assert finding.evidence[GRANTED].startswith("10 h of 12 h")


def test_each_node_costs_from_when_it_is_asked_for_until_the_gang_goes_on_without_it(bent):
    """Two hours of three, two of two, then three again for six: also before the new one joins."""
    finding = found(gang(bent), policy(job=JobCap(budget=30.0)))
    assert finding.evidence[MONEY].startswith("$28.00 ")
