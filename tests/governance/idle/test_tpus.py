"""VMs with TPUs under `flag_idle_gpus`: judged by their own metric, and unknown where that says nothing."""

import pytest
from msgspec.structs import replace

from spotwarden.model.case import CaseState
from spotwarden.model.governance import Remedy
from spotwarden.model.load import GpuLoads
from spotwarden.model.rule_limits import IdleLimits
from spotwarden.notify.templates.subjects import subject
from tests.fakes.world import load
from tests.governance.idle.idle_vms import NOW, POLICY, found, grid, row, vm
from tests.governance.idle.idle_world import IdleWorld

FOUR = {"gpu": "tpu-v6e", "gpus": 4}
CHIPS = vm(gpus=4, gpu="tpu-v6e", machine_type="ct6e-standard-4t")


@pytest.fixture
def world():
    """A project whose policy stops VMs after two idle hours."""
    return IdleWorld(load("flag_idle_gpus"), idle=IdleLimits(remedy=Remedy.STOP))


def test_chips_that_do_nothing_are_told_of_and_stopped(world):
    """As GPUs: after 60 and 105 minutes, then 120."""
    made = world.vm(0.0, 0.0, 0.0, 0.0, **FOUR)
    world.ticks(hours=3)
    assert world.kinds() == ["idle_warning", "idle_warning", "idle_acted"]
    assert world.asked() == [("stop", made)]
    assert [subject([notice]).partition(": ")[2] for notice in world.notices()] == [
        "TPUs are idle", "TPUs are idle", "stopped (idle TPUs)"
    ]  # fmt: skip


def test_one_chip_at_work_keeps_the_vm(world):
    """One of four is enough."""
    world.vm(0.0, 0.0, 80.0, 0.0, **FOUR)
    world.ticks(hours=5)
    assert (world.kinds(), world.asked()) == ([], [])


def test_chips_of_which_nothing_is_heard_are_unknown_and_never_stopped(world):
    """Their owner is told once, in half a day."""
    world.vm(**FOUR)
    world.ticks(hours=12)
    assert world.asked() == []
    [told] = world.notices()
    assert subject([told]).endswith(": can't check its TPUs")


def test_gpus_and_tpus_are_judged_side_by_side(world):
    """Each by its own metric: neither stands in for the other."""
    idle = world.vm(0.0, name="cards", job="cards")
    world.vm(0.0, 0.0, 0.0, 90.0, name="chips", job="chips", **FOUR)
    world.ticks(hours=3)
    assert world.asked() == [("stop", idle)]


def test_a_monitoring_that_does_not_answer_about_tpus_stops_nothing(world):
    """One notice about the project, as for GPUs."""
    world.vm(0.0, 0.0, 0.0, 0.0, **FOUR)
    world.gauges.tpu_problem = "Cloud Monitoring: no answer"
    world.ticks(hours=3)
    assert world.asked() == []
    [told] = world.notices()
    assert told.kind == "idle_unknown"
    assert told.what == "We couldn't check whether any VM has idle TPUs"
    assert told.why == "The project's TPU metrics can't be read, so no VM can be judged idle by its TPUs."


def test_where_nothing_is_told_of_gpus_tpus_are_judged_all_the_same(world):
    """And the case of a GPU that was warned of waits as it is."""
    cards = world.vm(0.0, name="cards", job="cards")
    world.ticks(minutes=110)
    world.gauges.problem = "Cloud Monitoring: no answer"
    chips = world.vm(0.0, 0.0, 0.0, 0.0, name="chips", job="chips", **FOUR)
    world.ticks(hours=3)
    assert world.asked() == [("stop", chips)]
    assert world.case("idle", cards).state is CaseState.WARNED
    [told] = [notice for notice in world.notices() if notice.kind == "idle_unknown"]
    assert told.what == "We couldn't check whether any VM has idle GPUs"
    assert told.why == "The project's GPU metrics can't be read, so no VM can be judged idle by its GPUs."


def test_where_nothing_is_told_of_tpus_gpus_are_judged_all_the_same(world):
    """And the case of a TPU that was warned of waits as it is, until it is seen to work."""
    chips = world.vm(0.0, 0.0, 0.0, 0.0, name="chips", job="chips", **FOUR)
    world.ticks(minutes=110)
    world.gauges.tpu_problem = "Cloud Monitoring: no answer"
    cards = world.vm(0.0, name="cards", job="cards")
    world.ticks(hours=3)
    assert world.asked() == [("stop", cards)]
    assert world.case("idle", chips).state is CaseState.WARNED
    world.gauges.work(chips, 90.0, 90.0, 90.0, 90.0)
    world.gauges.tpu_problem = ""
    world.ticks(minutes=30)
    assert world.case("idle", chips) is None


def test_no_question_about_gpus_is_asked_where_there_are_only_tpus(world):
    """Series that are returned cost money."""
    world.vm(0.0, 0.0, 0.0, 0.0, **FOUR)
    world.ticks(hours=1)
    assert world.gauges.asked == []


def test_who_works_is_asked_ahead_only_where_there_were_gpus(world):
    """The look before tells; the first one that lists a GPU asks after its list."""
    world.settings = replace(world.settings, workers=4)
    world.vm(0.0, 0.0, 0.0, 0.0, **FOUR)
    world.ticks(minutes=10)
    world.gauges.asked.clear()
    world.ticks(minutes=30)
    assert world.gauges.asked == []
    world.vm(90.0, name="cards", job="cards")
    world.ticks(minutes=10)
    assert set(world.gauges.asked) == {(False, 0, 1)}


def test_an_owner_reads_of_chips():
    """Idle for two hours, in the words of a TPU."""
    finding = found(machine=CHIPS)
    assert finding.reason.startswith("All 4 TPU chips of train have been below 5%")
    assert finding.evidence["TPU chips"] == "4 x tpu-v6e, all reporting"
    assert "idle TPU chip-hours" in finding.evidence
    assert finding.title == "has idle TPUs"
    assert finding.evidence["cost while idle"].startswith("not known: ")
    assert finding.todo.startswith("use the TPU chips, or stop the VM")
    assert "GPU" not in finding.reason + finding.todo + "".join(finding.evidence)


def test_an_owner_is_told_what_reports_tpus():
    """Not the agent for GPUs."""
    silent = GpuLoads(grid=grid(POLICY, NOW))
    finding = found(machine=CHIPS, loads=silent)
    assert finding.reason == "The TPU chips of train report no metrics."
    assert "AI Telemetry Collector" in finding.todo
    assert "Ops Agent" not in finding.todo


def test_a_chip_that_has_not_reported_is_called_a_chip():
    """Of one chip of four nobody can tell what the three do."""
    finding = found(machine=CHIPS, rows={"11": row(gpus=3)})
    assert "3 of 4 TPU chips reported" in finding.reason
