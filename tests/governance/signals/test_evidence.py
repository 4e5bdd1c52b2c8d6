"""What is evidence and what is not: faults that governance once made, played through its real sweeps."""

import json
from datetime import timedelta

import msgspec
import pytest

from spotwarden.governance.signals.records import read_record
from spotwarden.governance.signals.table import SignalKind, signals
from spotwarden.layout import AttemptRecord, Heartbeat, JobFileName, Output
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.governance import Remedy
from spotwarden.model.load import VmLoad
from spotwarden.model.rule_limits import IdleLimits
from tests.fakes.world import load
from tests.governance.idle.idle_world import IdleWorld
from tests.governance.reap.reap_world import ReapWorld

BUSY, RESTS = 97.0, 0.5
HOUR = timedelta(hours=1)


@pytest.fixture(scope="session")
def module():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


@pytest.fixture
def world(module):
    """A project that has been swept regularly."""
    world = ReapWorld(module)
    world.sweep()
    return world


def second_attempt(world, job="test-vm", **facts):
    """The first attempt was preempted an hour ago, and its VM is gone; gives the id of the second one's."""
    world.attempt(job, instances={job: "999"}, started=world.now - timedelta(days=1))
    made = world.vm(job, attempt=2, age=timedelta(hours=1), **facts)
    began = world.now - timedelta(hours=1)
    world.attempt(job, 2, created=began, started=began, updated=began, instances={job: made})
    world.watch(job, {job: made}, 2)
    return made


def measure(world, value, job="test-vm"):
    """The job kit says what it measures."""
    said = {"step": 10, "attempt": 1, "instance_id": world.id_of(), "metrics": {"loss": value}}
    world.store(Heartbeat(job=job, node=job), json.dumps(said).encode())


# --- a warning is as old as its trouble, and as our own sweeps ---


def test_a_spike_after_an_outage_of_ours_stops_nobody_by_a_warning_from_before_it(world):
    """Three days ago the loss was no number; it was since, and is no number for a minute as we come back."""
    world.store(JobFileName(job="test-vm"), b"[rules.early_stop]\nunreal = true\n")
    world.job()
    measure(world, "nan")
    world.sweep()
    assert world.kinds() == ["early_stop_warning"]
    world.wait(days=3)
    measure(world, "nan")
    world.sweep()
    assert world.asked() == []
    world.wait(minutes=1)
    measure(world, 0.5)
    world.sweep_for(minutes=30)
    assert world.asked() == []
    assert world.kinds() == ["early_stop_warning", "early_stop_warning", "early_stop_cleared"]


def test_a_loss_that_stays_no_number_after_an_outage_is_stopped_after_a_new_grace(world):
    """Warned once more, then acted upon."""
    world.store(JobFileName(job="test-vm"), b"[rules.early_stop]\nunreal = true\n")
    vm = world.job()["test-vm"]
    measure(world, "nan")
    world.sweep()
    world.wait(days=3)
    measure(world, "nan")
    world.sweep()
    assert world.asked() == []
    world.sweep_for(minutes=5)
    assert world.asked() == [("stop", vm)]


@pytest.mark.parametrize(("away", "acts"), [(timedelta(minutes=30), True), (timedelta(minutes=31), False)])
def test_an_orphan_is_not_deleted_in_the_first_sweep_after_an_outage(world, away, acts):
    """It was warned about before; whoever uses it since then is warned anew, and then has the grace."""
    vm = world.job()["test-vm"]
    world.end()
    world.sweep_for(minutes=20)
    assert world.kinds() == ["orphan_warning"]
    world.wait(seconds=away.total_seconds())
    world.sweep()
    assert world.asked() == ([("delete", vm)] if acts else [])
    world.sweep_for(minutes=20)
    assert world.asked() == [("delete", vm)]


# --- a status that others contradict ---


@pytest.mark.parametrize("works", [True, False])
@pytest.mark.parametrize("processor", ["cpu", "gpu", "tpu"])
def test_a_gang_node_that_works_outlives_a_status_that_another_has_written(world, processor, works):
    """No node writes a heartbeat: its processor alone says that it goes on."""
    card = "tpu-v6e" if processor == "tpu" else "nvidia-l4"
    ids = world.job("gang", nodes=("gang-1", "gang-2"), gpus=1, gpu=card)
    metrics, percent = world.cloud.metrics, BUSY if works else RESTS
    if processor == "cpu":
        metrics.cpu[ids["gang-2"]] = percent
    else:
        loads = metrics.tpu if processor == "tpu" else metrics.load
        loads[ids["gang-2"]] = VmLoad(top=(percent,))
    world.end("gang")
    world.sweep_for(hours=3)
    assert bool(world.asked()) is not works
    assert ("orphan_unknown" in world.kinds()) is works


@pytest.mark.parametrize("works", [True, False])
def test_a_vm_that_works_outlives_the_folder_of_its_job(world, works):
    """A rule of the bucket's lifecycle may have deleted it: what has no record left may be in use."""
    vm = world.job()["test-vm"]
    world.cloud.metrics.cpu[vm] = BUSY if works else RESTS
    world.cloud.store.delete_all(
        {entry.name: entry.generation for entry in world.cloud.store.entries("test-vm/")}
    )
    world.job("another")
    world.sweep_for(hours=3)
    assert (vm in str(world.asked())) is not works
    assert ("orphan_unknown" in world.kinds()) is works


