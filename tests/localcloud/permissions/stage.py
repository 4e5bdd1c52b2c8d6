"""A function in front of a local cloud that lets it do what its row says; its owner sets the scene."""

import asyncio
import os
import threading
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, TracebackType
from typing import Any, Self, TypeVar
from unittest.mock import patch

import httpx
import msgspec
from msgspec.structs import replace

from localcloud.cloud import LocalCloud, Options
from localcloud.deployment import Function, Manifest, Where, read_manifest
from localcloud.permissions import Account
from localcloud.ports import Point
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.settings import Settings
from spotwarden.gcp.connect import connect
from spotwarden.layout import Layout, ObjectName
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.notice import Notice
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from tests.fakes.world import load

T = TypeVar("T")
INFRA = Path(__file__).resolve().parents[3] / "infra"
PROJECT, BUCKET, NOTICES = "demo", "demo-jobs", "spotwarden-notices"
ZONE = "us-central1-a"
IMAGE = "projects/debian-cloud/global/images/family/debian-12"
BOOT = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}}
TIMEOUT_SECONDS = 120
AT_ONCE = ("accepting", "changing", "provisioning", "staging", "stopping", "deleting")

loaded = cache(load)
manifest = cache(lambda: read_manifest(INFRA / "functions.yaml"))


def row(function: str) -> Function:
    """The row of a function."""
    return next(one for one in manifest().functions if one.name == function)


