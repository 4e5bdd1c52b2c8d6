"""Stops of VMs with local SSDs: their data is discarded and everybody is told, or nothing is tried."""

import json
from datetime import timedelta

import msgspec
import pytest

from spotwarden.layout import Heartbeat, JobFileName
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.rule_limits import IdleLimits, OrphanLimits
from tests.fakes.trouble import rejected
from tests.fakes.world import load
from tests.governance.made_up import MadeUp, Said
from tests.governance.reap.reap_world import ReapWorld

GRACE = timedelta(minutes=15)
STOP = IdleLimits(remedy=Remedy.STOP, grace=GRACE)
RIPE = Said(ripe=True)
KEEP = GovernanceLimits(ops="ops@x.org", discard_local_ssd=False)
DISCARDED = "the data on its local SSDs is discarded"


def audited(world, action):
    """What the audit says of these actions."""
    store = world.cloud.store
    found = [store.read(entry.name) for entry in store.entries("spotwarden/audit/")]
    records = [record for one in found if one for record in msgspec.json.decode(one.data)]
    return [record for record in records if record["action"] == action]


def test_a_vm_with_local_ssds_is_stopped_and_all_say_what_is_lost():
    """The warning before, the audit while, the notice after."""
    world = MadeUp(STOP)
    vm = world.vm(said=RIPE, local_ssds=2)
    world.sweep()
    assert DISCARDED in world.notices()[0].then
    world.sweep_for(minutes=20)
    assert (world.asked(), world.status(vm)) == ([("stop", vm)], "TERMINATED")
    (stop,) = audited(world, "StopInstance")
    assert DISCARDED in stop["why"]
    assert stop["detail"]["discard_local_ssd"] is True
    assert world.kinds() == ["idle_warning", "idle_acted"]
    assert "local SSDs is discarded" in world.notices()[-1].what


def test_a_vm_without_local_ssds_is_stopped_as_ever():
    """Nobody is alarmed, and nothing is asked for that is not needed; the policy's word is about others."""
    world = MadeUp(STOP, governance=KEEP)
    vm = world.vm(said=RIPE)
    world.sweep_for(minutes=30)
    assert world.asked() == [("stop", vm)]
    assert not [notice for notice in world.notices() if "SSD" in notice.then + notice.what]
    (stop,) = audited(world, "StopInstance")
    assert stop["detail"]["discard_local_ssd"] is False


def test_where_the_policy_keeps_their_data_nothing_is_tried_and_ops_are_told_once():
    """A day of sweeps: one warning to the owner, which promises no stop, and one notice to ops."""
    world = MadeUp(STOP, governance=KEEP)
    vm = world.vm(said=RIPE, local_ssds=2)
    world.sweep_for(hours=24)
    assert (world.asked(), world.status(vm)) == ([], "RUNNING")
    assert audited(world, "StopInstance") == []
    warning, withheld = world.notices()
    assert (warning.kind, warning.due) == ("idle_warning", None)
    assert "no action is taken, because the policy keeps the data on local SSDs" in warning.then
    assert (withheld.kind, withheld.owner) == ("idle_failing", "ops@x.org")
    assert "gcloud compute instances stop vm --zone=us-central1-a --discard-local-ssd=true" in withheld.todo


def test_a_policy_that_keeps_their_data_holds_after_the_warning_too():
    """The stop was announced in earnest; the newer word counts."""
    world = MadeUp(STOP)
    world.vm(said=RIPE, local_ssds=2)
    world.sweep()
    world.set_policy(governance=KEEP)
    world.sweep_for(hours=1)
    assert world.asked() == []
    assert "idle_failing" in world.kinds()


def test_a_gang_is_withheld_for_the_sake_of_one_node():
    """Half a gang is no use."""
    world = MadeUp(STOP, governance=KEEP)
    beside = world.vm("beside", said=None, local_ssds=1)
    world.vm(said=Said(ripe=True, beside=(beside,)))
    world.sweep_for(hours=1)
    assert world.asked() == []


def test_a_delete_is_not_withheld():
    """With the VM its data goes in any case, and the warning says that it is deleted."""
    world = MadeUp(OrphanLimits(grace=GRACE), governance=KEEP)
    vm = world.vm(said=RIPE, local_ssds=2)
    world.sweep_for(minutes=30)
    assert world.asked() == [("delete", vm)]


def test_once_the_policy_allows_it_the_owner_is_warned_anew_before_the_stop():
    """The warning so far promised that nothing would be done."""
    world = MadeUp(STOP, governance=KEEP)
    vm = world.vm(said=RIPE, local_ssds=2)
    world.sweep_for(hours=1)
    world.set_policy(governance=GovernanceLimits(ops="ops@x.org"))
    world.sweep()
    assert world.asked() == []
    assert world.kinds()[-1] == "idle_warning"
    world.sweep_for(minutes=20)
    assert world.asked() == [("stop", vm)]


@pytest.fixture
def training():
    """A job whose loss is no number, on a VM with local SSDs; it asks for an early stop."""
    world = ReapWorld(load("reap_vms"))
    world.sweep()
    world.store(JobFileName(job="test-vm"), b"[rules.early_stop]\nunreal = true\n")
    world.vm_id = world.job(local_ssds=2)["test-vm"]
    said = {"step": 10, "attempt": 1, "instance_id": world.vm_id, "metrics": {"loss": "nan"}}
    line = json.dumps(said).encode()
    world.store(Heartbeat(job="test-vm", node="test-vm"), line)
    return world


def ledger(world):
    """The state of the job's newest record."""
    names = [entry.name for entry in world.cloud.store.entries(world.layout.attempts("test-vm"))]
    return msgspec.json.decode(world.cloud.store.read(max(names)).data, type=Attempt).state


def test_an_early_stop_that_the_policy_withholds_closes_no_job(training):
    """Closed, it would look like an orphan, and be deleted with all its disks."""
    training.set_policy(governance=KEEP)
    training.sweep_for(hours=1)
    assert (training.asked(), ledger(training)) == ([], AttemptState.RUNNING)
    assert training.kinds() == ["early_stop_warning", "early_stop_failing"]


def test_an_early_stop_that_is_refused_leaves_no_orphan(training):
    """Its job is closed, and its VM is for the early stop to stop, however long that takes."""
    training.cloud.compute.trouble.order("stop", rejected("forbidden", "no"), times=1000)
    training.sweep_for(hours=3)
    assert (ledger(training), training.status(training.vm_id)) == (AttemptState.STOPPED, "RUNNING")
    assert not [kind for kind in training.kinds() if kind.startswith("orphan")]
    assert training.asked() == []
    training.cloud.compute.trouble.calm()
    training.sweep_for(minutes=30)
    assert training.asked() == [("stop", training.vm_id)]


def test_an_early_stop_that_somebody_keeps_after_its_job_was_closed_leaves_no_orphan(training):
    """A veto is a veto on the VM: nothing else deletes it meanwhile."""
    training.cloud.compute.trouble.order("stop", rejected("forbidden", "no"), times=1000)
    training.sweep_for(minutes=30)
    until = training.now + timedelta(hours=4)
    training.change_case("early_stop", "test-vm", keep_until=until, kept_by="ann@x.org", state="suspected")
    training.sweep_for(hours=3)
    assert training.asked() == []
    assert not [kind for kind in training.kinds() if kind.startswith("orphan")]
