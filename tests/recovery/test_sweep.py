"""recover_spot over the ports: what becomes of each marker."""

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import CreateScript, MarkerName
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Operations
from spotwarden.model.limits import AdmissionLimits
from spotwarden.model.notice import Notice
from spotwarden.model.policy import Mode
from spotwarden.recovery.observed.fates import Fate
from tests.fakes.trouble import conflict, rejected, unanswered
from tests.simulation.mutations import Bent


def test_a_preempted_job_comes_back(world):
    """One attempt, one new VM, its id registered, the marker gone, its owner told."""
    world.preempt()
    world.sweep_until_quiet()
    (attempt,) = world.attempts()
    assert (attempt.number, attempt.state) == (2, AttemptState.RUNNING)
    assert world.vms() == [attempt.instances["test-vm"]] != [world.first]
    assert world.cloud.store.read("test-vm/metadata/test-vm-instance-id").data.decode() == world.vms()[0]
    assert world.names("preempted-jobs/") == []
    assert world.notices() == ["recovered"]


def test_a_second_preemption_makes_a_third_attempt(world):
    """Each VM that is taken is answered once."""
    for _ in range(2):
        world.preempt()
        world.sweep_until_quiet()
        world.wait(minutes=10)
    assert [attempt.number for attempt in world.attempts()] == [2, 3]
    assert len(world.vms()) == 1


def test_the_new_vm_knows_its_attempt(world):
    """Labels tell job and attempt to whoever lists the VMs."""
    world.preempt()
    world.sweep_until_quiet()
    (vm,) = world.cloud.compute.instances().items
    assert (vm.job, vm.attempt) == ("test-vm", 2)


def test_a_quiet_tick_reads_nothing_of_a_job_that_runs(world):
    """A job that runs and is on record costs no look: the lists are enough."""
    for _ in range(3):
        world.sweep()
    world.cloud.store.trouble.order("read", unanswered(after_work=False), about="^test-vm/")
    assert world.sweep() == ((), (), False)


def test_an_event_whose_marker_is_gone_asks_compute_engine_for_nothing(world):
    """A doubled event costs one listing of the bucket."""
    world.cloud.compute.trouble.order("instances", unanswered(after_work=False))
    assert world.sweep(about="test-vm") == ((), (), False)


def test_a_marker_of_an_ended_job_is_cleared_and_nothing_starts(world):
    """The status code is the job's own word."""
    world.ended()
    world.preempt()
    world.sweep_until_quiet()
    assert world.attempts() == []
    assert world.names("preempted-jobs/") == []


def test_an_empty_marker_is_enough(world):
    """The name alone leads to the job and its registered instance."""
    world.preempt(b"  \n")
    world.sweep_until_quiet()
    assert len(world.attempts()) == 1


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("other-vm", b"", "no job has this name"),
        ("test-vm", b'{"job": "test-', "its content cannot be read"),
        ("test-vm", b'{"job": "nobody"}', "'nobody', which has no folder"),
        ("test-vm", b'{"job": "../x"}', "'../x', which has no folder"),
        ("test-vm", b'{"node": "other-vm"}', "it names the node 'other-vm'"),
        ("test-vm", b"[]", "its content cannot be read"),
        ("test-vm", b"\xff\xfe", "its content cannot be read"),
        ("test-vm", b'{"x": "' + b"x" * 70_000 + b'"}', "its content cannot be read"),
        ("test-vm", b'{"instance_id": "' + b"9" * 101 + b'"}', "its instance_id has 101 characters"),
        ("test-vm", b'{"job": "' + b"x" * 60_000 + b'"}', "its job has 60000 characters"),
        ("../test-vm", b"", "'../test-vm' is not a valid name"),
        ("Test_VM", b"", "'Test_VM' is not a valid name"),
    ],
)
def test_a_marker_that_cannot_be_used_is_put_aside_with_its_reason(world, name, body, reason):
    """Nothing is dropped, nothing is guessed, and ops is told."""
    world.store(f"preempted-jobs/{name}", body)
    world.sweep_until_quiet()
    assert reason in world.quarantined()[name]
    assert world.names("preempted-jobs/") == []
    assert world.vms() == [world.first]
    assert world.notices() == ["quarantined"]


@pytest.mark.parametrize("name", ["", "old/"])
def test_a_folder_is_no_marker(world, name):
    """The console writes such an object for each folder that somebody makes: ops needn't hear of it."""
    world.store(f"preempted-jobs/{name}", b"")
    world.preempt()
    world.sweep_until_quiet()
    assert world.names("preempted-jobs/") == [f"preempted-jobs/{name}"]
    assert world.quarantined() == {}
    assert world.notices() == ["recovered"]


