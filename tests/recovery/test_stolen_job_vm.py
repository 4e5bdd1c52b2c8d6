"""What somebody on a job VM can do to another job, with nothing but what a job VM may write.

docs/deploy/threat-model.md names these tests. Where it says that something works, the test shows that, too.
"""

import json
from datetime import timedelta

import pytest

from spotwarden.layout import (
    AttemptRecord,
    CreateScript,
    Heartbeat,
    InstanceId,
    JobFileName,
    LogFile,
    MarkerName,
    MetricsFile,
    OpenJob,
    Output,
    ScriptFile,
    StatusCode,
)
from spotwarden.model.attempt import AttemptState
from spotwarden.model.governance import Remedy
from spotwarden.model.rule_limits import EarlyStopLimits, IdleLimits, JobCap, StallLimits
from tests.fakes.world import load
from tests.governance.caps.cap_world import CapWorld
from tests.governance.idle.idle_world import IdleWorld
from tests.governance.reap.reap_world import ReapWorld
from tests.recovery.job_vm import JobVm

MINUTES = 5


@pytest.fixture
def governed():
    """Another's job under `reap_vms`: its own metrics may end it."""
    world = ReapWorld(load("reap_vms"), early_stop=EarlyStopLimits(unreal=True))
    world.sweep()
    return world


def nan(**said):
    """A heartbeat with a loss that is no number."""
    return json.dumps({"step": 10, "attempt": 1, "metrics": {"loss": "nan"}, **said}).encode()


@pytest.mark.parametrize(
    "thing",
    [
        CreateScript(job="test-vm"),
        ScriptFile(job="test-vm", path="x"),
        JobFileName(job="test-vm"),
        AttemptRecord(job="test-vm", attempt=1),
        InstanceId(job="test-vm", node="test-vm"),
        OpenJob(job="test-vm"),
    ],
)
def test_what_makes_or_ends_a_vm_is_not_a_job_vms_to_write(world, thing):
    """Scripts, settings, the chain and its ids, and all that is ours."""
    with pytest.raises(PermissionError):
        JobVm(world).write(thing)


@pytest.mark.parametrize("body", [b"", b'{"job": "test-vm"}', b'{"instance_id": "4711"}', b'{"early": true}'])
def test_a_marker_for_another_jobs_vm_starts_and_deletes_nothing(world, body):
    """The VM lives; the marker goes once it has settled."""
    world.settle()
    JobVm(world).write(MarkerName(node="test-vm"), body)
    world.settle(6)
    world.wait(minutes=13)
    world.settle(2)
    assert [attempt.seen for attempt in world.attempts()] == [True]
    assert world.vms() == [world.first]
    assert world.names("preempted-jobs/") == []


def test_a_marker_of_a_node_that_another_job_does_not_have_starts_nothing(world):
    """It is put aside, and ops are told."""
    world.settle()
    JobVm(world).write(MarkerName(node="made-up"), b'{"job": "test-vm"}')
    world.settle(6)
    assert world.vms() == [world.first]
    assert list(world.quarantined()) == ["made-up"]


def test_an_early_marker_makes_one_more_vm_at_most_and_only_of_a_job_that_asked_for_that(world):
    """Its VM has a notice and its job.toml says so: then it works, once, and the first VM is left running."""
    world.store(JobFileName(job="test-vm"), b"handover = true\n")
    world.cloud.compute.give_notice("test-vm")
    world.settle()
    for _ in range(3):
        JobVm(world).write(MarkerName(node="test-vm"), b'{"early": true}')
        world.settle(6)
    assert len(world.vms()) == len(["the first", "its successor"])
    assert world.first in world.vms()


def test_a_vm_that_was_replaced_for_a_forged_marker_is_told_of_and_never_stopped(governed):
    """A day later it still runs; both VMs carry their job's label."""
    first = governed.job()["test-vm"]
    second = governed.vm(attempt=2, zone="us-central1-b", age=timedelta(hours=1))
    governed.attempt(number=2, instances={"test-vm": second}, replaces={"test-vm": first}, early=True)
    governed.watch("test-vm", {"test-vm": second}, number=2)
    governed.beat()
    governed.sweep_for(hours=24, every=timedelta(hours=1))
    assert "orphan_unknown" in governed.kinds()
    assert (governed.asked(), governed.status(first)) == ([], "RUNNING")


def test_the_status_of_another_job_that_goes_on_ends_nothing(governed):
    """Its own heartbeats contradict it: the owner is told, and its VM is left alone."""
    governed.job()
    JobVm(governed).write(StatusCode(job="test-vm"), b"0")
    for _ in range(24):
        governed.wait(minutes=MINUTES)
        governed.beat()
        governed.sweep()
    assert governed.kinds() == ["orphan_unknown"]
    assert governed.asked() == []


