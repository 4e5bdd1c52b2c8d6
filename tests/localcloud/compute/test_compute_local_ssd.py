"""Stopping an instance with local SSDs, as Compute Engine does ("Stop or restart an instance")."""

import pytest

from tests.localcloud.compute.world import ZONE, World, request, spot

VM = f"zones/{ZONE}/instances/vm"
LOCAL_SSD = {"type": "SCRATCH", "autoDelete": True, "initializeParams": {"diskType": "local-ssd"}}
UNDECIDED = (
    "VM has a Local SSD attached but an undefined value for `discard-local-ssd`. If using gcloud, please add "
    "`--discard-local-ssd=false` or `--discard-local-ssd=true` to your command."
)


def create(world: World, **fields: object) -> None:
    """An instance with one local SSD."""
    world.create(disks=[*request()["disks"], LOCAL_SSD], **fields)


def states(world: World) -> list[str]:
    """What became of each disk's contents, as the instance says; empty where it says nothing."""
    return [disk.get("savedState", "") for disk in world.instance()["disks"]]


def test_a_stop_that_says_nothing_of_a_local_ssd_is_refused(world: World):
    """400 badRequest in Compute Engine's words; the instance runs on and no operation is begun."""
    create(world)
    assert world.refused("POST", f"{VM}/stop") == (400, "badRequest", UNDECIDED)
    world.advance(5)
    assert world.status() == "RUNNING"
    assert world.operations("stop") == []


def test_a_stop_without_a_local_ssd_needs_to_say_nothing(world: World):
    """One fact apart from the above."""
    world.create()
    world.post(f"{VM}/stop")
    world.advance(1)
    assert world.status() == "TERMINATED"


def test_a_stop_that_discards_local_ssds_saves_nothing(world: World):
    """The instance is stopped; no disk says that its contents were saved."""
    create(world)
    world.post(f"{VM}/stop", discardLocalSsd="true")
    world.advance(1)
    assert (world.status(), states(world)) == ("TERMINATED", ["", ""])


def test_a_stop_that_keeps_local_ssds_saves_them_until_the_next_start(world: World):
    """`savedState` is PRESERVED for the local SSD alone, while the instance is TERMINATED."""
    create(world)
    world.post(f"{VM}/stop", discardLocalSsd="false")
    assert states(world) == ["", ""]
    world.advance(1)
    assert (world.status(), states(world)) == ("TERMINATED", ["", "PRESERVED"])
    world.post(f"{VM}/start")
    world.advance(1)
    assert (world.status(), states(world)) == ("RUNNING", ["", ""])


def test_a_stopped_instance_is_stopped_again_without_a_word(world: World):
    """`gcloud compute instances stop`: one that is stopped already "will return without errors"."""
    create(world)
    world.post(f"{VM}/stop", discardLocalSsd="true")
    world.advance(1)
    world.post(f"{VM}/stop")


def test_discard_local_ssd_is_true_or_false(world: World):
    """Anything else is no answer to the question."""
    create(world)
    assert world.refused("POST", f"{VM}/stop", discardLocalSsd="maybe")[:2] == (400, "invalid")


@pytest.mark.parametrize("end", ["preempted", "expired"])
def test_compute_engine_itself_stops_an_instance_with_a_local_ssd(world: World, end: str):
    """Preemption and the end of a limited run time ask nobody; nothing is saved."""
    limit = {"maxRunDuration": {"seconds": "30"}} if end == "expired" else {}
    create(world, scheduling=spot("STOP", **limit))
    if end == "preempted":
        assert world.call("POST", "/local/preempt", {"node": "vm"}).is_success
    world.advance(60)
    assert (world.status(), states(world)) == ("TERMINATED", ["", ""])
