"""What a machine tells Monitoring besides its GPUs: processor and lines of its log."""

import sys

import pytest

from localcloud.machines.measuring import CPU, LINES

BUSY = f"{sys.executable} -c 'while True: sum(range(10000))'"


def values(world, metric):
    """The values of a metric that were sent."""
    return [point.value for point in world.points if point.metric == metric]


def test_a_busy_machine_uses_its_processor(run, vm, world, eventually):
    """A fraction, for the instance by its id, whether it has GPUs or not."""

    async def scene():
        await vm(startup_script=BUSY)
        await eventually(lambda: max(values(world, CPU), default=0) > 0.4)

    run(scene())
    point = next(point for point in world.points if point.metric == CPU)
    assert point.resource_labels["instance_id"] == "1234567890123456789"
    assert point.metric_labels["instance_name"]
    assert max(values(world, CPU)) <= 1


def test_a_sleeping_machine_is_at_rest(run, vm, world, eventually):
    """Zero is told: silence would be something else."""

    async def scene():
        await vm(startup_script="sleep 300")
        await eventually(lambda: len(values(world, CPU)) > 3)

    run(scene())
    assert values(world, CPU)[-1] < 0.1


def test_lines_of_the_log_are_counted(run, vm, world, eventually):
    """As many as were written; while nothing is written, nothing is told."""

    async def scene():
        machine = await vm(startup_script="sleep 0.3; for i in 1 2 3 4 5; do echo $i; done; sleep 300")
        await eventually(lambda: "5" in machine.messages[-1] and sum(values(world, LINES)) >= 6)
        told = len(values(world, LINES))
        await eventually(lambda: len(values(world, CPU)) > told + 3)
        return machine.messages, told

    messages, told = run(scene())
    assert len(values(world, LINES)) == told
    assert sum(values(world, LINES)) == pytest.approx(len(messages), abs=1)
