"""Jobs whose VMs a preemption stops: started again in place, and made elsewhere where that fails."""

from datetime import timedelta

import pytest

from spotwarden.model.action import LaunchInstances, Look, RegisterInstance, StartInstance, Tell, WriteAttempt
from spotwarden.model.attempt import AttemptState, TryKind
from spotwarden.model.instance import Status
from spotwarden.model.marker import MarkerBody
from spotwarden.model.outcome import Done, Rejected
from tests.recovery.facts import NOW

B = "us-central1-b"
STOCKOUT = "ZONE_RESOURCE_POOL_EXHAUSTED: no"
NONE_NOW = Rejected(code="ZONE_RESOURCE_POOL_EXHAUSTED", message="no")


@pytest.fixture
def kept(some):
    """A job whose VM was preempted and is stopped."""

    def build(*places, stopped=(), **facts):
        vm = some.instance(**{"status": Status.TERMINATED, **dict(stopped)})
        nodes = (some.node(instance=vm),)
        launch = some.launch(*places)
        return some.job(**{"nodes": nodes, "instances": (vm,), "launch": launch, **facts})

    return build


def tried(some, asked, *starts, state=AttemptState.CLAIMED):
    """The ledger of a second attempt that has tried to start in place so often, each start with its error."""
    tries = [
        asked(kind=TryKind.START, error=error, turn=turn, at=asked().at - timedelta(hours=1))
        for turn, error in enumerate(starts, 1)
    ]
    return (some.attempt(2, state, replaces={"test-vm": "1001"}, tries=tuple(tries)),)


def acts(steps):
    """What a sweep asked for, and where."""
    starts = [("start", one.zone) for one in steps if isinstance(one, StartInstance)]
    makes = [("create", one.reason.split()[-1]) for one in steps if isinstance(one, LaunchInstances)]
    return starts + makes


def test_a_stopped_vm_is_started_in_place_under_its_id(kept, walk):
    """With a request id that is no create request's."""
    steps, facts = walk(kept(B))
    (start,) = (one for one in steps if isinstance(one, StartInstance))
    assert (start.zone, start.instance_id) == ("us-central1-a", "1001")
    assert start.request_id == facts.newest.tries[-1].request_id
    assert facts.newest.tries[-1].kind is TryKind.START
    created, _ = walk(kept(B, instances=()))
    assert start.request_id not in [one.request_id for one in created if isinstance(one, LaunchInstances)]


def test_it_runs_on_under_the_same_id(some, kept, walk, asked):
    """Registered, told, written down."""
    tries = (asked(kind=TryKind.START, operation="op-2"),)
    placing = some.attempt(2, AttemptState.PLACING, replaces={"test-vm": "1001"}, tries=tries)
    facts = kept(ledger=(placing,), nodes=(), operation=some.operation("start", name="op-2"))
    steps, known = walk(facts)
    assert [type(one) for one in steps][:3] == [RegisterInstance, Tell, WriteAttempt]
    assert (known.newest.state, known.newest.instances) == (AttemptState.RUNNING, {"test-vm": "1001"})


def test_a_start_that_is_done_at_once_is_answered_once(some, kept, walk):
    """Its developer had started it a moment ago: what was seen before the claim makes no other attempt."""
    done = Done(operation=some.operation("start", name="op-2"))
    _, facts = walk(kept(B), {StartInstance: done})
    assert (facts.newest.number, facts.newest.state) == (2, AttemptState.RUNNING)


def test_a_zone_that_cannot_start_it_is_left_for_another(kept, walk):
    """Never by a create request in its own zone: there the old VM holds the name."""
    steps, _ = walk(kept(B), {StartInstance: NONE_NOW})
    assert acts(steps) == [("start", "us-central1-a"), ("create", B)]


def test_with_no_other_zone_it_waits_for_its_own(kept, walk):
    """A start in place is all there is."""
    steps, facts = walk(kept(), {StartInstance: NONE_NOW})
    assert acts(steps) == [("start", "us-central1-a")]
    assert facts.newest.state is AttemptState.BACKING_OFF


