"""Many jobs, many markers, and a cloud that takes its time for each call."""

import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from spotwarden.layout import CreateScript, InstanceId, MarkerName
from spotwarden.ports import Cloud
from spotwarden.recovery.folder.open_jobs import READERS
from tests.fakes.world import SCRIPT, World
from tests.recovery.job_vm import JobVm

LATENCY = 0.04
"""Seconds of one call."""
WORKERS = 16
"""As many as a deployment has unless it says otherwise."""
PAGE = {"entries": 1000, "each_entry": 1000, "folders": 1000, "instances": 500, "operations": 500}
"""What one call of a list gives at most."""


class Crowded:
    """Jobs whose VMs run and have been seen, and markers that anybody may have written."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.settings = msgspec.structs.replace(world.settings, workers=WORKERS)

    def jobs(self, count: int, *, seen: bool = True) -> list[str]:
        """So many further jobs; `seen` by sweeps, so that they stand on the list of open jobs."""
        world = self.world
        names = [f"job-{number}" for number in range(count)]
        for name in names:
            script = SCRIPT.replace(b"test-vm", name.encode())
            world.store(CreateScript(job=name), script)
            (instance_id,) = world.launch_by_hand(script).values()
            world.store(InstanceId(job=name, node=name), instance_id.encode())
        if seen:
            world.wait(minutes=10)
            world.settle(3)
        return names

    def preempt(self, *nodes: str) -> None:
        """Take VMs away, each of which says so in its marker."""
        ids = {vm.name: vm.id for vm in self.world.instances()}
        for node in nodes:
            self.world.cloud.compute.preempt(node)
            said = {"job": node, "node": node, "instance_id": ids[node]}
            self.world.store(MarkerName(node=node), msgspec.json.encode(said))

    def garbage(self, count: int) -> None:
        """Markers of nodes that nobody has, which claim to be of jobs that are nowhere."""
        stolen = JobVm(self.world)
        for number in range(count):
            said = {"job": f"nobody-{number}", "instance_id": str(number + 1)}
            stolen.write(MarkerName(node=f"a-{number}"), msgspec.json.encode(said))


class Slow:
    """The cloud as a sweep sees it: each call is written down, with the seconds that it takes.

    A page of a list is a call. With `sleep` it really takes as long.
    """

    def __init__(self, cloud: Cloud, *, sleep: bool = False) -> None:
        self.made: list[tuple[str, object, float]] = []
        self._alone, self._together = 0.0, 0.0
        self._main, self._lock = threading.get_ident(), threading.Lock()
        self._sleep = sleep
        ports = {name: getattr(cloud, name) for name in ("store", "compute", "notices", "metrics", "mailer")}
        slow: dict[str, Any] = {name: port and _Slow(port, self._note) for name, port in ports.items()}
        self.cloud = Cloud(**slow)

    def seconds(self) -> float:
        """How long it has taken so far, where the workers share what they do evenly."""
        return self._alone + self._together / WORKERS

    def first(self, call: str, about: str = "") -> float:
        """When the first such call was made."""
        return next(at for name, what, at in self.made if name == call and about in str(what))

    def times(self, call: str) -> list[float]:
        """When such calls were made."""
        return [at for name, _, at in self.made if name == call]

    def _note(self, call: str, about: object, pages: int) -> None:
        with self._lock:
            if threading.get_ident() == self._main:
                self._alone += pages * LATENCY
            elif call == "read" and str(about).startswith("spotwarden/open/"):
                self._together += pages * LATENCY * WORKERS / READERS
            else:
                self._together += pages * LATENCY
            self.made.append((call, about, self.seconds()))
        if self._sleep:
            time.sleep(pages * LATENCY)


class _Slow:
    def __init__(self, port: Any, note: Callable[[str, object, int], None]) -> None:
        self._port, self._note = port, note

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        def call(*args: Any, **named: Any) -> Any:
            about = getattr(args[0], "body", args[0]) if args else named
            if name not in PAGE:
                self._note(name, about, 1)
                return method(*args, **named)
            found = method(*args, **named)
            found = [*found] if name == "each_entry" else found
            rows = len(getattr(found, "items", found)) if name in {"instances", "operations"} else len(found)
            self._note(name, about, 1 + max(0, rows - 1) // PAGE[name])
            return found

        return call
