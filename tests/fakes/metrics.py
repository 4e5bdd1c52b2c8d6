"""Cloud Monitoring in memory: what a test has set."""

from collections.abc import Collection, Mapping
from datetime import datetime

from spotwarden.model.load import Buckets, GpuLoads, VmLoad
from tests.fakes.trouble import Trouble


class MemoryMetrics:
    """`Metrics`: `load` and `tpu` are the rows of `gpus` and `tpus` by instance id, `cpu` percents.

    `lines` are the last log lines. `problem` and `tpu_problem` are why it tells nothing of GPUs and of TPUs.
    """

    def __init__(self) -> None:
        self.load: dict[str, VmLoad] = {}
        self.tpu: dict[str, VmLoad] = {}
        self.cpu: dict[str, float] = {}
        self.lines: dict[str, datetime] = {}
        self.problem = self.tpu_problem = ""
        self.trouble = Trouble()

    def gpus(self, grid: Buckets, *, ids: Collection[str] = (), counts: bool = True) -> GpuLoads:
        """As `Metrics.gpus`."""
        found = {key: _newest(row, grid.count) for key, row in self.load.items() if not ids or key in ids}
        rows = found if counts else {key: VmLoad(top=row.top) for key, row in found.items()}
        return self.trouble.around("gpus", "", lambda: GpuLoads(grid=grid, rows=rows, problem=self.problem))

    def tpus(self, grid: Buckets, *, ids: Collection[str]) -> GpuLoads:
        """As `Metrics.tpus`; the rows are those of `tpu`."""
        rows = {key: _newest(row, grid.count) for key, row in self.tpu.items() if key in ids}
        return self.trouble.around(
            "tpus", "", lambda: GpuLoads(grid=grid, rows=rows, problem=self.tpu_problem)
        )

    def cpus(self, since: datetime, until: datetime, *, ids: Collection[str] = ()) -> Mapping[str, float]:
        """As `Metrics.cpus`."""
        del since, until
        found = {key: cpu for key, cpu in self.cpu.items() if not ids or key in ids}
        return self.trouble.around("cpus", "", lambda: found)

    def logged(
        self, since: datetime, until: datetime, *, ids: Collection[str] = ()
    ) -> Mapping[str, datetime]:
        """As `Metrics.logged`."""
        found = {
            key: at for key, at in self.lines.items() if since <= at <= until and (not ids or key in ids)
        }
        return self.trouble.around("logged", "", lambda: found)


def _newest(row: VmLoad, count: int) -> VmLoad:
    """The row as a shorter grid shows it, which ends where the other does."""
    return VmLoad(top=row.top[-count:], points=row.points[-count:], gpus=row.gpus[-count:])
