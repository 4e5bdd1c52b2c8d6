"""recover_spot over the ports: a job in one zone goes back from on-demand to spot, under a second name."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.layout import CreateScript, Heartbeat, JobFileName, MarkerName
from spotwarden.model.attempt import AttemptState, TryKind
from spotwarden.model.instance import Status
from spotwarden.recovery.requests.second_name import second_name
from tests.fakes.fate import ZONES
from tests.fakes.trouble import rejected, unanswered
from tests.fakes.world import GANG, SCRIPT
from tests.recovery.test_moves import SHEET, moves, ticks
from tests.recovery.test_namesakes import colleague

HOME = "us-central1-a"
SECOND = "test-vm-alt"
KIT = SCRIPT.replace(b"startup-script='true'", b"startup-script=spotwarden-node,spotwarden-early=1")
FILE = 'handover = true\nwork = "40h"\nplaces = []\n'
GUEST = "job@p.iam.gserviceaccount.com"
LADDER = 'ladder = [{{ model = "spot", up_to = "10m" }}, {{ model = "standard" }}]\n'


def beats(world):
    """The job kit tells which attempt runs."""
    number = len(world.attempts()) or 1
    world.store(Heartbeat(job="test-vm", node="test-vm"), b'{"attempt": %d}' % number)


@pytest.fixture
def cornered(new_world, tmp_path):
    """A job whose zones had no spot VM: it has run on demand for two hours, and spot is there again."""

    def build(script=KIT, file=f"{FILE}{LADDER}", zones=(HOME,)):
        sheet = tmp_path / "prices.toml"
        sheet.write_text(SHEET)
        world = new_world("test-vm", script)
        world.settings = replace(world.settings, prices_file=sheet)
        until = world.cloud.clock.now() + timedelta(hours=60)
        world.store(JobFileName(job="test-vm"), file.format(until.isoformat()).encode())
        beats(world)
        ticks(world, 3)
        for zone in zones:
            world.cloud.compute.have_no_spot(zone)
        world.preempt()
        ticks(world, 60)
        assert called(world) == [("test-vm", False)]
        beats(world)
        world.wait(hours=2)
        world.cloud.compute.have_spot(the(world, "test-vm").seen.zone)
        return world

    return build


def called(world):
    """What Compute Engine calls the VMs, and whether they are spot VMs."""
    return sorted((vm.seen.name, vm.is_spot) for vm in world.cloud.compute.vms.living.values())


def the(world, name):
    """The VM of this name."""
    return next(vm for vm in world.cloud.compute.vms.living.values() if vm.seen.name == name)


@pytest.fixture
def back(cornered):
    """The same, once it has gone back to spot and its on-demand VM has handed over."""
    world = ticks(cornered())
    beats(world)
    world.cloud.compute.owner_deletes(the(world, "test-vm").seen.id, user=GUEST)
    return ticks(world, 3)


def test_its_spot_vm_stands_beside_the_on_demand_vm_under_a_second_name(cornered):
    """Compute Engine has one VM of a name in a zone. The chain knows it by its node."""
    world = ticks(cornered())
    assert called(world) == [("test-vm", False), (SECOND, True)]
    (attempt,) = moves(world)
    assert (attempt.state, attempt.tries[-1].vm) == (AttemptState.RUNNING, SECOND)
    assert attempt.instances == {"test-vm": the(world, SECOND).seen.id}
    assert "spot in us-central1-a costs $0.30 an hour, on-demand in us-central1-a $0.70" in attempt.planned
    assert not world.done("DeleteInstance")


def test_its_vm_is_told_which_node_it_is(cornered):
    """Its job kit writes under that name; so its id is registered, and its marker answered."""
    world = ticks(cornered())
    assert the(world, SECOND).node == "test-vm"
    registered = world.cloud.store.read("test-vm/metadata/test-vm-instance-id")
    assert registered.data.decode() == the(world, SECOND).seen.id


def test_a_job_behind_its_line_comes_back_in_the_same_way(cornered):
    """By a deadline, with no ladder: it was half an hour behind."""
    world = cornered(file=FILE + "deadline = {}\n")
    assert world.attempts()[-1].tries[0].spot
    ticks(world)
    assert called(world) == [("test-vm", False), (SECOND, True)]


ANYWHERE = 'handover = true\nwork = "40h"\n'


def trains(world, minutes):
    """For so long, while its job kit tells of it."""
    for _ in range(minutes // 6):
        beats(world)
        ticks(world, 6)
    return world


@pytest.mark.parametrize("file", ["deadline = {}\n", LADDER], ids=["by its line", "by a ladder"])
def test_a_job_with_several_zones_comes_back_beside_its_vm_where_no_other_zone_has_spot(cornered, file):
    """Once nothing has befallen it there for three hours; the others are asked each hour."""
    world = cornered(file=ANYWHERE + file, zones=ZONES)
    home = the(world, "test-vm").seen.zone
    asked = trains(world, 24).attempts()[2:]
    assert asked
    assert called(world) == [("test-vm", False)]
    assert {attempt.tries[0].place for attempt in asked} <= {*ZONES} - {home}
    trains(world, 90)
    assert called(world) == [("test-vm", False), (SECOND, True)]
    assert the(world, SECOND).seen.zone == home


def test_it_goes_to_another_zone_that_has_spot_under_its_own_name(cornered):
    """Before anything is asked for beside its VM."""
    world = cornered(file=ANYWHERE + "deadline = {}\n", zones=ZONES)
    for zone in ZONES:
        world.cloud.compute.have_spot(zone)
    trains(world, 24)
    assert called(world) == [("test-vm", False), ("test-vm", True)]


def test_when_the_second_vm_is_preempted_the_next_one_has_the_first_name_again(back):
    """It is the node's VM in all that recovery does."""
    assert called(back) == [(SECOND, True)]
    back.cloud.compute.preempt(SECOND)
    back.store(MarkerName(node="test-vm"), b"")
    back.sweep_until_quiet()
    assert called(back) == [("test-vm", True)]
    assert back.attempts()[-1].replaces == {"test-vm": back.attempts()[-2].instances["test-vm"]}


