"""Gangs that bend: those that are left go on, what is missing is asked for again, and nothing comes twice."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import JobFileName, MarkerName
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.jobfile import JobFile
from spotwarden.model.marker import MarkerBody
from spotwarden.recovery.instances.elastic import range_problem
from tests.fakes.beats import kit_beat
from tests.fakes.world import GANG
from tests.recovery.test_namesakes import colleague

FOUR = GANG.replace(b"gang-1,gang-2", b"gang-1,gang-2,gang-3,gang-4")
ALL = ["gang-1", "gang-2", "gang-3", "gang-4"]
HOME = "us-central1-a"


@pytest.fixture
def four(new_world):
    """A gang of four of which two are enough, that a sweep has seen run."""
    world = new_world("gang", FOUR)
    world.store(JobFileName(job="gang"), b'nodes = "2:4"')
    world.settle()
    return world


def settle(world, ticks=4):
    """Let so many ticks pass; whatever runs and is no member says that it is ready."""
    for _ in range(ticks):
        world.sweep()
        for vm in world.instances():
            kit_beat(world.cloud.store, vm.name, job="gang", instance_id=vm.id, status="waiting")
        world.wait(minutes=1)


def running(world):
    """The nodes that run."""
    return sorted(vm.name for vm in world.instances() if vm.status is Status.RUNNING)


def lose(world, *nodes, **more):
    """Preempt these nodes; their markers say which instances they were."""
    for node in nodes:
        instance = next(vm.id for vm in world.instances() if vm.name == node)
        world.preempt(node=node, body=msgspec.json.encode(MarkerBody(instance_id=instance, **more)))


def test_the_survivors_of_a_lost_node_are_kept_and_named_by_the_next_record(four):
    """One sweep writes it: nobody waits for the node to be made again."""
    before = four.attempts()[-1].instances
    lose(four, "gang-2")
    four.sweep("gang-2")
    newest = four.attempts()[-1]
    assert (newest.number, newest.state, newest.bent) == (2, AttemptState.RUNNING, True)
    assert newest.instances == {node: before[node] for node in ("gang-1", "gang-3", "gang-4")}
    assert newest.replaces == {"gang-2": before["gang-2"]}
    assert four.done("DeleteInstance") == 0


def test_a_lost_node_is_refilled_under_its_name_beside_its_peers(four):
    """The three others are the same VMs; the owner is told of the loss and of the refill."""
    kept = {node: name for node, name in four.attempts()[-1].instances.items() if node != "gang-2"}
    lose(four, "gang-2")
    settle(four, 6)
    newest = four.attempts()[-1]
    assert running(four) == ALL
    assert newest.lacking == {}
    assert {node: newest.instances[node] for node in kept} == kept
    assert list(newest.instances) == ALL
    assert newest.instances["gang-2"] != newest.instances["gang-1"]
    assert (
        four.cloud.store.read("gang/metadata/gang-2-instance-id").data.decode()
        == (newest.instances["gang-2"])
    )
    assert four.names("preempted-jobs/") == []
    assert four.notices() == ["gang_changed", "gang_changed"]


def test_what_a_refill_makes_is_told_to_wait_for_its_record_and_is_alone_in_the_request(four):
    """The request names the missing node only, and one is enough."""
    lose(four, "gang-2", "gang-4")
    settle(four, 6)
    launches = [entry for entry in four.audit() if entry["action"] == "LaunchInstances"]
    asked = [entry["detail"]["request"]["body"] for entry in launches]
    assert [sorted(body["perInstanceProperties"]) for body in asked] == [["gang-2", "gang-4"]]
    assert (asked[0]["count"], asked[0]["minCount"]) == ("2", "1")
    items = asked[0]["instanceProperties"]["metadata"]["items"]
    assert {"key": "spotwarden-joins", "value": "1"} in items


def test_the_others_train_on_until_a_refilled_vm_is_set_up(four):
    """It says nothing: ten minutes later it joins all the same."""
    lose(four, "gang-2")
    four.settle(9)
    assert running(four) == ALL
    assert len(four.attempts()[-1].instances) == 3
    four.settle(6)
    assert len(four.attempts()[-1].instances) == 4


def test_a_zone_without_room_is_asked_again_every_ten_minutes_while_the_gang_goes_on(four):
    """An hour without room: six requests or so, no delete, and the job never stops running."""
    four.cloud.compute.stock_out(HOME)
    lose(four, "gang-2")
    for _ in range(60):
        four.sweep()
        four.wait(minutes=1)
        assert four.attempts()[-1].state is AttemptState.RUNNING
    assert running(four) == ["gang-1", "gang-3", "gang-4"]
    assert 4 <= four.done("LaunchInstances") <= 7
    assert four.done("DeleteInstance") == 0
    four.cloud.compute.restock(HOME)
    settle(four, 20)
    assert running(four) == ALL


def test_a_zone_that_has_room_for_one_gives_one(four):
    """The other is asked for later."""
    four.cloud.compute.stock_out(HOME, left=1)
    lose(four, "gang-2", "gang-4")
    settle(four, 5)
    assert len(running(four)) == 3
    assert len(four.attempts()[-1].instances) == 3
    assert len(four.attempts()[-1].lacking) == 1


def test_below_its_lower_bound_the_gang_is_made_anew_as_a_whole(four):
    """One of four is too few: it goes, and all four come together."""
    before = set(four.vms())
    lose(four, "gang-1", "gang-2", "gang-3")
    settle(four, 10)
    assert running(four) == ALL
    assert not set(four.vms()) & before
    newest = four.attempts()[-1]
    assert not newest.bent
    assert len({vm.zone for vm in four.instances()}) == 1


def test_a_gang_that_no_place_has_room_for_takes_what_its_lower_bound_allows(four):
    """Every place is asked for all of it first; then three of four are better than none."""
    lose(four, *ALL)
    for _ in range(12):
        for zone in ("us-central1-a", "us-central1-b", "us-central1-c", "us-central1-f"):
            # What a request in vain had made for a moment is there again for the next one.
            four.cloud.compute.stock_out(zone, left=0 if running(four) else 3)
        settle(four, 1)
    assert len(running(four)) == 3
    newest = four.attempts()[-1]
    assert newest.state is AttemptState.RUNNING
    assert len(newest.lacking) == 1


def test_a_node_that_its_owner_deletes_is_not_wanted_any_more(four):
    """The gang goes on with three, for a day; the owner is told."""
    four.cloud.compute.owner_deletes("gang-3")
    for _ in range(90):
        four.sweep()
        four.wait(minutes=1)
    assert running(four) == ["gang-1", "gang-2", "gang-4"]
    assert list(four.attempts()[-1].removed) == ["gang-3"]
    assert four.done("LaunchInstances") == 0
    assert "node_removed" in four.notices()


def test_a_node_that_its_owner_stops_and_starts_again_joins_as_it_is(four):
    """The same VM, told as joined, and no other was ever requested; its disk was not touched."""
    before = four.attempts()[-1].instances["gang-3"]
    four.cloud.compute.owner_stops("gang-3")
    settle(four, 20)
    assert list(four.attempts()[-1].removed) == ["gang-3"]
    four.cloud.compute.owner_starts("gang-3")
    settle(four, 6)
    newest = four.attempts()[-1]
    assert (newest.instances["gang-3"], len(newest.instances)) == (before, 4)
    assert newest.removed == {}
    assert (four.done("LaunchInstances"), four.done("DeleteInstance")) == (0, 0)
    lose(four, "gang-3")
    settle(four, 8)
    assert running(four) == ALL


def test_a_node_that_runs_again_and_says_nothing_is_no_member(four):
    """Its program may not be ready: nobody waits for it."""
    four.cloud.compute.owner_stops("gang-3")
    settle(four, 20)
    four.cloud.compute.owner_starts("gang-3")
    for _ in range(6):
        four.sweep()
        four.wait(minutes=1)
    assert list(four.attempts()[-1].instances) == ["gang-1", "gang-2", "gang-4"]


def test_a_word_from_before_a_node_was_removed_does_not_bring_it_back(four):
    """Its heartbeat says that it waits; it was not started since."""
    vm = next(vm for vm in four.instances() if vm.name == "gang-3")
    four.cloud.compute.owner_stops("gang-3")
    settle(four, 20)
    kit_beat(four.cloud.store, vm.name, job="gang", instance_id=vm.id, status="waiting")
    settle(four, 3)
    assert list(four.attempts()[-1].removed) == ["gang-3"]


def test_a_removed_node_does_not_come_back_with_the_whole_gang_either(four):
    """After the owner took one of four away, two are lost: below the bound three are made, not four."""
    four.cloud.compute.owner_deletes("gang-3")
    settle(four, 20)
    lose(four, "gang-1", "gang-2")
    settle(four, 12)
    assert running(four) == ["gang-1", "gang-2", "gang-4"]
    assert four.attempts()[-1].state is AttemptState.RUNNING


def test_what_lacks_is_asked_for_where_a_removal_leaves_too_few(four):
    """Two of four are lost, and would be enough with the rest; meanwhile their owner takes one of these."""
    for machine in ("gang-1", "gang-2"):
        lose(four, machine)
    four.cloud.compute.let_the_log_lag(timedelta(minutes=8))
    settle(four, 2)
    four.cloud.compute.owner_stops("gang-3")
    settle(four, 40)
    assert running(four) == ["gang-1", "gang-2", "gang-4"]
    assert four.attempts()[-1].state is AttemptState.RUNNING


def test_a_gang_of_which_too_many_nodes_were_removed_is_closed(four):
    """One after the other: with one of four left nothing is launched, and what runs is left alone."""
    for node in ("gang-4", "gang-3", "gang-2"):
        four.cloud.compute.owner_deletes(node)
        settle(four, 15)
    assert running(four) == ["gang-1"]
    assert four.attempts()[-1].state is AttemptState.STOPPED
    assert four.done("LaunchInstances") == 0


def test_losses_in_a_row_are_one_record_each_and_all_come_back(four):
    """The second is lost while the first is being refilled."""
    lose(four, "gang-2")
    four.sweep("gang-2")
    four.wait(seconds=5)
    lose(four, "gang-4")
    settle(four, 10)
    assert running(four) == ALL
    assert four.attempts()[-1].lacking == {}
    names = [vm.name for vm in four.instances()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("lag", [timedelta(0), timedelta(minutes=10)])
def test_nothing_is_refilled_before_the_log_says_that_nobody_removed_it(four, lag):
    """The log lags: the gang goes on at once, and the node of its owner stays away."""
    four.cloud.compute.let_the_log_lag(lag)
    four.cloud.compute.owner_deletes("gang-2")
    four.store(MarkerName(node="gang-2"), b"")
    settle(four, 3)
    assert four.attempts()[-1].bent
    settle(four, 30)
    assert running(four) == ["gang-1", "gang-3", "gang-4"]
    assert four.done("LaunchInstances") == 0


def test_a_gang_that_bends_is_looked_at_each_tick_only_while_a_node_is_missing(four):
    """Its entry among the open jobs says so."""
    four.cloud.compute.stock_out(HOME)
    lose(four, "gang-2")
    settle(four, 4)
    assert four.read("spotwarden/open/gang.json")["lacks"]
    four.cloud.compute.restock(HOME)
    settle(four, 20)
    assert not four.read("spotwarden/open/gang.json").get("lacks")


def test_a_late_marker_without_an_id_does_not_tear_the_gang_down(four):
    """It came after the gang went on without its node: it is cleared, and the others stay."""
    four.cloud.compute.stock_out(HOME)
    lose(four, "gang-2")
    settle(four, 4)
    before = set(four.vms())
    four.store(MarkerName(node="gang-2"), b"")
    settle(four, 4)
    assert set(four.vms()) == before
    assert four.names("preempted-jobs/") == []


def test_preemptions_of_nodes_are_no_restarts_of_the_job(four):
    """A job that may be restarted after no preemption at all bends as often as it has to."""
    four.store(JobFileName(job="gang"), b'nodes = "2:4"\nmax_preemptions = 0\nmax_restarts = 0')
    for node in ("gang-2", "gang-3", "gang-2"):
        lose(four, node)
        settle(four, 8)
    assert running(four) == ALL


def test_a_gang_without_a_range_is_made_anew_as_before(new_world):
    """Two of two are needed."""
    world = new_world("gang", FOUR)
    world.settle()
    lose(world, "gang-2")
    world.settle(8)
    assert not world.attempts()[-1].bent
    assert world.done("DeleteInstance") == 3


def test_a_refill_that_was_taken_before_it_joined_leaves_a_marker_that_tears_nothing_down(four):
    """No record names it: its marker is cleared, and the node is asked for once more."""
    lose(four, "gang-2")
    four.sweep("gang-2")
    four.wait(minutes=1)
    four.sweep()
    four.wait(seconds=20)
    lose(four, "gang-2")
    before = {vm.id for vm in four.instances() if vm.name != "gang-2"}
    settle(four, 20)
    assert before <= set(four.vms())
    assert running(four) == ALL
    assert four.names("preempted-jobs/") == []


@pytest.mark.parametrize(
    ("nodes", "changes", "says"),
    [
        ("1:2", {}, ""),
        ("", {"gang": False}, ""),
        ("1:2", {"gang": False}, "bulk create"),
        ("1:3", {}, "the script creates 2"),
        ("1:2", {"part": True}, "--min-count"),
        ("1:2", {"path": "/compute/v1/projects/p/regions/us-central1/instances/bulkInsert"}, "--zone"),
        ("1:2", {"properties": {"machineType": "e2-small"}}, "metadata"),
    ],
)
def test_what_cannot_bend_is_said_with_its_reason(some, nodes, changes, says):
    """The range must fit the script, and its nodes must be made one by one."""
    launch = some.gang()
    body = {**launch.request.body, "instanceProperties": changes.pop("properties", {"metadata": {}})}
    request = replace(launch.request, body=body, path=changes.pop("path", launch.request.path))
    launch = replace(launch, choices=(replace(launch.choices[0], request=request),), **changes)
    said = range_problem(launch, JobFile(nodes=nodes))
    assert says in said
    assert bool(says) is bool(said)


@pytest.mark.parametrize("nodes", ["3:2", "2:2", "0:2", "2", "a:b", "1:1000"])
def test_a_range_that_is_none_is_refused(nodes):
    """The file then sets nothing, as with any other mistake."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"nodes": nodes}, JobFile)


