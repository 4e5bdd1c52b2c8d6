"""Suspending and resuming an instance ("Suspend or resume a Compute Engine instance")."""

from datetime import timedelta

import pytest

from tests.localcloud.compute.test_compute_local_ssd import LOCAL_SSD, UNDECIDED, create, states
from tests.localcloud.compute.world import ZONE, World, request, spot

VM = f"zones/{ZONE}/instances/vm"
EXTERNAL = [{"accessConfigs": [{"name": "external-nat"}]}]


def suspended(world: World, **fields: object) -> dict[str, object]:
    """An instance that is suspended."""
    world.create(**fields)
    world.post(f"{VM}/suspend")
    world.advance(1)
    return world.instance()


def test_a_suspend_lets_the_machine_stand_still_and_no_script_run(world: World):
    """SUSPENDING meanwhile, then SUSPENDED, with the moment; the machine is neither shut down nor killed."""
    before = world.create()
    operation = world.post(f"{VM}/suspend")
    world.advance(0.03)
    assert (world.status(), world.operation(operation)["status"]) == ("SUSPENDING", "RUNNING")
    world.advance(1)
    after = world.instance()
    assert (after["status"], world.operation(operation)["status"]) == ("SUSPENDED", "DONE")
    assert after["lastSuspendedTimestamp"] > before["lastStartTimestamp"]
    assert "lastStopTimestamp" not in after
    assert world.machines.did == [("boot", before["id"]), ("suspend", before["id"])]


def test_a_resumed_instance_goes_on_where_it_stood(world: World):
    """Through PROVISIONING and STAGING to RUNNING, with no boot; it was started later than before."""
    before = suspended(world)
    operation = world.post(f"{VM}/resume")
    world.advance(0.05)
    assert world.status() == "PROVISIONING"
    world.advance(0.1)
    assert world.status() == "STAGING"
    world.advance(1)
    after = world.instance()
    assert (after["status"], world.operation(operation)["status"]) == ("RUNNING", "DONE")
    assert after["lastStartTimestamp"] > before["lastSuspendedTimestamp"]
    assert after["cpuPlatform"] == before["cpuPlatform"]
    assert [act for act, *_ in world.machines.did] == ["boot", "suspend", "resume"]


def test_an_ephemeral_address_is_given_back_while_it_is_suspended(world: World):
    """As for a stop; the internal one stays."""
    card = suspended(world, networkInterfaces=EXTERNAL)["networkInterfaces"][0]
    assert "natIP" not in card["accessConfigs"][0]
    world.post(f"{VM}/resume")
    world.advance(1)
    again = world.instance()["networkInterfaces"][0]
    assert again["accessConfigs"][0]["natIP"]
    assert again["networkIP"] == card["networkIP"]


def test_a_suspended_instance_can_be_deleted_and_its_shutdown_script_does_not_run(world: World):
    """Nothing of it could run."""
    instance = suspended(world)
    world.delete(VM)
    world.advance(0.05)
    assert world.status() == "STOPPING"
    world.advance(1)
    assert world.status() == "GONE"
    assert world.machines.did[2:] == [("kill", instance["id"]), ("forget", instance["id"])]


@pytest.mark.parametrize(
    ("verb", "refusal"),
    [
        ("suspend", (400, "unsupportedOperation", "You cannot suspend an already suspended instance.")),
        ("start", (400, "unsupportedOperation", "The instance is suspended; resume it.")),
        ("stop", (501, "notImplemented", "The local cloud does not stop an instance that is suspended.")),
        ("reset", (400, "resourceNotReady", f"The resource 'projects/project/{VM}' is not ready")),
    ],
)
def test_of_a_suspended_instance_nothing_else_can_be_asked(world: World, verb, refusal):
    """It stays suspended, and no operation is begun."""
    suspended(world)
    assert world.refused("POST", f"{VM}/{verb}") == refusal
    world.advance(1)
    assert (world.status(), len(world.operations())) == ("SUSPENDED", 2)


def test_only_what_runs_is_suspended_and_only_what_is_suspended_is_resumed(world: World):
    """Refused in Compute Engine's documented words, while it is stopped and while it is made."""
    world.post(f"zones/{ZONE}/instances", request())
    assert world.refused("POST", f"{VM}/suspend")[1] == "resourceNotReady"
    world.advance(1)
    assert world.refused("POST", f"{VM}/resume")[1] == "unsupportedOperation"
    world.post(f"{VM}/stop")
    world.advance(1)
    stopped = "You cannot suspend an instance that is stopped or terminated."
    assert world.refused("POST", f"{VM}/suspend") == (400, "unsupportedOperation", stopped)
    assert world.refused("POST", f"{VM}/resume")[0] == 400


