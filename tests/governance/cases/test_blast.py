"""How much one sweep may destroy, all of its rules together."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.governance.cases.blast import portion
from spotwarden.model.case import Approval, Case, CaseState
from spotwarden.model.finding import Subject, Target
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.policy import Policy

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
RULES = ("job_cap", "instance_cap", "owner_cap")
TWO = Policy(version="t", governance=GovernanceLimits(blast_count=2, blast_share=1.0))


def due(rule, *ids, job="job", **facts):
    """A case that is due, for these VMs."""
    targets = tuple(Target(id=one, name=f"vm-{one}", zone=facts.get("zone", "z")) for one in ids)
    subject = Subject(key=ids[0], job=job, targets=targets)
    opened = facts.get("opened", NOW)
    remedy = facts.get("remedy", Remedy.STOP)
    return Case(
        rule=rule, subject=subject, state=CaseState.WARNED, opened=opened, looked=NOW, remedy=remedy,
        approval=facts.get("approval"),
    )  # fmt: skip


def ids(cases):
    """The VMs of these cases."""
    return {target.id for case in cases for target in case.subject.targets}


def shared_out(*cases, policy=TWO, fleet=100):
    """Which VMs are acted upon, which wait for the next sweep, and which for an approval."""
    found = portion(RULES, cases, policy, fleet, NOW)
    return ids(found.allowed), ids(found.waiting), ids(found.unapproved)


@pytest.mark.parametrize(
    ("capped", "allowed", "waiting"),
    [("3", {"1", "2"}, {"3"}), ("2", {"1", "2"}, set())],
)
def test_two_rules_share_one_radius(capped, allowed, waiting):
    """Two and one more are three; a VM that two rules want is one."""
    first = (due("job_cap", "1"), due("job_cap", "2"))
    assert shared_out(*first, due("instance_cap", capped)) == (allowed, waiting, set())


def test_the_rest_of_a_rule_waits_and_so_does_the_rule_behind_it():
    """Two of three, and nothing is left for the next rule."""
    many = [due("job_cap", str(number)) for number in range(3)]
    assert shared_out(*many, due("instance_cap", "9")) == ({"0", "1"}, {"2", "9"}, set())


def test_a_case_is_acted_upon_as_a_whole_or_not_at_all():
    """A pair does not fit behind one VM, and waits; a single one behind it fits."""
    before, after = NOW - timedelta(hours=2), NOW
    pair = due("job_cap", "2", "3", opened=NOW - timedelta(hours=1))
    found = shared_out(due("job_cap", "1", opened=before), pair, due("job_cap", "4", opened=after))
    assert found == ({"1", "4"}, {"2", "3"}, set())


def test_what_waited_goes_before_what_came_after_it():
    """The pair is the oldest in the next sweep."""
    pair = due("job_cap", "2", "3", opened=NOW - timedelta(hours=1))
    assert shared_out(due("job_cap", "1"), pair) == ({"2", "3"}, {"1"}, set())


@pytest.mark.parametrize("job", ["job", ""], ids=["a gang", "an owner"])
def test_one_case_beyond_the_budget_waits_for_an_approval_and_takes_no_room(job):
    """Half a gang is no use; the others go on."""
    gang = due("job_cap", "1", "2", "3", job=job)
    assert shared_out(gang, due("instance_cap", "4", job="other")) == ({"4"}, set(), {"1", "2", "3"})


def test_an_approved_one_goes_beside_the_budget():
    """What somebody has allowed takes no room from the others."""
    given = Approval(
        notice="n", asked=NOW, remedy=Remedy.STOP, targets=("1", "2", "3"), by="ops", at=NOW,
        until=NOW + timedelta(seconds=1),
    )  # fmt: skip
    others = [due("instance_cap", str(number)) for number in (4, 5)]
    gang = due("job_cap", "1", "2", "3", approval=given)
    assert shared_out(gang, *others) == ({"1", "2", "3", "4", "5"}, set(), set())
    over = due("job_cap", "1", "2", "3", approval=replace(given, until=NOW))
    assert shared_out(over, *others) == ({"4", "5"}, set(), {"1", "2", "3"})


def test_a_stop_goes_before_a_delete():
    """What can be undone comes first, however old the other is."""
    old = due("job_cap", "1", remedy=Remedy.DELETE, opened=NOW - timedelta(days=1))
    one = Policy(version="t", governance=GovernanceLimits(blast_count=1, blast_share=1.0))
    assert shared_out(old, due("job_cap", "2"), policy=one) == ({"2"}, {"1"}, set())


def test_a_disk_takes_no_room_of_the_fleets_share_but_counts():
    """It is no VM; two of three are allowed by the count alone."""
    disks = [due("job_cap", f"projects/p/{one}", zone="") for one in "abc"]
    small = Policy(version="t", governance=GovernanceLimits(blast_count=2, blast_least=0, blast_share=0.0))
    allowed, waiting, unapproved = shared_out(*disks, policy=small)
    assert (len(allowed), len(waiting), len(unapproved)) == (2, 1, 0)


SIZES = st.lists(
    st.tuples(st.sampled_from(RULES), st.integers(1, 6), st.integers(0, 5), st.sampled_from(Remedy)),
    max_size=12,
)
BUDGET = Policy(version="t", governance=GovernanceLimits(blast_count=4, blast_share=1.0))


@given(SIZES)
def test_whatever_is_due_no_sweep_does_more_and_nothing_waits_for_ever(sizes):
    """Each case is whole in one place; what waits goes in the next sweeps, only what is too large stays."""
    left = [
        due(rule, *[f"{index}-{vm}" for vm in range(size)], opened=NOW - timedelta(hours=age), remedy=remedy)
        for index, (rule, size, age, remedy) in enumerate(sizes)
    ]
    for _ in range(len(left)):
        found = portion(RULES, left, BUDGET, 100, NOW)
        assert len(ids(found.allowed)) <= 4
        every = [*found.allowed, *found.waiting, *found.unapproved]
        assert sorted(every, key=lambda one: one.key) == sorted(left, key=lambda one: one.key)
        assert found.allowed or not found.waiting
        left = [*found.waiting, *found.unapproved]
    assert all(len(one.subject.targets) > 4 for one in left)


@pytest.mark.parametrize(("spent", "allowed"), [(0, {"1", "2"}), (1, {"1"}), (2, set()), (3, set())])
def test_what_was_spent_just_before_is_spent(spent, allowed):
    """By a tick that came twice."""
    found = portion(RULES, [due("job_cap", "1"), due("job_cap", "2")], TWO, 100, NOW, spent=spent)
    assert ids(found.allowed) == allowed
    assert found.spent == spent + len(allowed)
    assert found.unapproved == ()
