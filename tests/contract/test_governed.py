"""What Compute Engine promises governance: in memory, and over REST."""

import pytest
from msgspec.structs import replace

from spotwarden.model.fleet import Leftover, Machine
from spotwarden.model.instance import Status
from spotwarden.ports import RejectedError
from tests.contract.worlds import OTHER_ZONE, ZONE, World, finished, new_id, running, seen, spot, status

KINDS = ("disk", "address", "snapshot")


def machine(world: World, name: str) -> Machine:
    """The VM of this name, as governance sees it."""
    [found] = [one for one in world.compute.fleet().items if one.name == name]
    return found


def leftover(world: World) -> Leftover:
    """The one thing that is left over."""
    [found], _unreachable = world.compute.leftovers()
    return found


def test_a_fleet_tells_all_that_governance_asks(world: World):
    """Id, place, status, times, machine type, how it was provisioned, and its labels."""
    vm_id = running(world, "node", job="my-job", attempt=7)
    found = machine(world, "node")
    assert (found.id, found.zone, found.status) == (vm_id, ZONE, Status.RUNNING)
    assert (found.machine_type, found.gpus, found.gpu) == ("e2-medium", 0, "")
    assert found.provisioning == "SPOT"
    assert (found.job, found.attempt) == ("my-job", 7)
    assert found.created is not None
    assert found.started is not None
    assert found.created <= found.started <= world.now()


def test_a_fleet_counts_attached_gpus(world: World):
    """With the short name of their type."""
    request = spot("node", machine="n1-standard-8")
    cards = [{"acceleratorType": f"zones/{ZONE}/acceleratorTypes/nvidia-tesla-t4", "acceleratorCount": 2}]
    request.body["guestAccelerators"] = cards
    request.body["scheduling"]["onHostMaintenance"] = "TERMINATE"
    world.compute.launch(request, new_id())
    assert (machine(world, "node").gpus, machine(world, "node").gpu) == (2, "nvidia-tesla-t4")


def test_a_fleet_tells_what_a_managed_instance_group_has_made(world: World):
    """By two keys of its metadata, one of which alone is anybody's; nobody's label says so."""
    for name, keys in (("grouped", ("created-by", "instance-template")), ("mine", ("created-by", "note"))):
        request = spot(name)
        request.body["metadata"] = {"items": [{"key": key, "value": "x"} for key in keys]}
        request.body["labels"] = {"spotwarden-job": "job"}
        world.compute.launch(request, new_id())
    assert (machine(world, "grouped").manager, machine(world, "grouped").job) == (
        "a managed instance group",
        "",
    )
    assert (machine(world, "mine").manager, machine(world, "mine").job) == ("", "job")


def test_a_fleet_of_some_ids_is_those(world: World):
    """Whatever their names; an id that is gone is left out."""
    first, second = running(world, "first"), running(world, "second", zone=OTHER_ZONE)
    running(world, "third")
    found = world.compute.fleet(ids=[first, second, "4999999999999999999"])
    assert {one.id for one in found.items} == {first, second}


def test_a_fleet_says_which_zones_it_cannot_see(world: World):
    """Of these it hides something; of others it does not."""
    running(world, "here")
    running(world, "there", zone=OTHER_ZONE)
    world.hide(OTHER_ZONE)
    fleet = world.compute.fleet()
    assert [one.name for one in fleet.items] == ["here"]
    assert (fleet.hides(OTHER_ZONE), fleet.hides(ZONE)) == (True, False)


def test_a_stopped_vm_stays(world: World):
    """TERMINATED, under its id; the log says who stopped it."""
    since = world.now()
    vm_id = running(world, "node")
    operation = world.compute.stop(ZONE, vm_id, new_id())
    assert (operation.kind, operation.target_id) == ("stop", vm_id)
    assert finished(world, operation).error == ""
    assert (machine(world, "node").id, machine(world, "node").status) == (vm_id, Status.TERMINATED)
    told = [one for one in world.compute.operations(since).items if one.target_id == vm_id]
    assert [one.kind for one in told] == ["insert", "stop"]


def test_the_same_request_never_stops_twice(world: World):
    """A VM that its owner has started again meanwhile is not stopped by an answer that was lost."""
    vm_id, request_id = running(world, "node"), new_id()
    first = world.compute.stop(ZONE, vm_id, request_id)
    finished(world, first)
    finished(world, world.compute.start(ZONE, vm_id, new_id()))
    assert world.compute.stop(ZONE, vm_id, request_id).name == first.name
    assert status(world, "node") is Status.RUNNING


def with_local_ssds(world: World) -> str:
    """A VM that runs and has two local SSDs; gives its id."""
    request = spot("node")
    machine_type = f"zones/{ZONE}/machineTypes/n1-standard-4"
    local = {"type": "SCRATCH", "autoDelete": True, "initializeParams": {"diskType": "local-ssd"}}
    disks = [*request.body["disks"], local, local]
    body = {**request.body, "machineType": machine_type, "disks": disks}
    made = world.compute.launch(replace(request, body=body), new_id())
    finished(world, made)
    return made.target_id


def test_a_vm_with_local_ssds_is_stopped_only_by_who_discards_their_data(world: World):
    """Without that word it is refused and runs on; the fleet says how many it has."""
    vm_id = with_local_ssds(world)
    assert machine(world, "node").local_ssds == 2
    with pytest.raises(RejectedError, match="badRequest"):
        world.compute.stop(ZONE, vm_id, new_id())
    assert status(world, "node") is Status.RUNNING
    finished(world, world.compute.stop(ZONE, vm_id, new_id(), discard_local_ssd=True))
    assert status(world, "node") is Status.TERMINATED