def test_without_its_marker_the_second_vm_is_missed_all_the_same(back):
    """By its id."""
    back.cloud.compute.preempt(SECOND)
    ticks(back, 20)
    assert called(back) == [("test-vm", True)]


def test_a_person_who_deletes_the_second_vm_ends_the_job(back):
    """As with any VM of a job."""
    back.cloud.compute.owner_deletes(SECOND)
    ticks(back, 20)
    assert back.attempts()[-1].state is AttemptState.STOPPED
    assert called(back) == []


def test_a_request_that_nobody_was_answered_is_adopted_under_the_second_name(cornered):
    """It was carried out: its VM is the job's by its request, and nothing is made twice."""
    world = cornered()
    world.cloud.compute.trouble.order("launch", unanswered(after_work=True), times=9)
    ticks(world, 40)
    assert called(world) == [("test-vm", False), (SECOND, True)]
    assert moves(world)[-1].instances == {"test-vm": the(world, SECOND).seen.id}


def test_where_there_is_no_spot_vm_it_stays_as_the_next_attempt(cornered):
    """And asks again later."""
    world = cornered()
    world.cloud.compute.have_no_spot(HOME)
    ticks(world)
    attempt = moves(world)[0]
    assert [(tried.vm, tried.kind) for tried in attempt.tries] == [
        (SECOND, TryKind.CREATE),
        ("", TryKind.KEEP),
    ]
    assert called(world) == [("test-vm", False)]
    world.cloud.compute.have_spot(HOME)
    beats(world)
    ticks(world, 90)
    assert called(world) == [("test-vm", False), (SECOND, True)]


@pytest.mark.parametrize("labelled", [False, True], ids=["its own", "the job's labels copied"])
def test_a_stranger_of_the_second_name_is_let_be(cornered, labelled):
    """Its name proves nothing, and nor do labels: the job stays on its on-demand VM."""
    world = cornered()
    labels = {"spotwarden-job": "test-vm", "spotwarden-attempt": "3", "spotwarden-try": "1"}
    made = world.cloud.compute.add(SECOND, zone=HOME, labels=labels if labelled else {})
    ticks(world, 60)
    assert made in world.cloud.compute.vms.living
    assert the(world, SECOND).seen.status is Status.RUNNING
    assert made not in {name for record in world.records() for name in record.instances.values()}
    assert len(called(world)) == 2


def test_a_stranger_who_takes_the_name_once_it_is_free_is_no_vm_of_the_job(back):
    """Though the chain knows that name: it is neither adopted nor in the way."""
    back.cloud.compute.preempt(SECOND)
    back.store(MarkerName(node="test-vm"), b"")
    back.wait(minutes=1)
    made = back.cloud.compute.add(SECOND, zone=HOME)
    back.sweep_until_quiet()
    ticks(back, 15)
    assert the(back, SECOND).seen.id == made
    assert the(back, "test-vm").is_spot
    assert back.attempts()[-1].instances == {"test-vm": the(back, "test-vm").seen.id}


def test_a_refusal_of_its_notice_is_asked_again_under_the_same_name(cornered):
    """At once."""
    world = cornered()
    refused = rejected("invalid", "Invalid value for field 'resource.scheduling.preemptionNoticeDuration'")
    world.cloud.compute.trouble.order("launch", refused)
    ticks(world)
    assert [(tried.vm, tried.notice) for tried in moves(world)[-1].tries] == [(SECOND, True), (SECOND, False)]
    assert called(world) == [("test-vm", False), (SECOND, True)]


