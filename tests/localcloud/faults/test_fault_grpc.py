"""What a rule does to a gRPC method, through the hook its server puts around the work."""

import asyncio

import pytest

from localcloud.errors import ApiError
from localcloud.faults import Faults, Rule


def _publish(faults: Faults) -> tuple[bool, ApiError | None]:
    """Whether the work was done, and what the caller is told."""
    worked = False

    async def method() -> None:
        nonlocal worked
        async with faults.around("pubsub", "Publish", "projects/p/topics/t"):
            worked = True

    try:
        asyncio.run(method())
    except ApiError as error:
        return worked, error
    return worked, None


def _with(rule: Rule) -> Faults:
    faults = Faults()
    faults.add(rule)
    return faults


def test_without_a_rule_the_work_is_done():
    """Nothing is in the way."""
    assert _publish(Faults()) == (True, None)


def test_a_status_comes_before_the_work():
    """The error is raised and nothing was done."""
    worked, error = _publish(_with(Rule(service="pubsub", method="Publish", status=429)))
    assert not worked
    assert error is not None
    assert error.status == 429


def test_an_answer_is_lost_after_the_work():
    """The work is done, the caller is told "unavailable"."""
    worked, error = _publish(_with(Rule(path="topics/t", cut=True, after_work=True)))
    assert worked
    assert error is not None
    assert error.status == 503


def test_another_method_is_left_alone():
    """A rule for one gRPC method does not hit another."""
    assert _publish(_with(Rule(method="Pull", status=503))) == (True, None)


def test_an_error_of_the_work_itself_is_passed_on():
    """A rule that would lose the answer does not hide that the work failed."""

    async def method() -> None:
        async with _with(Rule(cut=True, after_work=True)).around("pubsub", "Pull"):
            raise ApiError(404, "notFound", "no such subscription")

    with pytest.raises(ApiError, match="no such subscription"):
        asyncio.run(method())
