"""A stored script that lets Compute Engine choose among machine types comes back as what there is."""

from collections.abc import Iterator

import pytest

from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.launch import Launch, StoredScript
from tests.localcloud.compute.world import World

REGION = "us-central1"
SCRIPT = f"""#!/bin/bash
gcloud compute instances bulk create --predefined-names=w-1,w-2 --region={REGION} \\
  --image-family=debian-12 --image-project=debian-cloud --provisioning-model=SPOT \\
  --instance-selection=name=first,machine-type=n2-standard-4,rank=1 \\
  --instance-selection=name=second,machine-type=n4-standard-4,machine-type=c4-standard-4,rank=2
"""


@pytest.fixture
def world() -> Iterator[World]:
    """A fresh world."""
    world = World()
    yield world
    world.close()
    assert not world.problems, world.problems


def test_a_gang_of_selections_is_made_of_what_has_room(world: World) -> None:
    """All nodes by name, in one zone; the preferred machine type has run out."""
    launch = launch_of(StoredScript(name="s.sh", text=SCRIPT.encode(), generation=1), "project")
    assert isinstance(launch, Launch), launch
    for zone in "abcf":
        world.post("/local/stockout", {"zone": f"{REGION}-{zone}", "machine": "n2-standard-4", "left": 1})
    world.post("/local/stockout", {"zone": f"{REGION}-a", "machine": "n4-standard-4", "left": 0})
    operation = world.post(f"regions/{REGION}/instances/bulkInsert", launch.request.body)
    world.advance(3)
    assert "error" not in world.operation(operation)
    found = world.get("/local/instances")["instances"]
    assert {vm["name"] for vm in found} == set(launch.nodes) == {"w-1", "w-2"}
    (zone,) = {vm["zone"] for vm in found}
    machines = [world.instance(vm["name"], zone)["machineType"].rpartition("/")[2] for vm in found]
    assert sorted(machines) == ["c4-standard-4", "n2-standard-4"]
