"""Google on a bad day: lists that lag, parts that do not answer, an object that takes one write a second."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from spotwarden.gcp.built_in import built_in
from spotwarden.model.fleet import Machine
from spotwarden.model.instance import Operations
from spotwarden.model.load import Buckets, GpuLoads, VmLoad
from spotwarden.ports import Cloud, RejectedError, UnansweredError
from tests.fakes.clock import VirtualClock
from tests.fakes.compute import MemoryCompute
from tests.fakes.metrics import MemoryMetrics
from tests.fakes.vms import Vm
from tests.simulation.plane.commands import Fault, Port
from tests.simulation.process import CHANGES

MINUTE = timedelta(minutes=1)
LATE = 3 * MINUTE
"""How late agents' points are."""
SECOND = timedelta(seconds=1)
REPAIR = 3 * MINUTE
DENIED = {"launch", "start", "stop", "delete", "label", "remove"}


class PlaneCompute(MemoryCompute):
    """The operations that a list shows are behind by `lag`; those of the zones in `dark` it cannot reach.

    `cards` are the GPUs of the VMs that have some, by id: a machine type may bring them along.
    """

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock=clock)
        self.lag = timedelta(0)
        self.dark: set[str] = set()
        self.cards: Mapping[str, int] = {}

    @property
    def hidden(self) -> Collection[str]:
        """The zones that lists leave out."""
        return self._hidden

    def _machine(self, vm: Vm) -> Machine:
        made = super()._machine(vm)
        if made.gpus or not self.cards.get(made.id):
            return made
        gpus, gpu = built_in(made.machine_type)
        return msgspec.structs.replace(made, gpus=gpus, gpu=gpu)

    def _operations(self, since: datetime) -> Operations:
        found = super()._operations(since)
        if not (self.lag or self.dark):
            return found
        newest = self.clock.now() - self.lag
        shown = (item for item in found.items if item.at is not None and item.at <= newest)
        return Operations(
            items=tuple(item for item in shown if item.zone not in self.dark),
            unreachable=tuple(sorted({*found.unreachable, *self.dark})),
        )