def test_an_event_about_the_second_name_finds_its_job(back):
    """The audit log names the VM, not its node."""
    back.cloud.compute.preempt(SECOND)
    back.wait(minutes=1)
    back.sweep(SECOND, lost=True)
    back.wait(minutes=1)
    back.sweep_until_quiet()
    assert called(back) == [("test-vm", True)]


@pytest.mark.parametrize(
    "script",
    [
        KIT.replace(b"spotwarden-node", b"true"),
        KIT.replace(b"--zone", b"--disk=name=data,boot=no --zone"),
        KIT.replace(b"--zone", b"--private-network-ip=10.0.0.7 --zone"),
        KIT.replace(b"--zone", b"--hostname=trainer.example.com --zone"),
        KIT.replace(b"--zone", b"--create-disk=name=own,size=10GB --zone"),
    ],
    ids=["its kit knows no second name", "a disk", "an address", "a host name", "a disk of a name"],
)
def test_what_can_be_there_once_only_stays_where_it_is(cornered, script):
    """Nothing is asked for beside it."""
    world = ticks(cornered(script), 60)
    assert moves(world) == []


def test_a_name_of_63_characters_has_no_second_one():
    """It would be refused."""
    assert second_name("a" * 59) == "a" * 59 + "-alt"
    assert second_name("a" * 60) == ""


def test_a_vm_that_could_not_delete_itself_is_not_in_the_way(cornered):
    """It shuts down and keeps its name; the next VM has the other one. It is never started nor deleted."""
    world = ticks(cornered())
    beats(world)
    first = the(world, "test-vm").seen.id
    world.cloud.compute.power_off(first)
    ticks(world, 3)
    world.cloud.compute.preempt(SECOND)
    ticks(world, 20)
    assert called(world) == [("test-vm", False), (SECOND, True)]
    assert the(world, "test-vm").seen.id == first
    assert the(world, SECOND).seen.id in world.attempts()[-1].instances.values()
    assert world.attempts()[-1].state is AttemptState.RUNNING


def test_its_log_is_read_of_the_ids_not_of_the_names(back):
    """However late it is: the on-demand VM's own end, under the first name, is no word about the job."""
    back.cloud.compute.let_the_log_lag(timedelta(minutes=10))
    ticks(back, 30)
    assert back.attempts()[-1].state is AttemptState.RUNNING
    assert called(back) == [(SECOND, True)]
    assert back.cloud.store.read(back.layout.build(CreateScript(job="test-vm"))).data == KIT


def test_its_owner_hears_that_it_returns_to_spot(cornered):
    """It moves to no other place."""
    world = ticks(cornered())
    (notice,) = [m for m in world.cloud.notices.messages if m.attributes["kind"] == "moved"]
    assert b"test-vm returns to spot in us-central1-a as attempt 3" in notice.data


def test_a_list_that_hides_its_zone_decides_nothing(back):
    """Nothing is launched until the second VM is seen, or seen to be gone."""
    back.cloud.compute.hide(HOME)
    ticks(back, 20)
    back.cloud.compute.show(HOME)
    ticks(back, 3)
    assert called(back) == [(SECOND, True)]
    assert back.attempts()[-1].number == 3


def test_a_marker_that_names_a_strangers_vm_of_the_second_name_restarts_nothing(back):
    """Though a person made it by the job's own script, but for the name."""
    back.cloud.compute.preempt(SECOND)
    back.store(MarkerName(node="test-vm"), b"")
    back.sweep_until_quiet()
    theirs = back.launch_by_hand(KIT.replace(b"create test-vm", f"create {SECOND}".encode()))[SECOND]
    back.wait(minutes=2)
    number = back.attempts()[-1].number
    back.cloud.compute.preempt(theirs)
    back.store(MarkerName(node="test-vm"), f'{{"instance_id": "{theirs}"}}'.encode())
    ticks(back, 20)
    assert (called(back), back.attempts()[-1].number) == ([("test-vm", True)], number)


def test_a_strangers_vm_of_a_second_name_that_nobody_asked_for_is_a_namesake_whatever_its_labels(new_world):
    """The operation log that would tell who made it may be forgotten: its name tells enough."""
    world = new_world("gang", GANG)
    world.settle(2)
    labels = {"spotwarden-job": "gang", "spotwarden-attempt": "1"}
    theirs = colleague(world, name="gang-2-alt", zone=world.instances()[0].zone, labels=labels)
    world.wait(hours=1)
    world.preempt(node="gang-1")
    world.settle(12)
    assert world.attempts()[-1].state is AttemptState.RUNNING
    assert theirs in world.vms()
