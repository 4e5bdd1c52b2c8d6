"""recover_spot over the ports: spot VMs ask for a notice of their preemption, where they may have one."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import CreateScript, JobFileName, PlacementMemory
from spotwarden.model.attempt import AttemptState
from spotwarden.model.limits import PlacementLimits, RecoveryLimits
from spotwarden.model.placement import PlacementRecord
from spotwarden.ports import RejectedError
from spotwarden.recovery.steps.progress import UNANSWERED_AT_MOST
from tests.fakes.trouble import rejected, unanswered
from tests.fakes.world import GANG, SCRIPT, World

MACHINE = "g2-standard-4"
EARLY = SCRIPT.replace(b"--metadata=", b"--metadata=spotwarden-early=1,")
ON_DEMAND = SCRIPT.replace(b"--provisioning-model=SPOT --instance-termination-action=DELETE", b"")
BY_NAME = RejectedError(
    "invalid", "Invalid value for field 'resource.scheduling.preemptionNoticeDuration': '120s'."
)
BY_MACHINE = RejectedError("unsupportedOperation", f"The operation is not supported for {MACHINE}.")


@pytest.fixture
def ready(world):
    """A job whose script tells the job kit to hand over, as `spotwarden run` writes it."""
    world.store(CreateScript(job="test-vm"), EARLY)
    return world


def come_back(world):
    """Preempt its VM, and sweep until it runs again; gives the newest attempt."""
    world.preempt()
    world.wait(minutes=2)
    world.sweep_until_quiet()
    return world.attempts()[-1]


def notices(world):
    """Which of its VMs are told of their preemption before."""
    return [instance.notice for instance in world.instances()]


def memory(world):
    """What is remembered of places for its machine."""
    stored = world.cloud.store.read(world.layout.build(PlacementMemory(machine=MACHINE)))
    return msgspec.json.decode(stored.data, type=PlacementRecord)


def metadata(world):
    """What the newest VM was told, by key."""
    (vm,) = world.cloud.compute.vms.living.values()
    return {item["key"]: item["value"] for item in vm.body["metadata"]["items"]}


def test_a_vm_of_a_job_that_hands_over_is_asked_for_with_a_notice(ready):
    """Its script need not say so, which an older gcloud would refuse."""
    assert come_back(ready).tries[-1].notice is True
    assert notices(ready) == [True]


def test_a_job_file_is_enough(world):
    """Then the job kit is told as well."""
    world.store(JobFileName(job="test-vm"), b"handover = true\n")
    come_back(world)
    assert notices(world) == [True]
    assert metadata(world)["spotwarden-early"] == "1"


@pytest.mark.parametrize("way", ["nobody asks", "job.toml", "policy", "on-demand"])
def test_other_requests_stay_as_their_script_has_them(world, way):
    """Without the word in the script, and where job.toml, the policy or the kind of VM speak against it."""
    if way != "nobody asks":
        early = ON_DEMAND.replace(b"--metadata=", b"--metadata=spotwarden-early=1,")
        world.store(CreateScript(job="test-vm"), early if way == "on-demand" else EARLY)
    if way == "job.toml":
        world.store(JobFileName(job="test-vm"), b"handover = false\n")
    if way == "policy":
        world.policy = replace(world.policy, recovery=RecoveryLimits(handover=False))
    assert not come_back(world).tries[-1].notice
    assert notices(world) == [False]


@pytest.mark.parametrize("error", [BY_NAME, BY_MACHINE], ids=["by its name", "in other words"])
def test_what_is_refused_with_a_notice_is_asked_for_without_at_once(ready, error):
    """In the same place, in the same sweep, and no trouble of that place's is remembered."""
    ready.cloud.compute.refuse_notice(MACHINE, error)
    attempt = come_back(ready)
    first, second = attempt.tries
    assert (first.place, first.notice, second.notice) == (second.place, True, False)
    assert second.at - first.at < timedelta(seconds=5)
    assert notices(ready) == [False]
    known = memory(ready)
    assert known.no_notice == first.refused
    assert first.place not in {zone for zone, seen in known.availability.items() if seen.out}


@pytest.mark.parametrize("error", [BY_NAME, BY_MACHINE], ids=["by its name", "in other words"])
def test_a_repetition_that_is_refused_for_its_notice_waits_for_the_log(ready, error):
    """The first request may have been carried out, and what it made removed, before its id was forgotten."""
    ready.cloud.compute.trouble.order("launch", unanswered(after_work=False), times=UNANSWERED_AT_MOST)
    ready.preempt()
    ready.wait(minutes=2)
    ready.sweep()
    ready.cloud.compute.refuse_notice(MACHINE, error)
    ready.wait(minutes=1)
    ready.sweep()
    attempt = ready.attempts()[-1]
    assert attempt.state is AttemptState.BACKING_OFF
    assert attempt.not_before == attempt.tries[-1].refused + ready.policy.recovery.log_delay
    assert notices(ready) == []
    ready.wait(minutes=13)
    ready.sweep_until_quiet()
    assert [tried.notice for tried in ready.attempts()[-1].tries] == [True, False]
    assert notices(ready) == [False]


