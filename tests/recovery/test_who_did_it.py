"""Whole sweeps: who removed a VM counts, not only what came first; and a log that lags proves nothing."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import AttemptRecord
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.notice import Notice

JOB_VM = "job@p.iam.gserviceaccount.com"
LAG = timedelta(minutes=4)


@pytest.fixture
def seen(world):
    """A job that a sweep has seen run."""
    world.settle()
    return world


def states(world):
    """The states of all attempts, oldest first."""
    return [attempt.state for attempt in world.attempts()]


@pytest.mark.parametrize("first", ["claimed already", "still stopping"])
def test_a_job_whose_owner_deletes_its_vm_while_it_is_preempted_stays_away(seen, first):
    """Twenty seconds after Compute Engine began to take it, whether or not a sweep has looked meanwhile."""
    seen.preempt()
    if first == "claimed already":
        seen.sweep(about="test-vm")
    seen.wait(seconds=20)
    seen.cloud.compute.owner_deletes("test-vm")
    seen.wait(seconds=20)
    seen.sweep_until_quiet()
    assert seen.vms() == []
    assert states(seen) == [AttemptState.STOPPED]
    assert seen.notices()[-1] == "stopped"
    assert seen.names("preempted-jobs/") == []


def test_a_stop_within_a_preemption_counts_as_well(kept):
    """Its VM stays, and is not started again."""
    kept.settle()
    kept.preempt()
    kept.wait(seconds=20)
    kept.cloud.compute.owner_stops("test-vm")
    kept.wait(seconds=20)
    kept.sweep_until_quiet()
    assert states(kept) == [AttemptState.STOPPED]


@pytest.mark.parametrize("function", ["reap-vms", "flag-idle-gpus", "cap-runtime", "check-compliance"])
def test_a_rules_stop_within_a_preemption_closes_the_job_and_its_owner_reads_of_both(kept, function):
    """It was warned of; which came first is a matter of seconds, and the owner hears one thing from us."""
    kept.settle()
    kept.preempt()
    kept.wait(seconds=20)
    rule = f"spotwarden-{function}@p.iam.gserviceaccount.com"
    kept.cloud.compute.owner_stops("test-vm", user=rule)
    kept.wait(seconds=20)
    kept.sweep_until_quiet()
    assert states(kept) == [AttemptState.STOPPED]
    told = msgspec.json.decode(kept.cloud.notices.messages[-1].data, type=Notice)
    assert (told.kind, told.todo) == ("stopped", "to continue the job, run `spotwarden restart test-vm`")
    assert "stopped on purpose while Compute Engine was preempting it" in told.why
    assert f"test-vm was stopped by Spotwarden ({rule})" in told.why


@pytest.mark.parametrize("user", ["spotwarden-recover-spot@p.iam.gserviceaccount.com", JOB_VM])
def test_nobody_elses_stop_within_a_preemption_closes_the_job(kept, user):
    """Recovery deletes what stands in its way, and VMs stop themselves once they hear of it."""
    kept.settle()
    kept.preempt()
    kept.wait(seconds=20)
    kept.cloud.compute.owner_stops("test-vm", user=user)
    kept.wait(seconds=20)
    kept.sweep_until_quiet()
    assert states(kept) == [AttemptState.RUNNING] * 2


def test_a_job_whose_vm_deletes_itself_while_it_is_preempted_comes_back(seen):
    """Many shutdown scripts end so: that is no person's word."""
    seen.preempt()
    seen.wait(seconds=20)
    seen.cloud.compute.owner_deletes("test-vm", user=JOB_VM)
    seen.wait(seconds=20)
    seen.sweep_until_quiet()
    assert states(seen) == [AttemptState.RUNNING] * 2


@pytest.mark.parametrize("marker", [True, False])
@pytest.mark.parametrize("lag", [LAG, timedelta(minutes=10)])
def test_a_job_that_its_owner_deletes_stays_away_while_the_log_lags(seen, lag, marker):
    """Every shutdown writes a marker, this one too; that the log says nothing yet proves nothing."""
    seen.cloud.compute.let_the_log_lag(lag)
    seen.cloud.compute.owner_deletes("test-vm")
    if marker:
        seen.store("preempted-jobs/test-vm", b"")
    for _ in range(20):
        seen.sweep()
        seen.wait(minutes=1)
    assert seen.vms() == []
    assert states(seen) == [AttemptState.STOPPED]
    assert seen.names("preempted-jobs/") == []


def test_a_preempted_job_comes_back_as_soon_as_the_log_tells_of_it(seen):
    """However late that is; nobody waits for the rest of the log's time."""
    seen.cloud.compute.let_the_log_lag(LAG)
    seen.preempt()
    seen.wait(seconds=230)
    seen.sweep()
    assert len(seen.attempts()) == 1
    seen.wait(seconds=10)
    seen.sweep_until_quiet()
    assert states(seen) == [AttemptState.RUNNING] * 2


