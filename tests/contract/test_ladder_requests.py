"""What a ladder makes of a script's request is taken by Compute Engine, as the local cloud has it."""

from collections.abc import Iterator

import pytest

from spotwarden.model.ladder import VmModel
from spotwarden.recovery.kinds.ladder import as_model
from tests.localcloud.compute.world import ZONE, World, request, spot

SCRIPTS = {
    "spot": spot(),
    "spot with a notice": spot(preemptionNoticeDuration={"seconds": "120"}, onHostMaintenance="TERMINATE"),
    "spot with a limit": spot("STOP", maxRunDuration={"seconds": "86400"}),
    "standard": {"onHostMaintenance": "TERMINATE", "automaticRestart": True},
    "flex-start": {
        "provisioningModel": "FLEX_START",
        "automaticRestart": True,
        "maxRunDuration": {"seconds": "3600"},
        "instanceTerminationAction": "DELETE",
    },
}
GOOGLE = {VmModel.SPOT: "SPOT", VmModel.FLEX: "FLEX_START", VmModel.STANDARD: "STANDARD"}


@pytest.fixture
def world() -> Iterator[World]:
    """A fresh world."""
    world = World()
    yield world
    world.close()
    assert not world.problems, world.problems


@pytest.mark.parametrize("model", list(VmModel), ids=lambda model: model.value)
@pytest.mark.parametrize("said", SCRIPTS.values(), ids=SCRIPTS)
def test_every_script_can_be_asked_for_as_every_kind(world: World, said: dict, model: VmModel) -> None:
    """It runs, as what it was asked for."""
    body = request(machineType=f"zones/{ZONE}/machineTypes/g2-standard-4", scheduling=said)
    if said.get("provisioningModel") == "FLEX_START":
        body["params"] = {"requestValidForDuration": {"seconds": "90"}}
    world.post(f"zones/{ZONE}/instances", as_model(body, model))
    world.advance(2)
    vm = world.instance()
    assert (vm["status"], vm["scheduling"]["provisioningModel"]) == ("RUNNING", GOOGLE[model])