def test_the_machine_type_is_asked_for_without_a_notice_for_a_day(ready):
    """One request then, and after a day a try with it again."""
    ready.cloud.compute.refuse_notice(MACHINE, BY_NAME)
    come_back(ready)
    again = come_back(ready)
    assert [tried.notice for tried in again.tries] == [False]
    ready.cloud.compute.refuse_notice(MACHINE, None)
    ready.wait(days=1)
    assert [tried.notice for tried in come_back(ready).tries] == [True]


def test_a_refusal_with_and_without_is_the_places_own(ready):
    """Nothing is said of the notice then: the next place is asked with it."""
    ready.cloud.compute.trouble.order("launch", rejected("unsupportedOperation", "not here"), times=2)
    attempt = come_back(ready)
    assert [tried.notice for tried in attempt.tries] == [True, False, True]
    assert len({tried.place for tried in attempt.tries}) == 2
    assert memory(ready).no_notice is None


def test_a_flag_of_the_scripts_own_that_is_refused_is_its_owners(world):
    """The owner wrote it: the job is given up with Compute Engine's words, as for any other flag."""
    own = SCRIPT.replace(b"create test-vm", b"create test-vm --preemption-notice-duration=120s")
    world.store(CreateScript(job="test-vm"), own.replace(b"gcloud compute", b"gcloud beta compute"))
    world.cloud.compute.refuse_notice(MACHINE, BY_NAME)
    attempt = come_back(world)
    assert attempt.state is AttemptState.GAVE_UP
    assert "preemptionNoticeDuration" in attempt.reason


@pytest.mark.parametrize("error", [BY_NAME, BY_MACHINE], ids=["by its name", "in other words"])
def test_such_a_flag_is_taken_out_for_a_job_that_hands_over(ready, error):
    """It asks for nothing else than we would."""
    own = EARLY.replace(b"create test-vm", b"create test-vm --preemption-notice-duration=120s")
    ready.store(CreateScript(job="test-vm"), own.replace(b"gcloud compute", b"gcloud beta compute"))
    ready.cloud.compute.refuse_notice(MACHINE, error)
    assert [tried.notice for tried in come_back(ready).tries] == [True, False]
    assert notices(ready) == [False]


EARLY_GANG = GANG.replace(b"--metadata=", b"--metadata=spotwarden-early=1,")


def lose(gang):
    """Preempt one node of a gang, and sweep until the gang runs again; gives the newest attempt."""
    gang.preempt(node="gang-1")
    gang.wait(minutes=2)
    gang.sweep_until_quiet()
    return gang.attempts()[-1]


def test_a_gang_of_a_fixed_number_is_asked_for_with_a_notice(recover):
    """All of its nodes: whichever is told, all save."""
    gang = World(recover, "gang", EARLY_GANG)
    assert lose(gang).tries[-1].notice is True
    assert notices(gang) == [True, True]


@pytest.mark.parametrize("error", [BY_NAME, BY_MACHINE], ids=["by name", "by machine"])
def test_a_gang_whose_machines_take_no_notice_is_asked_for_without_at_once(recover, error):
    """In the same place, and whole."""
    gang = World(recover, "gang", EARLY_GANG)
    gang.cloud.compute.refuse_notice(MACHINE, error)
    first, second = lose(gang).tries
    assert (first.place, first.notice, second.notice) == (second.place, True, False)
    assert notices(gang) == [False, False]


def test_a_gang_that_bends_is_asked_for_with_a_notice(recover):
    """All of its nodes, whoever of them is told."""
    gang = World(recover, "gang", EARLY_GANG.replace(b"bulk create", b"bulk create --zone=us-central1-a"))
    gang.store(JobFileName(job="gang"), b'nodes = "1:2"')
    for node in ("gang-1", "gang-2"):
        gang.cloud.compute.preempt(node)
    gang.wait(minutes=2)
    gang.sweep_until_quiet()
    assert gang.attempts()[-1].tries[-1].notice is True
    assert notices(gang) == [True, True]


def test_elsewhere_it_is_asked_for_with_a_notice_all_the_same(ready):
    """A stockout says nothing of the notice."""
    ready.policy = replace(ready.policy, placement=PlacementLimits())
    ready.cloud.compute.stock_out("us-central1-a")
    assert {tried.notice for tried in come_back(ready).tries} == {True}
