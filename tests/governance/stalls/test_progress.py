"""Ordinary programs over six travelled hours, as the job kit tells of them; and programs that really hang."""

from datetime import timedelta

import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.layout import Heartbeat
from spotwarden.model.load import VmLoad
from tests.fakes.world import load
from tests.governance.reap.reap_world import Calls, ReapWorld

BUSY = 97.0
SIX_HOURS = 6 * 12


@pytest.fixture(scope="session")
def module():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


@pytest.fixture
def world(module):
    """A project that has been swept regularly for a long time."""
    world = ReapWorld(module)
    world.sweep()
    return world


def busy(world, ids):
    """Let the CPUs of these VMs work."""
    world.cloud.metrics.cpu |= dict.fromkeys(ids, BUSY)


def live(world, report, sweeps=SIX_HOURS):
    """Let time pass; each five minutes the kits tell of their programs, and reap_vms looks."""
    for number in range(sweeps):
        report(number)
        world.sweep()
        world.wait(minutes=5)


def test_a_gang_in_which_only_the_first_node_prints_is_left_alone(world):
    """Its other node works, and has told of no progress since it began."""
    ids = world.job("ddp", nodes=("ddp-1", "ddp-2"))
    began = world.now
    busy(world, ids.values())

    def report(_number):
        world.report(world.now, "ddp-1", job="ddp")
        world.report(began, "ddp-2", job="ddp")

    live(world, report)
    assert (world.kinds(), world.asked()) == ([], [])


def test_an_epoch_of_three_hours_is_no_reason_to_warn_or_to_stop(world):
    """One line each third hour, at full load: its owner hears once how a hang would be found."""
    ids = world.job()
    began = world.now
    busy(world, ids.values())
    live(world, lambda number: world.report(began + timedelta(hours=3) * (number // 36)))
    assert set(world.kinds()) == {"stall_unknown"}
    assert world.asked() == []


def test_a_warning_on_standard_error_and_a_silent_training_stop_nobody(world):
    """One line at the start, then work for six hours."""
    ids = world.job()
    began = world.now
    busy(world, ids.values())
    live(world, lambda _: world.report(began))
    assert world.kinds() == ["stall_unknown"]
    assert world.asked() == []


@pytest.mark.parametrize("load", [0.5, BUSY])
def test_a_job_whose_own_steps_stand_still_is_stopped_at_any_load(world, load):
    """A collective operation without its partner spins; the kit goes on telling that nothing moves."""
    ids = world.job()
    began = world.now
    world.cloud.metrics.cpu |= dict.fromkeys(ids.values(), load)
    live(world, lambda _: world.report(began, step=12, instance_id=ids["test-vm"]), sweeps=32)
    assert world.kinds()[0] == "stall_warning"
    assert world.asked() == [("stop", ids["test-vm"])]


def test_a_program_that_does_nothing_any_more_is_stopped_though_its_vm_is_alive(world):
    """Heartbeats come, and say that nothing moves; neither CPU nor GPU works."""
    ids = world.job(gpus=1)
    began = world.now
    world.cloud.metrics.load = {ids["test-vm"]: VmLoad(top=(1.0,))}
    live(world, lambda _: world.report(began), sweeps=32)
    assert world.kinds()[0] == "stall_warning"
    assert world.asked() == [("stop", ids["test-vm"])]


def test_a_gpu_at_work_is_work(world):
    """Its CPU only waits for it."""
    ids = world.job(gpus=1)
    began = world.now
    world.cloud.metrics.load = {ids["test-vm"]: VmLoad(top=(99.0,))}
    live(world, lambda _: world.report(began), sweeps=32)
    assert world.kinds() == ["stall_unknown"]
    assert world.asked() == []


def test_gpus_that_cannot_be_asked_stop_nobody(world):
    """They may work."""
    world.job(gpus=1)
    began = world.now
    world.cloud.metrics.problem = "no answer"
    live(world, lambda _: world.report(began), sweeps=32)
    assert world.asked() == []


def test_a_heartbeat_is_read_once_in_two_hours_of_one_node(world):
    """Progress that was made stays made: the others of a gang cost nothing, nor does the next look."""
    nodes = [f"gang-{number}" for number in range(1, 5)]
    world.job("gang", nodes=nodes)
    GenerationCache.forget()
    reads = []

    def report(_number):
        for node in nodes:
            world.report(world.now, node, job="gang")

    for _ in range(SIX_HOURS):
        report(0)
        counted = Calls(world.cloud.ports())
        world.sweep(cloud=counted.cloud)
        beats = {world.layout.build(Heartbeat(job="gang", node=node)) for node in nodes}
        reads += [name for name in counted.of("read") if name in beats]
        world.wait(minutes=5)
    assert len(reads) == 3


@pytest.mark.parametrize("wrong", [timedelta(hours=-30), timedelta(hours=30)])
def test_a_vm_with_a_wrong_clock_is_judged_by_what_passes(world, wrong):
    """Its moments are compared with each other, never with ours."""
    ids = world.job()
    began = world.now
    live(world, lambda _: world.report(world.now + wrong, at=world.now + wrong), sweeps=48)
    assert (world.kinds(), world.asked()) == ([], [])
    began = world.now
    live(world, lambda _: world.report(began + wrong, at=world.now + wrong), sweeps=32)
    assert world.asked() == [("stop", ids["test-vm"])]
