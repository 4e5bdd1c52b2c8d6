"""The look's own work grows with the number of VMs, not with VMs times jobs."""

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.settings import Settings
from spotwarden.governance.idle.gather import gather
from spotwarden.model.action import KeepWatch
from spotwarden.model.fleet import Fleet, Machine
from spotwarden.model.instance import Status
from spotwarden.model.load import VmLoad
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from tests.fakes.cloud import memory_cloud
from tests.fakes.compute import MemoryCompute

START = datetime(2026, 1, 5, 12, tzinfo=UTC)
NODES = 2
"""VMs of each job."""


class CountedId(str):
    """An instance id that counts how often any of its kind is looked up."""

    __slots__ = ()
    looked_up = 0

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        type(self).looked_up += 1
        return str.__hash__(self)


class OneFleet(MemoryCompute):
    """Lists these VMs, whatever is asked for."""

    machines: tuple[Machine, ...] = ()

    def fleet(self, *, ids: Collection[str] = ()) -> Fleet:
        """As `Compute.fleet`."""
        del ids
        return Fleet(items=self.machines)


def lookups(jobs: int) -> float:
    """How often one look at so many jobs looks up an id, for each VM."""
    cloud = memory_cloud()
    compute = OneFleet(clock=cloud.clock)
    context = SweepContext.open(
        replace(cloud, compute=compute).ports(),
        Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml")),
        Policy(version="test"),
        Tick(function="flag_idle_gpus", sweep="s", now=START),
    )
    for number in range(jobs):
        job, ids = f"job-{number}", (f"{number}7{node}" for node in range(NODES))
        watch = Watch(job=job, attempt=1, instances={f"vm-{each}": each for each in ids}, recorded=True)
        context.executor.apply(KeepWatch(reason="it is open", job=job, watch=watch, generation=0))
    compute.machines = tuple(
        Machine(id=CountedId(f"{number}7{node}"), name="vm", zone="z", status=Status.RUNNING, gpus=1)
        for number in range(jobs)
        for node in range(NODES)
    )
    busy = VmLoad(top=(97.0,) * 2)
    cloud.metrics.load = {machine.id: busy for machine in compute.machines}
    CountedId.looked_up = 0
    GenerationCache.forget()
    assert len(gather(context, ()).jobs) == jobs * NODES
    return CountedId.looked_up / (jobs * NODES)


def test_a_vm_costs_no_more_where_there_are_more_jobs():
    """Ten times the jobs are ten times the work, and not a hundred times."""
    assert lookups(200) == pytest.approx(lookups(20), rel=0.2)
