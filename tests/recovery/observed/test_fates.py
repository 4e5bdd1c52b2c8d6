"""What the operation log and the lists say of an instance, on both sides of every limit."""

from datetime import timedelta

import pytest

from spotwarden.model.instance import Status
from spotwarden.model.marker import MarkerBody
from spotwarden.recovery.observed.fates import Fate, Now, cause_of, fate_of, lost_at, now_of

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
KINDS = {
    "compute.instances.preempted": Fate.PREEMPTED,
    "compute.instances.hostError": Fate.HOST_ERROR,
    "compute.instances.terminateOnHostMaintenance": Fate.HOST_ERROR,
    "compute.instances.guestTerminate": Fate.STOPPED,
    "delete": Fate.STOPPED,
    "stop": Fate.STOPPED,
    "suspend": Fate.STOPPED,
}


@pytest.mark.parametrize(("kind", "fate"), KINDS.items())
def test_each_kind_of_operation_means_what_it_means(some, limits, tick, kind, fate):
    """What Compute Engine did brings a job back, what a person or the guest did does not."""
    assert fate_of(some.node(history=(some.operation(kind),)), limits, tick) is fate


@pytest.mark.parametrize("kind", ["delete", "stop"])
@pytest.mark.parametrize(
    ("user", "flexible", "fate"),
    [
        ("system", True, Fate.EXPIRED),
        ("", True, Fate.EXPIRED),
        ("ada@example.com", True, Fate.STOPPED),
        ("spotwarden-cap-runtime@p.iam.gserviceaccount.com", True, Fate.STOPPED),
        ("123-compute@developer.gserviceaccount.com", True, Fate.STOPPED),
        ("system", False, Fate.STOPPED),
    ],
)
def test_what_compute_engine_itself_ends_of_a_flex_start_vm_has_come_to_its_limit(
    some, limits, tick, kind, user, flexible, fate
):
    """A person, a rule or the VM's account has stopped it; so has a limit that a script chose freely."""
    node = some.node(history=(some.operation(kind, user=user),))
    assert fate_of(node, limits, tick, flexible=flexible) is fate


@pytest.mark.parametrize("kind", ["compute.instances.guestTerminate", "compute.instances.hostError"])
def test_what_befalls_a_flex_start_vm_besides_is_what_befalls_any(some, limits, tick, kind):
    """One fact apart: it is no stop or delete."""
    node = some.node(history=(some.operation(kind, user="system"),))
    assert fate_of(node, limits, tick, flexible=True) is KINDS[kind]


@pytest.mark.parametrize(("started", "fate"), [(HOUR, Fate.PREEMPTED), (SECOND, Fate.UNTOLD)])
def test_what_befell_an_instance_before_its_last_start_ended_another_life(some, limits, tick, started, fate):
    """It tells of its start itself; what stopped it since the log may tell only minutes later."""
    stopped = some.instance(status=Status.TERMINATED, started=tick.now - started)
    taken = some.operation(at=tick.now - HOUR)
    node = some.node(instance=stopped, history=(taken,))
    assert fate_of(node, limits, tick) is fate


@pytest.mark.parametrize("kind", ["insert", "start", "setLabels", "compute.instances.automaticRestart"])
def test_operations_that_end_no_life_say_nothing(some, limits, tick, kind):
    """The log holds many other things."""
    assert fate_of(some.node(history=(some.operation(kind),)), limits, tick) is Fate.SILENT


def test_a_preemption_followed_by_its_own_delete_is_a_preemption(some, limits, tick):
    """With the termination action DELETE the log holds both, and the first counts."""
    history = (some.operation(), some.operation("delete"))
    assert fate_of(some.node(history=history), limits, tick) is Fate.PREEMPTED


def test_an_instance_preempted_while_its_owner_deletes_it_was_deleted(some, limits, tick):
    """The same two in the other order."""
    history = (some.operation("delete"), some.operation())
    assert fate_of(some.node(history=history), limits, tick) is Fate.STOPPED