def test_ordinary_preemption_recovery_is_as_quick_as_ever(seen):
    """The operation is in the log: the claim is written in the first sweep that finds the VM gone."""
    seen.preempt()
    seen.wait(seconds=31)
    seen.sweep(about="test-vm")
    assert len(seen.attempts()) == 2
    assert len(seen.vms()) == 1


@pytest.mark.parametrize("lag", [timedelta(0), LAG])
@pytest.mark.parametrize("labelled", [True, False])
def test_a_job_whose_vm_a_person_stops_and_starts_again_is_open_again(kept, labelled, lag):
    """The next preemption brings it back, whether its VM carries our labels or was launched by hand."""
    kept.settle()
    if labelled:
        kept.cloud.compute.stock_out("us-central1-a")
        kept.preempt()
        kept.settle(6)
        kept.cloud.compute.owner_deletes(kept.first)
        kept.settle(2)
    (vm,) = (one for one in kept.instances() if one.status is Status.RUNNING)
    assert (vm.job is not None) is labelled
    kept.cloud.compute.let_the_log_lag(lag)
    kept.cloud.compute.owner_stops(vm.id)
    kept.settle(8)
    assert states(kept)[-1] is AttemptState.STOPPED
    closed = len(kept.attempts())
    kept.cloud.compute.owner_starts(vm.id)
    kept.settle(8)
    assert states(kept)[closed:] == [AttemptState.RUNNING]
    kept.cloud.compute.preempt(vm.id)
    kept.store("preempted-jobs/test-vm", b"")
    kept.settle(8)
    assert states(kept)[closed:] == [AttemptState.RUNNING] * 2
    assert kept.names("preempted-jobs/") == []


@pytest.mark.parametrize("marker", [True, False])
def test_a_vm_that_is_started_again_and_taken_before_any_sweep_sees_it_comes_back(kept, marker):
    """The log tells of the start and of the preemption."""
    kept.settle()
    kept.cloud.compute.owner_stops("test-vm")
    kept.settle(4)
    kept.cloud.compute.owner_starts("test-vm")
    kept.wait(seconds=25)
    if marker:
        kept.preempt()
    else:
        kept.cloud.compute.preempt("test-vm")
    kept.settle(8)
    assert states(kept) == [AttemptState.STOPPED, AttemptState.RUNNING]


def test_a_vm_that_a_machine_starts_again_opens_no_job(kept):
    """An instance schedule is no person's word."""
    kept.settle()
    kept.cloud.compute.owner_stops("test-vm")
    kept.settle(4)
    kept.cloud.compute.owner_starts("test-vm", user="service-1@compute-system.iam.gserviceaccount.com")
    kept.settle(4)
    assert states(kept) == [AttemptState.STOPPED]


def test_a_start_before_the_job_was_closed_opens_nothing(kept):
    """It was stopped and started, then its owner said stop to us."""
    kept.settle()
    kept.cloud.compute.owner_stops("test-vm")
    kept.wait(seconds=31)
    kept.cloud.compute.owner_starts("test-vm")
    kept.settle(2)
    assert states(kept) == [AttemptState.RUNNING]
    (newest,) = kept.attempts()
    record = kept.layout.build(AttemptRecord(job="test-vm", attempt=1))
    over = replace(newest, state=AttemptState.STOPPED, updated=kept.cloud.clock.now())
    kept.store(record, msgspec.json.encode(over))
    kept.settle(2)
    kept.preempt()
    kept.settle(4)
    assert states(kept) == [AttemptState.STOPPED]


def test_a_vm_that_was_removed_within_its_preemption_ends_the_job_also_when_the_log_tells_of_it_late(seen):
    """The preemption is told, the delete only after the successor runs: the job is closed, its owner told."""
    seen.cloud.compute.let_the_log_lag(LAG)
    seen.preempt()
    seen.wait(seconds=20)
    seen.cloud.compute.owner_deletes("test-vm")
    seen.wait(seconds=221)
    seen.sweep()
    assert len(seen.attempts()) == 2
    seen.settle(4)
    assert states(seen) == [AttemptState.RUNNING, AttemptState.STOPPED]
    assert seen.notices()[-1] == "stopped"


def test_who_tidies_up_after_a_recovery_ends_nothing(kept):
    """The stopped VM of a job that runs elsewhere is deleted by its owner."""
    kept.settle()
    kept.cloud.compute.stock_out("us-central1-a")
    kept.preempt()
    kept.settle(6)
    old = next(one for one in kept.instances() if one.status.value == "TERMINATED")
    kept.wait(minutes=5)
    kept.cloud.compute.owner_deletes(old.id)
    kept.settle(4)
    assert states(kept) == [AttemptState.RUNNING] * 2


