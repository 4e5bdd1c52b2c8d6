"""A job in a cloud in memory, and sweeps over it."""

import importlib.util
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import functions_framework
import msgspec
import pytest

from spotwarden.create_script.request.stored import launch_of
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.settings import Settings
from spotwarden.layout import CreateScript, InstanceId, Layout, MarkerName, ObjectName, StatusCode
from spotwarden.model.attempt import Attempt
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Launch, StoredScript
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.recovery.folder.chain import told
from tests.fakes.cloud import MemoryCloud, memory_cloud

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = (
    b"#!/bin/bash\n"
    b"gcloud compute instances create test-vm --zone=us-central1-a --machine-type=g2-standard-4 \\\n"
    b"  --provisioning-model=SPOT --instance-termination-action=DELETE --metadata=startup-script='true'\n"
)
KEPT = SCRIPT.replace(b"DELETE", b"STOP")
"""The script of a VM that a preemption stops."""
GANG = SCRIPT.replace(b"create test-vm", b"bulk create --predefined-names=gang-1,gang-2")
"""The script of two VMs that are made together."""


def load(name: str) -> ModuleType:
    """A function's main.py as a module."""
    spec = importlib.util.spec_from_file_location(f"{name}_main", ROOT / "functions" / name / "main.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _no_app_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The framework's decorator belongs to the app that was made last, which no longer takes any."""
    monkeypatch.setattr(functions_framework, "errorhandler", functions_framework.errorhandler)


class World:
    """A project with one job whose first attempt its developer launched, as its script does."""

    def __init__(self, recover: ModuleType, job: str = "test-vm", script: bytes = SCRIPT) -> None:
        # What is remembered of a bucket's generations is another bucket's here.
        GenerationCache.forget()
        self.cloud: MemoryCloud = memory_cloud()
        self.layout = Layout()
        self.policy = Policy(version="test", mode=Mode.ENFORCE)
        self.settings = Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml"))
        self.job = job
        self._recover = recover
        self._sweeps = count(1)
        self.store(CreateScript(job=job), script)
        self.ids = self.launch_by_hand(script)
        for node, instance_id in self.ids.items():
            self.store(InstanceId(job=job, node=node), instance_id.encode())
        self.wait(minutes=10)

    @property
    def first(self) -> str:
        """The id of the VM that the developer launched, for a job of one."""
        return next(iter(self.ids.values()))

    def launch_by_hand(self, script: bytes = SCRIPT) -> dict[str, str]:
        """Run a script as a developer does; gives the new ids by node."""
        launch = launch_of(StoredScript(name="by-hand.sh", text=script, generation=1), "p")
        assert isinstance(launch, Launch), launch
        before = set(self.vms())
        self.cloud.compute.launch(launch.request, f"by-hand-{next(self._sweeps)}")
        return {one.name: one.id for one in self.cloud.compute.instances().items if one.id not in before}

    def store(self, thing: ObjectName | str, data: bytes) -> int:
        """Write an object; gives its generation."""
        name = thing if isinstance(thing, str) else self.layout.build(thing)
        return self.cloud.store.write(name, data, generation=None)

    def wait(self, **span: float) -> None:
        """Let time pass."""
        self.cloud.clock.advance(timedelta(**span))

    def preempt(self, body: bytes = b"", node: str = "test-vm") -> None:
        """Take the VM away; its shutdown script writes the marker."""
        self.cloud.compute.preempt(node)
        self.store(MarkerName(node=node), body)

    def sweep(self, about: str = "", *, lost: bool = False) -> Swept:
        """One sweep of recover_spot, by a tick, or by an event about a node: its marker's, or the log's."""
        return self.sweep_over(self.cloud.ports(), about, lost=lost)

    def sweep_over(self, cloud: Cloud, about: str = "", *, lost: bool = False) -> Swept:
        """One sweep that sees the cloud through these ports."""
        tick = Tick(
            function="recover_spot",
            sweep=f"sweep-{next(self._sweeps):08}",
            now=self.cloud.clock.now(),
            patient=not about,
            about=about,
            lost=lost,
        )
        swept: Swept = self._recover.sweep(SweepContext.open(cloud, self.settings, self.policy, tick))
        return swept

    def sweep_until_quiet(self, limit: int = 60) -> None:
        """Sweep every ten seconds until nothing waits any more."""
        for _ in range(limit):
            if not self.sweep().waiting:
                return
            self.wait(seconds=10)
        raise AssertionError("still waiting")

    def settle(self, ticks: int = 4) -> None:
        """Let so many ticks pass, a minute apart."""
        for _ in range(ticks):
            self.sweep()
            self.wait(minutes=1)

    def attempts(self) -> list[Attempt]:
        """The ledger as people see it: a stop belongs to the attempt that it ends."""
        return [*told(self.records())]

    def records(self) -> list[Attempt]:
        """The chain, each stop a record of its own."""
        names = [entry.name for entry in self.cloud.store.entries(self.layout.attempts(self.job))]
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
        return sum(
            record["action"] == action
            and record["outcome"]["type"] == "Done"
            and record["detail"].get("record", {}).get("state", "") == state
            for record in self.audit()
        )

    def audit(self) -> list[Any]:
        """Everything that the audit says, in order."""
        return [record for name in self.names("spotwarden/audit/") for record in self.read(name)]

    def claims(self) -> int:
        """How many attempts the audit says were claimed."""
        return sum(
            one["action"] == "WriteAttempt"
            and one["outcome"]["type"] == "Done"
            and one["detail"]["record"]["state"] in {"claimed", "placing"}
            and one["detail"]["generation"] == 0
            for one in self.audit()
        )

    def vms(self) -> list[str]:
        """The ids of the instances that are there."""
        return [one.id for one in self.instances()]

    def instances(self) -> tuple[Instance, ...]:
        """The instances that are there."""
        return self.cloud.compute.instances().items

    def read(self, name: str) -> dict[str, Any]:
        """A JSON object of the bucket."""
        found = self.cloud.store.read(name)
        assert found is not None, name
        read: dict[str, Any] = msgspec.json.decode(found.data)
        return read

    def ended(self, code: str = "0", **metadata: str) -> None:
        """The job writes its status, with this beside it."""
        self.cloud.store.put(self.layout.build(StatusCode(job=self.job)), code.encode(), metadata)


@pytest.fixture(scope="session")
def recover() -> ModuleType:
    """functions/recover_spot/main.py."""
    return load("recover_spot")


@pytest.fixture
def world(recover: ModuleType) -> World:
    """A job that has been running for ten minutes."""
    return World(recover)


@pytest.fixture
def new_world(recover: ModuleType) -> Callable[..., World]:
    """As many as a test wants."""
    return partial(World, recover)


@pytest.fixture
def gang(recover: ModuleType) -> World:
    """A gang of two that has been running for ten minutes."""
    return World(recover, "gang", GANG)


@pytest.fixture
def kept(recover: ModuleType) -> World:
    """A job whose VM a preemption stops, running for ten minutes."""
    return World(recover, "test-vm", KEPT)