def test_a_vm_without_local_ssds_is_stopped_by_that_word_as_well(world: World):
    """It means nothing to it."""
    vm_id = running(world, "node")
    assert machine(world, "node").local_ssds == 0
    finished(world, world.compute.stop(ZONE, vm_id, new_id(), discard_local_ssd=True))
    assert status(world, "node") is Status.TERMINATED


def test_to_stop_what_is_stopped_changes_nothing(world: World):
    """It is no failure."""
    vm_id = running(world, "node")
    finished(world, world.compute.stop(ZONE, vm_id, new_id()))
    assert finished(world, world.compute.stop(ZONE, vm_id, new_id())).error == ""
    assert status(world, "node") is Status.TERMINATED


def test_a_vm_that_is_being_made_is_not_stopped(world: World):
    """Not ready is an answer: nothing was done."""
    operation = world.compute.launch(spot("node"), new_id())
    with pytest.raises(RejectedError, match="resourceNotReady"):
        world.compute.stop(ZONE, operation.target_id, new_id())


@pytest.mark.parametrize("zone", [ZONE, OTHER_ZONE])
def test_a_vm_that_is_not_there_is_refused(world: World, zone: str):
    """Gone, or in another zone: nothing of the same name is touched."""
    vm_id = running(world, "node")
    wrong = vm_id if zone == OTHER_ZONE else "4999999999999999999"
    with pytest.raises(RejectedError, match="notFound"):
        world.compute.stop(zone, wrong, new_id())
    with pytest.raises(RejectedError, match="notFound"):
        world.compute.label(zone, wrong, {"a": "b"})
    assert status(world, "node") is Status.RUNNING


def test_labels_are_added_and_taken_off(world: World):
    """An empty value takes one off; the others stay as they are."""
    vm_id = running(world, "node")
    world.compute.label(ZONE, vm_id, {"spotwarden-idle": "60", "team": "a"})
    assert machine(world, "node").labels["spotwarden-idle"] == "60"
    world.compute.label(ZONE, vm_id, {"spotwarden-idle": "", "never-there": ""})
    assert dict(machine(world, "node").labels) == {
        "spotwarden-job": "job",
        "spotwarden-attempt": "2",
        "team": "a",
    }


def test_the_labels_of_a_person_stay(world: World):
    """What was set since the fleet was listed is not lost."""
    vm_id = running(world, "node")
    world.relabel("node", {"spotwarden-keep": "2026-12-31"})
    world.compute.label(ZONE, vm_id, {"spotwarden-idle": "60"})
    assert machine(world, "node").labels["spotwarden-keep"] == "2026-12-31"
    assert machine(world, "node").labels["spotwarden-idle"] == "60"


def test_labels_are_of_one_vm(world: World):
    """Another of the same name, in another zone, keeps its own."""
    vm_id = running(world, "node")
    running(world, "node", zone=OTHER_ZONE)
    world.compute.label(ZONE, vm_id, {"spotwarden-idle": "60"})
    labelled = {one.zone for one in world.compute.fleet().items if "spotwarden-idle" in one.labels}
    assert labelled == {ZONE}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_job_left_behind_is_told(world: World, kind: str):
    """With its job, its size, its age, and a link that names it by its id."""
    labels = {"spotwarden-job": "my-job", "spotwarden-keep": "2026-12-31"}
    world.leave(kind, "thing", labels)
    found = leftover(world)
    assert dict(found.labels) == labels
    assert (found.kind, found.name, found.job) == (kind, "thing", "my-job")
    assert found.size_gb == (0 if kind == "address" else 20)
    assert found.created is not None
    assert found.link.rpartition("/")[2].isdecimal()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_jobs_is_not_told(world: World, kind: str):
    """A person's own disk carries no label of ours."""
    world.leave(kind, "thing", {"team": "a"})
    assert world.compute.leftovers() == ((), ())


def test_a_disk_in_use_is_no_leftover(world: World):
    """That of a VM that is there, labelled or not."""
    running(world, "node")
    assert world.compute.leftovers() == ((), ())


def test_leftovers_in_a_hidden_zone_are_said_to_be(world: World):
    """A list that lacks a zone is not the whole truth."""
    world.hide(OTHER_ZONE)
    assert world.compute.leftovers() == ((), (OTHER_ZONE,))


@pytest.mark.parametrize("kind", KINDS)
def test_a_leftover_is_removed_once(world: World, kind: str):
    """The same request again gives the same answer; another one finds nothing."""
    world.leave(kind, "thing", {"spotwarden-job": "my-job"})
    link, request_id = leftover(world).link, new_id()
    first = world.compute.remove(link, request_id)
    world.until(lambda: world.compute.leftovers()[0] == ())
    assert world.compute.remove(link, request_id).name == first.name
    with pytest.raises(RejectedError, match="notFound"):
        world.compute.remove(link, new_id())


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_thing_of_the_old_name_is_not_removed(world: World, kind: str):
    """Links hold ids: what was warned about is removed, and nothing else that is called so now."""
    world.leave(kind, "thing", {"spotwarden-job": "my-job"})
    old = leftover(world).link
    world.compute.remove(old, new_id())
    world.until(lambda: world.compute.leftovers()[0] == ())
    world.leave(kind, "thing", {"spotwarden-job": "my-job"})
    with pytest.raises(RejectedError, match="notFound"):
        world.compute.remove(old, new_id())
    assert leftover(world).name == "thing"


def test_a_fleet_and_a_list_agree(world: World):
    """Both are of the same VMs."""
    vm_id = running(world, "node")
    found = seen(world, "node")
    assert found is not None
    assert found.id == vm_id == machine(world, "node").id
