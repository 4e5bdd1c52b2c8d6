"""Compute Engine in a world whose time a test moves; its machines only write down what is done to them."""

import asyncio
import heapq
import itertools
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from localcloud.clock import Clock
from localcloud.compute import ComputeService, Pace, Timings
from localcloud.http import build_app
from tests.localcloud.conformance.recorder import Recorder

PROJECT = "project"
ZONE = "us-central1-a"
REGION = "us-central1"
START = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
IMAGE = "projects/debian-cloud/global/images/family/debian-12"


class Time:
    """Time that passes when it is told to. Who pauses is woken in the order of time."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._numbers = itertools.count()
        self._sleeping: list[tuple[float, int, asyncio.Future[None]]] = []

    async def pause(self, duration: timedelta) -> None:
        """As `Pace.pause`."""
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleeping, (self.seconds + duration.total_seconds(), next(self._numbers), future))
        await future

    def due(self, until: float) -> bool:
        """Let time pass to the next pause that ends before `until`, and end it; False when there is none."""
        while self._sleeping and self._sleeping[0][0] <= until:
            at, _, future = heapq.heappop(self._sleeping)
            if not future.done():
                self.seconds = max(self.seconds, at)
                future.set_result(None)
                return True
        self.seconds = max(self.seconds, until)
        return False


@dataclass
class SetClock(Clock):
    """A clock that shows this time."""

    time: Time = field(default_factory=Time)

    def now(self) -> datetime:
        """The start of all tests, and the seconds that have passed since."""
        return START + timedelta(seconds=self.time.seconds) + self.skew


@dataclass
class Machines:
    """Machines that only write down what is done to them; `shutdowns` says how long a shutdown takes."""

    time: Time
    did: list[tuple[Any, ...]] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    shutdown_takes: timedelta = timedelta(0)
    fails_to_boot: bool = False
    consoles: dict[str, str] = field(default_factory=dict)
    written: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    told: list[Mapping[str, Any]] = field(default_factory=list)

    async def boot(self, instance: Mapping[str, Any]) -> None:
        """Note it; two machines of one instance would be a fault."""
        if self.fails_to_boot:
            raise OSError("no more processes")
        assert instance["id"] not in self.running
        assert instance["status"] == "RUNNING"
        self.running.add(instance["id"])
        self.did.append(("boot", instance["id"]))

    async def shut_down(self, instance_id: str, grace: timedelta) -> None:
        """Note it, and take as long as the shutdown script does, at most the grace."""
        self.did.append(("shut_down", instance_id, grace.total_seconds()))
        await self.time.pause(min(grace, self.shutdown_takes))
        self.running.discard(instance_id)
        self.did.append(("down", instance_id))

    async def suspend(self, instance_id: str) -> None:
        """Note it; one that does not run cannot be."""
        assert instance_id in self.running
        self.did.append(("suspend", instance_id))

    async def resume(self, instance_id: str) -> None:
        """Note it."""
        assert instance_id in self.running
        self.did.append(("resume", instance_id))

    async def kill(self, instance_id: str) -> None:
        """Note it."""
        self.running.discard(instance_id)
        self.did.append(("kill", instance_id))

    def update(self, instance: Mapping[str, Any]) -> None:
        """Note what the metadata server is told."""
        assert instance["id"] in self.running
        self.told.append(instance)
        self.did.append(("update", instance["id"]))

    def forget(self, instance_id: str) -> None:
        """Note it."""
        assert instance_id not in self.running
        self.did.append(("forget", instance_id))

    def console(self, instance_id: str) -> str:
        """What a test let it write."""
        return self.consoles.get(instance_id, "")

    def guest_attributes(self, instance_id: str) -> Mapping[str, Mapping[str, str]]:
        """What a test let its guest write."""
        return self.written.get(instance_id, {})


class World:
    """One Compute Engine with its own loop. Calls are answered; nothing else moves without `advance`."""

    def __init__(self, timings: Timings | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self.problems: list[dict[str, Any]] = []
        self._loop.set_exception_handler(lambda _loop, context: self.problems.append(context))
        self.time = Time()
        self.clock = SetClock(time=self.time)
        self.machines = Machines(self.time)
        self.log: list[Mapping[str, Any]] = []
        self.recorder = Recorder()
        self.service = ComputeService(
            project=PROJECT,
            clock=self.clock,
            machines=self.machines,
            audit=self.log.append,
            base_url=lambda: "http://127.0.0.1:1",
            timings=timings or Timings(),
            pace=Pace(pause=self.time.pause, elapsed=lambda: self.time.seconds),
        )
        routes = [*self.service.routes(), *self.service.admin_routes()]
        app = build_app(routes, middleware=[self.recorder.middleware()])
        transport = httpx.ASGITransport(app)
        self._http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1")

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> httpx.Response:
        """A call; a path that does not begin with a slash is one of the project."""
        url = path if path.startswith("/") else f"/compute/v1/projects/{PROJECT}/{path}"
        headers = query.pop("headers", None)
        return self._loop.run_until_complete(
            self._http.request(method, url, json=body, params=query, headers=headers)
        )

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """What a GET gives; it must succeed."""
        return _fine(self.call("GET", path, **query))

    def post(self, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        """What a POST gives; it must succeed."""
        return _fine(self.call("POST", path, body, **query))

    def delete(self, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        """What a DELETE gives; it must succeed."""
        return _fine(self.call("DELETE", path, body, **query))

    def refused(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, str, str]:
        """Status, reason and message of a call that must fail."""
        answer = self.call(method, path, body, **query)
        assert answer.is_error, answer.text
        error = answer.json()["error"]
        return answer.status_code, error["errors"][0]["reason"], error["message"]

    def settle(self) -> None:
        """Let everything run that does not wait for time to pass."""
        for _ in range(20):
            self._loop.run_until_complete(asyncio.sleep(0))

    def advance(self, seconds: float) -> None:
        """Let time pass, and everything happen that falls into it."""
        until = self.time.seconds + seconds
        self.settle()
        while self.time.due(until):
            self.settle()

    def finish(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What a coroutine gives that needs no time."""
        return self._loop.run_until_complete(work)

    def do(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a plain function gives that is called inside the loop."""

        async def work() -> Any:
            return function(*arguments)

        return self._loop.run_until_complete(work())

    def create(self, name: str = "vm", zone: str = ZONE, **fields: Any) -> dict[str, Any]:
        """Create an instance and wait until it runs; give it."""
        self.post(f"zones/{zone}/instances", request(name, **fields))
        self.advance(1)
        return self.instance(name, zone)

    def instance(self, name: str = "vm", zone: str = ZONE) -> dict[str, Any]:
        """The instance as it is now."""
        return self.get(f"zones/{zone}/instances/{name}")

    def status(self, name: str = "vm", zone: str = ZONE) -> str:
        """The status of an instance; GONE when there is none."""
        answer = self.call("GET", f"zones/{zone}/instances/{name}")
        return "GONE" if answer.status_code == 404 else answer.json()["status"]

    def operation(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        """An operation as it is now."""
        return _fine(self.call("GET", operation["selfLink"].removeprefix("http://127.0.0.1:1")))

    def failure(self, operation: Mapping[str, Any]) -> tuple[int, str, str]:
        """HTTP status, code and message of an operation that must fail, once it has."""
        self.advance(1)
        ended = self.operation(operation)
        [error] = ended["error"]["errors"]
        return ended["httpErrorStatusCode"], error["code"], error["message"]

    def operations(self, kind: str = "", zone: str = ZONE) -> list[dict[str, Any]]:
        """The operations of a zone, of one type or of all."""
        items = self.get(f"zones/{zone}/operations").get("items", [])
        return [item for item in items if kind in ("", item["operationType"])]

    def close(self) -> None:
        """End everything."""
        self._loop.run_until_complete(self.service.close())
        self._loop.run_until_complete(self._http.aclose())
        self._loop.close()


def _fine(answer: httpx.Response) -> dict[str, Any]:
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


def request(name: str = "vm", **fields: Any) -> dict[str, Any]:
    """The least that an instance needs, and what a test adds."""
    boot = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}}
    least = {
        "name": name,
        "machineType": f"zones/{fields.pop('zone', ZONE)}/machineTypes/n1-standard-1",
        "disks": [boot],
        "networkInterfaces": [{"network": "global/networks/default"}],
    }
    return {key: value for key, value in (least | fields).items() if value is not None}


def spot(action: str = "DELETE", **options: Any) -> dict[str, Any]:
    """The scheduling of a spot VM."""
    return {"provisioningModel": "SPOT", "instanceTerminationAction": action, **options}