def test_an_instance_that_is_being_suspended_is_asked_later(world: World):
    """A stop, a start and a reset of it are refused; a delete waits for its turn."""
    world.create()
    world.post(f"{VM}/suspend")
    world.advance(0.03)
    for verb in ("stop", "start", "reset"):
        assert world.refused("POST", f"{VM}/{verb}")[1] == "resourceNotReady"
    world.delete(VM)
    world.advance(1)
    assert world.status() == "GONE"


def test_an_instance_with_gpus_is_not_suspended(world: World):
    """Compute Engine cannot."""
    gpus = [{"acceleratorType": f"zones/{ZONE}/acceleratorTypes/nvidia-tesla-t4", "acceleratorCount": 1}]
    world.create(guestAccelerators=gpus, scheduling={"onHostMaintenance": "TERMINATE"})
    assert world.refused("POST", f"{VM}/suspend")[:2] == (400, "unsupportedOperation")
    assert world.status() == "RUNNING"


def test_what_becomes_of_a_local_ssd_is_said(world: World):
    """As for a stop: refused where nothing is said, saved until it is resumed where it is to be kept."""
    create(world)
    assert world.refused("POST", f"{VM}/suspend") == (400, "badRequest", UNDECIDED)
    world.post(f"{VM}/suspend", discardLocalSsd="false")
    world.advance(1)
    assert (world.status(), states(world)) == ("SUSPENDED", ["", "PRESERVED"])
    world.post(f"{VM}/resume")
    world.advance(1)
    assert (world.status(), states(world)) == ("RUNNING", ["", ""])


def test_a_local_ssd_that_is_discarded_is_not_saved(world: World):
    """One fact apart."""
    world.create(disks=[*request()["disks"], LOCAL_SSD])
    world.post(f"{VM}/suspend", discardLocalSsd="true")
    world.advance(1)
    assert (world.status(), states(world)) == ("SUSPENDED", ["", ""])


def test_where_there_are_no_resources_it_stays_suspended(world: World):
    """The operation says why; a later resume finds it as it was, with its saved local SSD."""
    create(world)
    world.post(f"{VM}/suspend", discardLocalSsd="false")
    world.advance(1)
    world.post("/local/stockout", {"zone": ZONE})
    operation = world.post(f"{VM}/resume")
    world.advance(1)
    assert (world.status(), states(world)) == ("SUSPENDED", ["", "PRESERVED"])
    [error] = world.operation(operation)["error"]["errors"]
    assert error["code"] == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
    world.delete("/local/stockout", {"zone": ZONE})
    world.post(f"{VM}/resume")
    world.advance(1)
    assert world.status() == "RUNNING"


def test_a_suspended_spot_instance_is_not_preempted(world: World):
    """It holds no resources that anybody could take."""
    suspended(world, scheduling=spot())
    assert world.refused("POST", "/local/preempt", {"node": "vm"})[0] == 400


def test_a_limited_run_time_begins_anew_after_a_resume(world: World):
    """It does not run out while the instance is suspended."""
    limit = {"maxRunDuration": {"seconds": "60"}, "instanceTerminationAction": "STOP"}
    world.create(scheduling=limit)
    world.advance(50)
    world.post(f"{VM}/suspend")
    world.advance(timedelta(hours=1).total_seconds())
    assert world.status() == "SUSPENDED"
    assert "terminationTimestamp" not in world.instance()["resourceStatus"]["scheduling"]
    world.post(f"{VM}/resume")
    world.advance(50)
    assert world.status() == "RUNNING"
    world.advance(15)
    assert world.status() == "TERMINATED"


def test_a_suspended_instance_counts_for_no_quota(world: World):
    """As one that is stopped."""
    suspended(world)
    world.post("/local/quota", {"metric": "INSTANCES", "limit": 1})
    world.create("other")
    assert world.status("other") == "RUNNING"


def test_both_are_written_to_the_operation_list_and_the_audit_log(world: World):
    """With who asked, as other commands are."""
    suspended(world)
    world.post(f"{VM}/resume")
    world.advance(1)
    assert [item["operationType"] for item in world.operations()] == ["insert", "suspend", "resume"]
    methods = [entry["protoPayload"]["methodName"] for entry in world.log]
    assert {"v1.compute.instances.suspend", "v1.compute.instances.resume"} <= set(methods)
