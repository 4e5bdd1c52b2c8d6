"""Make before break: the successor of a VM that was announced to be taken starts while it still runs."""

from datetime import timedelta

import pytest

from spotwarden.model.action import ClearMarker, LaunchInstances, Wait
from spotwarden.model.attempt import AttemptState
from spotwarden.model.jobfile import JobFile
from spotwarden.model.marker import MarkerBody
from spotwarden.recovery.observed.fates import Fate

A, B = "us-central1-a", "us-central1-b"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@pytest.fixture
def announced(some, tick):
    """A job that wants its successor early, whose VM was announced to be taken a minute ago."""

    def build(*places, wants=True, notice=True, written=tick.now - MINUTE, body=None, began=None, **facts):
        alive = some.instance(notice=notice, **({"started": began} if began else {}))
        early = body or MarkerBody(early=True, instance_id="1001")
        node = some.node(instance=alive, history=(), marker=some.marker(written=written, body=early))
        file = JobFile(handover=wants)
        launch = some.launch(*(places or (B,)))
        return some.job(**{"nodes": (node,), "instances": (alive,), "file": file, "launch": launch, **facts})

    return build


def places(steps):
    """Where a sweep asked."""
    return [one.reason.split()[-1] for one in steps if isinstance(one, LaunchInstances)]


def test_the_successor_starts_elsewhere_while_the_old_vm_runs(announced, walk):
    """The claim says that it is early; the old zone, where the name is held, is not asked."""
    steps, facts = walk(announced())
    assert facts.newest.early
    assert facts.newest.replaces == {"test-vm": "1001"}
    assert places(steps) == [B]


def test_an_announced_vm_counts_as_preempted(announced, claimed):
    """So does it in everything that is counted: bounds, places, on-demand."""
    assert claimed(announced()).fate == Fate.PREEMPTED.value


def test_a_job_that_did_not_ask_for_it_waits_for_the_loss(announced, step):
    """The marker of a VM that runs is a reboot's until it is gone."""
    assert isinstance(step(announced(wants=False)), Wait)


def test_an_ordinary_marker_starts_nothing_early(announced, step):
    """Only an announcement does."""
    assert isinstance(step(announced(body=MarkerBody(instance_id="1001"))), Wait)


@pytest.mark.parametrize(("later", "known"), [(0 * SECOND, True), (SECOND, False)])
def test_what_was_announced_before_its_last_start_is_no_announcement(announced, step, tick, later, known):
    """Its owner has stopped the VM since, and started it again: it runs, and is not taken."""
    found = step(announced(began=tick.now - MINUTE + later))
    assert isinstance(found, Wait) is not known


def test_an_instance_without_a_notice_is_announced_by_nobody(announced, step):
    """Its marker says so, and any job VM may write that; Compute Engine does not."""
    assert isinstance(step(announced(notice=False)), Wait)


def test_beside_a_vm_that_was_announced_in_vain_no_second_word_is_believed(some, announced, step, claimed):
    """Attempt 2 was started early, and the VM before it was not taken; once it is, the next word counts."""
    running = some.attempt(2, early=True, replaces={"test-vm": "999"}, instances={"test-vm": "1001"})
    before = some.instance(id="999", zone=B)
    for there, early in ((before, False), (None, True)):
        outlived = some.node(instance_id="999", instance=there, history=())
        facts = announced(ledger=(running,), outlived=(outlived,))
        assert isinstance(step(facts), Wait) is not early
    assert claimed(facts).early


def test_an_announcement_that_did_not_come_true_starts_nothing(announced, step, claimed, limits, tick):
    """It holds for some minutes, to the second."""
    last = tick.now - limits.early_notice
    assert claimed(announced(written=last + SECOND)).early
    assert isinstance(step(announced(written=last)), ClearMarker)


def test_with_nowhere_else_to_go_nothing_is_begun_while_it_runs(some, announced, walk):
    """It holds the name in its only zone. If it is not taken, its job kit goes on: nothing succeeds it."""
    steps, facts = walk(announced(launch=some.launch()))
    assert places(steps) == []
    assert [recorded.attempt.number for recorded in facts.ledger] == [1]


def test_the_old_vm_is_no_revival_while_the_successor_waits(some, announced, walk, tick):
    """It runs on purpose."""
    waits = some.attempt(
        2, AttemptState.BACKING_OFF, replaces={"test-vm": "1001"}, early=True, not_before=tick.now + MINUTE
    )
    steps, facts = walk(announced(ledger=(waits,)))
    assert [type(one) for one in steps] == [Wait]
    assert facts.newest.instances == {}


def test_its_own_zone_is_asked_once_the_old_vm_is_gone(some, announced, walk, tick):
    """Then nobody holds the name."""
    waits = some.attempt(
        2, AttemptState.BACKING_OFF, replaces={"test-vm": "1001"}, early=True, not_before=tick.now
    )
    steps, _ = walk(announced(ledger=(waits,), nodes=(), instances=(), launch=some.launch()))
    assert places(steps) == [A]


@pytest.mark.parametrize("generation", [11, 12], ids=["the early one", "the later shutdown's"])
def test_both_markers_of_the_old_vm_have_their_answer(some, announced, step, generation):
    """The announcement and the shutdown speak of one loss."""
    successor = some.attempt(
        2, markers={"test-vm": 11}, replaces={"test-vm": "1001"}, instances={"test-vm": "2002"}, early=True
    )
    said = some.marker(generation=generation, body=MarkerBody(instance_id="1001", early=generation == 11))
    node = some.node(marker=said, others=(some.instance(id="2002", zone=B),))
    clears = step(announced(ledger=(successor,), nodes=(node,)))
    assert isinstance(clears, ClearMarker)
    assert "answered by attempt 2" in clears.reason


def test_what_a_limit_forbids_is_not_given_up_while_the_old_vm_runs(announced, step):
    """It may run on; a successor is all that is refused."""
    waits = step(announced(file=JobFile(handover=True, max_preemptions=0)))
    assert isinstance(waits, Wait)
    assert "restarted 0 times" in waits.reason
