"""Cloud Audit Logs: an entry, or two, for everything that changes an instance."""

from pathlib import Path

import pytest

from localcloud.deployment.manifest import read_manifest
from localcloud.logs.query import entry_filter
from tests.localcloud.compute.world import ZONE, World, request, spot

INSTANCES = f"zones/{ZONE}/instances"
PAYLOAD = "protoPayload"
MANIFEST = Path(__file__).resolve().parents[3] / "infra" / "functions.yaml"


def methods(world: World) -> list[tuple[str, str]]:
    """Method and place in its operation (first, last, both, none) of all entries."""
    return [(entry[PAYLOAD]["methodName"], place(entry)) for entry in world.log]


def place(entry) -> str:
    """Which entry of its operation it is."""
    operation = entry.get("operation", {})
    return "+".join(word for word in ("first", "last") if operation.get(word)) or "none"


def test_a_call_has_a_first_and_a_last_entry_of_one_operation(world: World):
    """The first when it is accepted, the last when it is done."""
    operation = world.post(INSTANCES, request())
    assert methods(world) == [("v1.compute.instances.insert", "first")]
    world.advance(1)
    assert methods(world)[1:] == [("v1.compute.instances.insert", "last")]
    assert {entry["operation"]["id"] for entry in world.log} == {operation["name"]}
    assert {entry["operation"]["producer"] for entry in world.log} == {"compute.googleapis.com"}


def test_the_first_entry_says_who_asked_for_what(world: World):
    """Principal, caller, permission, the request as it was sent, and the instance's id."""
    headers = {"Authorization": "Bearer local-ann@example.org", "User-Agent": "test/1"}
    world.post(INSTANCES, request(labels={"job": "a"}), headers=headers)
    (entry,) = world.log
    payload = entry[PAYLOAD]
    assert payload["@type"] == "type.googleapis.com/google.cloud.audit.AuditLog"
    assert payload["serviceName"] == "compute.googleapis.com"
    assert payload["authenticationInfo"] == {"principalEmail": "ann@example.org"}
    assert payload["requestMetadata"] == {"callerIp": "127.0.0.1", "callerSuppliedUserAgent": "test/1"}
    assert payload["resourceName"] == f"projects/project/{INSTANCES}/vm"
    assert payload["authorizationInfo"][0]["permission"] == "compute.instances.create"
    assert payload["request"]["@type"] == "type.googleapis.com/compute.instances.insert"
    assert payload["request"]["labels"] == {"job": "a"}
    assert payload["response"]["targetId"] == world.instance()["id"]
    assert entry["resource"] == {
        "type": "gce_instance",
        "labels": {"instance_id": world.instance()["id"], "project_id": "project", "zone": ZONE},
    }
    assert entry["logName"] == "projects/project/logs/cloudaudit.googleapis.com%2Factivity"
    assert (entry["severity"], entry["timestamp"]) == ("NOTICE", "2026-11-21T08:00:00.000Z")


def test_every_entry_has_an_insert_id_of_its_own(world: World):
    """A sink may drop what it has seen."""
    world.create()
    world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    found = [entry["insertId"] for entry in world.log]
    assert len(set(found)) == len(found) == 4


def test_a_failed_operation_ends_with_an_error_entry(world: World):
    """With the code of the failure and google.rpc's number for it."""
    world.post("/local/stockout", {"zone": ZONE})
    world.post(INSTANCES, request())
    world.advance(1)
    last = world.log[-1]
    assert (last["severity"], place(last)) == ("ERROR", "last")
    assert last[PAYLOAD]["status"] == {"code": 14, "message": "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"}


@pytest.mark.parametrize(
    ("method", "path", "name", "code"),
    [
        ("POST", INSTANCES, "insert", 6),
        ("DELETE", f"{INSTANCES}/none", "delete", 5),
        ("POST", f"{INSTANCES}/vm/setLabels", "setLabels", 9),
    ],
)
def test_a_refused_call_has_one_entry_and_no_operation(world: World, method, path, name, code):
    """So that attempts can be seen too."""
    world.create()
    world.log.clear()
    world.refused(method, path, request() if path == INSTANCES else {})
    (entry,) = world.log
    assert (entry["severity"], entry[PAYLOAD]["methodName"]) == ("ERROR", f"v1.compute.instances.{name}")
    assert entry[PAYLOAD]["status"]["code"] == code
    assert "operation" not in entry


def test_a_call_repeated_under_its_request_id_is_not_logged_again(world: World):
    """Nothing was done."""
    key = "6f3c1a5e-0b7e-4c55-9d0e-6a5a3c1e9f10"
    for _ in range(2):
        world.post(INSTANCES, request(), requestId=key)
    assert len(world.log) == 1


def test_reading_is_not_logged(world: World):
    """Data access logs are off by default."""
    world.create()
    logged = len(world.log)
    world.get(INSTANCES)
    world.get("aggregated/instances")
    assert len(world.log) == logged


