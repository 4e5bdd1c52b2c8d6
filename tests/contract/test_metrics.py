"""What Cloud Monitoring tells of VMs: the adapter against the local cloud's Monitoring, over HTTP."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from localcloud.clock import Clock
from localcloud.faults import Rule
from localcloud.monitoring import MonitoringService
from localcloud.ports import Point
from spotwarden.gcp.monitoring import CloudMonitoring
from spotwarden.model.load import Buckets, VmLoad
from tests.contract.retry_policies import QUICK, SHORT
from tests.localcloud.stand import PROJECT, Stand

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
GRID = Buckets(end=NOW, step=5 * MINUTE, count=3)
AGENT = "agent.googleapis.com/gpu/utilization"
DCGM = "workload.googleapis.com/gpu.dcgm.utilization"
CPU = "compute.googleapis.com/instance/cpu/utilization"
LINES = "logging.googleapis.com/log_entry_count"
VM, OTHER = "4000000000000000001", "4000000000000000002"


@dataclass
class Fixed(Clock):
    """A clock that stands still."""

    def now(self) -> datetime:
        """The moment."""
        return NOW


class Monitored:
    """A Monitoring with an adapter in front, and VMs that report to it."""

    def __init__(self, stand: Stand) -> None:
        self.stand = stand
        self._service = stand.call(MonitoringService, project=PROJECT, clock=Fixed())
        stand.serve([self._service])
        self.metrics = CloudMonitoring(project=PROJECT, endpoint=f"http://{stand.grpc}", retry_policy=QUICK)

    def tell(self, metric: str, value: float, ago: float, vm: str = VM, **labels: str) -> None:
        """Write one point, so many minutes old."""
        point = Point(
            metric=metric,
            metric_labels=labels,
            resource="gce_instance",
            resource_labels={"project_id": PROJECT, "instance_id": vm, "zone": "us-central1-a"},
            value=value,
            at=NOW - ago * MINUTE,
        )
        self.stand.call(self._service.measure, point)

    def chip(self, number: int, values: dict[float, float], worker: str = VM) -> None:
        """Points of one TPU chip, as `gpu`."""
        for ago, value in sorted(values.items(), reverse=True):
            point = Point(
                metric="tpu.googleapis.com/accelerator/duty_cycle",
                metric_labels={"accelerator_id": f"{worker}-{number}"},
                resource="tpu.googleapis.com/GceTpuWorker",
                resource_labels={
                    "resource_container": PROJECT,
                    "location": "us-east5-b",
                    "worker_id": worker,
                },
                value=value,
                at=NOW - ago * MINUTE,
            )
            self.stand.call(self._service.measure, point)

    def gpu(self, number: int, values: dict[float, float], vm: str = VM, metric: str = AGENT) -> None:
        """Points of one GPU: how many minutes ago → utilisation."""
        for ago, value in sorted(values.items(), reverse=True):
            self.tell(metric, value, ago, vm, gpu_number=str(number), model="L4", uuid=f"GPU-{vm}-{number}")


@pytest.fixture
def monitored() -> Iterator[Monitored]:
    """A Monitoring without points."""
    stand = Stand()
    found = Monitored(stand)
    yield found
    found.metrics.close()
    stand.close()


def each_minute(value: float, start: int = 15) -> dict[float, float]:
    """A point a minute, up to now."""
    return {float(ago): value for ago in range(start)}


def row(monitored: Monitored, vm: str = VM) -> VmLoad:
    """The row of one VM."""
    loads = monitored.metrics.gpus(GRID)
    assert loads.problem == ""
    assert loads.grid == GRID
    return loads.rows[vm]


def test_a_vm_is_one_row_of_buckets(monitored: Monitored):
    """Highest value, points and GPUs of each, oldest first; a point at a border is of the older bucket."""
    monitored.gpu(0, {14: 1, 11: 2, 10: 3, 9: 40, 4: 5.5, 0: 5.25})
    assert row(monitored) == VmLoad(top=(3, 40, 5.5), points=(3, 1, 2), gpus=(1, 1, 1))


def test_the_busiest_gpu_speaks_for_the_vm(monitored: Monitored):
    """99, 98 and 1 percent: this VM is busy, in whatever order its series come."""
    for number, value in enumerate((1, 99, 98, 1)):
        monitored.gpu(number, each_minute(value))
    assert row(monitored) == VmLoad(top=(99, 99, 99), points=(5, 5, 5), gpus=(4, 4, 4))


def test_the_gpu_that_says_least_counts(monitored: Monitored):
    """One that is silent for a while is not covered by the others' many points."""
    monitored.gpu(0, each_minute(0))
    monitored.gpu(1, {14: 0, 4: 0, 3: 0})
    assert row(monitored) == VmLoad(top=(0, 0, 0), points=(1, 5, 2), gpus=(2, 1, 2))