def test_a_stop_that_was_taken_back_does_not_end_the_attempt_after_the_next_preemption(kept):
    """Started again, then preempted: while the next attempt waits for room the old stop counts no more."""
    kept.settle()
    kept.cloud.compute.owner_stops("test-vm")
    kept.settle(4)
    kept.cloud.compute.owner_starts("test-vm")
    kept.wait(seconds=25)
    for zone in kept.cloud.compute.zones:
        kept.cloud.compute.stock_out(zone)
    kept.preempt()
    kept.settle(6)
    assert states(kept) == [AttemptState.STOPPED, AttemptState.BACKING_OFF]
    for zone in kept.cloud.compute.zones:
        kept.cloud.compute.restock(zone)
    kept.settle(10)
    assert states(kept) == [AttemptState.STOPPED, AttemptState.RUNNING]


def test_a_late_word_reaches_a_job_that_is_whole_again(seen):
    """Nothing else about its successor needs a look by then."""
    seen.preempt()
    seen.wait(seconds=20)
    seen.cloud.compute.owner_deletes("test-vm")
    seen.cloud.compute.let_the_log_lag(timedelta(seconds=25))
    seen.wait(seconds=15)
    seen.sweep()
    seen.cloud.compute.let_the_log_lag(timedelta(seconds=600))
    seen.settle(6)
    assert states(seen) == [AttemptState.RUNNING] * 2
    seen.cloud.compute.let_the_log_lag(timedelta(0))
    seen.settle(2)
    assert states(seen) == [AttemptState.RUNNING, AttemptState.STOPPED]


@pytest.mark.parametrize(
    ("user", "ends"),
    [("ada@example.com", True), ("spotwarden-idle@p.iam.gserviceaccount.com", True), (JOB_VM, False)],
    ids=["a person", "a rule of ours", "its own account"],
)
def test_a_removal_of_which_the_log_tells_after_its_time_ends_the_job(seen, user, ends):
    """Silence for longer than the log needs was taken for a loss, and the job came back meanwhile."""
    seen.cloud.compute.let_the_log_lag(timedelta(minutes=20))
    seen.cloud.compute.owner_deletes("test-vm", user=user)
    seen.settle(15)
    assert states(seen) == [AttemptState.RUNNING] * 2
    seen.cloud.compute.let_the_log_lag(timedelta(0))
    seen.settle(3)
    assert states(seen) == [AttemptState.RUNNING, AttemptState.STOPPED if ends else AttemptState.RUNNING]


@pytest.mark.parametrize("removed", [True, False])
def test_who_goes_back_to_an_earlier_vm_and_removes_it_stops_the_job(kept, removed):
    """The newest VM was lost meanwhile, and no sweep has seen either; who starts nothing is brought back."""
    kept.settle()
    kept.cloud.compute.stock_out("us-central1-a")
    kept.preempt()
    kept.settle(6)
    [newest] = [vm for vm in kept.instances() if vm.status is Status.RUNNING]
    assert newest.id != kept.first
    kept.cloud.compute.preempt(newest.id)
    kept.wait(seconds=35)
    if removed:
        kept.cloud.compute.restock("us-central1-a")
        kept.cloud.compute.owner_starts(kept.first)
        kept.wait(seconds=5)
        kept.cloud.compute.owner_deletes(kept.first)
        kept.wait(seconds=35)
    kept.settle(6)
    assert (states(kept)[-1] is AttemptState.STOPPED) is removed


def test_a_stop_from_before_the_job_was_opened_again_does_not_end_what_follows(gang):
    """Its owner stops both nodes and starts one of them; its host fails, and the gang is whole again."""
    gang.settle()
    for node in ("gang-1", "gang-2"):
        gang.cloud.compute.owner_stops(node)
    gang.settle(3)
    assert states(gang)[-1] is AttemptState.STOPPED
    gang.cloud.compute.owner_starts("gang-1")
    gang.cloud.compute.fail_host("gang-1")
    gang.settle(8)
    assert states(gang)[-1] is AttemptState.RUNNING
    assert sorted(vm.name for vm in gang.instances() if vm.status is Status.RUNNING) == ["gang-1", "gang-2"]


@pytest.mark.parametrize(
    ("user", "who"),
    [
        ("bob@example.com", "test-vm was deleted by bob@example.com"),
        ("system", "test-vm was deleted by Compute Engine, as at the end of its time limit (maxRunDuration)"),
        (
            "spotwarden-reap-vms@p.iam.gserviceaccount.com",
            "test-vm was deleted by Spotwarden (spotwarden-reap-vms@p.iam.gserviceaccount.com)",
        ),
    ],
)
def test_a_closed_job_says_who_ended_it(seen, user, who):
    """On its record, which `show` and the pages read, and to its owner."""
    seen.cloud.compute.owner_deletes("test-vm", user=user)
    seen.wait(minutes=5)
    seen.sweep_until_quiet()
    assert seen.attempts()[-1].reason == f"the instance was deleted or stopped, not preempted: {who}"
    notices = [msgspec.json.decode(message.data, type=Notice) for message in seen.cloud.notices.messages]
    [told] = [notice for notice in notices if notice.kind == "stopped"]
    assert who in told.why
