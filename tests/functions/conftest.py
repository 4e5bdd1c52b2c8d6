"""A job in a cloud in memory, and sweeps over it."""

import importlib.util
import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from spotwarden.layout import CreateScript, InstanceId, Layout, MarkerName, StatusCode
from spotwarden.model.attempt import Attempt
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.request import Request
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.runner import Settings, Swept
from tests.fakes.cloud import MemoryCloud, memory_cloud

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = (
    b"#!/bin/bash\n"
    b"gcloud compute instances create test-vm --zone=us-central1-a --machine-type=g2-standard-4 \\\n"
    b"  --provisioning-model=SPOT --instance-termination-action=DELETE --metadata=startup-script='true'\n"
)
REQUEST = Request(
    method="POST",
    path="/compute/v1/projects/p/zones/us-central1-a/instances",
    query={"alt": "json"},
    body={"name": "test-vm", "scheduling": {"instanceTerminationAction": "DELETE"}},
)


def load(name: str) -> ModuleType:
    """A function's main.py as a module."""
    spec = importlib.util.spec_from_file_location(f"{name}_main", ROOT / "functions" / name / "main.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class World:
    """A project with one job, `test-vm`, whose first attempt its developer launched."""

    def __init__(self, recover: ModuleType) -> None:
        self.cloud: MemoryCloud = memory_cloud()
        self.layout = Layout()
        self.policy = Policy(version="test", mode=Mode.ENFORCE)
        self.settings = Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml"))
        self._recover = recover
        self._sweeps = count(1)
        self.store(CreateScript(job="test-vm"), SCRIPT)
        self.first = self.cloud.compute.launch(REQUEST, "by-hand").target_id
        self.store(InstanceId(job="test-vm", node="test-vm"), self.first.encode())
        self.wait(minutes=10)

    def store(self, thing: object, data: bytes) -> int:
        """Write an object; gives its generation."""
        name = thing if isinstance(thing, str) else self.layout.build(thing)  # type: ignore[arg-type]
        return self.cloud.store.write(name, data, generation=None)

    def wait(self, **span: float) -> None:
        """Let time pass."""
        self.cloud.clock.advance(timedelta(**span))

    def preempt(self, body: bytes = b"") -> None:
        """Take the VM away; its shutdown script writes the marker."""
        self.cloud.compute.preempt("test-vm")
        self.store(MarkerName(node="test-vm"), body)

    def sweep(self, about: str = "") -> Swept:
        """One sweep of recover_spot, by a tick, or by an event about a node."""
        return self.sweep_over(self.cloud.ports(), about)

    def sweep_over(self, cloud: Cloud, about: str = "") -> Swept:
        """One sweep that sees the cloud through these ports."""
        tick = Tick(
            function="recover_spot",
            sweep=f"sweep-{next(self._sweeps):08}",
            now=self.cloud.clock.now(),
            patient=not about,
            about=about,
        )
        swept: Swept = self._recover.sweep(cloud, self.settings, self.policy, tick)
        return swept

    def sweep_until_quiet(self, limit: int = 60) -> None:
        """Sweep every ten seconds until nothing waits any more."""
        for _ in range(limit):
            if not self.sweep().waiting:
                return
            self.wait(seconds=10)
        raise AssertionError("still waiting")

    def attempts(self) -> list[Attempt]:
        """The ledger."""
        names = [entry.name for entry in self.cloud.store.entries(self.layout.attempts("test-vm"))]
        read = [self.cloud.store.read(name) for name in names]
        return [msgspec.json.decode(one.data, type=Attempt) for one in read if one]

    def names(self, prefix: str) -> list[str]:
        """The names of all objects below a prefix."""
        return [entry.name for entry in self.cloud.store.entries(prefix)]

    def quarantined(self) -> dict[str, str]:
        """What was put aside: marker name → reason."""
        records = [self.cloud.store.read(name) for name in self.names("spotwarden/quarantine/")]
        parsed = [msgspec.json.decode(one.data) for one in records if one]
        return {one["marker"]: one["reason"] for one in parsed}

    def notices(self) -> list[str]:
        """The kinds of notices told, in order."""
        return [message.attributes["kind"] for message in self.cloud.notices.messages]

    def done(self, action: str, state: str = "") -> int:
        """How many such actions the audit says were done; of ledger records, those in this state."""
        read = [self.cloud.store.read(name) for name in self.names("spotwarden/audit/")]
        records = [msgspec.json.decode(one.data) for one in read if one]
        return sum(
            record["action"] == action
            and record["outcome"]["type"] == "Done"
            and record["detail"].get("record", {}).get("state", "") == state
            for record in records
        )

    def vms(self) -> list[str]:
        """The ids of the instances that are there."""
        return [one.id for one in self.cloud.compute.instances().items]

    def ended(self, code: str = "0") -> None:
        """The job writes its status."""
        self.store(StatusCode(job="test-vm"), code.encode())


@pytest.fixture(scope="session")
def recover() -> ModuleType:
    """functions/recover_spot/main.py."""
    return load("recover_spot")


@pytest.fixture
def world(recover: ModuleType) -> World:
    """A job that has been running for ten minutes."""
    return World(recover)


@pytest.fixture
def new_world(recover: ModuleType) -> Callable[[], World]:
    """As many as a test wants."""
    return lambda: World(recover)