def test_output_after_the_end_contradicts_it(world):
    """Somebody goes on writing."""
    world.job("gang", nodes=("gang-1", "gang-2"))
    world.end("gang")
    for number in range(36):
        world.produce("gang", path=f"part-{number}")
        world.sweep_for(minutes=5)
    assert world.asked() == []
    assert world.kinds() == ["orphan_unknown"] * 2


def test_a_processor_that_cannot_be_asked_stops_nobody(world):
    """Nobody knows whether the node works on."""
    world.job(gpus=1)
    world.cloud.metrics.problem = "no answer"
    world.end()
    world.sweep_for(hours=2)
    assert world.asked() == []
    world.cloud.metrics.problem = ""
    world.sweep_for(hours=1)
    assert [kind for kind, _ in world.asked()] == ["delete"]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("sign", ["heartbeat", "cpu"])
def test_a_late_status_of_attempt_1_ends_no_attempt_2_that_works(world, sign, closed):
    """Whether or not recovery has believed it: the VM of attempt 2 goes on, and says so."""
    vm = second_attempt(world)
    world.end()
    if closed:
        said = {"state": AttemptState.ENDED, "instances": {"test-vm": vm}, "updated": world.now}
        world.attempt(number=2, created=world.now - timedelta(hours=1), **said)
        world.unwatch("test-vm")
    for _ in range(36):
        if sign == "heartbeat":
            world.report(world.now, attempt=2, instance_id=vm)
        world.cloud.metrics.cpu[vm] = BUSY if sign == "cpu" else RESTS
        world.sweep_for(minutes=5)
    assert world.asked() == []
    assert world.kinds() == ["orphan_unknown"]


@pytest.mark.parametrize(("said", "ends"), [("1", False), ("2", True)])
def test_a_status_that_names_attempt_1_ends_no_attempt_2_even_one_that_rests(world, said, ends):
    """Nothing contradicts it, and nothing needs to."""
    vm = second_attempt(world)
    world.end(attempt=said, instance_id="999")
    world.sweep_for(hours=2)
    assert world.asked() == ([("delete", vm)] if ends else [])
    record = read_record(world.cloud.store, world.layout, "test-vm", ids=[vm])
    assert record.status_code == ("0" if ends else None)
    assert [
        (row.attempt, signal.value) for row, signal in signals(record.signals.nodes, SignalKind.ENDED)
    ] == [(int(said), "0")]


def test_a_heartbeat_of_attempt_1_does_not_contradict_the_end_of_attempt_2(world):
    """A VM that was replaced goes on writing; what has ended is deleted all the same."""
    vm = second_attempt(world)
    world.end()
    for _ in range(12):
        world.report(world.now, attempt=1, instance_id="999")
        world.sweep_for(minutes=5)
    assert world.asked() == [("delete", vm)]


# --- a sign of one attempt says nothing about another ---


def test_a_heartbeat_of_attempt_1_proves_no_silence_of_attempt_2(world):
    """It was left behind; attempt 2 gives no signs, as its program may."""
    world.beat()
    world.wait(hours=2)
    second_attempt(world)
    world.sweep_for(hours=6)
    assert world.asked() == []
    assert world.kinds() == ["stall_unknown"]


def test_a_heartbeat_of_attempt_2_proves_its_silence(world):
    """The other side: it came, and then nothing more."""
    vm = second_attempt(world)
    world.beat()
    world.sweep_for(hours=6)
    assert world.asked() == [("stop", vm)]


def test_a_vm_of_attempt_1_that_goes_on_neither_clears_nor_condemns_attempt_2(world):
    """Both write to the same name: what attempt 2 does can then not be seen, and its owner is told."""
    second_attempt(world)
    for _ in range(60):
        world.report(world.now, attempt=1, instance_id="999")
        world.sweep_for(minutes=5)
    assert world.asked() == []
    assert world.kinds() == ["stall_unknown"]


@pytest.mark.parametrize(("reported", "stopped"), [(2, True), (1, False), (0, True)])
def test_a_gpu_that_has_not_reported_may_work(world, reported, stopped):
    """One of two rests, and nobody knows what the other does; where none ever reports, the CPU tells."""
    vm = world.job(gpus=2)["test-vm"]
    began = world.now
    if reported:
        world.cloud.metrics.load[vm] = VmLoad(top=(RESTS,), points=(60,), gpus=(reported,))
    for _ in range(36):
        world.report(began)
        world.sweep_for(minutes=5)
    assert bool(world.asked()) is stopped


# --- silence counts against the job's own longest gap ---


@pytest.mark.parametrize(("gap", "stopped"), [(None, True), (HOUR, True), (2 * HOUR, False)])
def test_a_job_may_be_silent_for_twice_its_own_longest_gap(world, gap, stopped):
    """It has told that it was without progress for so long; after three hours of silence it goes on."""
    world.job()
    began = world.now
    told = {"longest_gap": gap.total_seconds()} if gap else {}
    for _ in range(36):
        world.report(began, **told)
        world.sweep_for(minutes=5)
    assert bool(world.asked()) is stopped


