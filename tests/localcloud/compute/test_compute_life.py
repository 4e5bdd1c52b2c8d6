"""The life of an instance, from one status to the next."""

from datetime import timedelta

import pytest

from localcloud.compute.life.table import GONE, TRANSITIONS, Event, IllegalTransitionError, follow
from tests.localcloud.compute.world import ZONE, World, request

INSTANCES = f"zones/{ZONE}/instances"


def test_an_instance_is_provisioned_then_staged_then_runs(world: World):
    """An insert answers at once; the instance exists from then on and goes through its statuses."""
    operation = world.post(INSTANCES, request())
    assert (operation["status"], world.status()) == ("PENDING", "PROVISIONING")
    world.advance(0.05)
    assert (world.operation(operation)["status"], world.status()) == ("RUNNING", "PROVISIONING")
    world.advance(0.1)
    assert (world.operation(operation)["status"], world.status()) == ("RUNNING", "STAGING")
    world.advance(0.1)
    assert (world.operation(operation)["status"], world.status()) == ("DONE", "RUNNING")


def test_the_machine_boots_when_the_instance_runs_and_not_before(world: World):
    """A machine is never started for an instance that may still be refused."""
    world.post(INSTANCES, request())
    world.advance(0.2)
    assert world.machines.did == []
    world.advance(0.1)
    assert world.machines.did == [("boot", world.instance()["id"])]


def test_a_stop_shuts_the_machine_down_then_terminates_the_instance(world: World):
    """STOPPING lasts as long as the shutdown script runs; TERMINATED means that nothing runs any more."""
    vm = world.create()
    world.machines.shutdown_takes = timedelta(seconds=10)
    operation = world.post(f"{INSTANCES}/vm/stop")
    world.advance(9)
    assert (world.status(), world.operation(operation)["status"]) == ("STOPPING", "RUNNING")
    world.advance(2)
    assert (world.status(), world.operation(operation)["status"]) == ("TERMINATED", "DONE")
    assert world.machines.did[1:] == [("shut_down", vm["id"], 90.0), ("down", vm["id"])]


def test_a_started_instance_keeps_its_id(world: World):
    """Starting again is the same instance: same id, later start, a boot of its own."""
    before = world.create()
    world.post(f"{INSTANCES}/vm/stop")
    world.advance(1)
    stopped = world.instance()
    world.post(f"{INSTANCES}/vm/start")
    world.advance(1)
    after = world.instance()
    assert (after["id"], after["status"]) == (before["id"], "RUNNING")
    assert before["lastStartTimestamp"] < stopped["lastStopTimestamp"] < after["lastStartTimestamp"]
    assert [act for act, *_ in world.machines.did] == ["boot", "shut_down", "down", "boot"]


def test_a_stopped_instance_loses_its_ephemeral_address_and_gets_one_when_it_starts(world: World):
    """External addresses that are not reserved last as long as the instance runs."""
    cards = [{"accessConfigs": [{"name": "external-nat"}]}]
    vm = world.create(networkInterfaces=cards)
    assert vm["networkInterfaces"][0]["accessConfigs"][0]["natIP"]
    world.post(f"{INSTANCES}/vm/stop")
    world.advance(1)
    stopped = world.instance()["networkInterfaces"][0]
    assert "natIP" not in stopped["accessConfigs"][0]
    assert stopped["networkIP"] == vm["networkInterfaces"][0]["networkIP"]
    world.post(f"{INSTANCES}/vm/start")
    world.advance(1)
    assert world.instance()["networkInterfaces"][0]["accessConfigs"][0]["natIP"]


def test_a_name_is_taken_until_the_delete_operation_is_done(world: World):
    """There is no moment at which the name is free and the operation still runs, or the reverse."""
    world.create()
    world.machines.shutdown_takes = timedelta(seconds=5)
    operation = world.delete(f"{INSTANCES}/vm")
    for _ in range(60):
        taken = world.call("POST", INSTANCES, request()).status_code == 409
        done = world.operation(operation)["status"] == "DONE"
        assert taken != done
        if done:
            break
        world.advance(0.1)
    assert done


def test_a_name_used_again_has_another_id(world: World):
    """Names are reused, ids never."""
    first = world.create()
    world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    assert world.status() == "GONE"
    assert world.create()["id"] > first["id"]


def test_a_delete_of_an_instance_that_is_being_created_waits_for_it(world: World):
    """What was asked first is done first."""
    insert = world.post(INSTANCES, request())
    delete = world.delete(f"{INSTANCES}/vm")
    world.advance(2)
    assert world.status() == "GONE"
    assert [world.operation(one)["status"] for one in (insert, delete)] == ["DONE", "DONE"]
    assert [act for act, *_ in world.machines.did] == ["boot", "shut_down", "down", "forget"]