@pytest.mark.parametrize(("failed", "kind"), [(1, "start"), (2, "create")])
def test_after_its_start_tries_it_goes_elsewhere(some, kept, walk, asked, failed, kind):
    """Two by default; the third is made in another zone."""
    ledger = tried(some, asked, *[STOCKOUT] * failed, state=AttemptState.BACKING_OFF)
    steps, _ = walk(kept(B, ledger=ledger))
    assert [one for one, _ in acts(steps)] == [kind]


def test_with_nowhere_else_to_go_it_is_started_as_often_as_it_takes(some, kept, walk, asked):
    """There is no other way."""
    ledger = tried(some, asked, *[STOCKOUT] * 5, state=AttemptState.BACKING_OFF)
    assert acts(walk(kept(ledger=ledger))[0]) == [("start", "us-central1-a")]


def test_a_start_that_can_never_work_is_not_repeated(some, kept, walk, asked):
    """Elsewhere it may be made; with nowhere to go it is given up."""
    ledger = tried(some, asked, "invalid: no", state=AttemptState.BACKING_OFF)
    assert acts(walk(kept(B, ledger=ledger))[0]) == [("create", B)]


@pytest.mark.parametrize(
    "other",
    [{"status": Status.STOPPING}, {"id": "7777"}, {"name": "their-vm"}, {"job": "another"}],
    ids=["still stopping", "another id", "another name", "another job's"],
)
def test_only_the_very_vm_that_was_lost_is_started(some, kept, walk, asked, other):
    """What a marker names is not enough."""
    facts = kept(B, stopped=other, ledger=tried(some, asked), nodes=())
    assert "start" not in [one for one, _ in acts(walk(facts)[0])]


def test_a_gang_is_never_started_in_place(some, walk):
    """It is made anew, as one."""
    ids = {"gang-1": "1001"}
    vm = some.instance(name="gang-1", status=Status.TERMINATED)
    claimed = some.attempt(2, AttemptState.CLAIMED, job="gang", replaces=ids)
    steps, _ = walk(some.gang_job(ledger=(claimed,), nodes=(), instances=(vm,)), some.surveyed(vm))
    assert acts(steps) == []


def test_a_start_that_was_accepted_is_looked_at_where_it_was_asked(some, kept, step, asked):
    """As a create request is."""
    tries = (asked(kind=TryKind.START, operation="op-2"),)
    placing = some.attempt(2, AttemptState.PLACING, replaces={"test-vm": "1001"}, tries=tries)
    assert step(kept(ledger=(placing,))) == Look(place="us-central1-a", operation="op-2")


def test_the_next_preemption_of_the_same_id_is_a_new_attempt(some, kept, claimed):
    """The id is its own, not one that was replaced for good; its marker is a new one."""
    second = some.attempt(
        2, replaces={"test-vm": "1001"}, instances={"test-vm": "1001"}, markers={"test-vm": 10}
    )
    again = some.node(
        instance=some.instance(status=Status.TERMINATED),
        history=(some.operation(name="op-7"),),
        marker=some.marker(body=MarkerBody(instance_id="1001")),
    )
    record = claimed(kept(ledger=(second,), nodes=(again,)))
    assert (record.number, record.cause) == (3, "op-7")


def test_what_its_owner_stopped_stays_stopped(some, kept, walk):
    """A stop operation, though the VM can be started."""
    stopped = some.node(instance=some.instance(status=Status.TERMINATED), history=(some.operation("stop"),))
    steps, facts = walk(kept(nodes=(stopped,)))
    assert acts(steps) == []
    assert facts.newest.state is AttemptState.STOPPED


def test_a_suspended_vm_is_not_started_in_place(kept, walk):
    """Compute Engine resumes it and does not start it; the job is made elsewhere."""
    steps, _ = walk(kept(B, stopped={"status": Status.SUSPENDED}))
    assert [kind for kind, _ in acts(steps)] == ["create"]


