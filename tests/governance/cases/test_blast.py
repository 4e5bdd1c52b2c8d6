"""How much one sweep may destroy, all of its rules together."""

from datetime import UTC, datetime

import pytest

from spotwarden.governance.cases.blast import portion
from spotwarden.model.case import Case, CaseState
from spotwarden.model.finding import Subject, Target
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.policy import Policy

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
RULES = ("job_cap", "instance_cap", "owner_cap")
TWO = Policy(version="t", governance=GovernanceLimits(blast_count=2, blast_share=1.0))


def due(rule, *ids, job="job"):
    """A case that is due, for these VMs."""
    targets = tuple(Target(id=one, name=f"vm-{one}", zone="z") for one in ids)
    subject = Subject(key=ids[0], job=job, targets=targets)
    return Case(rule=rule, subject=subject, state=CaseState.WARNED, opened=NOW, looked=NOW)


def shared_out(*cases, policy=TWO, fleet=100):
    """Which VMs may be acted upon, and which rules may not act."""
    found = portion(RULES, cases, policy, fleet)
    return {target.id for case in found.allowed for target in case.subject.targets}, set(found.stopped)


@pytest.mark.parametrize(
    ("capped", "allowed", "stopped"),
    [("3", {"1", "2"}, {"instance_cap"}), ("2", {"1", "2"}, set())],
)
def test_two_rules_share_one_radius(capped, allowed, stopped):
    """Two and one more are three; a VM that two rules want is one."""
    first = (due("job_cap", "1"), due("job_cap", "2"))
    assert shared_out(*first, due("instance_cap", capped)) == (allowed, stopped)


def test_a_rule_that_wants_too_much_takes_nothing_from_the_next():
    """What it would have done is not done, so there is room."""
    many = [due("job_cap", str(number)) for number in range(3)]
    assert shared_out(*many, due("instance_cap", "9")) == ({"9"}, {"job_cap"})


def test_one_job_may_be_acted_upon_as_a_whole_but_not_with_another():
    """Half a gang is no use; two of them are too many."""
    gang = due("job_cap", "1", "2", "3")
    assert shared_out(gang) == ({"1", "2", "3"}, set())
    assert shared_out(gang, due("instance_cap", "4", job="other")) == ({"1", "2", "3"}, {"instance_cap"})


def test_an_owner_is_no_job():
    """All that somebody runs is as many VMs as it is."""
    assert shared_out(due("owner_cap", "1", "2", "3", job="")) == (set(), {"owner_cap"})
