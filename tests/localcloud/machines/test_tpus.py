"""TPU chips are as busy as the processes that use them, and nothing is told of those that nobody uses."""

import sys

import pytest

from localcloud.machines.tpus import chips_of, worked_on

V6E = "https://x/zones/us-east5-b/machineTypes/ct6e-standard-4t"
CHIPS = chips_of({"id": "17", "machineType": V6E})
WORK = "while True: sum(range(10000))"


def of_tpus(world):
    """The points about TPUs that were sent."""
    return [point for point in world.points if point.metric.startswith("tpu.")]


def test_the_machine_type_tells_the_chips():
    """Each known by the instance's id; other machines have none."""
    assert [(chip.number, chip.model) for chip in CHIPS] == [(number, "ct6e") for number in range(4)]
    assert [chip.uuid for chip in CHIPS] == ["17-0", "17-1", "17-2", "17-3"]
    assert chips_of({"id": "17", "machineType": "x/machineTypes/e2-standard-4"}) == []


@pytest.mark.parametrize(
    ("environment", "numbers"),
    [
        ({}, ()),
        ({"PJRT_DEVICE": "CPU"}, ()),
        ({"PJRT_DEVICE": "TPU"}, (0, 1, 2, 3)),
        ({"PJRT_DEVICE": "TPU", "TPU_VISIBLE_CHIPS": "3, 1"}, (1, 3)),
    ],
)
def test_a_process_works_on_the_chips_that_it_may_see(environment, numbers):
    """All, or some; none where it is not told to use them."""
    assert worked_on(environment, CHIPS) == numbers


def test_a_real_job_is_measured_per_chip(run, vm, world, eventually):
    """By the worker's id, which is the VM's; a chip that it does not see stays at zero."""
    script = f"PJRT_DEVICE=TPU TPU_VISIBLE_CHIPS=2 {sys.executable} -c 'exec(\"{WORK}\")' & wait"

    def last(number):
        told = [point for point in of_tpus(world) if point.metric_labels["accelerator_id"][-1] == number]
        return told[-1].value if told else 0.0

    async def scene():
        await vm(startup_script=script, machine_type="ct6e-standard-4t")
        await eventually(lambda: last("2") > 2)

    run(scene())
    assert last("0") == 0
    point = of_tpus(world)[-1]
    assert point.metric == "tpu.googleapis.com/accelerator/duty_cycle"
    assert point.resource == "tpu.googleapis.com/GceTpuWorker"
    assert point.resource_labels == {
        "resource_container": "demo",
        "location": "us-central1-a",
        "worker_id": "1234567890123456789",
    }


def test_chips_that_no_process_uses_are_not_reported(run, vm, world, eventually):
    """The processor is, meanwhile: what reports chips runs in the program that uses them."""

    async def scene():
        await vm(startup_script="sleep 300", machine_type="ct6e-standard-4t")
        await eventually(lambda: len([one for one in world.points if "/cpu/" in one.metric]) > 2)

    run(scene())
    assert of_tpus(world) == []
