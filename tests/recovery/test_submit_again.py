"""`spotwarden submit --again` of a job that is over, while a VM of it may still be there."""

from datetime import timedelta

import pytest

from spotwarden.cli.launching.beside import LEAVES_SECONDS
from spotwarden.layout import CreateScript
from tests.fakes.fate import ZONES
from tests.fakes.trouble import rejected
from tests.fakes.world import SCRIPT, load
from tests.recovery.test_namesakes import colleague
from tests.recovery.typed_commands import RUN, RUN_WORDS, STEP_SECONDS, Typed


@pytest.fixture
def nobody(monkeypatch, tmp_path, recover):
    """A developer at a shell, without any job yet."""
    return Typed(monkeypatch, tmp_path, recover, load("reap_vms"))


@pytest.fixture
def ada(nobody):
    """A developer at a shell, whose job runs."""
    nobody.launched()
    return nobody


def again(world):
    """What `submit --again` came to."""
    return world.type("submit", str(world.script), "--again")


def gone(world):
    """The job has ended, and its VM with it."""
    world.ended("1")
    world.cloud.compute.delete("us-central1-a", world.vms()[0], "00000000-0000-4000-8000-000000000001")
    world.wait(minutes=1)


def test_a_job_that_has_ended_is_not_launched_beside_its_vm(ada):
    """It still runs, or hangs in its shutdown: two of them would write into one folder."""
    ada.ended("1")
    said = again(ada)
    assert said.exit_code == 1
    assert "test-vm of test-vm still runs" in said.output
    assert "`spotwarden stop test-vm`" in said.output
    assert len(ada.alive()) == len(ada.attempts()) == 1


def test_once_that_vm_is_stopped_it_is(ada):
    """By the very command that the refusal names."""
    ada.ended("1")
    again(ada)
    assert ada.type("stop", "test-vm", "--yes").exit_code == 0
    ada.wait(minutes=2)
    assert again(ada).exit_code == 0
    assert ada.runs()


def test_a_vm_at_rest_that_has_the_name_is_told_of(ada):
    """The job goes to another zone than the one that its owner has asked for."""
    assert ada.type("stop", "test-vm", "--yes").exit_code == 0
    ada.wait(minutes=2)
    (former,) = ada.vms()
    said = again(ada).output
    assert (
        f"us-central1-a already has a VM test-vm (ID {former}), so test-vm is launched in another zone"
        in said
    )
    assert "gcloud compute instances delete test-vm --zone=us-central1-a" in said


def test_a_colleagues_vm_that_has_the_name_is_told_of_as_such(ada):
    """Nobody is told to delete it."""
    ada.ended("0")
    (former,) = ada.vms()
    ada.cloud.compute.owner_deletes(former)
    ada.wait(minutes=2)
    theirs = colleague(ada, zone="us-central1-a")
    said = again(ada).output
    assert f"us-central1-a already has a VM test-vm (ID {theirs}), so test-vm is launched in another" in said
    assert "That VM is not one of test-vm" in said
    assert "instances delete" not in said


def test_where_nothing_has_the_name_no_other_zone_is_told_of(ada):
    """The VM went with its job."""
    assert ada.type("stop", "test-vm", "--yes", "--delete").exit_code == 0
    ada.wait(minutes=2)
    assert "another zone" not in again(ada).output


def test_a_vm_that_is_on_its_way_out_is_waited_for(ada):
    """What it writes last would come after what the new one has read."""
    ada.ended("0")
    (former,) = ada.vms()
    ada.cloud.compute.delete("us-central1-a", former, "00000000-0000-4000-8000-000000000001")
    said = again(ada)
    assert said.exit_code == 0
    assert "waiting until test-vm of test-vm is gone" in said.output
    assert ada.runs()
    assert ada.vms() != [former]


def test_so_is_one_that_is_about_to_delete_itself(ada):
    """It has written its status a moment ago, and its developer has read that."""
    ada.ended("0")
    (former,) = ada.vms()
    ada.cloud.compute.vms.later(timedelta(seconds=15), lambda: ada.cloud.compute.owner_deletes(former))
    assert again(ada).exit_code == 0
    assert ada.runs()