def test_the_status_of_another_job_that_is_silent_ends_it_after_a_warning(governed):
    """This works: what sends no heartbeat has nothing to contradict it with."""
    vm = governed.job()["test-vm"]
    JobVm(governed).write(StatusCode(job="test-vm"), b"0")
    governed.sweep_for(minutes=15)
    assert (governed.kinds(), governed.asked()) == (["orphan_warning"], [])
    governed.sweep_for(hours=2)
    assert governed.asked() == [("delete", vm)]


@pytest.mark.parametrize(("minutes", "told"), [(1, False), (20, True)])
def test_the_status_of_another_job_keeps_it_from_coming_back(world, minutes, told):
    """Nothing is launched against a status; of one that came long before the preemption its owner hears."""
    world.settle()
    JobVm(world).write(StatusCode(job="test-vm"), b"0")
    world.wait(minutes=minutes)
    world.preempt()
    world.wait(minutes=1)
    world.sweep_until_quiet()
    assert world.vms() == []
    assert world.attempts()[-1].state is AttemptState.ENDED
    assert ("end_doubted" in world.notices()) is told


@pytest.mark.parametrize("status", [b"x" * 5_000_000, b"<b>failed\n" * 300_000], ids=["too large", "3 MB"])
def test_a_status_of_any_size_is_one_and_is_told_in_a_few_words(world, status):
    """Of a job that it keeps from coming back its owner hears, and no message or record is larger for it."""
    world.settle()
    JobVm(world).write(StatusCode(job="test-vm"), status)
    world.wait(minutes=6)
    world.preempt()
    world.wait(minutes=1)
    world.sweep_until_quiet()
    assert world.attempts()[-1].state is AttemptState.ENDED
    assert "end_doubted" in world.notices()
    assert max(len(message.data) for message in world.cloud.notices.messages) < 4_000
    assert len(json.dumps(world.audit())) < 20_000


def test_metadata_of_a_forged_status_proves_nothing(world):
    """Attempt and id can be read by every job VM."""
    world.settle()
    vm = world.attempts()[-1].instances["test-vm"]
    JobVm(world).write(StatusCode(job="test-vm"), b"0", attempt="1", instance_id=vm)
    world.wait(minutes=20)
    world.preempt()
    world.sweep_until_quiet()
    assert world.attempts()[-1].state is AttemptState.ENDED
    assert "end_doubted" in world.notices()


@pytest.mark.parametrize("taken", [True, False])
def test_a_status_that_is_made_a_late_one_starts_nothing_once_the_vm_deletes_itself(world, taken):
    """One that Compute Engine takes first comes back: this works."""
    world.settle()
    world.preempt()
    world.settle()
    world.ended("0", attempt="2")
    JobVm(world).write(StatusCode(job="test-vm"), b"0", attempt="1")
    if taken:
        world.preempt()
    else:
        world.cloud.compute.owner_deletes("test-vm", user="job@p.iam.gserviceaccount.com")
    world.settle(6)
    newest = world.attempts()[-1]
    assert (newest.number, newest.state) == (
        (3, AttemptState.RUNNING) if taken else (2, AttemptState.STOPPED)
    )


@pytest.mark.parametrize("said", [{}, {"instance_id": "4711"}, {"job": "test-vm", "node": "test-vm"}])
def test_metrics_of_another_vm_do_not_reach_a_jobs_early_stop(governed, said):
    """Neither the heartbeat nor the file of metrics names the id that the chain has."""
    governed.job()
    for _ in range(12):
        JobVm(governed).write(Heartbeat(job="test-vm", node="test-vm"), nan(**said))
        JobVm(governed).write(MetricsFile(job="test-vm", node="test-vm", attempt=1), nan(**said) + b"\n")
        governed.wait(minutes=MINUTES)
        governed.sweep()
    assert "early_stop_warning" not in governed.kinds()
    assert governed.asked() == []


def test_metrics_that_name_the_vms_own_id_need_a_warning_and_no_heartbeat_of_its_own(governed):
    """The id can be read, so this can be forged: until the job's next heartbeat, which clears it."""
    vm = governed.job()["test-vm"]
    JobVm(governed).write(Heartbeat(job="test-vm", node="test-vm"), nan(instance_id=vm))
    governed.sweep()
    assert (governed.kinds(), governed.asked()) == (["early_stop_warning"], [])
    own = nan(instance_id=vm, metrics={"loss": 0.5})
    governed.store(Heartbeat(job="test-vm", node="test-vm"), own)
    governed.sweep_for(hours=1)
    assert governed.asked() == []