class PlaneMetrics(MemoryMetrics):
    """What agents have reported: `work` says what a VM's GPUs and CPU do from now on."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock
        self._said: dict[str, list[tuple[datetime, float, float]]] = {}
        self.cards: dict[str, int] = {}
        self.progress: Callable[[str], datetime | None] = lambda _id: None

    def work(self, instance_id: str, gpu: float, cpu: float) -> None:
        """Below 0: nothing is reported."""
        self._said.setdefault(instance_id, []).append((self._clock.now(), gpu, cpu))

    def busy_between(self, instance_id: str, since: datetime, until: datetime, threshold: float) -> bool:
        """Whether a GPU did something at any moment in that time."""
        return any(gpu >= threshold for _, gpu, _ in self._within(instance_id, since, until))

    def _within(
        self, instance_id: str, start: datetime, end: datetime
    ) -> list[tuple[timedelta, float, float]]:
        said, found = self._said.get(instance_id, []), []
        for index, (since, gpu, cpu) in enumerate(said):
            until = said[index + 1][0] if index + 1 < len(said) else end
            overlap = min(until, end) - max(since, start)
            if overlap > timedelta(0):
                found.append((overlap, gpu, cpu))
        return found

    def gpus(self, grid: Buckets, *, ids: Collection[str] = (), counts: bool = True) -> GpuLoads:
        """As `Metrics.gpus`."""
        wanted = [key for key in self._said if not ids or key in ids]
        rows = {key: self._row(key, grid) for key in wanted if self.cards.get(key)}
        rows = {key: row for key, row in rows.items() if max(row.top) >= 0}
        found = rows if counts else {key: VmLoad(top=row.top) for key, row in rows.items()}
        return GpuLoads(grid=grid, rows=found)

    def tpus(self, grid: Buckets, *, ids: Collection[str]) -> GpuLoads:
        """As `Metrics.tpus`; these histories have none."""
        del ids
        return GpuLoads(grid=grid)

    def _row(self, instance_id: str, grid: Buckets) -> VmLoad:
        seen, cards = self._clock.now() - LATE, self.cards[instance_id]
        top, points, gpus = [], [], []
        for index in range(grid.count):
            start = grid.end - grid.step * (grid.count - index)
            parts = self._within(instance_id, start, min(start + grid.step, seen))
            said = [(span, gpu) for span, gpu, _ in parts if gpu >= 0]
            top.append(max((gpu for _, gpu in said), default=-1.0))
            points.append(int(sum((span for span, _ in said), timedelta(0)) / MINUTE) if said else -1)
            gpus.append(cards if said else -1)
        return VmLoad(top=tuple(top), points=tuple(points), gpus=tuple(gpus))

    def cpus(self, since: datetime, until: datetime, *, ids: Collection[str] = ()) -> Mapping[str, float]:
        """As `Metrics.cpus`."""
        wanted = ids or self._said
        parts = {key: [cpu for _, _, cpu in self._within(key, since, until) if cpu >= 0] for key in wanted}
        return {key: max(some) for key, some in parts.items() if some}

    def logged(
        self, since: datetime, until: datetime, *, ids: Collection[str] = ()
    ) -> Mapping[str, datetime]:
        """As `Metrics.logged`: a program prints as it gets on."""
        found = {key: at for key in (ids or self._said) if (at := self.progress(key)) is not None}
        return {key: min(at, until) for key, at in found.items() if at >= since}


class Failing:
    """A port that does not answer for a while."""

    def __init__(self, port: object, now: Callable[[], datetime], until: datetime, fault: Fault) -> None:
        self._port = port
        self._now = now
        self._until = until
        self._fault = fault

    def __getattr__(self, call: str) -> Any:
        made = getattr(self._port, call)
        if not callable(made):
            return made

        def around(*arguments: Any, **named: Any) -> Any:
            if self._now() >= self._until:
                return made(*arguments, **named)
            return self._strike(call, made, arguments, named)

        return around

    def _strike(self, call: str, made: Callable[..., Any], arguments: Any, named: Any) -> Any:
        match self._fault:
            case Fault.DENIED if call == "send":
                raise RejectedError("refused", "made up: 550 no such user")
            case Fault.DENIED if call in DENIED and arguments and _is_vm_call(call, arguments):
                raise RejectedError("forbidden", "made up: Required permission (403)")
            case Fault.DENIED:
                return made(*arguments, **named)
            case Fault.SILENT if call in CHANGES:
                made(*arguments, **named)
            case _ if call == "send":
                raise RejectedError("unsent", "made up: 421 try again later")
        raise UnansweredError(f"made up: {self._fault.value}")


def _is_vm_call(call: str, arguments: Any) -> bool:
    """Compute Engine's `delete` takes a zone and an id, the bucket's a name alone."""
    return call != "delete" or len(arguments) > 1


class Paced:
    """A bucket that takes one write a second to one object; the client waits, and writes then.

    `last` says when each object was last written, by whichever process.
    """

    def __init__(
        self,
        store: Any,
        now: Callable[[], datetime],
        wait: Callable[[timedelta], None],
        last: dict[str, datetime],
    ) -> None:
        self._store = store
        self._now = now
        self._wait = wait
        self._last = last

    def __getattr__(self, call: str) -> Any:
        return getattr(self._store, call)

    def write(self, name: str, data: bytes, **said: Any) -> int:
        """As `Store.write`, a second later where the object was just written."""
        if (last := self._last.get(name)) is not None and self._now() < last + SECOND:
            self._wait(SECOND)
        self._last[name] = self._now()
        written: int = self._store.write(name, data, **said)
        return written


PARTS = {
    Port.STORE: "store",
    Port.COMPUTE: "compute",
    Port.METRICS: "metrics",
    Port.NOTICES: "notices",
    Port.MAIL: "mailer",
}


def troubled(
    cloud: Cloud, troubles: Mapping[Port, tuple[datetime, Fault]], now: Callable[[], datetime]
) -> Cloud:
    """The ports, with those that fail at this moment behind their trouble."""
    failing = {
        PARTS[port]: Failing(getattr(cloud, PARTS[port]), now, until, fault)
        for port, (until, fault) in troubles.items()
        if now() < until
    }
    return msgspec.structs.replace(cloud, **failing) if failing else cloud