@pytest.mark.parametrize(("needs", "launched"), [(45, True), (300, False)])
def test_it_is_waited_for_a_minute_and_a_half_and_no_longer(ada, needs, launched):
    """A regular stop takes as long; one that hangs is for its owner to look at."""
    ada.ended("0")
    (former,) = ada.vms()
    ada.cloud.compute.vms.later(timedelta(seconds=needs), lambda: ada.cloud.compute.owner_deletes(former))
    before = ada.cloud.clock.now()
    said = again(ada)
    assert (said.exit_code == 0) is launched
    if launched:
        assert ada.runs()
        return
    waited = ada.cloud.clock.now() - before
    assert timedelta(seconds=LEAVES_SECONDS) <= waited <= timedelta(seconds=LEAVES_SECONDS + STEP_SECONDS)
    assert LEAVES_SECONDS == 90
    assert said.output.count("waiting until test-vm of test-vm is gone") == 1
    assert "`spotwarden stop test-vm`" in said.output
    assert ada.vms() == [former]
    assert len(ada.attempts()) == 1


def test_one_that_its_owner_has_started_again_is_not_waited_for(ada):
    """The job is closed, and has no status: nothing says that what runs goes by itself."""
    assert ada.type("stop", "test-vm", "--yes").exit_code == 0
    ada.wait(minutes=1)
    ada.cloud.compute.owner_starts(ada.vms()[0])
    ada.wait(seconds=30)
    before = ada.cloud.clock.now()
    said = again(ada)
    assert said.exit_code == 1
    assert "test-vm of test-vm still runs" in said.output
    assert ada.cloud.clock.now() == before


def test_nor_while_a_zone_does_not_answer(ada):
    """A VM of it may run there."""
    gone(ada)
    ada.cloud.compute.hide(ZONES[0])
    said = again(ada)
    assert said.exit_code == 1
    assert "Compute Engine's list is incomplete" in said.output
    ada.cloud.compute.show(ZONES[0])
    assert again(ada).exit_code == 0


def test_somebody_elses_vm_of_that_name_is_in_nobodys_way(ada):
    """It is not the job's, by whatever name it goes."""
    gone(ada)
    ada.cloud.compute.add("test-vm", zone=ZONES[1])
    assert again(ada).exit_code == 0


def test_run_looks_as_well(ada):
    """It launches as submit does."""
    ada.ended("1")
    said = ada.type(*RUN, "--again", "--overwrite", *RUN_WORDS[len(RUN) :])
    assert said.exit_code == 1
    assert "test-vm of test-vm still runs" in said.output
    assert len(ada.alive()) == 1


def test_a_vm_that_its_developer_launched_a_moment_ago_is_seen(nobody):
    """No sweep has written it down yet; the stored script tells whose it is."""
    nobody.store(CreateScript(job="test-vm"), SCRIPT)
    nobody.wait(seconds=10)
    nobody.launch_by_hand()
    nobody.wait(seconds=30)
    said = nobody.type("submit", str(nobody.script))
    assert said.exit_code == 1
    assert "test-vm of test-vm still runs" in said.output
    assert len(nobody.alive()) == 1


@pytest.mark.parametrize(
    ("zones", "says"),
    [((), "unknown machine type 'g2-standard-4'"), (("us-central1-c",), "Did you mean us-central1-c?")],
)
def test_a_mistyped_machine_or_zone_is_found_before_anything_is_sent(ada, zones, says):
    """What is offered nowhere, or only elsewhere, is refused with what to type; the job stays as it was."""
    gone(ada)
    before = [(entry.name, entry.generation) for entry in ada.cloud.store.entries("")]
    ada.cloud.compute.offer("g2-standard-4", zones)
    said = again(ada)
    assert said.exit_code == 2
    assert says in said.output
    assert "Nothing was sent" in said.output
    assert [(entry.name, entry.generation) for entry in ada.cloud.store.entries("")] == before


def test_where_the_offers_cannot_be_read_the_launch_itself_tells(ada):
    """A role may lack the list of machine types."""
    gone(ada)
    ada.cloud.compute.trouble.order("offers", rejected("forbidden"))
    assert again(ada).exit_code == 0