class Stage:
    """A local cloud with the door of one function.

    `without` is a permission that its role lacks, or a pattern of names that it may not write.
    """

    def __init__(self, function: str, *, without: str = "", **policy: Any) -> None:
        self.function = function
        self._without = without
        self.later = timedelta(0)
        self.layout = Layout()
        self.policy = replace(
            Policy(
                version="test",
                mode=Mode.ENFORCE,
                governance=GovernanceLimits(ops="ops@x.org", launch_grace=timedelta(0)),
            ),
            **policy,
        )
        self._turns = count(1)
        self._undo = ExitStack()

    # --- the cloud, in a thread of its own ---

    def __enter__(self) -> Self:
        GenerationCache.forget()
        folder = self._undo.enter_context(TemporaryDirectory(prefix="stage-"))
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        thread.start()
        self._undo.callback(self._loop.close)
        self._undo.callback(thread.join)
        self._undo.callback(self._loop.call_soon_threadsafe, self._loop.stop)
        options = Options(project=PROJECT, state=Path(folder), machines=False)
        self.local = self.run(self._make(options))
        self._undo.callback(lambda: self.run(self.local.__aexit__(None, None, None)))
        self._furnish()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.close()

    async def _make(self, options: Options) -> LocalCloud:
        local = await LocalCloud(options).__aenter__()
        where = Where(project=PROJECT, bucket=BUCKET)
        only = Manifest(functions=(row(self.function),), topics=manifest().topics, folder=INFRA)
        doors = await local.doors.open(local.app, only, where, home=options.state)
        self.environment: Mapping[str, str] = doors[self.function]
        local.compute.knobs.set_timings(dict.fromkeys(AT_ONCE, 0.0))
        return local

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs in the cloud's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(TIMEOUT_SECONDS)

    def call(self, function: Callable[..., T], *args: Any, **named: Any) -> T:
        """The result of a function that is called there."""

        async def there() -> T:
            return function(*args, **named)

        return self.run(there())

    def until(self, what: Callable[[], bool]) -> None:
        """Return once it is so."""

        async def wait() -> None:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while True:
                    if what():
                        return
                    await asyncio.sleep(0.002)

        self.run(wait())

    # --- what its owner does ---

    def _furnish(self) -> None:
        account = self.account
        account.permissions -= {self._without}
        account.bucket_permissions -= {self._without}
        account.writes = {name: one for name, one in account.writes.items() if name != self._without}
        self._client = self._undo.enter_context(
            httpx.Client(base_url=self.local.endpoints.http, trust_env=False, timeout=TIMEOUT_SECONDS)
        )
        self.post(f"/storage/v1/b?project={PROJECT}", name=BUCKET)
        self._client.put(f"/v1/projects/{PROJECT}/topics/{NOTICES}", json={}).raise_for_status()
        subscription = {"topic": f"projects/{PROJECT}/topics/{NOTICES}"}
        path = f"/v1/projects/{PROJECT}/subscriptions/heard"
        self._client.put(path, json=subscription).raise_for_status()
        self.owner = self._cloud(self.local.endpoints.environment())
        with patch.dict(os.environ, self.local.endpoints.environment()):
            self.owner.store.folders("")
        self.cloud = self._cloud(self.environment)
        self._heard: list[Notice] = []

    def _cloud(self, environment: Mapping[str, str]) -> Cloud:
        return connect(**self._settings(environment).connection())

    def _settings(self, environment: Mapping[str, str]) -> Settings:
        own = {
            "SPOTWARDEN_PROJECT": PROJECT,
            "SPOTWARDEN_BUCKET": BUCKET,
            "SPOTWARDEN_NOTICES": NOTICES,
            "SPOTWARDEN_WORKERS": "1",
            "SPOTWARDEN_POLICY": str(INFRA / "policy.toml"),
        }
        return Settings.read({**environment, **own})

    @property
    def account(self) -> Account:
        """Who the function is."""
        return self.local.doors.accounts[self.function]

    def post(self, path: str, **body: Any) -> Mapping[str, Any]:
        """Ask for something to be made."""
        answer = self._client.post(path, json=body)
        answer.raise_for_status()
        made: Mapping[str, Any] = answer.json()
        return made

    def make(self, place: str, *, request_id: str = "", **body: Any) -> None:
        """Make something of Compute Engine: `make("zones/Z/disks", name=…)`."""
        query = f"?requestId={request_id}" if request_id else ""
        self.post(f"/compute/v1/projects/{PROJECT}/{place}{query}", **body)

    def get(self, place: str) -> Mapping[str, Any]:
        """Something of Compute Engine, as it is."""
        answer = self._client.get(f"/compute/v1/projects/{PROJECT}/{place}")
        answer.raise_for_status()
        found: Mapping[str, Any] = answer.json()
        return found

    def vm(self, name: str, *, request_id: str = "", **body: Any) -> str:
        """A VM of the job of the same name that runs, made by that request; gives its id."""
        usual = {
            "machineType": f"zones/{ZONE}/machineTypes/g2-standard-4",
            "scheduling": {"onHostMaintenance": "TERMINATE"},
            "labels": {"spotwarden-job": name, "spotwarden-attempt": "1"},
            "disks": [BOOT],
            "networkInterfaces": [{"network": "global/networks/default"}],
        }
        self.make(f"zones/{ZONE}/instances", request_id=request_id, name=name, **{**usual, **body})
        self.until(lambda: self.status(name) == "RUNNING")
        return self.ids()[name]

    def resources(self) -> list[Mapping[str, Any]]:
        """Every VM, as it is now. In the cloud's loop."""
        return [*self.local.compute.knobs.instances()]

    def end(self, name: str) -> None:
        """Delete a VM, and wait until it is gone."""
        self.delete(name)
        self.until(lambda: self.status(name) == "")

    def delete(self, name: str) -> None:
        """Ask for the end of a VM."""
        path = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/{name}"
        self._client.delete(path).raise_for_status()

    def look(self, path: str) -> Any:
        """What the local cloud shows there."""
        return self._client.get(path).raise_for_status().json()

    def ids(self) -> dict[str, str]:
        """The ids of the VMs, by name."""
        return {one["name"]: one["id"] for one in self.call(self.resources)}

    def status(self, name: str) -> str:
        """A VM's status; "" where it is gone. In the cloud's loop."""
        return next((one["status"] for one in self.resources() if one["name"] == name), "")

    def seen(self, name: str) -> Mapping[str, Any]:
        """A VM as Compute Engine shows it."""
        return next(one for one in self.call(self.resources) if one["name"] == name)

    def measured(self, metric: str, instance_id: str, value: float, **labels: str) -> None:
        """A metric of a VM that runs; it stays like this while time passes."""
        point = Point(
            metric=metric,
            metric_labels=labels,
            resource="gce_instance",
            resource_labels={"instance_id": instance_id, "zone": ZONE, "project_id": PROJECT},
            value=value,
            at=self.now,
        )
        self.call(self.local.monitoring.measure, point)

    def store(self, thing: ObjectName | str, data: bytes | msgspec.Struct = b"") -> None:
        """Write an object."""
        name = thing if isinstance(thing, str) else self.layout.build(thing)
        whole = data if isinstance(data, bytes) else msgspec.json.encode(data)
        self.owner.store.write(name, whole, generation=None)

    def forget(self, thing: ObjectName) -> None:
        """Delete an object."""
        name = self.layout.build(thing)
        there = self.owner.store.read(name)
        assert there is not None, name
        self.owner.store.delete(name, generation=there.generation)

    def names(self, prefix: str) -> list[str]:
        """The names of all objects below a prefix."""
        return [entry.name for entry in self.owner.store.entries(prefix)]

    def heard(self) -> list[Notice]:
        """Everything that was told so far."""
        path = f"/v1/projects/{PROJECT}/subscriptions/heard:pull"
        while pulled := self.post(path, maxMessages=100, returnImmediately=True).get("receivedMessages"):
            for one in pulled:
                self._heard.append(
                    msgspec.json.decode(
                        msgspec.convert(one["message"]["data"], bytes, strict=False), type=Notice
                    )
                )
            self.post(path.replace(":pull", ":acknowledge"), ackIds=[one["ackId"] for one in pulled])
        return self._heard

    def kinds(self) -> list[str]:
        """What kinds of things were told."""
        return [one.kind for one in self.heard()]

    # --- what the function does ---

    @property
    def now(self) -> datetime:
        """The present moment of this cloud."""
        return datetime.now(UTC) + self.later

    def wait(self, **span: float) -> None:
        """Let time pass."""
        self.later += timedelta(**span)
        self.run(self.local.travel.go(timedelta(**span)))

    @contextmanager
    def acting(self) -> Iterator[Settings]:
        """Be the function: its environment is this process's."""
        ahead = {"SPOTWARDEN_CLOCK_AHEAD": str(self.later.total_seconds())}
        with patch.dict(os.environ, {**self.environment, **ahead}):
            yield self._settings(self.environment)

    def tick(self, function: str = "", *, patient: bool = True) -> Tick:
        """What starts a sweep."""
        return Tick(
            function=function or self.function,
            sweep=f"sweep-{next(self._turns):08}",
            now=self.now,
            patient=patient,
        )

    def sweep(self, other: str = "") -> Swept:
        """One sweep of the function, or of another one that may do everything; what fails rises."""
        module: ModuleType = loaded(other or self.function)
        cloud = self.owner if other else self.cloud
        with self.acting() as settings:
            swept: Swept = module.sweep(SweepContext.open(cloud, settings, self.policy, self.tick(other)))
        if swept.failures:
            raise ExceptionGroup("the sweep failed", swept.failures)
        return swept

    def sweep_until(self, what: Callable[[], bool], limit: int = 5, **span: float) -> None:
        """Sweep until it is so, with so much time between two sweeps."""
        for _ in range(limit):
            self.sweep()
            if what():
                return
            self.wait(**span)
        raise AssertionError("it never came")


def all_of(function: str) -> Collection[str]:
    """Every permission of a function."""
    return sorted({*row(function).permissions, *row(function).bucket_permissions})
