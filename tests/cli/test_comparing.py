"""Two lists of one fleet, compared: what differs is told, what changed meanwhile is not."""

from msgspec.structs import replace

from spotwarden.cli.deployment.comparing import SHOWN, differences, second_opinion
from spotwarden.cli.deployment.examining import CheckState
from spotwarden.model.fleet import Fleet, Listed, Machine
from spotwarden.model.instance import Status
from spotwarden.ports import UnansweredError

OURS = Machine(id="17", name="vm", zone="z-a", status=Status.RUNNING, labels={"team": "x"})
THEIRS = Listed(id="17", name="vm", zone="z-a", status="RUNNING", labels={"team": "x"})
BOTH = Fleet(items=(OURS,))
NONE = Fleet()


def told(before, others, after):
    """Every difference."""
    return list(differences(before, others, after))


def test_equal_lists_differ_in_nothing():
    """Google's words are compared, not ours."""
    assert told(BOTH, [THEIRS], BOTH) == []


def test_each_field_that_differs_is_named_with_both_values():
    """So that whoever reads it knows which list to believe."""
    other = replace(THEIRS, status="SUSPENDED", labels={})
    [line] = told(BOTH, [other], BOTH)
    assert line == (
        "vm (17): status is 'RUNNING' in our list, 'SUSPENDED' in Google's, "
        "labels is {'team': 'x'} in our list, {} in Google's"
    )


def test_a_vm_on_one_list_only_is_named():
    """Whichever list it is."""
    assert told(NONE, [THEIRS], NONE) == ["vm (17) in z-a is not in our list"]
    assert told(BOTH, [], BOTH) == ["vm (17) in z-a is only in our list"]


def test_a_vm_that_changed_meanwhile_is_left_out():
    """It was started, stopped or deleted between our two lists: nobody is wrong."""
    stopped = Fleet(items=(replace(OURS, status=Status.STOPPING),))
    for before, after in ((NONE, BOTH), (BOTH, NONE), (BOTH, stopped)):
        assert told(before, [], after) == []
        assert told(before, [replace(THEIRS, status="TERMINATED")], after) == []


def test_a_vm_in_a_zone_that_we_know_to_be_hidden_is_no_difference():
    """Our door said itself that something may be missing there, and only there."""
    hidden = Fleet(unreachable=("z-a",))
    assert told(hidden, [THEIRS], hidden) == []
    assert told(hidden, [replace(THEIRS, zone="z-b")], hidden) == ["vm (17) in z-b is not in our list"]


def test_many_differences_are_counted():
    """The first few are named."""
    others = [replace(THEIRS, id=str(number)) for number in range(10, 10 + SHOWN + 2)]
    found = second_opinion(lambda: NONE, lambda: others)
    assert found.state is CheckState.BAD
    assert found.why.count("is not in our list") == SHOWN
    assert found.why.endswith("and 2 more")


def test_who_gets_no_answer_knows_nothing():
    """It is no fault of either list."""

    def silent():
        raise UnansweredError("nobody home")

    found = second_opinion(lambda: NONE, silent)
    assert (found.state, found.why) == (CheckState.UNKNOWN, "nobody home")