@pytest.mark.parametrize("kind", ["start", "resume", "compute.instances.automaticRestart"])
def test_what_happened_before_the_newest_start_no_longer_counts(some, limits, tick, kind):
    """A stop by its owner, a start, and then a preemption: it was preempted."""
    again = some.operation(kind, name="op-2")
    assert fate_of(some.node(history=(some.operation("stop"), again)), limits, tick) is Fate.SILENT
    history = (some.operation("stop"), again, some.operation())
    assert fate_of(some.node(history=history), limits, tick) is Fate.PREEMPTED


@pytest.mark.parametrize("start", [{"done": False}, {"error": "ZONE_RESOURCE_POOL_EXHAUSTED"}])
def test_a_start_that_did_not_work_begins_nothing(some, limits, tick, start):
    """Its owner stopped it, and it still is."""
    history = (some.operation("stop"), some.operation("start", **start))
    assert fate_of(some.node(history=history), limits, tick) is Fate.STOPPED


def test_a_silent_log_gets_its_time_to_the_second(some, limits, tick):
    """Nothing is concluded from silence before the log's time is up."""
    asked = tick.now - limits.log_delay
    early = some.node(history=(), marker=some.marker(written=asked + SECOND))
    assert fate_of(early, limits, tick) is Fate.UNTOLD
    due = some.node(history=(), marker=some.marker(written=asked))
    assert fate_of(due, limits, tick) is Fate.SILENT


def test_without_a_marker_the_log_gets_its_time_from_when_it_was_missed(some, limits, tick):
    """An instance that nobody has missed yet is not lost."""
    asked = tick.now - limits.log_delay
    never, early, due = (
        some.node(history=(), marker=None, missing_since=since) for since in (None, asked + SECOND, asked)
    )
    assert fate_of(never, limits, tick) is Fate.UNTOLD
    assert fate_of(early, limits, tick) is Fate.UNTOLD
    assert fate_of(due, limits, tick) is Fate.SILENT


def test_silence_counts_only_since_the_ledger_has_known_of_the_instance(some, limits, tick):
    """A marker without an id may be older than the instance, and the list, too; to the second."""
    asked = tick.now - limits.log_delay
    new, known = (some.node(history=(), counted_since=since) for since in (asked + SECOND, asked))
    assert fate_of(new, limits, tick) is Fate.UNTOLD
    assert fate_of(known, limits, tick) is Fate.SILENT


def test_what_the_log_says_needs_no_time(some, limits, tick):
    """It speaks of this very instance."""
    assert fate_of(some.node(counted_since=tick.now), limits, tick) is Fate.PREEMPTED


def test_a_log_that_did_not_answer_is_not_silent(some, limits, tick):
    """However long one waits."""
    assert fate_of(some.node(history=(), unsure="unreachable: us-east1-b"), limits, tick) is Fate.UNTOLD


def test_the_moment_of_the_loss_is_the_operations_then_the_markers(some, tick):
    """The nearest that anybody can tell; without a word it is now."""
    at = tick.now - HOUR
    assert lost_at(some.node(history=(some.operation(at=at),)), tick) == at
    assert lost_at(some.node(history=()), tick) == some.marker().written
    assert lost_at(some.node(history=(), marker=None, missing_since=at), tick) == at
    assert lost_at(some.node(history=(), marker=None), tick) == tick.now


def test_no_operation_is_the_cause_of_an_instance_that_nothing_ended(some):
    """A start is not."""
    assert cause_of(some.node(history=(some.operation("start"),))) is None


@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_alive_going_or_kept(some, limits, tick, status):
    """What Compute Engine is still creating is alive: it holds the node's name and may come up."""
    going = {Status.STOPPING, Status.PENDING_STOP, Status.SUSPENDING, Status.DEPROVISIONING}
    kept = {Status.TERMINATED, Status.STOPPED, Status.SUSPENDED}
    expected = Now.GOING if status in going else Now.KEPT if status in kept else Now.SETTLED
    assert now_of(some.node(instance=some.instance(status=status)), limits, tick) is expected


@pytest.mark.parametrize("young", ["started", "written"])
def test_an_instance_settles_to_the_second_after_its_start_and_its_marker(some, limits, tick, young):
    """Neither a fresh marker nor a fresh start is trusted yet."""

    def stands(when):
        started = when if young == "started" else tick.now - HOUR
        written = when if young == "written" else tick.now - HOUR
        return now_of(
            some.node(instance=some.instance(started=started), marker=some.marker(written=written)),
            limits,
            tick,
        )

    assert stands(tick.now - limits.settle + SECOND) is Now.FRESH
    assert stands(tick.now - limits.settle) is Now.SETTLED


