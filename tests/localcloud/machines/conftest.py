"""What the tests of virtual machines share: an event loop per test and a way to wait for a fact."""

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from localcloud import supervisor
from localcloud.clock import Clock
from localcloud.cloud import LocalCloud, Options
from localcloud.http import Listener, build_app
from localcloud.machines import ProcessMachines
from localcloud.ports import Point
from tests.waiting import looks, wait

LIMIT_SECONDS = 20
"""So long nothing may move."""
HARD_SECONDS = 300
"""What only ends a scene that hangs."""
ZONE = "https://www.googleapis.com/compute/v1/projects/demo/zones/us-central1-a"
EMAIL = "123456-compute@developer.gserviceaccount.com"


@pytest.fixture
def cleanup() -> contextlib.AsyncExitStack:
    """What to await at the end of a scene, whatever came of it."""
    return contextlib.AsyncExitStack()


@pytest.fixture
def run(cleanup: contextlib.AsyncExitStack) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run a coroutine in a loop of its own, with a limit, and clean up after it."""

    def runner(work: Coroutine[Any, Any, Any]) -> Any:
        async def limited() -> Any:
            async with asyncio.timeout(HARD_SECONDS), cleanup:
                return await work

        return asyncio.run(limited())

    return runner


@pytest.fixture
def eventually() -> Callable[..., Awaitable[Any]]:
    """Wait, without blocking the loop, until something is so; fail if it never is."""

    async def waiting(fact: Callable[[], Any], what: str = "it never came true") -> Any:
        for pause in looks(LIMIT_SECONDS, 0.01):
            if value := fact():
                return value
            await asyncio.sleep(pause)
        raise AssertionError(what)

    return waiting


@pytest.fixture
def start(
    tmp_path: Path, cleanup: contextlib.AsyncExitStack
) -> Callable[..., Awaitable[supervisor.Supervised]]:
    """Start a bash script under a supervisor in the test's folder; extra words become its arguments."""

    async def starter(script: str, *arguments: str, **more: Any) -> supervisor.Supervised:
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        supervised = await supervisor.start(
            ["bash", "-c", script, "bash", *arguments], env=env, cwd=tmp_path, **more
        )
        cleanup.push_async_callback(supervised.kill)
        return supervised

    return starter


@pytest.fixture
def serve_text(cleanup: contextlib.AsyncExitStack) -> Callable[[str], Awaitable[str]]:
    """Serve a text on loopback; the URL of it."""

    async def serve(text: str) -> str:
        async def answer(request: Request) -> Response:
            seen = " ".join(f"{name}={value}" for name, value in request.query_params.items())
            return PlainTextResponse(text.replace("{query}", seen))

        app = build_app([Route("/{path:path}", answer)])
        return f"{(await cleanup.enter_async_context(Listener(app))).url}/script.sh"

    return serve


@pytest.fixture
def survivors() -> Callable[[str], list[psutil.Process]]:
    """The living processes that carry a mark of the supervisor, found by nothing but their environment."""

    def find(mark: str) -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if mark in _mark(process)]

    return find


def _mark(process: psutil.Process) -> str:
    try:
        alive = process.status() != psutil.STATUS_ZOMBIE
        return process.environ().get(supervisor.VARIABLE, "-") if alive else "-"
    except (psutil.Error, OSError):
        return "-"


