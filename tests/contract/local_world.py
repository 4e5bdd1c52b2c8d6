"""The local cloud's Compute Engine as a `World`: the real service over HTTP, on a virtual clock."""

import asyncio
import heapq
import itertools
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import httpx

from localcloud.clock import Clock
from localcloud.compute import ComputeService, Pace, Timings
from localcloud.compute.fleet import Fleet
from localcloud.http import Listener, build_app
from localcloud.machines import NoMachines
from spotwarden.gcp.compute import ComputeEngine
from tests.contract.retry_policies import QUICK
from tests.contract.served import PROJECT, Served
from tests.fakes.clock import VirtualClock

A_DAY = timedelta(days=1)


class Time:
    """Stands still until `advance`; who pauses goes on in order of time."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self._start = self.clock.now()
        self._turns = itertools.count()
        self._pauses: list[tuple[datetime, int, asyncio.Future[None]]] = []

    async def pause(self, duration: timedelta) -> None:
        """Come back when that much time has passed."""
        until = asyncio.get_running_loop().create_future()
        heapq.heappush(self._pauses, (self.clock.now() + duration, next(self._turns), until))
        await until

    def elapsed(self) -> float:
        """Seconds since the start."""
        return (self.clock.now() - self._start).total_seconds()

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self.clock.advance(by)
        while self._pauses and self._pauses[0][0] <= self.clock.now():
            waiting = heapq.heappop(self._pauses)[2]
            if not waiting.done():
                waiting.set_result(None)


class _CloudClock(Clock):
    """The local cloud's clock, telling virtual time."""

    def __init__(self, time: Time) -> None:
        super().__init__()
        self._time = time

    def now(self) -> datetime:
        return self._time.clock.now() + self.skew


class LocalWorld:
    """`World`; `compute` is the real adapter."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._sources = itertools.count()
        self._time = Time()
        self._service = served.run(self._make)
        self._listener = served.run(self._listen)
        served.wait_for(self._listener.start())
        self.url = self._listener.url
        self.compute = ComputeEngine(project=PROJECT, endpoint=self.url, retry_policy=QUICK)

    def _make(self) -> ComputeService:
        return ComputeService(
            project=PROJECT,
            clock=_CloudClock(self._time),
            machines=NoMachines(),
            audit=lambda _entry: None,
            base_url=lambda: self.url,
            timings=Timings(),
            pace=Pace(pause=self._time.pause, elapsed=self._time.elapsed),
        )

    def _listen(self) -> Listener:
        recorder = self._served.recorder.middleware()
        return Listener(build_app(self._service.routes(), faults=self._served.faults, middleware=[recorder]))

    def close(self) -> None:
        """End the adapter, the listener and the service."""
        self.compute.close()
        for end in (self._listener.stop(), self._service.close()):
            self._served.wait_for(end)

    def now(self) -> datetime:
        """As `World.now`."""
        return self._time.clock.now()

    def until(self, condition: Callable[[], bool]) -> None:
        """As `World.until`: at most ten minutes of virtual time."""
        for _ in range(600):
            if condition():
                return
            self._served.run(lambda: self._time.advance(timedelta(seconds=1)))
        raise AssertionError("it did not come true")

    def stock_out(self, zone: str) -> None:
        """As `World.stock_out`."""
        self._served.run(lambda: self._service.knobs.begin_stockout(zone))

    def leave_room(self, zone: str, left: int) -> None:
        """Have so many machines left in a zone."""
        self._served.run(lambda: self._service.knobs.begin_stockout(zone, left=left))

    def hide(self, zone: str) -> None:
        """As `World.hide`."""
        self._served.run(lambda: self._service.knobs.lose(zone, A_DAY))

    def fill(self, count: int) -> None:
        """So many VMs, in four zones in turn."""
        self._served.run(lambda: self._service.knobs.create_fleet(Fleet(count=count)))

    def leave(self, kind: str, name: str, labels: Mapping[str, str]) -> None:
        """As `World.leave`."""
        body = {"name": name, "labels": dict(labels)}
        if kind == "snapshot":
            source = f"source-{next(self._sources)}-of-{name}"
            self._post("zones/us-central1-a/disks", {"name": source, "sizeGb": "20"})
            body["sourceDisk"] = f"projects/{PROJECT}/zones/us-central1-a/disks/{source}"
        places = {"disk": "zones/us-central1-a/disks", "address": "regions/us-central1/addresses"}
        size = {"sizeGb": "20"} if kind == "disk" else {}
        self._post(places.get(kind, "global/snapshots"), {**body, **size})

    def _post(self, place: str, body: Mapping[str, Any]) -> None:
        url = f"{self.url}/compute/v1/projects/{PROJECT}/{place}"
        httpx.post(url, json=body, trust_env=False).raise_for_status()

    def relabel(self, name: str, labels: Mapping[str, str]) -> None:
        """As `World.relabel`."""
        url = f"{self.url}/compute/v1/projects/{PROJECT}/zones/us-central1-a/instances/{name}"
        there = httpx.get(url, trust_env=False).json()
        body = {
            "labels": {**there.get("labels", {}), **labels},
            "labelFingerprint": there["labelFingerprint"],
        }
        httpx.post(f"{url}/setLabels", json=body, trust_env=False).raise_for_status()

    def preempt(self, name: str) -> None:
        """As `World.preempt`."""
        self._served.run(lambda: self._service.preempt(name))