@pytest.mark.parametrize("name", ["setLabels", "setMetadata", "stop", "start", "reset", "delete", "setTags"])
def test_every_command_is_logged(world: World, name):
    """First and last."""
    vm = world.create()
    bodies = {
        "setLabels": {"labelFingerprint": vm["labelFingerprint"], "labels": {"a": "b"}},
        "setMetadata": {"fingerprint": vm["metadata"]["fingerprint"]},
        "setTags": {"fingerprint": vm["tags"]["fingerprint"]},
    }
    world.log.clear()
    if name == "delete":
        world.delete(f"{INSTANCES}/vm")
    else:
        world.post(f"{INSTANCES}/vm/{name}", bodies.get(name))
    world.advance(1)
    assert methods(world) == [
        (f"v1.compute.instances.{name}", "first"),
        (f"v1.compute.instances.{name}", "last"),
    ]


def test_a_preemption_is_a_system_event_in_one_entry(world: World):
    """As sinks that wake a function expect it."""
    vm = world.create(scheduling=spot())
    world.log.clear()
    world.post("/local/preempt", {"node": "vm"})
    world.advance(1)
    (entry,) = world.log
    assert entry["logName"] == "projects/project/logs/cloudaudit.googleapis.com%2Fsystem_event"
    assert entry["severity"] == "INFO"
    payload = entry[PAYLOAD]
    assert payload["methodName"] == "compute.instances.preempted"
    assert payload["status"] == {"message": "Instance was preempted."}
    assert payload["authenticationInfo"] == {"principalEmail": "system@google.com"}
    assert payload["request"] == {"@type": "type.googleapis.com/compute.instances.preempted"}
    assert payload["resourceName"] == f"projects/project/{INSTANCES}/vm"
    assert entry["resource"]["labels"]["instance_id"] == vm["id"]
    assert entry["operation"]["producer"] == "compute.instances.preempted"
    assert (entry["operation"]["first"], entry["operation"]["last"]) == (True, True)
    (operation,) = world.operations("compute.instances.preempted")
    assert entry["operation"]["id"] == operation["name"]


def test_a_host_error_and_the_restart_are_two_system_events(world: World):
    """In that order."""
    world.create()
    world.log.clear()
    world.post("/local/host-error", {"node": "vm"})
    world.advance(1)
    assert methods(world) == [
        ("compute.instances.hostError", "first+last"),
        ("compute.instances.automaticRestart", "first+last"),
    ]


def test_a_bulk_request_is_logged_as_a_whole_and_one_by_one(world: World):
    """The whole first and last, the inserts between."""
    properties = {key: value for key, value in request(machineType="n1-standard-1").items() if key != "name"}
    world.post(
        f"{INSTANCES}/bulkInsert", {"count": "2", "namePattern": "w-#", "instanceProperties": properties}
    )
    world.advance(1)
    names = [name for name, _ in methods(world)]
    assert (names[0], names[-1]) == ("v1.compute.instances.bulkInsert",) * 2
    assert names.count("v1.compute.instances.insert") == 4


def test_a_limited_run_time_ends_in_the_name_of_the_system(world: World):
    """The principal is Compute Engine, not the one who created the instance."""
    world.create(scheduling={"maxRunDuration": {"seconds": "30"}, "instanceTerminationAction": "DELETE"})
    world.log.clear()
    world.advance(40)
    assert methods(world) == [
        ("v1.compute.instances.delete", "first"),
        ("v1.compute.instances.delete", "last"),
    ]
    assert {entry[PAYLOAD]["authenticationInfo"]["principalEmail"] for entry in world.log} == {
        "system@google.com"
    }


@pytest.mark.parametrize(
    ("headers", "who"),
    [
        ({}, "developer@example.com"),
        ({"user-agent": "spotwarden"}, "developer@example.com"),
        (
            {"user-agent": "spotwarden/recover-spot"},
            "spotwarden-recover-spot@project.iam.gserviceaccount.com",
        ),
        ({"user-agent": "spotwarden/x", "authorization": "Bearer local-ada@example.com"}, "ada@example.com"),
    ],
)
def test_a_function_is_a_service_account_and_a_developer_a_person(world: World, headers, who):
    """In the operation as in the log; a token says it, and for a function its user agent."""
    operation = world.post(INSTANCES, request(), headers=headers)
    assert operation["user"] == who
    assert world.log[0][PAYLOAD]["authenticationInfo"]["principalEmail"] == who


@pytest.mark.parametrize(("agent", "wakes"), [("google-cloud-sdk", True), ("spotwarden/recover-spot", False)])
def test_a_launch_by_a_person_wakes_compliance_and_one_by_recovery_does_not(world: World, agent, wakes):
    """In a storm the lists of VMs would spend the quota that recovery needs."""
    manifest = read_manifest(MANIFEST)
    row = next(function for function in manifest.functions if function.name == "check_compliance")
    world.post(INSTANCES, request(), headers={"user-agent": agent})
    world.advance(60)
    matches = entry_filter(row.log_events)
    inserts = [entry for entry in world.log if "instances.insert" in entry[PAYLOAD]["methodName"]]
    assert [matches(entry) for entry in inserts] == [False, wakes]
