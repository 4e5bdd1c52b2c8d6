"""A gang whose nodes a person starts while a launch that they asked for was cut off."""

from datetime import timedelta

import pytest

from spotwarden.model.action import DeleteInstance, LaunchInstances, Wait, WriteAttempt
from spotwarden.model.attempt import AttemptState, Removal
from spotwarden.model.instance import Status
from spotwarden.recovery.requests.clearing import delete
from tests.recovery.facts import NOW

IDS = {"gang-1": "1001", "gang-2": "1002"}
MINUTE = timedelta(minutes=1)


@pytest.fixture
def cut_off(some):
    """A closed gang, and the claim of a `submit --again` that was cut off; `nodes` run since `started`."""

    def build(*nodes, started=NOW):
        over = some.attempt(1, AttemptState.STOPPED, job="gang", instances=IDS)
        claim = some.attempt(
            2, AttemptState.CLAIMED, job="gang", replaces={}, lost=None, tries=(), created=NOW
        )
        running = tuple(
            some.instance(name=node, id=IDS[node], job="gang", attempt=1, started=started) for node in nodes
        )
        return some.gang_job(ledger=(over, claim), nodes=(), instances=running), some.surveyed(*running)

    return build


def test_a_gang_that_is_started_whole_is_taken_as_it_runs(cut_off, walk):
    """Nobody's VM is deleted that its owner has started a minute ago."""
    facts, surveyed = cut_off("gang-1", "gang-2")
    steps, known = walk(facts, surveyed)
    assert not {DeleteInstance, LaunchInstances} & {type(step) for step in steps}
    assert (known.newest.state, known.newest.instances) == (AttemptState.RUNNING, IDS)


def test_a_gang_of_which_one_node_is_started_waits_for_the_other(cut_off, walk):
    """It may come any moment; until then nothing is deleted."""
    steps, _ = walk(*cut_off("gang-1"))
    assert isinstance(steps[-1], Wait)
    assert steps[-1].reason == "gang-1 was launched by hand, and not the whole gang"


def test_a_node_that_has_run_since_before_the_launch_goes_before_the_gang_is_made(cut_off, walk):
    """It is what a stop left behind: its owner asked for the gang while it ran."""
    steps, _ = walk(*cut_off("gang-1", started=NOW - timedelta(seconds=1)))
    assert DeleteInstance in [type(step) for step in steps]


def test_a_node_that_is_started_after_a_restart_was_asked_for_is_not_deleted_for_it(some, walk):
    """Such a claim names the stopped nodes, which go before the gang is made; this one runs by its owner."""
    over = some.attempt(1, AttemptState.STOPPED, job="gang", instances=IDS)
    claim = some.attempt(2, AttemptState.CLAIMED, job="gang", replaces=IDS, created=NOW)
    runs = some.instance(name="gang-1", id="1001", started=NOW)
    left = some.instance(name="gang-2", id="1002", status=Status.TERMINATED)
    facts = some.gang_job(ledger=(over, claim), nodes=(), instances=(runs, left))
    steps, _ = walk(facts, some.surveyed(runs, left))
    assert [type(step) for step in steps] == [Wait]


@pytest.mark.parametrize("status", [Status.TERMINATED, Status.SUSPENDED, Status.RUNNING])
def test_a_node_that_stands_still_is_looked_at_once_more_before_it_is_deleted(some, status):
    """Somebody may have started it since the list; a survivor that runs goes because the gang was lost."""
    node = some.instance(name="gang-1", status=status)
    assert delete(node, some.attempt(2, job="gang").attempt).at_rest is (status is not Status.RUNNING)


def test_a_gang_that_was_started_again_is_judged_with_all_of_its_nodes(some, walk):
    """Its old markers are cleared; one node is preempted then, and the other deleted by its owner."""
    ended = {"kind": "compute.instances.guestTerminate", "at": NOW - timedelta(minutes=9)}
    removed = {
        node: Removal(instance_id=name, operation=f"op-{node}", kind=ended["kind"], at=ended["at"])
        for node, name in IDS.items()
    }
    over = some.attempt(1, AttemptState.STOPPED, job="gang", instances=IDS)
    grave = some.attempt(
        2, AttemptState.STOPPED, job="gang", replaces=IDS, removed=removed, markers={"gang-2": 7}, lost=NOW
    )
    ends = {"gang-1": ("compute.instances.preempted", "system"), "gang-2": ("delete", "ada@x.org")}
    nodes = tuple(
        some.node(
            node=node,
            instance_id=IDS[node],
            instance=None,
            marker=some.marker(node=node, generation=7) if node == "gang-2" else None,
            history=tuple(
                some.operation(kind, target_id=IDS[node], target_name=node, at=NOW - at * MINUTE, user=user)
                for kind, at, user in (("start", 8, "ada@x.org"), (ends[node][0], 7, ends[node][1]))
            ),
        )
        for node in IDS
    )
    steps, _ = walk(some.gang_job(ledger=(over, grave), nodes=nodes, instances=()))
    assert not {LaunchInstances, DeleteInstance} & {type(step) for step in steps}
    assert [step.record.state for step in steps if isinstance(step, WriteAttempt)] == [AttemptState.STOPPED]