def test_an_agent_that_was_restarted_makes_no_second_gpu(monitored: Monitored):
    """Another uuid, the same number: one GPU, with the points of both series together."""
    for ago in (4, 3):
        monitored.tell(AGENT, 0, ago, gpu_number="0", model="L4", uuid="GPU-old")
    for ago in (2, 1, 0):
        monitored.tell(AGENT, 70, ago, gpu_number="0", model="NVIDIA L4", uuid="GPU-new")
    assert row(monitored) == VmLoad(top=(-1, -1, 70), points=(-1, -1, 5), gpus=(-1, -1, 1))


def test_vms_are_told_apart_by_id(monitored: Monitored):
    """Never by name: two VMs of one name, in two zones, have two rows."""
    monitored.gpu(0, each_minute(78))
    monitored.gpu(0, each_minute(0), vm=OTHER)
    assert row(monitored, VM).top == (78, 78, 78)
    assert row(monitored, OTHER).top == (0, 0, 0)


def test_silence_is_not_zero(monitored: Monitored):
    """A bucket without a point is unknown; a VM that never reported has no row."""
    monitored.gpu(0, {12: 0})
    assert row(monitored) == VmLoad(top=(0, -1, -1), points=(1, -1, -1), gpus=(1, -1, -1))
    assert OTHER not in monitored.metrics.gpus(GRID).rows


def test_points_outside_the_grid_do_not_count(monitored: Monitored):
    """Older ones and newer ones."""
    monitored.gpu(0, {16: 90, 15: 90, 14: 1, 0: 1, -1: 90})
    assert row(monitored).top == (1, -1, 1)


def test_a_later_source_is_for_vms_that_the_earlier_lack(monitored: Monitored):
    """The Data Center GPU Manager tells fractions; of a VM that has both the Ops Agent is believed."""
    monitored.gpu(0, each_minute(10))
    monitored.gpu(0, each_minute(0.9), metric=DCGM)
    monitored.gpu(0, each_minute(0.042), vm=OTHER, metric=DCGM)
    monitored.gpu(1, each_minute(0.0), vm=OTHER, metric=DCGM)
    assert row(monitored, VM).top == (10, 10, 10)
    assert row(monitored, OTHER) == VmLoad(top=(4.2, 4.2, 4.2), points=(5, 5, 5), gpus=(2, 2, 2))


def test_tpus_have_rows_of_their_own(monitored: Monitored):
    """The busiest chip, points and chips of each bucket, by the worker's id; GPUs know nothing of them."""
    monitored.chip(0, each_minute(7))
    monitored.chip(1, each_minute(40))
    monitored.chip(0, each_minute(90), worker=OTHER)
    loads = monitored.metrics.tpus(GRID, ids=[VM])
    assert (loads.problem, loads.grid) == ("", GRID)
    assert dict(loads.rows) == {VM: VmLoad(top=(40, 40, 40), points=(5, 5, 5), gpus=(2, 2, 2))}
    assert monitored.metrics.gpus(GRID).rows == {}


def test_a_tpu_worker_that_is_no_vm_of_ours_is_unknown(monitored: Monitored):
    """Google may call workers by another id than the VM's: then nothing is known, never zero."""
    monitored.chip(0, each_minute(0), worker="t1v-n-0123-w-0")
    assert monitored.metrics.tpus(GRID, ids=[VM]).rows == {}


def test_without_counts_only_the_highest_value_is_asked_for(monitored: Monitored):
    """The row has nothing else."""
    monitored.gpu(0, each_minute(3))
    loads = monitored.metrics.gpus(GRID, counts=False)
    assert loads.rows == {VM: VmLoad(top=(3, 3, 3))}


@pytest.mark.parametrize("more", [0, 70, 2000])
def test_some_ids_are_those(monitored: Monitored, more: int):
    """Asked for by a filter, by several, or, of very many, out of everything: the answer is the same."""
    for vm in (VM, OTHER, "4000000000000000003"):
        monitored.gpu(0, each_minute(1), vm=vm)
        monitored.tell(CPU, 0.5, 1, vm)
        monitored.tell(LINES, 1, 1, vm, log="syslog", severity="DEFAULT")
    ids = [VM, OTHER, *(str(number) for number in range(1, more + 1))]
    hour_ago = NOW - 60 * MINUTE
    assert set(monitored.metrics.gpus(GRID, ids=ids).rows) == {VM, OTHER}
    assert set(monitored.metrics.gpus(GRID, ids=ids, counts=False).rows) == {VM, OTHER}
    assert set(monitored.metrics.cpus(hour_ago, NOW, ids=ids)) == {VM, OTHER}
    assert set(monitored.metrics.logged(hour_ago, NOW, ids=ids)) == {VM, OTHER}


