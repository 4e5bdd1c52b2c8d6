"""GPU metrics that another VM writes in a VM's name: nothing ties a point's instance ID to who wrote it."""

from spotwarden.model.finding import Reading
from spotwarden.model.governance import Remedy
from tests.governance.idle.idle_vms import IDLE, found, row, vm, with_idle

WORKS = (90.0,) * len(IDLE)
STOPS = with_idle(remedy=Remedy.STOP)


def test_forged_idle_metrics_make_no_busy_vm_idle():
    """Its own series is read beside the forged one, and the busiest of them counts."""
    assert found(machine=vm(), policy=STOPS, rows={"11": row(WORKS, gpus=2)}) is None


def test_forged_idle_metrics_of_a_vm_that_reports_none_make_it_idle():
    """Without an agent of its own nothing contradicts them: its owner is warned first, as always."""
    assert found(machine=vm(), policy=STOPS, rows={}).reading is Reading.UNKNOWN
    forged = found(machine=vm(), policy=STOPS, rows={"11": row(IDLE)})
    assert (forged.reading, forged.limits.remedy) == (Reading.BAD, Remedy.STOP)
