"""A project whose GPUs do what a test says, minute by minute, and whose metrics come late."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any

import msgspec
from msgspec.structs import replace

from spotwarden.engine.fan_out import Swept
from spotwarden.layout import AttemptRecord, OpenJob
from spotwarden.model.accelerators import is_tpu
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.load import Buckets, GpuLoads, VmLoad
from spotwarden.model.watch import Watch
from spotwarden.ports import Cloud
from tests.fakes.metrics import MemoryMetrics
from tests.governance.governed import GovernedWorld

MINUTE = timedelta(minutes=1)
BUSY = 97.0
Work = tuple[float, ...]


class Gauges(MemoryMetrics):
    """What the agents have reported, a point a minute for each GPU; the newest `late` is not there yet."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._now = now
        self.late = 3 * MINUTE
        self.told: dict[str, list[tuple[datetime, Work]]] = {}
        self.asked: list[tuple[bool, int, int]] = []
        self.chips: set[str] = set()

    def work(self, instance_id: str, *percent: float) -> None:
        """From now on its GPUs do this; with none its agent is silent."""
        self.told.setdefault(instance_id, []).append((self._now(), percent))

    def gpus(self, grid: Buckets, *, ids: Collection[str] = (), counts: bool = True) -> GpuLoads:
        """As `Metrics.gpus`, from what the agents have told."""
        self.asked.append((counts, len(ids), grid.count))
        self.load = self._rows(grid, [one for one in self.told if one not in self.chips])
        return super().gpus(grid, ids=ids, counts=counts)

    def tpus(self, grid: Buckets, *, ids: Collection[str]) -> GpuLoads:
        """As `Metrics.tpus`: those of VMs with TPUs, which no agent for GPUs knows."""
        self.tpu = self._rows(grid, self.chips & self.told.keys())
        return super().tpus(grid, ids=ids)

    def _rows(self, grid: Buckets, of: Iterable[str]) -> dict[str, VmLoad]:
        rows = {one: self._row(one, grid) for one in of}
        return {key: row for key, row in rows.items() if max(row.top) >= 0}

    def _row(self, instance_id: str, grid: Buckets) -> VmLoad:
        starts = [grid.end - grid.step * (grid.count - index) for index in range(grid.count)]
        buckets = [self._bucket(instance_id, start, start + grid.step) for start in starts]
        top, points, gpus = zip(*buckets, strict=True)
        return VmLoad(top=top, points=points, gpus=gpus)

    def _bucket(self, instance_id: str, start: datetime, end: datetime) -> tuple[float, int, int]:
        seen = min(end, self._now() - self.late)
        minutes = [start + MINUTE * (index + 1) for index in range((end - start) // MINUTE)]
        works = [self._at(instance_id, minute) for minute in minutes if minute <= seen]
        works = [one for one in works if one]
        if not works:
            return -1.0, -1, -1
        cards = max(len(one) for one in works)
        points = min(sum(len(one) > card for one in works) for card in range(cards))
        return max(max(one) for one in works), points, cards

    def _at(self, instance_id: str, moment: datetime) -> Work:
        said = [work for since, work in self.told[instance_id] if since < moment]
        return said[-1] if said else ()


class IdleWorld(GovernedWorld):
    """VMs with GPUs under `flag_idle_gpus`."""

    def __init__(self, module: ModuleType, **policy: Any) -> None:
        super().__init__("flag_idle_gpus", module.sweep, **policy)
        self.gauges = Gauges(lambda: self.now)

    def vm(self, *percent: float, name: str = "train", job: str = "train", **said: Any) -> str:
        """A VM of the job that starts now and whose GPUs do this; gives its id."""
        labels = {"spotwarden-job": job} if job else {}
        gpus = said.pop("gpus", len(percent))
        made = self.cloud.compute.add(name, labels={**labels, **said.pop("labels", {})}, gpus=gpus, **said)
        if is_tpu(said.get("gpu", "")):
            self.gauges.chips.add(made)
        if percent:
            self.gauges.work(made, *percent)
        return made

    def attempt(self, *, owner: str, job: str = "train", **instances: str) -> None:
        """The record of the job's first attempt as `spotwarden submit` writes it, with its ids."""
        record = Attempt(
            job=job,
            number=1,
            state=AttemptState.RUNNING,
            created=self.now,
            updated=self.now,
            owner=owner,
            instances=instances,
        )
        self.store(AttemptRecord(job=job, attempt=1), msgspec.json.encode(record))

    def write_down(self, job: str, **instances: str) -> None:
        """The ids of an open job's nodes, as recovery writes them."""
        watch = Watch(job=job, attempt=1, instances=instances, recorded=True)
        self.cloud.store.write(
            self.layout.build(OpenJob(job=job)), msgspec.json.encode(watch), generation=None
        )

    def ports(self) -> Cloud:
        """The cloud with these metrics."""
        return replace(self.cloud.ports(), metrics=self.gauges)

    def sweep(self, *, about: str = "", cloud: Cloud | None = None) -> Swept:
        """One sweep, with these metrics."""
        return super().sweep(about=about, cloud=cloud or self.ports())

    def ticks(self, **span: float) -> None:
        """Let time pass with a tick each ten minutes."""
        self.sweep_for(every=10 * MINUTE, **span)