def test_another_living_vm_of_the_job_counts_as_the_node(some, limits, tick):
    """A node that is alive under another id is not started a second time."""
    stopped = some.instance(status=Status.TERMINATED)
    facts = some.node(instance=stopped, others=(some.instance(id="2002"),))
    assert now_of(facts, limits, tick) is Now.SETTLED


def test_another_vm_of_the_job_that_is_stopping_holds_the_name(some, limits, tick):
    """Going comes before kept: the name is not free."""
    stopped = some.instance(status=Status.TERMINATED)
    facts = some.node(instance=stopped, others=(some.instance(id="2002", status=Status.STOPPING),))
    assert now_of(facts, limits, tick) is Now.GOING


def announced(some, limits, tick, **facts):
    """How a node stands whose announcement still holds, for one second more."""
    written = facts.pop("written", tick.now - limits.early_notice + SECOND)
    marker = facts.pop("marker", some.marker(written=written, body=MarkerBody(early=True)))
    return now_of(
        some.node(**{"instance": some.instance(notice=True), "marker": marker, **facts}),
        limits,
        tick,
        early=True,
    )


def test_an_announced_instance_is_doomed_for_as_long_as_an_announcement_holds(some, limits, tick):
    """Later it was not taken after all, and lives."""
    assert announced(some, limits, tick) is Now.DOOMED
    assert announced(some, limits, tick, written=tick.now - limits.early_notice) is Now.SETTLED


def test_only_the_announced_instance_itself_is_doomed(some, limits, tick):
    """Not one under whose name another lives, and not for an ordinary marker."""
    assert announced(some, limits, tick, others=(some.instance(id="2002"),)) is not Now.DOOMED
    assert announced(some, limits, tick, instance=None, others=(some.instance(id="2002"),)) is not Now.DOOMED
    assert announced(some, limits, tick, marker=some.marker(written=tick.now)) is not Now.DOOMED
    assert announced(some, limits, tick, instance=some.instance(notice=False)) is not Now.DOOMED


PERSON, ROBOT = "ann@example.com", "job@p.iam.gserviceaccount.com"
ANSWER, RULE, RECOVERY = (
    f"spotwarden-{name}@p.iam.gserviceaccount.com" for name in ("answer-notice", "reap-vms", "recover-spot")
)


@pytest.mark.parametrize("kind", ["delete", "stop", "suspend"])
@pytest.mark.parametrize(
    ("user", "fate"),
    [
        (PERSON, Fate.STOPPED),
        (ANSWER, Fate.STOPPED),
        (RULE, Fate.STOPPED),
        (ROBOT, Fate.PREEMPTED),
        (RECOVERY, Fate.PREEMPTED),
    ],
)
def test_a_persons_or_a_rules_removal_within_a_preemption_counts(some, limits, tick, kind, user, fate):
    """Who did it counts, not only what came first; shutdown scripts delete their own VM."""
    history = (some.operation(), some.operation(kind, name="op-2", user=user))
    assert fate_of(some.node(history=history), limits, tick) is fate


def test_a_persons_removal_that_was_refused_has_removed_nothing(some, limits, tick):
    """Compute Engine took the VM all the same."""
    refused = some.operation("delete", name="op-2", user=PERSON, error="RESOURCE_NOT_READY")
    assert fate_of(some.node(history=(some.operation(), refused)), limits, tick) is Fate.PREEMPTED


def test_what_a_person_did_besides_removing_it_ends_nothing(some, limits, tick):
    """A label that somebody sets while it is preempted is no word on the job."""
    labelled = some.operation("setLabels", name="op-2", user=PERSON)
    assert fate_of(some.node(history=(some.operation(), labelled)), limits, tick) is Fate.PREEMPTED


def test_a_persons_removal_of_a_former_life_no_longer_counts(some, limits, tick):
    """It was stopped and started again by the same person, and then preempted."""
    history = (
        some.operation("stop", user=PERSON),
        some.operation("start", name="op-2", user=PERSON),
        some.operation(name="op-3"),
    )
    assert fate_of(some.node(history=history), limits, tick) is Fate.PREEMPTED
