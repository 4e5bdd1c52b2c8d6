"""A machine of random calls and events, held against what must always be true."""

import uuid
from datetime import timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.localcloud.compute.world import ZONE, World, request, spot
from tests.long import examples

INSTANCES = f"zones/{ZONE}/instances"
NAMES = st.sampled_from(["a", "b"])
OPTIONS = st.sampled_from(
    [
        {},
        spot("STOP"),
        spot("DELETE"),
        spot("DELETE", preemptionNoticeDuration={"seconds": "120"}),
        {"maxRunDuration": {"seconds": "30"}, "instanceTerminationAction": "DELETE"},
    ]
)
STATUSES = {"PROVISIONING", "STAGING", "RUNNING", "STOPPING", "TERMINATED"}


class Lives(RuleBasedStateMachine):
    """Anybody may ask for anything at any time, and anything may happen."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.world.machines.shutdown_takes = timedelta(seconds=1)
        self.ids: dict[str, str] = {}
        self.accepted: list[dict] = []
        self.requests: dict[str, tuple[dict, str]] = {}

    def accept(self, answer) -> None:
        """Note an operation that was accepted; every refusal must be one that the API has."""
        if answer.is_success:
            self.accepted.append(answer.json())
        else:
            reason = answer.json()["error"]["errors"][0]["reason"]
            assert reason in {"notFound", "alreadyExists", "resourceNotReady", "conditionNotMet"}, answer.text

    @rule(name=NAMES, scheduling=OPTIONS, again=st.booleans())
    def insert(self, name, scheduling, again):
        """Create one, or send a former request once more."""
        if again and self.requests:
            key, (body, operation) = next(reversed(self.requests.items()))
            answer = self.world.call("POST", INSTANCES, body, requestId=key)
            assert answer.json()["name"] == operation
            return
        key, body = str(uuid.uuid4()), request(name, scheduling=scheduling)
        taken = self.world.status(name) != "GONE"
        answer = self.world.call("POST", INSTANCES, body, requestId=key)
        assert answer.is_success != taken
        self.accept(answer)
        if answer.is_success:
            self.requests[key] = (body, answer.json()["name"])

    @rule(name=NAMES, command=st.sampled_from(["stop", "start", "reset", "simulateMaintenanceEvent"]))
    def command(self, name, command):
        """Ask for something."""
        answer = self.world.call("POST", f"{INSTANCES}/{name}/{command}")
        if answer.status_code == 400 and "only a RUNNING instance" in answer.text:
            return
        self.accept(answer)

    @rule(name=NAMES)
    def delete(self, name):
        """Delete one."""
        self.accept(self.world.call("DELETE", f"{INSTANCES}/{name}"))

    @rule(name=NAMES, event=st.sampled_from(["preempt", "host-error"]))
    def event(self, name, event):
        """Let something happen, if it can."""
        self.world.call("POST", f"/local/{event}", {"node": name})

    @rule(name=NAMES)
    def poweroff(self, name):
        """Let the guest shut down."""
        answer = self.world.call("GET", f"{INSTANCES}/{name}")
        if answer.is_success:
            self.world.do(self.world.service.guest_poweroff, answer.json()["id"])

    @rule(seconds=st.sampled_from([0.02, 0.1, 0.3, 2, 40]))
    def wait(self, seconds):
        """Let time pass."""
        self.world.advance(seconds)

    @invariant()
    def a_name_has_one_instance_and_a_new_one_a_greater_id(self):
        """Ids are never used again, and a status is one of the life cycle."""
        for vm in self.world.get(INSTANCES).get("items", []):
            assert int(vm["id"]) >= int(self.ids.get(vm["name"], 0))
            self.ids[vm["name"]] = vm["id"]
            assert vm["status"] in STATUSES

    @invariant()
    def machines_run_only_behind_instances_that_run(self):
        """Never one without an instance, and none behind a TERMINATED one."""
        alive = {vm["id"]: vm["status"] for vm in self.world.get(INSTANCES).get("items", [])}
        assert all(alive.get(running) in {"RUNNING", "STOPPING"} for running in self.world.machines.running)

    @invariant()
    def disks_and_addresses_belong_to_instances(self):
        """Nothing is left over by those that are gone."""
        names = {vm["name"] for vm in self.world.get(INSTANCES).get("items", [])}
        assert {disk["name"] for disk in self.world.get(f"zones/{ZONE}/disks").get("items", [])} == names
        assert len(self.world.service._site.pools.of("10.128.0.0/20")._used) == len(names)

    def teardown(self):
        """Every operation ends, whatever came between; nothing was reported as gone wrong."""
        self.world.advance(500)
        assert {self.world.operation(one)["status"] for one in self.accepted} <= {"DONE"}
        assert not self.world.problems
        statuses = {vm["status"] for vm in self.world.get(INSTANCES).get("items", [])}
        assert statuses <= {"RUNNING", "TERMINATED"}
        self.world.close()


Lives.TestCase.settings = settings(
    max_examples=examples(75), stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


class TestLives(Lives.TestCase):
    """Names stay taken, ids are never used again, operations end, requests are carried out once."""
