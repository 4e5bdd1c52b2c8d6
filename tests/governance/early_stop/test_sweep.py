"""An early stop: from the heartbeat that says it to the VM that stands still and the job that is closed."""

import json

import msgspec
import pytest

from spotwarden.engine.executor.on_bucket import CLOSINGS
from spotwarden.layout import Heartbeat, JobFileName, MetricsFile
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.case import CaseState
from spotwarden.model.governance import Mode
from spotwarden.model.notice import Way
from spotwarden.model.rule_limits import EarlyStopLimits
from spotwarden.recovery.folder.chain import told
from tests.fakes.trouble import conflict, rejected, unanswered
from tests.fakes.world import load
from tests.governance.reap.reap_world import Calls, ReapWorld

ASKED = b'[rules.early_stop]\nunreal = true\nmetric = "val"\npatience = 100\n'


@pytest.fixture
def world():
    """A job that asks for an early stop in its job.toml; the policy asks for none."""
    world = ReapWorld(load("reap_vms"))
    world.sweep()
    world.store(JobFileName(job="test-vm"), ASKED)
    return world


def measure(world, step=10, **metrics):
    """The job kit's heartbeat, and its line in the file of metrics."""
    said = {"step": step, "attempt": 1, "instance_id": world.id_of()}
    line = json.dumps({**said, "metrics": metrics}).encode()
    world.store(Heartbeat(job="test-vm", node="test-vm"), line)
    world.store(MetricsFile(job="test-vm", node="test-vm", attempt=1), line + b"\n")


def ledger(world, number=1):
    """An attempt as it is on record, with how it was stopped."""
    names = [entry.name for entry in world.cloud.store.entries(world.layout.attempts("test-vm"))]
    records = [msgspec.json.decode(world.cloud.store.read(name).data, type=Attempt) for name in names]
    return next(one for one in told(records) if one.number == number)


class Better(Calls):
    """A cloud in which the loss is a number again before the VMs are listed for the second time."""

    def __init__(self, world):
        super().__init__(world.cloud.ports())
        self._world = world

    def _next(self, call, about):
        if call == "fleet" and self.of("fleet"):
            measure(self._world, step=11, loss=0.5)
        super()._next(call, about)


def test_a_loss_that_is_no_number_ends_the_job_with_that_reason(world):
    """Warned with buttons, stopped five minutes later; the ledger says why, before the VM goes."""
    vm = world.job()["test-vm"]
    measure(world, loss="nan")
    world.sweep()
    assert world.kinds() == ["early_stop_warning"]
    assert set(world.notices()[0].ways) == {Way.KEEP, Way.STOP}
    assert "loss of test-vm at step 10 is nan" in world.notices()[0].why
    world.wait(minutes=4)
    world.sweep()
    assert world.asked() == []
    world.wait(minutes=1)
    world.sweep()
    assert world.asked() == [("stop", vm)]
    assert ledger(world).state is AttemptState.STOPPED
    assert "loss of test-vm at step 10 is nan" in ledger(world).reason
    world.sweep_for(minutes=30)
    # Its disks are paid for still: that is told, and nothing done.
    assert world.kinds() == ["early_stop_warning", "early_stop_acted", "orphan_unknown"]
    assert world.case("early_stop", "test-vm") is None
    assert world.asked() == [("stop", vm)]


def test_a_loss_that_is_a_number_again_is_cleared(world):
    """A spike that has passed by the deadline ends nothing."""
    world.job()
    measure(world, loss="nan")
    world.sweep()
    measure(world, step=11, loss=0.5)
    world.sweep_for(hours=1)
    # What it asks for beside that, a metric val, is never measured: that is told after it.
    assert world.kinds() == ["early_stop_warning", "early_stop_cleared", "early_stop_unknown"]
    assert (world.asked(), ledger(world).state) == ([], AttemptState.RUNNING)


def test_a_loss_that_becomes_one_between_the_two_looks_of_a_sweep_is_left_alone(world):
    """The evidence is read again in the last moment."""
    world.job()
    measure(world, loss="nan")
    world.sweep()
    world.wait(minutes=5)
    counted = Better(world)
    world.sweep(cloud=counted.cloud)
    assert len(counted.of("fleet")) == 2
    assert (world.asked(), ledger(world).state) == ([], AttemptState.RUNNING)