def test_metrics_that_are_forged_again_and_again_stop_the_vm_after_the_warning(governed):
    """This works, where the job has asked for an early stop: the disks stay, and a restart goes on."""
    vm = governed.job()["test-vm"]
    for _ in range(4):
        JobVm(governed).write(Heartbeat(job="test-vm", node="test-vm"), nan(instance_id=vm))
        governed.sweep()
        governed.wait(minutes=MINUTES)
    assert governed.kinds()[0] == "early_stop_warning"
    assert governed.asked() == [("stop", vm)]


@pytest.mark.parametrize("forged", [True, False])
def test_heartbeats_of_another_job_make_a_hung_one_look_alive(governed, forged):
    """This works: without them it is warned of."""
    governed.set_policy(stall=StallLimits())
    vm = governed.job()["test-vm"]
    governed.beat()
    governed.cloud.metrics.cpu = {vm: 0.1}
    for _ in range(12):
        governed.wait(minutes=20)
        if forged:
            JobVm(governed).write(Heartbeat(job="test-vm", node="test-vm"))
        governed.sweep()
    assert ("stall_warning" in governed.kinds()) is not forged


def test_logs_by_the_thousand_in_another_jobs_name_do_not_keep_it_from_coming_back(world, monkeypatch):
    """What any job VM may fill is listed in part; the records of the job are all found."""
    monkeypatch.setattr("spotwarden.recovery.folder.folder_list.ROWS_AT_MOST", 100)
    monkeypatch.setattr("spotwarden.recovery.folder.folder_list.CROWD_AT_MOST", 10)
    world.settle()
    for number in range(1, 1_000):
        JobVm(world).write(LogFile(job="test-vm", node="test-vm", attempt=number))
    world.preempt()
    listed = []
    whole = world.cloud.store._entry
    monkeypatch.setattr(
        world.cloud.store, "_entry", lambda name, **how: (listed.append(name), whole(name, **how))[1]
    )
    world.sweep()
    assert len([name for name in listed if "/logs/" in name]) <= 4 * 110
    world.sweep_until_quiet()
    assert [attempt.number for attempt in world.attempts()] == [1, 2]
    assert len(world.vms()) == 1


def test_output_and_logs_of_another_job_can_be_overwritten(world):
    """This works: the bucket's soft delete or its versions have what was there."""
    world.store(Output(job="test-vm", path="last.pt"), b"good")
    for thing in (Output(job="test-vm", path="last.pt"), LogFile(job="test-vm", node="test-vm", attempt=1)):
        JobVm(world).write(thing, b"spoilt")
    found = world.cloud.store.read("test-vm/output/last.pt")
    assert found.data == b"spoilt"


def works(governed, forge):
    """Another's job that works at full load and says nothing, while somebody forges its heartbeats."""
    governed.set_policy(stall=StallLimits(), early_stop=EarlyStopLimits())
    vm = governed.job()["test-vm"]
    governed.cloud.metrics.cpu = {vm: 97.0}
    began = governed.now
    for _ in range(24):
        governed.wait(minutes=20)
        said = {"at": governed.now.isoformat(), "progress_at": began.isoformat(), "step": 1, "attempt": 1}
        JobVm(governed).write(
            Heartbeat(job="test-vm", node="test-vm"), json.dumps({**said, **forge(vm)}).encode()
        )
        governed.sweep()
    return vm


@pytest.mark.parametrize("said", [{}, {"instance_id": "4711"}])
def test_steps_of_another_vm_do_not_make_a_working_job_a_hang(governed, said):
    """They do not name the id that the chain has: the job is told of as one that works and says nothing."""
    works(governed, lambda _: said)
    assert "stall_warning" not in governed.kinds()
    assert governed.asked() == []


def test_steps_that_name_the_vms_own_id_make_a_working_silent_job_a_hang_after_a_warning(governed):
    """This works: the id can be read. Output, or a log line, within two hours contradicts it."""
    vm = works(governed, lambda vm: {"instance_id": vm})
    assert governed.kinds()[0] == "stall_warning"
    assert governed.asked() == [("stop", vm)]


@pytest.mark.parametrize("forged", [True, False])
def test_one_forged_heartbeat_makes_the_silence_of_a_resting_job_count(governed, forged):
    """This works: of a job that rests and gives no sign nobody knows; after a forged sign it is warned of."""
    governed.set_policy(stall=StallLimits(), early_stop=EarlyStopLimits())
    vm = governed.job()["test-vm"]
    governed.cloud.metrics.cpu = {vm: 0.1}
    if forged:
        JobVm(governed).write(Heartbeat(job="test-vm", node="test-vm"))
    governed.sweep_for(hours=6, every=timedelta(minutes=20))
    assert governed.kinds()[0] == ("stall_warning" if forged else "stall_unknown")
    assert governed.asked() == ([("stop", vm)] if forged else [])


