"""What happens to instances though nobody asked for it: preemption, host errors, maintenance, power-off."""

from datetime import datetime, timedelta

import pytest

from tests.localcloud.compute.world import ZONE, World, request, spot

INSTANCES = f"zones/{ZONE}/instances"


def acts(world: World) -> list[str]:
    """What was done to the machines, without ids."""
    return [act for act, *_ in world.machines.did]


@pytest.mark.parametrize(("action", "end"), [("DELETE", "GONE"), ("STOP", "TERMINATED")])
def test_a_preempted_instance_has_30_seconds_then_ends_as_it_says(world: World, action, end):
    """STOPPING with the shutdown script running, killed after the grace, then deleted or stopped."""
    vm = world.create(scheduling=spot(action))
    world.machines.shutdown_takes = timedelta(minutes=5)
    world.post("/local/preempt", {"node": "vm"})
    world.advance(29.9)
    assert world.status() == "STOPPING"
    world.advance(0.3)
    assert world.status() == end
    assert world.machines.did[2:4] == [("shut_down", vm["id"], 30.0), ("down", vm["id"])]


def test_the_name_stays_taken_while_a_preempted_instance_is_deleted(world: World):
    """A job that is started again too early meets its own old instance."""
    world.create(scheduling=spot())
    world.machines.shutdown_takes = timedelta(seconds=20)
    world.post("/local/preempt", {"node": "vm"})
    world.advance(19)
    assert world.refused("POST", INSTANCES, request())[:2] == (409, "alreadyExists")
    world.advance(2)
    assert world.create()["status"] == "RUNNING"


def test_the_metadata_server_learns_of_a_preemption_before_the_shutdown(world: World):
    """The value instance/preempted is true, and the rest of the metadata is what it was."""
    world.create(scheduling=spot(), metadata={"items": [{"key": "k", "value": "v"}]})
    world.post("/local/preempt", {"node": "vm"})
    assert [told["preempted"] for told in world.machines.told] == [True]
    assert world.machines.told[0]["metadata"]["items"] == [{"key": "k", "value": "v"}]
    assert acts(world) == ["boot", "update", "shut_down"]


def test_no_answer_of_the_api_says_that_an_instance_is_being_preempted(world: World):
    """Only the metadata server and the operations do."""
    world.create(scheduling=spot("STOP"))
    world.post("/local/preempt", {"node": "vm"})
    world.advance(1)
    assert "preempted" not in world.instance()


def test_a_preemption_notice_comes_that_long_before_the_shutdown(world: World):
    """With preemptionNoticeDuration the instance runs on after it was told."""
    world.create(scheduling=spot(preemptionNoticeDuration={"seconds": "120"}))
    world.post("/local/preempt", {"node": "vm"})
    assert world.machines.told[-1]["preempted"] is True
    world.advance(119.9)
    assert (world.status(), world.operations("compute.instances.preempted")) == ("RUNNING", [])
    world.advance(1)
    assert acts(world)[2] == "shut_down"
    assert len(world.operations("compute.instances.preempted")) == 1


def test_a_preemption_notice_can_be_shorter_than_asked_for(world: World):
    """A knob, for those who have no two minutes."""
    world.post("/local/timings", {"preemption_notice": 3})
    world.create(scheduling=spot(preemptionNoticeDuration={"seconds": "120"}))
    world.post("/local/preempt", {"node": "vm"})
    world.advance(2.9)
    assert world.status() == "RUNNING"
    world.advance(0.2)
    assert world.status() != "RUNNING"


def test_a_preemption_can_be_called_off_once_it_was_announced(world: World):
    """The instance runs on, its metadata say so, and it may be told once more."""
    world.create(scheduling=spot(preemptionNoticeDuration={"seconds": "120"}))
    for _ in range(2):
        world.post("/local/preempt", {"node": "vm", "called_off": True})
        assert world.machines.told[-1]["preempted"] is True
        world.advance(121)
        assert world.machines.told[-1]["preempted"] is False
    assert (world.status(), world.operations("compute.instances.preempted")) == ("RUNNING", [])


def test_without_a_notice_there_is_nothing_to_be_called_off(world: World):
    """It says why, and the instance isn't told of a preemption."""
    world.create(scheduling=spot())
    status, _, message = world.refused("POST", "/local/preempt", {"node": "vm", "called_off": True})
    assert (status, "no preemption notice" in message) == (400, True)
    assert not any(told.get("preempted") for told in world.machines.told)


def test_an_instance_deleted_during_its_notice_is_not_preempted_any_more(world: World):
    """The owner was faster: there is a delete operation and no preemption."""
    world.create(scheduling=spot(preemptionNoticeDuration={"seconds": "120"}))
    world.post("/local/preempt", {"node": "vm"})
    world.delete(f"{INSTANCES}/vm")
    world.advance(200)
    assert world.status() == "GONE"
    assert world.operations("compute.instances.preempted") == []