def test_no_better_for_its_patience_ends_it_too(world):
    """Two heartbeats, 100 steps apart, the second no better."""
    world.job()
    measure(world, val=0.5)
    name = MetricsFile(job="test-vm", node="test-vm", attempt=1)
    wrote = {"instance_id": world.id_of()}
    rows = [{**wrote, "step": step, "metrics": {"val": val}} for step, val in ((10, 0.5), (109, 0.6))]
    world.store(name, b"\n".join(json.dumps(row).encode() for row in rows))
    world.sweep()
    assert world.kinds() == []
    rows.append({**wrote, "step": 110, "metrics": {"val": 0.5}})
    world.store(name, b"\n".join(json.dumps(row).encode() for row in rows))
    world.sweep()
    assert world.kinds() == ["early_stop_warning"]


def test_whoever_keeps_it_keeps_it_running(world):
    """A veto that comes before the plan closes nothing."""
    world.job()
    measure(world, loss="nan")
    world.sweep()
    world.change_case("early_stop", "test-vm", keep_until=world.now.replace(year=world.now.year + 1))
    world.sweep_for(hours=1)
    assert (world.asked(), ledger(world).state) == ([], AttemptState.RUNNING)


def test_a_stop_that_is_refused_is_tried_again_though_the_job_is_closed(world):
    """The ledger says that it is over, and its VM would cost on."""
    vm = world.job()["test-vm"]
    measure(world, loss="nan")
    world.sweep()
    world.wait(minutes=5)
    world.cloud.compute.trouble.order("stop", rejected("forbidden"), times=1)
    world.sweep()
    assert (world.status(vm), ledger(world).state) == ("RUNNING", AttemptState.STOPPED)
    assert world.case("early_stop", "test-vm").state is CaseState.DUE
    world.sweep_for(minutes=10)
    assert world.asked() == [("stop", vm)]
    assert world.kinds() == ["early_stop_warning", "early_stop_acted"]


@pytest.mark.parametrize(("trouble", "times"), [(conflict(), CLOSINGS), (unanswered(after_work=False), 1)])
def test_a_ledger_that_cannot_be_closed_now_keeps_its_vm_until_it_is(world, trouble, times):
    """Closed first, then stopped: whoever wrote the ledger meanwhile is looked at by the next sweep."""
    vm = world.job()["test-vm"]
    measure(world, loss="nan")
    world.sweep()
    world.wait(minutes=5)
    world.cloud.store.trouble.order("write", trouble, about="attempts/2", times=times)
    world.sweep()
    assert world.asked() == []
    world.sweep_for(minutes=5)
    assert (world.asked(), ledger(world).state) == ([("stop", vm)], AttemptState.STOPPED)


class Claimed(Calls):
    """A cloud in which recovery claims the next attempt just before the newest one is closed."""

    def __init__(self, world):
        super().__init__(world.cloud.ports())
        self._world = world

    def _next(self, call, about):
        if call == "write" and str(about).endswith("attempts/2.json") and not self.of("claimed"):
            self.made.append(("claimed", about))
            self._world.attempt(number=2, state=AttemptState.CLAIMED)
        super()._next(call, about)


def test_an_attempt_that_is_claimed_at_the_same_moment_is_closed_as_well(world):
    """A preemption just then must not bring it back: its ledger ends with the attempt that came meanwhile."""
    world.job()
    measure(world, loss="nan")
    world.sweep()
    world.wait(minutes=5)
    claimed = Claimed(world)
    world.sweep(cloud=claimed.cloud)
    assert claimed.of("claimed")
    assert ledger(world, 2).state is AttemptState.STOPPED
    assert ledger(world, 2).reason == "loss of test-vm at step 10 is nan, which is not a valid number"


def test_a_job_whose_ledger_nobody_has_written_yet_is_stopped_all_the_same(world):
    """There is nothing to close; recovery reads in the operation log who stopped it."""
    vm = world.vm()
    world.watch("test-vm", {"test-vm": vm}, number=0)
    world.store(
        Heartbeat(job="test-vm", node="test-vm"),
        f'{{"instance_id": "{world.id_of()}", "metrics": {{"loss": NaN}}}}'.encode(),
    )
    world.sweep_for(minutes=10)
    assert world.asked() == [("stop", vm)]
    assert not world.cloud.store.entries(world.layout.attempts("test-vm"))


def test_observing_says_what_it_would_do(world):
    """Nothing is written into the ledger either."""
    world.set_policy(mode=Mode.OBSERVE)
    world.job()
    measure(world, loss="nan")
    world.sweep_for(hours=1)
    assert "no action is taken" in world.notices()[0].then
    assert (world.asked(), ledger(world).state) == ([], AttemptState.RUNNING)


def test_a_job_that_nobody_asked_for_goes_on():
    """By default no metric ends anything."""
    world = ReapWorld(load("reap_vms"), early_stop=EarlyStopLimits())
    world.job()
    measure(world, loss="nan")
    world.sweep_for(minutes=30)
    assert (world.kinds(), world.asked()) == ([], [])