def test_two_deletes_of_one_instance_both_succeed(world: World):
    """What the second one asks for is the case."""
    world.create()
    first, second = world.delete(f"{INSTANCES}/vm"), world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    assert "error" not in world.operation(first) | world.operation(second)
    assert [act for act, *_ in world.machines.did].count("shut_down") == 1


def test_a_stopped_instance_is_deleted_without_a_second_shutdown(world: World):
    """There is no machine any more that could be shut down."""
    world.create()
    world.post(f"{INSTANCES}/vm/stop")
    world.advance(1)
    world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    assert world.status() == "GONE"
    assert [act for act, *_ in world.machines.did] == ["boot", "shut_down", "down", "forget"]


def test_a_reset_kills_and_boots_while_the_instance_runs_on(world: World):
    """No shutdown script, and no other status in between."""
    vm = world.create()
    operation = world.post(f"{INSTANCES}/vm/reset")
    world.advance(1)
    assert world.operation(operation)["status"] == "DONE"
    assert world.machines.did == [("boot", vm["id"]), ("kill", vm["id"]), ("boot", vm["id"])]
    assert world.status() == "RUNNING"


@pytest.mark.parametrize("command", ["stop", "start", "reset"])
def test_an_instance_that_is_being_created_takes_no_commands(world: World, command):
    """The API says that it is not ready, so the caller may ask again."""
    world.post(INSTANCES, request())
    status, reason, message = world.refused("POST", f"{INSTANCES}/vm/{command}")
    assert (status, reason) == (400, "resourceNotReady")
    assert message == f"The resource 'projects/project/{INSTANCES}/vm' is not ready"
    world.advance(1)
    assert world.status() == "RUNNING"


@pytest.mark.parametrize(("command", "status"), [("stop", "TERMINATED"), ("start", "RUNNING")])
def test_a_command_whose_aim_is_reached_changes_nothing(world: World, command, status):
    """Stopping what is stopped and starting what runs succeed."""
    world.create()
    if status == "TERMINATED":
        world.post(f"{INSTANCES}/vm/stop")
        world.advance(1)
    did = len(world.machines.did)
    operation = world.post(f"{INSTANCES}/vm/{command}")
    world.advance(1)
    assert "error" not in world.operation(operation)
    assert (world.status(), len(world.machines.did)) == (status, did)


def test_a_protected_instance_is_not_deleted(world: World):
    """Deletion protection is honoured until it is lifted."""
    world.create(deletionProtection=True)
    assert world.refused("DELETE", f"{INSTANCES}/vm")[:2] == (412, "conditionNotMet")
    world.post(f"{INSTANCES}/vm/setDeletionProtection", deletionProtection="false")
    world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    assert world.status() == "GONE"


def test_a_machine_that_does_not_boot_ends_the_operation_with_an_error(world: World):
    """The caller learns of it, the instance is TERMINATED, and the local cloud reports what went wrong."""
    world.machines.fails_to_boot = True
    operation = world.post(INSTANCES, request())
    world.advance(1)
    error = world.operation(operation)["error"]["errors"][0]
    assert error["code"] == "INTERNAL_ERROR"
    assert "OSError: no more processes" in error["message"]
    assert world.status() == "TERMINATED"
    assert [str(problem["exception"]) for problem in world.problems] == ["no more processes"]
    world.problems.clear()


def test_an_instance_that_never_was_is_not_found(world: World):
    """The wording is the one of the real API."""
    path = f"{INSTANCES}/none"
    not_found = (404, "notFound", f"The resource 'projects/project/{path}' was not found")
    assert world.refused("GET", path) == not_found
    assert world.refused("DELETE", path) == not_found
    assert world.refused("POST", f"{path}/stop") == not_found


def test_an_instance_is_found_by_its_id_too(world: World):
    """The parameter is "name or id of the instance resource"."""
    vm = world.create()
    assert world.instance(vm["id"]) == vm
    assert world.status(vm["id"], "us-east1-b") == "GONE"


def test_close_ends_what_goes_on(world: World):
    """An instance half created stays as it is, and nothing goes on in the loop."""
    world.post(INSTANCES, request())
    world.settle()
    assert world.service._tasks._running
    world.finish(world.service.close())
    world.advance(10)
    assert not world.service._tasks._running
    assert (world.status(), world.machines.did) == ("PROVISIONING", [])


@pytest.mark.parametrize("status", TRANSITIONS)
@pytest.mark.parametrize("event", Event)
def test_an_event_outside_the_table_is_illegal(status, event):
    """The table is all there is."""
    expected = TRANSITIONS[status].get(event)
    if expected:
        assert follow(status, event) == expected
        assert expected in {*TRANSITIONS, GONE}
    else:
        with pytest.raises(IllegalTransitionError, match=status):
            follow(status, event)
