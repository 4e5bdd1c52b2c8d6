"""What the tests of virtual machines share: an event loop per test and a way to wait for a fact."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from localcloud import leash
from localcloud.clock import Clock
from localcloud.http import Listener, build_app
from localcloud.machines import ProcessMachines
from localcloud.ports import Point

LIMIT_SECONDS = 20
ZONE = "https://www.googleapis.com/compute/v1/projects/demo/zones/us-central1-a"
EMAIL = "123456-compute@developer.gserviceaccount.com"


@pytest.fixture
def cleanup():
    """What to await at the end of a scene, whatever came of it."""
    return contextlib.AsyncExitStack()


@pytest.fixture
def run(cleanup: contextlib.AsyncExitStack):
    """Run a coroutine in a loop of its own, with a limit, and clean up after it."""

    def runner(work: Coroutine[Any, Any, Any]) -> Any:
        async def limited():
            async with asyncio.timeout(2 * LIMIT_SECONDS), cleanup:
                return await work

        return asyncio.run(limited())

    return runner


@pytest.fixture
def eventually():
    """Wait, without blocking the loop, until something is so; fail if it never is."""

    async def wait(fact: Callable[[], Any], what: str = "it never came true") -> Any:
        end = time.monotonic() + LIMIT_SECONDS
        while not (value := fact()):
            assert time.monotonic() < end, what
            await asyncio.sleep(0.01)
        return value

    return wait


@pytest.fixture
def start(tmp_path: Path, cleanup: contextlib.AsyncExitStack):
    """Start a bash script on a leash in the test's folder; extra words become its arguments."""

    async def starter(script: str, *arguments: str, **more: Any) -> leash.Leashed:
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        leashed = await leash.start(["bash", "-c", script, "bash", *arguments], env=env, cwd=tmp_path, **more)
        cleanup.push_async_callback(leashed.kill)
        return leashed

    return starter


@pytest.fixture
def serve_text(cleanup: contextlib.AsyncExitStack):
    """Serve a text on loopback; the URL of it."""

    async def serve(text: str) -> str:
        async def answer(request: Request) -> Response:
            seen = " ".join(f"{name}={value}" for name, value in request.query_params.items())
            return PlainTextResponse(text.replace("{query}", seen))

        app = build_app([Route("/{path:path}", answer)])
        return f"{(await cleanup.enter_async_context(Listener(app))).url}/script.sh"

    return serve


@pytest.fixture
def survivors():
    """The living processes that carry a mark of the leash, found by nothing but their environment."""

    def find(mark: str) -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if mark in _mark(process)]

    return find


def _mark(process: psutil.Process) -> str:
    try:
        alive = process.status() != psutil.STATUS_ZOMBIE
        return process.environ().get(leash.VARIABLE, "-") if alive else "-"
    except (psutil.Error, OSError):
        return "-"


@pytest.fixture
def instance():
    """Make an instance resource as Compute gives it to the machines; metadata by keyword, `_` for `-`."""

    def make(*, gpus: int = 0, metadata: Mapping[str, str] | None = None, **scripts: str) -> dict[str, Any]:
        items = {**{key.replace("_", "-"): value for key, value in scripts.items()}, **(metadata or {})}
        accelerators = [
            {"acceleratorType": f"{ZONE}/acceleratorTypes/nvidia-tesla-t4", "acceleratorCount": gpus}
        ]
        return {
            "id": "1234567890123456789",
            "name": "test-vm",
            "zone": ZONE,
            "selfLink": f"{ZONE}/instances/test-vm",
            "machineType": f"{ZONE}/machineTypes/n1-standard-4",
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
def world():
    """The rest of the local cloud, which only listens."""
    return World()


@pytest.fixture
def machines(tmp_path: Path, world: World):
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
def vm(tmp_path: Path, machines: ProcessMachines, instance: Callable, cleanup: contextlib.AsyncExitStack):
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
        end = time.monotonic() + LIMIT_SECONDS
        while "startup-script exit status" not in self.console:
            assert time.monotonic() < end, self.console
            await asyncio.sleep(0.01)
        return (self.folder / "var/log/startup.log").read_text()

    def read(self, name: str) -> str:
        """A file that it wrote, "" while there is none."""
        path = self.folder / name
        return path.read_text() if path.exists() else ""