def test_heartbeats_and_output_that_are_deleted_stop_no_job_that_works(governed):
    """Its CPU works: what nobody can see any more is not known to stand still."""
    governed.set_policy(stall=StallLimits())
    vm = governed.job()["test-vm"]
    governed.cloud.metrics.cpu = {vm: 97.0}
    for _ in range(24):
        governed.wait(minutes=20)
        for thing in (Heartbeat(job="test-vm", node="test-vm"), Output(job="test-vm", path="last.pt")):
            governed.store(thing, b"{}")
            JobVm(governed).delete(thing)
        governed.sweep()
    assert governed.asked() == []


@pytest.mark.parametrize("deleted", [True, False])
def test_heartbeats_that_are_deleted_no_longer_spare_a_job_that_loads_data(deleted):
    """This works: that its GPUs idle is Monitoring's own fact, and its owner is warned."""
    world = IdleWorld(load("flag_idle_gpus"), idle=IdleLimits(remedy=Remedy.STOP))
    vm = world.vm(0.0)
    world.attempt(owner="ada@example.com", train=vm)
    for _ in range(20):
        beat = {"at": world.now.isoformat(), "progress_at": world.now.isoformat(), "instance_id": vm}
        world.store(Heartbeat(job="train", node="train"), json.dumps(beat).encode())
        if deleted:
            JobVm(world).delete(Heartbeat(job="train", node="train"))
        world.ticks(minutes=10)
    assert world.kinds()[0] == "idle_warning"
    assert world.asked() == ([("stop", vm)] if deleted else [])


def claim(world, job, vm):
    """Its VM says that its program runs and gets on."""
    now = world.now.isoformat()
    beat = {"at": now, "progress_at": now, "instance_id": vm, "attempt": 1, "status": "running"}
    JobVm(world).write(Heartbeat(job=job, node=job), json.dumps(beat).encode())


def test_a_vm_that_idles_and_claims_progress_is_only_told_of():
    """This works, where the policy stops idle VMs: nobody but the program knows whether it gets on."""
    world = IdleWorld(load("flag_idle_gpus"), idle=IdleLimits(remedy=Remedy.STOP))
    vm = world.vm(0.0)
    world.attempt(owner="ada@example.com", train=vm)
    for _ in range(20):
        claim(world, "train", vm)
        world.ticks(minutes=10)
    assert world.kinds()[0] == "idle_warning"
    assert world.asked() == []


@pytest.mark.parametrize("limited", [True, False])
def test_a_vm_that_claims_progress_after_its_end_is_stopped_at_its_cap_and_by_nothing_else(limited):
    """How long it has been up is Compute Engine's own fact, and its status is no way round it."""
    world = CapWorld(load("cap_runtime"), job_cap=JobCap(max_runtime=timedelta(hours=1) if limited else None))
    vm = world.job()
    JobVm(world).write(StatusCode(job="train"), b"0")
    for _ in range(24):
        claim(world, "train", vm)
        world.sweep_for(minutes=MINUTES)
    assert world.asked() == ([("stop", vm)] if limited else [])


def test_a_forged_end_of_a_gang_that_works_on_one_node_ends_none_of_its_nodes(governed):
    """A status code is the whole job's, and so is what contradicts it."""
    ids = governed.job("gang", nodes=("gang-1", "gang-2"))
    JobVm(governed).write(StatusCode(job="gang"), b"0")
    governed.cloud.metrics.cpu = {ids["gang-1"]: 97.0, ids["gang-2"]: 0.1}
    governed.sweep_for(hours=6, every=timedelta(minutes=20))
    assert governed.asked() == []
    assert set(governed.kinds()) == {"orphan_unknown"}


def test_the_vm_of_an_attempt_before_does_not_stop_the_present_one(governed):
    """It writes what it measures, and steps that stand still, under the name of its node."""
    governed.set_policy(stall=StallLimits())
    old = governed.job()["test-vm"]
    vm = governed.vm(attempt=2, zone="us-central1-b", age=timedelta(hours=1))
    began = governed.now - timedelta(hours=1)
    governed.attempt(
        number=2, created=began, started=began, instances={"test-vm": vm}, replaces={"test-vm": old}
    )
    governed.watch("test-vm", {"test-vm": vm}, number=2)
    governed.cloud.metrics.cpu = {vm: 97.0}
    for number in range(48):
        own = {"instance_id": old, "attempt": 1 + number % 2, "progress_at": began.isoformat()}
        JobVm(governed).write(Heartbeat(job="test-vm", node="test-vm"), nan(**own))
        JobVm(governed).write(MetricsFile(job="test-vm", node="test-vm", attempt=2), nan(**own) + b"\n")
        governed.wait(minutes=10)
        governed.sweep()
    assert [asked for asked in governed.asked() if asked[1] == vm] == []
    assert governed.status(vm) == "RUNNING"
