"""What a machine tells Monitoring besides its GPUs: processor and lines of its log."""

import asyncio
import sys

import httpx
import pytest

from localcloud.http import build_app
from localcloud.machines.agents import Agents
from localcloud.machines.gpus.meter import METRIC
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


@pytest.mark.parametrize(("runs", "heard"), [(True, {CPU, LINES, METRIC}), (False, {CPU})])
def test_without_an_agent_nothing_is_heard_of_gpus_and_log(run, vm, world, machines, eventually, runs, heard):
    """The hypervisor sees the processor all the same."""
    said = set_agent(machines.agents, node="test-vm", runs=runs)
    assert said.status_code == 200

    async def scene():
        machine = await vm(startup_script="while true; do echo hello; sleep 0.05; done", gpus=1)
        await eventually(lambda: len(values(world, CPU)) > 4 and machine.messages)

    run(scene())
    assert {point.metric for point in world.points} == heard


def test_who_has_no_agent_can_be_asked_and_taken_back():
    """By name, whether there is such a VM or not; what is no setting is refused."""
    agents = Agents()
    assert set_agent(agents, node="dark", runs=False).json() == {"without": ["dark"]}
    assert not agents.runs("dark")
    assert agents.runs("bright")
    assert set_agent(agents, name="dark").status_code == 400
    assert set_agent(agents, node="dark").json() == {"without": []}
    assert agents.runs("dark")


def set_agent(agents, **body):
    """The answer of `/local/agent` to this body."""

    async def ask():
        transport = httpx.ASGITransport(app=build_app(agents.admin_routes()))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
            return await http.post("/local/agent", json=body)

    return asyncio.run(ask())