def test_a_node_that_was_removed_while_a_zone_was_hidden_is_not_asked_for_again(four):
    """What the log tells once all zones are shown again it no longer tells at the look after that."""
    four.cloud.compute.hide("us-central1-c")
    four.cloud.compute.owner_stops("gang-2")
    four.store(MarkerName(node="gang-2"), b"")
    settle(four, 25)
    four.cloud.compute.show("us-central1-c")
    settle(four, 30)
    assert running(four) == ["gang-1", "gang-3", "gang-4"]
    assert [*four.attempts()[-1].removed] == ["gang-2"]
    assert four.done("LaunchInstances") == 0
    assert "node_removed" in four.notices()


def test_who_has_a_nodes_name_keeps_it_and_the_owner_is_told_why_the_node_is_missing(four):
    """The gang goes on without it until the name is free; what else it lacks is requested meanwhile."""
    zone = four.instances()[0].zone
    lose(four, "gang-2")
    four.wait(seconds=40)
    theirs = colleague(four, name="gang-2", zone=zone)
    settle(four, 60)
    assert running(four) == ["gang-1", "gang-2", "gang-3", "gang-4"]
    assert theirs not in four.attempts()[-1].instances.values()
    told = [one for one in four.cloud.notices.messages if b"name_taken" in one.data]
    [notice] = [msgspec.json.decode(one.data) for one in told]
    assert notice["then"].startswith("the job continues without gang-2 until the name is free")
    lose(four, "gang-3")
    settle(four, 14)
    assert list(four.attempts()[-1].lacking) == ["gang-2"]
    assert theirs in four.vms()
    assert four.notices().count("name_taken") == 1
    four.cloud.compute.owner_deletes("gang-2")
    settle(four, 16)
    assert not four.attempts()[-1].lacking
    assert theirs not in four.attempts()[-1].instances.values()