def test_a_stopped_vm_is_checked_again_right_before_another_is_made_elsewhere(some, kept, walk, asked):
    """Somebody may have started it since the list; where there is none, nothing is checked."""
    steps, _ = walk(kept(B, ledger=tried(some, asked, STOCKOUT, STOCKOUT, STOCKOUT)))
    [made] = [step for step in steps if isinstance(step, LaunchInstances)]
    assert made.at_rest == (("us-central1-a", "1001"),)
    steps, _ = walk(kept(B, instances=()))
    assert [step.at_rest for step in steps if isinstance(step, LaunchInstances)] == [()]


def test_a_vm_that_was_started_before_the_request_is_the_job(some, kept, walk, asked):
    """The try was written down while it was stopped: nothing is made beside it."""
    tries = (asked(place=B),)
    placing = some.attempt(2, AttemptState.PLACING, replaces={"test-vm": "1001"}, tries=tries)
    runs = some.instance(started=some.node().marker.written)
    facts = kept(B, ledger=(placing,), instances=(runs,), nodes=())
    steps, known = walk(facts, some.surveyed(runs))
    assert not [step for step in steps if isinstance(step, LaunchInstances)]
    assert (known.newest.state, known.newest.instances) == (AttemptState.RUNNING, {"test-vm": "1001"})


@pytest.mark.parametrize("since", [timedelta(minutes=1), -timedelta(minutes=1)])
def test_an_older_vm_that_its_owner_starts_is_the_job_again(some, walk, asked, ours, since):
    """It rests in another zone since an earlier attempt; beside it the newest VM is not started."""
    lost = NOW - timedelta(minutes=10)
    claimed = some.attempt(
        3,
        AttemptState.PLACING,
        lost=lost,
        replaces={"test-vm": "1002"},
        tries=(asked(kind=TryKind.START),),
        lease=ours,
    )
    ledger = (
        some.attempt(1, instances={"test-vm": "1001"}),
        some.attempt(2, replaces={"test-vm": "1001"}, instances={"test-vm": "1002"}),
        claimed,
    )
    older = some.instance(job="test-vm", attempt=1, zone="us-central1-c", started=lost + since)
    rests = some.instance(id="1002", job="test-vm", attempt=2, status=Status.TERMINATED)
    steps, _ = walk(some.job(ledger=ledger, nodes=(), instances=(older, rests)), some.surveyed(older, rests))
    assert any(isinstance(step, StartInstance) for step in steps) is (since < timedelta(0))


@pytest.mark.parametrize(
    ("ends", "user", "again"),
    [
        ("compute.instances.guestTerminate", "system", False),
        ("stop", "job@p.iam.gserviceaccount.com", False),
        ("stop", "system", True),
        ("compute.instances.preempted", "system", True),
    ],
)
def test_a_vm_that_its_owner_started_and_that_shut_down_ends_its_job(
    some, walk, asked, ours, ends, user, again
):
    """Recovery was about to start it: its program has come to an end meanwhile, unless Google ended it."""
    lost = NOW - timedelta(minutes=10)
    history = (
        some.operation(at=lost),
        some.operation("start", name="op-2", at=lost + timedelta(minutes=1), user="ada@x.org"),
        some.operation(ends, name="op-3", at=lost + timedelta(minutes=2), user=user),
    )
    vm = some.instance(status=Status.TERMINATED, started=lost + timedelta(minutes=1))
    claimed = some.attempt(
        2,
        AttemptState.PLACING,
        lost=lost,
        replaces={"test-vm": "1001"},
        tries=(asked(kind=TryKind.START),),
        lease=ours,
    )
    ledger = (some.attempt(1, instances={"test-vm": "1001"}), claimed)
    node = some.node(marker=None, instance=vm, history=history)
    facts = some.job(ledger=ledger, nodes=(node,), instances=(vm,))
    steps, known = walk(facts, some.surveyed(vm, inserts=history))
    assert any(isinstance(step, StartInstance) for step in steps) is again
    assert (known.newest.state is AttemptState.STOPPED) is not again
    assert ("has shut itself down" in known.newest.reason) is not again