def test_a_bad_marker_does_not_stop_the_others(world):
    """One of them is put aside, the other one's job comes back."""
    world.store("preempted-jobs/../x", b"")
    world.preempt()
    world.sweep_until_quiet()
    assert list(world.quarantined()) == ["../x"]
    assert len(world.attempts()) == 1


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (b"gcloud compute instances create test-vm --zone=$(cat /etc/zone)\n", "create-instance.sh:1"),
        (b"echo nothing\n", "0 create requests"),
        (b"gcloud compute instances create a b --zone=us-central1-a\n", "2 create requests"),
        (
            b"gcloud compute instances create v --zone=us-east1-b --metadata-from-file=startup-script=s.sh\n",
            "s.sh",
        ),
    ],
)
def test_a_script_that_cannot_be_re_run_is_told_and_the_marker_kept_aside(world, script, reason):
    """The reason names file and line; the marker waits in the quarantine."""
    world.store(CreateScript(job="test-vm"), script)
    world.preempt()
    world.sweep_until_quiet()
    assert reason in world.quarantined()["test-vm"]
    assert world.notices() == ["not_recoverable"]
    assert world.attempts() == []


def test_a_vm_that_its_owner_deleted_stays_deleted(world):
    """Every shutdown writes a marker; only a preemption brings a job back."""
    world.cloud.compute.owner_deletes("test-vm")
    world.store(MarkerName(node="test-vm"), b"")
    world.sweep_until_quiet()
    assert world.vms() == []
    assert [attempt.state for attempt in world.attempts()] == [AttemptState.STOPPED]
    assert world.notices() == ["stopped"]


def test_a_zone_that_hides_its_vms_is_waited_for(world):
    """Not seen is not gone."""
    world.preempt()
    world.wait(minutes=5)
    world.cloud.compute.hide("us-central1-a")
    assert "incomplete" in world.sweep().waiting[0]
    world.cloud.compute.show("us-central1-a")
    world.sweep_until_quiet()
    assert len(world.attempts()) == 1


def test_a_stockout_is_waited_out(world):
    """The attempt stays the same; its tries tell what happened."""
    world.cloud.compute.stock_out("us-central1-a")
    world.preempt()
    for _ in range(12):
        world.sweep()
        world.wait(seconds=30)
    world.cloud.compute.restock("us-central1-a")
    world.sweep_until_quiet(limit=120)
    (attempt,) = world.attempts()
    assert attempt.state is AttemptState.RUNNING
    assert "EXHAUSTED" in attempt.tries[0].error
    assert len({one.request_id for one in attempt.tries}) == len(attempt.tries) > 1


@pytest.mark.parametrize("after_work", [False, True])
@pytest.mark.parametrize("call", ["launch", "operation", "write", "delete", "read", "publish"])
def test_any_single_lost_answer_changes_nothing_but_time(world, call, after_work):
    """Whatever call goes unanswered once, done or not: one attempt, one VM, no marker left."""
    source = world.cloud.compute if call in {"launch", "operation"} else world.cloud.store
    source = world.cloud.notices if call == "publish" else source
    world.preempt()
    source.trouble.order(call, unanswered(after_work=after_work))
    for _ in range(60):
        try:
            if not any(world.sweep()):
                break
        except Exception as error:  # noqa: BLE001 — a sweep may fail whole; the next one goes on
            assert "made up" in str(error)
        world.wait(seconds=10)
    assert [attempt.state for attempt in world.attempts()] == [AttemptState.RUNNING]
    assert len(world.vms()) == 1
    assert world.names("preempted-jobs/") == []


def test_the_loser_of_a_claim_starts_nothing(world):
    """A conflict on the record means that somebody else has it."""
    world.preempt()
    world.wait(minutes=1)
    world.cloud.store.trouble.order("write", conflict(), about="attempts/2.json")
    assert "another sweep changed it first" in world.sweep().waiting[0]
    assert world.vms() == []


def test_a_request_that_can_never_work_is_given_up(world):
    """A person is told; the next tick does not ask again."""
    world.preempt()
    world.cloud.compute.trouble.order("launch", rejected("invalid", "no such machine type"), times=9)
    world.sweep_until_quiet()
    assert [attempt.state for attempt in world.attempts()] == [AttemptState.GAVE_UP]
    assert world.notices() == ["gave_up"]
    assert world.vms() == []


