"""A VM that a gang has asked for again: no orphan while it is set up, and never deleted for waiting."""

from datetime import timedelta

import pytest

from spotwarden.governance.orphans.rule import judge
from spotwarden.model.finding import Reading
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.rule_limits import OrphanLimits
from tests.governance.reap.reapable import SECOND, ago, brief, on_record, seen, vm

LIMIT = 2 * GovernanceLimits().launch_grace + OrphanLimits().after
GANG = {"attempt": 3, "instances": {"test-vm-1": "1"}, "lacking": frozenset({"test-vm-2"})}


def found(waited, name="test-vm-2", attempt=2, **record):
    """What is found about a VM that has run for so long without being a member."""
    since = ago(seconds=waited.total_seconds())
    machine = vm(attempt=attempt, id="77", name=name, created=since, started=since)
    return list(judge(seen(on_record(**{**GANG, **record}), machine), brief()))


@pytest.mark.parametrize("attempt", [2, 3])
def test_a_node_that_is_set_up_before_it_joins_is_let_be(attempt):
    """Whether its gang has changed again meanwhile or not, and whoever may write its ID."""
    assert found(LIMIT - SECOND, attempt=attempt) == []


def test_one_that_waits_without_end_is_told_of_and_never_deleted():
    """It may be recovery that stands still."""
    [finding] = found(LIMIT)
    assert (finding.reading, finding.ripe) == (Reading.UNKNOWN, False)
    assert "waiting to join test-vm" in finding.reason


def test_a_node_that_nobody_asked_for_is_judged_as_any_other():
    """Of the same attempt, but no node that the gang goes on without."""
    [finding] = found(timedelta(hours=3), name="test-vm-9", attempt=3)
    assert finding.reading is Reading.BAD


def test_what_the_gang_had_before_under_that_name_does_not_wait():
    """Its ID is of the past: it was lost."""
    [finding] = found(timedelta(hours=3), past=frozenset({"77"}))
    assert "waiting to join" not in finding.reason