def test_what_is_no_id_is_nobody(monitored: Monitored):
    """And not everybody."""
    monitored.gpu(0, each_minute(1))
    assert monitored.metrics.gpus(GRID, ids=['x") OR ("']).rows == {}
    assert monitored.stand.recorder.exchanges == []


def test_a_cpu_is_told_in_percent(monitored: Monitored):
    """The highest in that time, and not before it."""
    for ago, value in ((31, 0.9), (20, 0.02), (1, 0.031)):
        monitored.tell(CPU, value, ago, instance_name="vm")
    found = monitored.metrics.cpus(NOW - 30 * MINUTE, NOW)
    assert found == pytest.approx({VM: 3.1})


def test_a_log_line_is_known_to_the_bucket(monitored: Monitored):
    """Never told older than it is: a bucket's end is not before its lines."""
    monitored.tell(LINES, 3, 100, log="syslog", severity="DEFAULT")
    monitored.tell(LINES, 1, 61, log="train", severity="ERROR")
    found = monitored.metrics.logged(NOW - 120 * MINUTE, NOW)
    assert timedelta(0) <= found[VM] - (NOW - 61 * MINUTE) <= 4 * MINUTE


def test_a_line_of_now_is_not_of_the_future(monitored: Monitored):
    """Nor is one before the time that was asked for told at all."""
    monitored.tell(LINES, 1, 0, log="syslog", severity="DEFAULT")
    monitored.tell(LINES, 1, 60, OTHER, log="syslog", severity="DEFAULT")
    assert monitored.metrics.logged(NOW - 31 * MINUTE, NOW) == {VM: NOW}


@pytest.mark.parametrize(
    "log", ["cloudaudit.googleapis.com/activity", "cloudaudit.googleapis.com%2Fsystem_event", "OSConfigAgent"]
)
def test_what_google_writes_about_a_vm_is_no_line_of_its_job(monitored: Monitored, log: str):
    """Our own labels would show in the audit log as a sign of life."""
    monitored.tell(LINES, 1, 1, log=log, severity="INFO")
    assert monitored.metrics.logged(NOW - 30 * MINUTE, NOW) == {}


def test_a_metric_that_was_never_written_has_no_rows(monitored: Monitored):
    """That is no problem: it is what a project without agents looks like."""
    loads = monitored.metrics.gpus(GRID)
    assert (loads.rows, loads.problem) == ({}, "")
    assert monitored.metrics.cpus(NOW - MINUTE, NOW) == {}
    assert monitored.metrics.logged(NOW - MINUTE, NOW) == {}


def test_answers_of_many_pages_are_put_together(monitored: Monitored, monkeypatch: pytest.MonkeyPatch):
    """Also where a series is cut in two by the end of a page."""
    monkeypatch.setattr("spotwarden.gcp.series.POINTS", 7)
    for vm in range(1, 21):
        monitored.gpu(0, each_minute(float(vm)), vm=str(vm))
    rows = monitored.metrics.gpus(GRID).rows
    assert {key: load.top for key, load in rows.items()} == {str(vm): (float(vm),) * 3 for vm in range(1, 21)}


@pytest.mark.parametrize("outage", [{"status": 429}, {"status": 503}, {"cut": True}])
def test_an_outage_is_waited_for(monitored: Monitored, outage: dict[str, object]):
    """The answer is whole in the end."""
    monitored.gpu(0, each_minute(1))
    add_fault(monitored, count=2, **outage)
    assert row(monitored).top == (1, 1, 1)


def test_an_outage_that_lasts_is_the_problem(monitored: Monitored):
    """Nothing is known then, of any VM."""
    monitored.gpu(0, each_minute(0))
    add_fault(monitored, status=503)
    impatient = CloudMonitoring(
        project=PROJECT, endpoint=f"http://{monitored.stand.grpc}", retry_policy=SHORT
    )
    loads = impatient.gpus(GRID)
    impatient.close()
    assert loads.rows == {}
    assert "503" in loads.problem


def add_fault(monitored: Monitored, **rule: object) -> None:
    """Put a fault in force."""
    monitored.stand.call(monitored.stand.faults.add, Rule(service="monitoring", **rule))