@pytest.fixture
def instance() -> Callable[..., dict[str, Any]]:
    """Make an instance resource as Compute gives it to the machines; metadata by keyword, `_` for `-`."""

    def make(
        *,
        gpus: int = 0,
        machine_type: str = "n1-standard-4",
        metadata: Mapping[str, str] | None = None,
        **scripts: str,
    ) -> dict[str, Any]:
        items = {**{key.replace("_", "-"): value for key, value in scripts.items()}, **(metadata or {})}
        accelerators = [
            {"acceleratorType": f"{ZONE}/acceleratorTypes/nvidia-tesla-t4", "acceleratorCount": gpus}
        ]
        return {
            "id": "1234567890123456789",
            "name": "test-vm",
            "zone": ZONE,
            "selfLink": f"{ZONE}/instances/test-vm",
            "machineType": f"{ZONE}/machineTypes/{machine_type}",
            "creationTimestamp": "2026-11-21T08:00:00.000+00:00",
            "cpuPlatform": "Intel Broadwell",
            "metadata": {"items": [{"key": key, "value": value} for key, value in items.items()]},
            "tags": {"items": ["http-server", "training"]},
            "scheduling": {"preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"},
            "disks": [{"deviceName": "boot", "boot": True, "index": 0, "mode": "READ_WRITE"}],
            "networkInterfaces": [
                {
                    "network": "https://www.googleapis.com/compute/v1/projects/demo/global/networks/default",
                    "networkIP": "10.128.0.2",
                    "accessConfigs": [{"natIP": "34.1.2.3", "type": "ONE_TO_ONE_NAT"}],
                }
            ],
            "serviceAccounts": [
                {"email": EMAIL, "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}
            ],
            "guestAccelerators": accelerators if gpus else [],
        }

    return make


@dataclass
class World:
    """What the machines told the rest of the local cloud."""

    points: list[Point] = field(default_factory=list)
    powered_off: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


@pytest.fixture
def world() -> World:
    """The rest of the local cloud, which only listens."""
    return World()


@pytest.fixture
def machines(tmp_path: Path, world: World) -> ProcessMachines:
    """Machines that write below the test's folder; what `vm` boots ends with the scene."""
    return ProcessMachines(
        folder=tmp_path / "vms",
        clock=Clock(),
        environment=lambda: world.environment,
        measure=world.points.append,
        on_poweroff=world.powered_off.append,
        metric_period=timedelta(milliseconds=200),
    )


@pytest.fixture
def vm(
    tmp_path: Path,
    machines: ProcessMachines,
    instance: Callable[..., dict[str, Any]],
    cleanup: contextlib.AsyncExitStack,
) -> Callable[..., Awaitable["Vm"]]:
    """Boot a machine with these scripts."""

    async def boot(**what: Any) -> Vm:
        resource = instance(**what)
        cleanup.push_async_callback(machines.kill, resource["id"])
        await machines.boot(resource)
        return Vm(machines, resource, tmp_path / "vms" / f"{resource['name']}-{resource['id']}")

    return boot


@dataclass
class Vm:
    """A machine under test."""

    machines: ProcessMachines
    resource: dict[str, Any]
    folder: Path

    @property
    def id(self) -> str:
        """The instance's id."""
        return str(self.resource["id"])

    @property
    def processes(self) -> list[psutil.Process]:
        """Its living processes."""
        return self.machines.processes(self.id)

    @property
    def console(self) -> str:
        """What it said."""
        return self.machines.console(self.id)

    @property
    def messages(self) -> list[str]:
        """What it said, without time, host and process."""
        return [line.split(": ", 1)[1] for line in self.console.splitlines()]

    async def finished(self) -> str:
        """The raw output of the startup script, once it has ended."""
        for pause in looks(LIMIT_SECONDS, 0.01):
            if "startup-script exit status" in self.console:
                break
            await asyncio.sleep(pause)
        else:
            raise AssertionError(self.console)
        return (self.folder / "var/log/startup.log").read_text()

    def read(self, name: str) -> str:
        """A file that it wrote, "" while there is none."""
        path = self.folder / name
        return path.read_text() if path.exists() else ""


class Cloud:
    """A whole local cloud in a thread of its own, and a machine in it."""

    def __init__(self, folder: Path) -> None:
        self.state = folder
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._cloud = LocalCloud(Options(project="demo", state=folder))
        self._run(self._cloud.__aenter__())
        self._client = httpx.Client(base_url=self._cloud.endpoints.http)
        self.call("POST", "/storage/v1/b?project=demo", {"name": "bucket"})

    def close(self) -> None:
        """End everything."""
        self._client.close()
        self._run(self._cloud.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def environment(self) -> Mapping[str, str]:
        """The settings of a client outside."""
        return self._cloud.endpoints.environment()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a call that has to succeed."""
        answer = self._client.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def create(
        self, name: str, script: str, disks: Sequence[Mapping[str, Any]] = (), machine: str = "e2-medium"
    ) -> Path:
        """Create an instance with a startup script, and disks beside its boot disk; its folder."""
        image = "projects/debian-cloud/global/images/family/debian-12"
        body = {
            "name": name,
            "machineType": f"zones/us-central1-a/machineTypes/{machine}",
            "disks": [
                {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": image}},
                *disks,
            ],
            "networkInterfaces": [{"network": "global/networks/default"}],
            "metadata": {"items": [{"key": "startup-script", "value": script}]},
            "serviceAccounts": [
                {"email": "default", "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}
            ],
        }
        self.call("POST", "/compute/v1/projects/demo/zones/us-central1-a/instances", body)
        found: Path = self.wait_until(lambda: next(self.state.glob(f"vms/{name}-*"), None))
        return found

    def instances(self) -> list[str]:
        """The names of all instances."""
        found = self.call("GET", "/compute/v1/projects/demo/zones/us-central1-a/instances")
        return [item["name"] for item in found.get("items", [])]

    def wait_until(self, fact: Callable[[], Any], what: str = "it never came true") -> Any:
        """Wait until something is so; fail if it never is."""
        return wait(LIMIT_SECONDS, fact, what)

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=HARD_SECONDS)


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """One local cloud for all tests that need a whole one."""
    cloud = Cloud(tmp_path_factory.mktemp("cloud"))
    yield cloud
    cloud.close()


@pytest.fixture(scope="session")
def guest(cloud: Cloud) -> dict[str, str]:
    """The environment of a process inside a machine called test-vm."""
    folder = cloud.create("test-vm", "env -0 > new; mv new environment; sleep 3000")
    text = cloud.wait_until((folder / "environment").exists) and (folder / "environment").read_text()
    pairs = dict(pair.split("=", 1) for pair in text.split("\0") if pair)
    return {name: value for name, value in pairs.items() if name != supervisor.VARIABLE}


@pytest.fixture
def shell(guest: dict[str, str], tmp_path: Path) -> Callable[[str], Any]:
    """Run bash in a fresh folder as inside test-vm; all that it printed, errors too."""
    here = tmp_path / "here"
    here.mkdir(exist_ok=True)

    def run(script: str) -> str:
        done = subprocess.run(
            ["bash", "-c", script],
            env=guest,
            cwd=here,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            text=True,
            check=False,
        )
        return done.stdout

    return run