def test_a_job_that_writes_output_each_third_hour_is_known_by_that(world):
    """Its CPU rests in between, and its heartbeat tells of nothing else."""
    vm = world.job()["test-vm"]
    began = world.now
    world.store(JobFileName(job="test-vm"), b'[rules.stall]\nafter = "4h"\n')
    for number in range(3 * 36):
        if number % 36 == 0:
            world.produce(path=f"part-{number}")
        if number == 36 + 1:
            world.remove(JobFileName(job="test-vm"))
        world.report(began)
        world.sweep_for(minutes=5)
    assert world.asked() == []
    for _ in range(48):
        world.report(began)
        world.sweep_for(minutes=5)
    assert world.asked() == [("stop", vm)]


@pytest.mark.parametrize(
    ("after", "silent", "stopped"), [("12h", 11, False), ("12h", 13, True), ("9d", 25, True)]
)
def test_a_job_may_ask_for_a_longer_silence_up_to_a_day(world, after, silent, stopped):
    """Ops have set no ceiling; who asks for more than the default one gets that."""
    world.job()
    began = world.now
    world.store(JobFileName(job="test-vm"), f'[rules.stall]\nafter = "{after}"\n'.encode())
    for _ in range(silent * 4):
        world.report(began)
        world.sweep_for(minutes=15, every=timedelta(minutes=15))
    assert bool(world.asked()) is stopped


@pytest.mark.parametrize(("began", "stopped"), [(timedelta(hours=6), False), (timedelta(hours=1), True)])
def test_the_wait_between_two_attempts_is_no_gap(world, began, stopped):
    """Five hours lie between two outputs: of one attempt they are its way, of two attempts they are not."""
    world.produce(path="part-1")
    world.wait(hours=5)
    vm = world.vm(attempt=2, age=timedelta(hours=6))
    at = world.now - began
    world.attempt(number=2, created=at, started=at, updated=at, instances={"test-vm": vm})
    world.watch("test-vm", {"test-vm": vm}, 2)
    world.produce(path="part-2")
    for _ in range(48):
        world.report(at, attempt=2, instance_id=vm)
        world.sweep_for(minutes=5)
    assert bool(world.asked()) is stopped


# --- GPUs that idle while their program loads data ---


@pytest.fixture
def idle():
    """A project whose policy stops VMs after two idle hours, and a job whose one GPU idles."""
    world = IdleWorld(load("flag_idle_gpus"), idle=IdleLimits(remedy=Remedy.STOP))
    world.sweep()
    return world


def loading(world, job="train", number=1):
    """A job whose GPU idles from now on, in this attempt; gives the id of its VM."""
    vm = world.vm(0.0, job=job)
    said = {"state": AttemptState.RUNNING, "created": world.now, "updated": world.now, "owner": "ann@x.org"}
    record = Attempt(job=job, number=number, instances={job: vm}, **said)
    world.store(AttemptRecord(job=job, attempt=number), msgspec.json.encode(record))
    return vm


def beat(world, progress, vm, job="train"):
    """The job kit tells when the program last made progress."""
    said = {"at": world.now, "progress_at": progress, "attempt": 1, "instance_id": vm}
    world.store(Heartbeat(job=job, node=job), msgspec.json.encode(said))


@pytest.mark.parametrize("sign", ["heartbeat", "output"])
def test_a_job_that_loads_data_is_told_of_its_idle_gpus_and_not_stopped(idle, sign):
    """Six hours, by what its heartbeats say or by what it writes; once it stops loading it is stopped."""
    vm = loading(idle)
    for number in range(36):
        if sign == "heartbeat":
            beat(idle, idle.now, vm)
        else:
            idle.store(Output(job="train", path=f"shard-{number}"))
        idle.ticks(minutes=10)
    assert idle.asked() == []
    assert set(idle.kinds()) == {"idle_warning"}
    assert "still makes progress" in idle.notices()[0].why
    assert {one.remedy for one in idle.case("idle", vm).warnings} == {Remedy.NONE}
    idle.ticks(minutes=110)
    assert idle.asked() == []
    idle.ticks(minutes=30)
    assert idle.asked() == [("stop", vm)]


def test_a_vm_that_is_only_alive_is_stopped(idle):
    """Its heartbeats come, and say that its program has done nothing since it began."""
    vm, began = loading(idle), idle.now
    for _ in range(20):
        beat(idle, began, vm)
        idle.ticks(minutes=10)
    assert idle.asked() == [("stop", vm)]


def test_what_another_attempt_does_spares_no_vm_that_idles(idle):
    """The VM of attempt 1 was left behind, and attempt 2 loads data on its own."""
    vm = loading(idle)
    loading(idle, number=2)
    others = []
    for number in range(30):
        idle.store(Output(job="train", path=f"shard-{number}"))
        idle.ticks(minutes=10)
        others.append(idle.asked())
    assert others[-1] == [("stop", vm)]