def test_a_preemption_is_an_operation_of_the_system(world: World):
    """Type, user, target and message are those of a real one; it is done at once."""
    vm = world.create(scheduling=spot("STOP"))
    world.post("/local/preempt", {"id": vm["id"]})
    world.advance(1)
    (operation,) = world.operations("compute.instances.preempted")
    assert operation["name"].startswith("systemevent-")
    assert (operation["user"], operation["status"], operation["progress"]) == ("system", "DONE", 100)
    assert (operation["targetId"], operation["targetLink"]) == (vm["id"], vm["selfLink"])
    assert operation["statusMessage"] == "Instance was preempted."


def test_the_operation_of_a_preemption_can_come_late(world: World):
    """How late Google's are is not documented, so the delay is a timing."""
    world.create(scheduling=spot())
    world.post("/local/timings", {"event": 45})
    world.post("/local/preempt", {"node": "vm"})
    world.advance(44)
    assert (world.status(), world.operations("compute.instances.preempted")) == ("GONE", [])
    world.advance(2)
    assert len(world.operations("compute.instances.preempted")) == 1


def test_a_started_instance_is_preempted_no_more(world: World):
    """After a preemption with STOP the next life begins with instance/preempted false."""
    world.create(scheduling=spot("STOP"))
    world.post("/local/preempt", {"node": "vm"})
    world.advance(1)
    world.post(f"{INSTANCES}/vm/start")
    world.advance(1)
    vm = world.instance()
    world.post(
        f"{INSTANCES}/vm/setLabels", {"labelFingerprint": vm["labelFingerprint"], "labels": {"a": "b"}}
    )
    assert world.machines.told[-1]["preempted"] is False
    world.post("/local/preempt", {"node": "vm"})
    world.advance(1)
    assert len(world.operations("compute.instances.preempted")) == 2


def test_the_action_can_be_chosen_against_what_the_instance_says(world: World):
    """A knob for one preemption; the scheduling stays."""
    world.create(scheduling=spot("DELETE"))
    world.post("/local/preempt", {"node": "vm", "action": "STOP"})
    world.advance(1)
    assert world.status() == "TERMINATED"
    assert world.instance()["scheduling"]["instanceTerminationAction"] == "DELETE"


def test_only_a_spot_vm_can_be_preempted(world: World):
    """The refusal says why."""
    world.create()
    assert world.refused("POST", "/local/preempt", {"node": "vm"}) == (
        400,
        "invalid",
        "vm is no spot VM: Compute Engine never preempts it.",
    )
    assert world.status() == "RUNNING"


def test_only_a_running_instance_can_be_preempted_and_only_once(world: World):
    """Not one that is being created, and not one that is being preempted."""
    world.post(INSTANCES, request(scheduling=spot()))
    assert "vm is PROVISIONING" in world.refused("POST", "/local/preempt", {"node": "vm"})[2]
    world.advance(1)
    world.post("/local/preempt", {"node": "vm"})
    assert "vm is STOPPING" in world.refused("POST", "/local/preempt", {"node": "vm"})[2]


def test_an_instance_is_not_preempted_twice_during_its_notice(world: World):
    """It still runs, but its fate is sealed."""
    world.create(scheduling=spot(preemptionNoticeDuration={"seconds": "120"}))
    world.post("/local/preempt", {"node": "vm"})
    assert world.refused("POST", "/local/preempt", {"node": "vm"})[2] == "vm is being preempted already."


def test_a_name_in_two_zones_is_not_enough_to_say_who_is_meant(world: World):
    """Names are unique in a zone only; the id is unique everywhere."""
    world.create(scheduling=spot())
    world.post("zones/us-east1-b/instances", request(zone="us-east1-b", scheduling=spot()))
    world.advance(1)
    message = world.refused("POST", "/local/preempt", {"node": "vm"})[2]
    assert "us-central1-a, us-east1-b" in message
    world.post("/local/preempt", {"id": world.instance("vm", "us-east1-b")["id"]})
    world.advance(1)
    assert (world.status("vm"), world.status("vm", "us-east1-b")) == ("RUNNING", "GONE")


def test_the_history_tells_every_status_in_order(world: World):
    """From the request until the name is free; instances that only stand in lists have none."""
    vm = world.create(scheduling=spot(), labels={"spotwarden-job": "job"})
    world.post("/local/fleet", {"count": 3})
    world.post("/local/preempt", {"node": "vm"})
    world.advance(1)
    changes = world.get("/local/history")["changes"]
    assert [one["status"] for one in changes] == ["PROVISIONING", "STAGING", "RUNNING", "STOPPING", "GONE"]
    assert {(one["id"], one["name"], one["zone"]) for one in changes} == {(vm["id"], "vm", ZONE)}
    assert changes[0]["labels"] == {"spotwarden-job": "job"}
    times = [datetime.fromisoformat(one["at"]) for one in changes]
    assert times == sorted(times)
