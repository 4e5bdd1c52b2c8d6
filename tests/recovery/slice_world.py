"""A job that is a slice of two VMs, submitted and not launched yet, in a cloud in memory."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import AttemptRecord, OpenJob
from spotwarden.model.attempt import Attempt, AttemptState, Script
from spotwarden.model.launch import Choice, Launch
from spotwarden.model.slices import SliceParts
from spotwarden.model.watch import Watch
from tests.contract.test_compute_groups import ZONE, manager, policy, template
from tests.fakes.groups import MemoryGroup
from tests.fakes.world import World

NODES = ("slice-1", "slice-2")


def launch_of_slice(*, model: str = "SPOT", machine: str = "ct6e-standard-4t") -> Launch:
    """What a script of such a job comes to, for VMs of this machine type and provisioning model."""
    made, group = template("slice"), manager("slice")
    link = "projects/demo/regions/us-central1/resourcePolicies/pod"
    properties: dict[str, Any] = {
        **made.body["properties"],
        "machineType": machine,
        "metadata": {"items": []},
        "scheduling": {"provisioningModel": model},
    }
    if model == "FLEX_START":
        properties["scheduling"]["maxRunDuration"] = {"seconds": "36000"}
    if model != "STANDARD":
        properties["scheduling"]["instanceTerminationAction"] = "DELETE"
    template_request = replace(made, body={**made.body, "properties": properties})
    body = {**group.body, "targetSize": "2", "resourcePolicies": {"workloadPolicy": link}}
    if model == "FLEX_START":
        body["targetSizePolicy"] = {"mode": "BULK"}
    group = replace(group, body=body)
    return Launch(
        nodes=NODES,
        choices=(Choice(place=ZONE, request=group),),
        script=Script(generation=1, sha256="x"),
        machine=machine,
        spot=model == "SPOT",
        flexible=model == "FLEX_START",
        gang=True,
        fixed=("a slice stays in its zone",),
        slice=SliceParts(policy=policy(), template=template_request, group=group),
    )


class SliceWorld(World):
    """`World` with such a job."""

    def __init__(self, recover: Any, monkeypatch: pytest.MonkeyPatch, **how: Any) -> None:
        self.launch = launch_of_slice(**how)
        super().__init__(recover, "slice", b"#!/bin/bash\n")
        monkeypatch.setattr(
            "spotwarden.recovery.sweep.with_launch", lambda facts, *_: replace(facts, launch=self.launch)
        )
        now = self.cloud.clock.now()
        asked = Attempt(
            job="slice", number=1, state=AttemptState.CLAIMED, created=now, updated=now, reason="submitted"
        )
        self.store(AttemptRecord(job="slice", attempt=1), msgspec.json.encode(asked))
        self.store(OpenJob(job="slice"), msgspec.json.encode(Watch(job="slice", attempt=1)))

    def launch_by_hand(self, script: bytes = b"") -> dict[str, str]:
        """Nobody launches it by hand."""
        del script
        return {}

    @property
    def newest(self) -> Attempt:
        """The newest record of the chain."""
        return self.records()[-1]

    @property
    def group(self) -> MemoryGroup:
        """The one group that there is."""
        [group] = self.cloud.compute.groups.values()
        return group

    def runs(self) -> bool:
        """Whether all that there is runs, is on record, and is of one group and one template."""
        there = {one.name: one.id for one in self.instances() if one.status.value == "RUNNING"}
        newest, groups = self.newest, [*self.cloud.compute.groups.values()]
        named = newest.tries[-1].group if newest.tries else None
        return (
            newest.state is AttemptState.RUNNING
            and newest.instances == there
            and set(there) == set(NODES)
            and [group.id for group in groups] == [named.id if named else ""]
            and [*self.cloud.compute.templates] == [groups[0].name]
            and len(self.instances()) == len(NODES)
        )


@pytest.fixture
def pod(recover: Any, monkeypatch: pytest.MonkeyPatch) -> SliceWorld:
    """A spot slice that runs."""
    world = SliceWorld(recover, monkeypatch)
    world.sweep_until_quiet()
    world.settle(2)
    assert world.runs()
    return world