def test_observing_decides_and_writes_down_but_changes_nothing(world):
    """In observe mode the audit says what would be done, and the marker stays."""
    observing = world.policy.__class__(version="test")
    world.policy = observing
    world.preempt()
    world.wait(minutes=5)
    world.sweep()
    assert world.vms() == []
    assert world.names("preempted-jobs/") == ["preempted-jobs/test-vm"]
    assert world.attempts() == []
    audit = "".join(world.cloud.store.read(name).data.decode() for name in world.names("spotwarden/audit/"))
    assert "WriteAttempt" in audit
    assert "Observed" in audit


def test_every_action_is_in_the_audit_with_its_reason(world):
    """What, why, under which policy, with what outcome."""
    world.preempt()
    world.sweep_until_quiet()
    text = "".join(world.cloud.store.read(name).data.decode() for name in world.names("spotwarden/audit/"))
    for word in (
        "WriteAttempt",
        "LaunchInstances",
        "RegisterInstance",
        "Tell",
        "ClearMarker",
        "preempted the instance",
    ):
        assert word in text


def test_a_script_that_the_policy_does_not_admit_makes_nothing(world):
    """Whoever may write a script cannot have made what nobody agreed on; its owner is told why."""
    world.policy = replace(world.policy, admission=AdmissionLimits(machine_types=("n2-*",)))
    world.preempt()
    world.sweep_until_quiet()
    assert world.vms() == []
    assert world.notices() == ["not_recoverable"]
    (notice,) = [msgspec.json.decode(one.data, type=Notice) for one in world.cloud.notices.messages]
    assert "machine type 'g2-standard-4' is not among n2-* (admission.machine_types)" in notice.why


def test_what_ran_before_is_held_against_the_policy_as_well(world):
    """A script that was taken away is no way round it."""
    world.sweep()
    name = world.layout.build(CreateScript(job="test-vm"))
    world.cloud.store.delete(name, generation=world.cloud.store.read(name).generation)
    world.policy = replace(world.policy, admission=AdmissionLimits(external_ip=False, networks=("jobs",)))
    world.preempt()
    world.sweep_until_quiet()
    assert world.vms() == []


def test_a_vm_that_runs_again_before_the_next_look_is_told_of(kept):
    """It has the id that it had, and the attempt that started it is carried on all the same."""
    kept.settle()
    kept.cloud.compute.preempt("test-vm")
    kept.wait(seconds=150)
    kept.sweep()
    kept.wait(minutes=1)
    kept.sweep()
    assert kept.attempts()[-1].state is AttemptState.RUNNING
    assert kept.notices() == ["recovered"]


def test_what_its_owner_ended_while_we_observed_does_not_come_back(world):
    """The log is read once: whoever only observes writes down what people did all the same."""
    world.settle()
    world.policy = replace(world.policy, mode=Mode.OBSERVE)
    world.cloud.compute.owner_deletes("test-vm")
    world.settle(30)
    world.policy = replace(world.policy, mode=Mode.ENFORCE)
    world.settle(10)
    assert world.vms() == []
    assert [attempt.state for attempt in world.attempts()] == [AttemptState.STOPPED]
    assert world.notices() == ["stopped"]


def test_what_was_taken_while_we_observed_comes_back_as_taken_then(world):
    """The log is read from before the loss, although no claim has recorded it."""
    world.settle()
    world.policy = replace(world.policy, mode=Mode.OBSERVE)
    taken = world.cloud.clock.now()
    world.cloud.compute.preempt("test-vm")
    world.wait(minutes=2)  # No sweep sees it go.
    world.settle(30)
    world.policy = replace(world.policy, mode=Mode.ENFORCE)
    world.settle(5)
    again = world.attempts()[-1]
    assert (again.number, again.fate, again.lost) == (2, Fate.PREEMPTED.value, taken)


def test_a_log_that_lacks_a_zone_may_lack_its_owners_delete(world):
    """The list of VMs is whole, and the list of operations says that it is not: nothing is launched by it."""
    world.settle()
    world.cloud.compute.owner_deletes("test-vm")
    world.wait(minutes=1)
    ports = world.cloud.ports()
    lacking = Operations(unreachable=("us-central1-a",))
    blind = replace(ports, compute=Bent(ports.compute, operations=lambda _since: lacking))
    for _ in range(12):
        world.sweep_over(blind)
        world.wait(minutes=1)
    assert world.vms() == []
    world.settle()
    assert [attempt.state for attempt in world.attempts()] == [AttemptState.STOPPED]
