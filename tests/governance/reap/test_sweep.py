"""`reap_vms` from tick to remedy."""

from datetime import timedelta

import pytest

from spotwarden.layout import Code
from spotwarden.model.attempt import AttemptState, Removal
from spotwarden.model.case import CaseState
from spotwarden.model.governance import GovernanceLimits, Mode, Remedy, Scope
from spotwarden.model.rule_limits import LeftoverLimits, OrphanLimits
from tests.fakes.trouble import rejected, unanswered
from tests.fakes.world import load
from tests.governance.reap.reap_world import DAY, Calls, ReapWorld

MINUTES = 5


@pytest.fixture(scope="session")
def module():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


@pytest.fixture
def world(module):
    """An empty project whose policy is the default one, in earnest."""
    world = ReapWorld(module)
    world.sweep()
    return world


def until(world, what, limit=100):
    """Sweep every five minutes until something is so; gives the minutes that took."""
    for turn in range(limit):
        if what():
            return turn * MINUTES
        world.wait(minutes=MINUTES)
        world.sweep()
    raise AssertionError("it never came")


def over(world, *keys, rule="orphan"):
    """Whether none of these has an open case, and some had."""
    return all(world.case(rule, key) is None for key in keys) and bool(world.kinds())


def keep_alive(world, minutes, *jobs):
    """Let time pass, swept every five minutes, while these jobs beat."""
    for _ in range(minutes // MINUTES):
        world.wait(minutes=MINUTES)
        for job in jobs:
            world.beat(job, job=job)
        world.sweep()


# --- orphans ---


@pytest.mark.parametrize("labelled", [True, False])
def test_a_finished_job_whose_self_delete_failed_is_reaped(world, labelled):
    """Ten minutes of its own, a second look, a warning, its grace; then its VM goes, by its id."""
    vm = world.job(labelled=labelled)["test-vm"]
    world.end()
    assert until(world, lambda: world.case("orphan", vm)) == 10
    assert world.kinds() == []
    assert until(world, lambda: world.kinds() == ["orphan_warning"]) == 5
    assert until(world, lambda: world.asked() == [("delete", vm)]) == 15
    until(world, lambda: over(world, vm))
    assert world.kinds() == ["orphan_warning", "orphan_acted"]
    assert world.status(vm) == ""
    assert world.notices()[0].owner == "ann@x.org"


def test_a_vm_that_deletes_itself_in_the_end_is_cleared(world):
    """It was warned about, and went by itself."""
    vm = world.job()["test-vm"]
    world.end()
    until(world, lambda: world.kinds() == ["orphan_warning"])
    world.cloud.compute.owner_deletes(vm)
    until(world, lambda: over(world, vm))
    assert world.kinds() == ["orphan_warning", "orphan_cleared"]


def test_a_job_that_runs_is_left_alone_for_a_day(world):
    """Nothing is asked of Compute Engine, nothing is told."""
    world.job()
    world.job("gang", nodes=("gang-1", "gang-2"))
    keep_alive(world, 24 * 60, "test-vm", "gang")
    assert (world.kinds(), world.asked()) == ([], [])


def test_a_label_of_the_last_minute_keeps_the_vm(world):
    """Set after the warning, before the remedy."""
    vm = world.job()["test-vm"]
    world.end()
    until(world, lambda: world.kinds() == ["orphan_warning"])
    world.cloud.compute.relabel(vm, {"spotwarden-keep": "2099-01-01"})
    world.sweep_for(hours=3)
    assert world.asked() == []
    assert world.case("orphan", vm) is None


def test_another_vm_of_the_same_name_is_not_touched(world):
    """The one that was warned about went; the name is another's now, in another zone and in the same one."""
    vm = world.job()["test-vm"]
    world.end()
    until(world, lambda: world.kinds() == ["orphan_warning"])
    world.cloud.compute.owner_deletes(vm)
    there = world.vm(labelled=False, zone="us-central1-b")
    world.wait(minutes=2)
    here = world.vm(labelled=False)
    world.sweep_for(hours=6)
    assert world.asked() == [("delete", vm)]
    assert (world.status(there), world.status(here)) == ("RUNNING", "RUNNING")


@pytest.mark.parametrize("scope", [Scope.JOBS, Scope.PROJECT])
def test_a_vm_that_is_no_jobs_is_never_touched(world, scope):
    """Neither one of any name, nor one with the name of a job that is over; of that ops may hear."""
    world.set_policy(governance=GovernanceLimits(scope=scope, ops="ops@x.org"))
    world.vm(labelled=False, name="web-1")
    stranger = world.vm(labelled=False)
    world.store(Code(job="test-vm"))
    world.attempt(state=AttemptState.STOPPED, instances={})
    world.sweep_for(hours=6)
    assert world.asked() == []
    told = [(one.kind, one.owner) for one in world.notices()]
    assert told == ([("orphan_unknown", "ops@x.org")] if scope is Scope.PROJECT else [])
    assert (world.case("orphan", stranger) is not None) is (scope is Scope.PROJECT)


def test_a_vm_that_its_job_never_made_is_never_touched(world):
    """It bears the job's label, as one does that was made like it: no record and no request says the same."""
    mine = world.job()["test-vm"]
    copy = world.vm(name="copy-of-test-vm")
    keep_alive(world, 60, "test-vm")
    world.attempt(state=AttemptState.STOPPED, instances={"test-vm": mine})
    world.sweep_for(hours=6)
    assert ("delete", copy) not in world.asked()
    assert world.status(copy) == "RUNNING"


def test_half_a_gang_left_over_is_deleted_whole(world):
    """The job was stopped while two of its three nodes went on; thirty other VMs are at work."""
    others = world.job("other", nodes=[f"other-{number}" for number in range(1, 31)])
    ids = world.job("gang", nodes=("gang-1", "gang-2", "gang-3"))
    world.cloud.compute.owner_deletes("gang-3")
    world.attempt("gang", state=AttemptState.STOPPED, instances=ids, updated=world.now)
    world.unwatch("gang")
    world.sweep_for(hours=1)
    assert sorted(world.asked()[1:]) == [("delete", ids["gang-1"]), ("delete", ids["gang-2"])]
    assert {world.status(one) for one in others.values()} == {"RUNNING"}


def test_a_delete_that_fails_is_tried_again_and_ops_hear_of_it(world):
    """It is never taken for done; in the end it works."""
    vm = world.job()["test-vm"]
    world.end()
    trouble = world.cloud.compute.trouble
    trouble.order("delete", rejected("resourceInUseByAnotherResource"), about=vm, times=3)
    until(world, lambda: "orphan_failing" in world.kinds())
    assert world.status(vm) == "RUNNING"
    assert world.case("orphan", vm).state is CaseState.DUE
    until(world, lambda: over(world, vm))
    assert world.status(vm) == ""


def test_where_the_policy_only_stops_a_stopped_vm_is_as_it_should_be(world):
    """Stopped once, and left alone from then on."""
    world.set_policy(orphan=OrphanLimits(remedy=Remedy.STOP))
    vm = world.job()["test-vm"]
    world.end()
    world.sweep_for(hours=6)
    assert world.asked() == [("stop", vm)]
    assert world.kinds() == ["orphan_warning", "orphan_acted"]


def test_where_it_only_observes_it_only_tells(world):
    """The warning says what would be done."""
    vm = world.job()["test-vm"]
    world.set_policy(mode=Mode.OBSERVE)
    world.end()
    world.sweep_for(hours=6)
    assert world.kinds() == ["orphan_warning"]
    assert world.asked() == []
    assert world.status(vm) == "RUNNING"


def test_a_rule_may_observe_by_itself(world):
    """The others act."""
    world.set_policy(orphan=OrphanLimits(mode=Mode.OBSERVE))
    world.job()
    world.end()
    world.sweep_for(hours=6)
    assert world.asked() == []


def test_too_many_at_once_go_a_few_in_a_sweep_and_ops_hear_of_it_first(world):
    """Somebody has removed the bucket's folders: three of eleven go, and ops are told that eight wait."""
    for number in range(11):
        world.vm(f"gone-{number}")
    world.store(Code(job="other"))
    assert until(world, lambda: "blast_radius" in world.kinds()) > 0
    assert len(world.asked()) == 3
    [told] = [one for one in world.notices() if one.kind == "blast_radius"]
    assert "8 VMs wait" in told.what


def test_a_bucket_without_jobs_is_told_and_nothing_is_done(world):
    """It may be the wrong one."""
    world.vm("gone")
    world.sweep_for(hours=6)
    assert world.asked() == []
    assert world.kinds() == ["orphan_unknown"]


def test_a_stopped_vm_of_an_open_job_is_recoverys(world):
    """A preemption has stopped it; it waits to be started again."""
    vm = world.job()["test-vm"]
    world.cloud.compute.owner_stops(vm)
    world.sweep_for(hours=6)
    assert world.asked() == [("stop", vm)]
    assert world.kinds() == []


def test_a_job_that_recovery_is_bringing_back_is_recoverys(world):
    """A new attempt is claimed: neither its own VM nor the old one is touched."""
    old = world.vm()
    world.vm(attempt=2, name="test-vm-new")
    world.attempt(number=1, instances={"test-vm": old})
    world.attempt(number=2, state=AttemptState.PLACING, replaces={"test-vm": old})
    world.sweep_for(hours=6)
    assert (world.asked(), world.kinds()) == ([], [])


def test_a_partial_list_neither_clears_nor_acts(world):
    """The zone of a case is out of sight for an hour; then it goes on where it was."""
    vm = world.job()["test-vm"]
    world.end()
    until(world, lambda: world.kinds() == ["orphan_warning"])
    world.cloud.compute.hide("us-central1-a")
    world.sweep_for(hours=1)
    assert world.asked() == []
    assert world.case("orphan", vm).state is CaseState.WARNED
    world.cloud.compute.show("us-central1-a")
    until(world, lambda: world.asked() == [("delete", vm)])


def test_doubled_ticks_change_nothing_but_time(world):
    """Each tick comes twice."""
    vm = world.job()["test-vm"]
    world.end()
    for _ in range(9):
        world.wait(minutes=5)
        world.sweep()
        world.sweep()
    assert world.kinds() == ["orphan_warning", "orphan_acted"]
    assert world.asked() == [("delete", vm)]


# --- stalls ---


def test_a_job_that_hangs_is_stopped(world):
    """Nothing has moved for two hours, and its CPU is at rest: warned, and stopped half an hour later."""
    vm = world.job()["test-vm"]
    world.beat()
    world.produce()
    assert until(world, lambda: world.kinds() == ["stall_warning"]) == 120
    assert until(world, lambda: world.asked() == [("stop", vm)]) == 30
    until(world, lambda: over(world, "test-vm", rule="stall"))
    assert world.kinds() == ["stall_warning", "stall_acted"]
    assert world.status(vm) == "TERMINATED"


def test_a_job_that_moves_again_is_cleared(world):
    """A heartbeat after the warning."""
    world.job()
    world.beat()
    until(world, lambda: world.kinds() == ["stall_warning"])
    world.beat()
    world.sweep_for(hours=1)
    assert world.kinds() == ["stall_warning", "stall_cleared"]
    assert world.asked() == []


def test_a_job_without_signs_of_life_is_told_how_to_give_one_and_never_stopped(world):
    """We couldn't check whether it hangs; a CPU at rest proves nothing."""
    vm = world.job()["test-vm"]
    world.cloud.metrics.cpu = {vm: 0.1}
    world.sweep_for(hours=24)
    assert world.kinds() == ["stall_unknown"]
    assert "heartbeat" in world.notices()[0].todo
    assert world.asked() == []


@pytest.mark.parametrize("on_stop_record", [True, False], ids=["on the record of the stop", "on the attempt"])
def test_what_is_left_of_a_gang_that_a_removal_closed_is_told_of_and_never_deleted(world, on_stop_record):
    """Wherever the removal is on record: nobody has said a word of the node that runs on."""
    nodes = {"gang-1": "4711", "gang-2": world.vm("gang", name="gang-2")}
    world.job()
    gone = Removal(instance_id=nodes["gang-1"], operation="op", kind="delete", user="ann@x.org", at=world.now)
    removed = {"gang-1": gone}
    world.attempt("gang", instances=nodes, removed={} if on_stop_record else removed)
    stop = {"state": AttemptState.STOPPED, "removed": removed if on_stop_record else {}}
    world.attempt("gang", 2, created=world.now, updated=world.now, **stop)
    world.sweep_for(hours=2)
    assert world.asked() == []
    assert {notice.kind for notice in world.notices() if notice.job == "gang"} == {"orphan_unknown"}


def test_a_gang_that_hangs_is_stopped_as_one(world):
    """All of its nodes cost, and none gets on without the others."""
    ids = world.job("gang", nodes=("gang-1", "gang-2", "gang-3"))
    for node in ids:
        world.beat(node, job="gang")
    until(world, lambda: len(world.asked()) == len(ids))
    assert sorted(world.asked()) == [("stop", one) for one in sorted(ids.values())]


def test_our_own_outage_is_no_silence(world):
    """Nobody swept for three hours: the job gets two hours from then on."""
    vm = world.job()["test-vm"]
    world.beat()
    world.sweep_for(minutes=115)
    world.wait(hours=3)
    world.sweep()
    assert world.kinds() == []
    assert until(world, lambda: world.kinds() == ["stall_warning"]) == 120
    assert world.status(vm) == "RUNNING"


def test_metrics_without_an_answer_stop_nobody(world):
    """Its log lines may move; they cannot be read."""
    world.job()
    world.beat()
    world.cloud.metrics.trouble.order("logged", unanswered(after_work=False), times=1000)
    world.sweep_for(hours=6)
    assert world.asked() == []
    assert world.kinds() == ["stall_unknown"]


def second_look(world):
    """At which of its calls a sweep that is made now looks for the second time; None where it does not."""
    counted = Calls(world.cloud.ports())
    world.sweep(cloud=counted.cloud)
    looks = [number for number, (call, _) in enumerate(counted.made) if call == "fleet"]
    return looks[1] if len(looks) > 1 else None


def about_to_be_stopped(module):
    """A job that hangs, five minutes before it is stopped."""
    world = ReapWorld(module)
    world.sweep()
    world.job()
    world.beat()
    until(world, lambda: world.kinds() == ["stall_warning"])
    world.sweep_for(minutes=25)
    world.wait(minutes=5)
    assert world.asked() == []
    return world


def test_a_beat_before_the_second_look_saves_the_job(module):
    """Wherever it comes in the sweep that would have stopped it; without one it is stopped."""
    world = about_to_be_stopped(module)
    looked = second_look(world)
    assert len(world.asked()) == 1
    for place in range(looked + 1):
        spared = about_to_be_stopped(module)
        spared.sweep(cloud=Calls(spared.cloud.ports(), before=place, happen=spared.beat).cloud)
        assert spared.asked() == [], f"a beat before call {place}"


# --- leftovers ---


@pytest.mark.parametrize(
    ("remedy", "kinds"),
    [
        (Remedy.NONE, ["leftover_warning"]),
        (Remedy.STOP, ["leftover_warning"]),
        (Remedy.DELETE, ["leftover_warning", "leftover_acted"]),
    ],
)
def test_a_disk_left_behind_is_told_and_removed_only_where_the_policy_says_so(world, remedy, kinds):
    """A day after the end of its job, and a day after the warning."""
    world.set_policy(leftover=LeftoverLimits(remedy=remedy))
    world.attempt(state=AttemptState.ENDED, updated=world.now)
    link = world.cloud.compute.leave("data", job="test-vm", age=timedelta(days=3))
    world.had(link)
    world.sweep_for(every=timedelta(minutes=30), hours=50)
    assert world.kinds() == kinds
    assert (link in world.cloud.compute.left) is (remedy is not Remedy.DELETE)


def test_a_disk_that_is_used_again_is_not_removed(world):
    """Somebody attaches it after the warning."""
    world.set_policy(leftover=LeftoverLimits(remedy=Remedy.DELETE))
    world.attempt(state=AttemptState.ENDED, updated=world.now)
    link = world.cloud.compute.leave("data", job="test-vm", age=timedelta(days=3))
    world.had(link)
    world.sweep_for(every=timedelta(minutes=30), hours=25)
    world.cloud.compute.use(link)
    world.sweep_for(every=timedelta(minutes=30), hours=40)
    assert world.kinds() == ["leftover_warning", "leftover_cleared"]
    assert link in world.cloud.compute.left


def test_disks_that_cannot_be_listed_keep_no_orphan_alive(world):
    """VMs are judged all the same; an open case about a disk waits until the disks are seen again."""
    world.set_policy(leftover=LeftoverLimits(after=timedelta(minutes=1)))
    vm = world.job()["test-vm"]
    world.end()
    world.cloud.compute.leave("data", job="test-vm", age=timedelta(days=3))
    until(world, lambda: _left(world))
    filed = _left(world)
    world.cloud.compute.trouble.order("leftovers", unanswered(after_work=False), times=1000)
    until(world, lambda: world.asked() == [("delete", vm)])
    assert _left(world) == filed != []


def _left(world):
    """The names of the cases about what was left behind."""
    return [one.name for one in world.cloud.store.entries("spotwarden/cases/leftover/")]


# --- VMs that are not ours ---

MIG = {"created-by": "projects/1/zones/us-central1-a/instanceGroupManagers/web", "instance-template": "t"}


@pytest.mark.parametrize(
    "made",
    [
        {"metadata": MIG},
        {"labels": {"goog-gke-node": "", "goog-k8s-cluster-name": "c"}},
        {"labels": {"goog-dataproc-cluster-name": "c"}},
        {"labels": {"batch-node": "", "batch-job-uid": "j-1"}},
        {"labels": {"goog-future": "x"}},
    ],
    ids=["a managed instance group", "GKE", "Dataproc", "Batch", "another service"],
)
@pytest.mark.parametrize("attempt", [0, 1], ids=["only our label", "all our labels"])
def test_what_a_google_service_makes_anew_is_never_deleted_and_told_once_to_ops(world, made, attempt):
    """Warned of and deleted before, for its group to make it again in a loop; also of a job that is over."""
    world.job("other")
    labels = {"spotwarden-job": "gone", **({"spotwarden-attempt": "1"} if attempt else {})}
    for number in range(3):
        more = {**made, "labels": {**labels, **made.get("labels", {})}}
        world.cloud.compute.add(f"web-{number}", age=DAY, **more)
    ended = world.job("ended")["ended"]
    world.end("ended")
    world.cloud.compute.add(
        "web-9", age=DAY, **{**more, "labels": {**more["labels"], "spotwarden-job": "ended"}}
    )
    world.sweep_for(hours=6)
    assert world.asked() == [("delete", ended)]
    told = [one for one in world.notices() if one.kind == "orphan_unknown"]
    assert len(told) == 2
    assert {(one.owner, one.job) for one in told} == {("ops@x.org", "")}


def test_a_notebook_with_our_label_and_no_folder_is_told_once_to_ops(world):
    """Somebody has copied the label: it is not ours to delete."""
    world.job("other")
    world.cloud.compute.add(
        "notebook",
        age=DAY,
        labels={"spotwarden-job": "gone", "owner": "ada@x.org"},
        metadata={"created-by": "ada"},
    )
    world.sweep_for(hours=12)
    assert world.asked() == []
    [told] = [one for one in world.notices() if one.kind.startswith("orphan")]
    assert (told.kind, told.owner) == ("orphan_unknown", "ops@x.org")
    assert "takes no action" in told.then


def test_a_notebook_with_our_label_is_deleted_where_the_policy_says_so(world):
    """`orphan.foreign` in the policy, after a warning as ever."""
    world.set_policy(orphan=OrphanLimits(foreign=True))
    world.job("other")
    notebook = world.cloud.compute.add("notebook", age=DAY, labels={"spotwarden-job": "gone"})
    world.sweep_for(hours=1)
    assert world.asked() == [("delete", notebook)]
    assert world.kinds() == ["orphan_warning", "orphan_acted"]


def test_a_vm_that_our_request_made_is_an_orphan_once_its_folder_is_gone(world):
    """Its attempt stands on it."""
    world.job("other")
    vm = world.vm("gone")
    world.sweep_for(hours=1)
    assert world.asked() == [("delete", vm)]


def test_a_vm_whose_id_the_list_of_open_jobs_has_is_an_orphan_once_its_folder_is_gone(world):
    """Launched by hand with our label, then written down by recovery."""
    world.job("other")
    vm = world.cloud.compute.add("hand", age=DAY, labels={"spotwarden-job": "hand"})
    world.watch("hand", {"hand": vm})
    world.sweep_for(hours=1)
    assert world.asked() == [("delete", vm)]


def test_a_jobs_own_vm_in_a_managed_instance_group_is_told_about_and_never_deleted(world):
    """Its kit has registered its id: the group would make it anew."""
    vm = world.cloud.compute.add("web-1", age=DAY, metadata=MIG)
    world.attempt("web", instances={"web-1": vm})
    world.watch("web", {"web-1": vm})
    world.end("web")
    world.sweep_for(hours=6)
    assert world.asked() == []
    [told] = world.notices()
    assert (told.kind, told.owner, told.ways) == ("orphan_warning", "ann@x.org", ())
    assert "takes no action" in told.then


def test_a_disk_that_gke_has_made_is_never_removed(world):
    """A volume of a cluster, with our label on it; one of a job goes."""
    world.set_policy(leftover=LeftoverLimits(remedy=Remedy.DELETE, grace=timedelta(hours=1)))
    world.attempt("over", state=AttemptState.ENDED, updated=world.now)
    ours = world.cloud.compute.leave("disk", job="over", age=timedelta(days=3))
    pvc = world.cloud.compute.leave("pvc", job="over", age=timedelta(days=3), labels={"goog-gke-volume": ""})
    world.had(ours, "over")
    world.had(pvc, "over", attempt=2)
    world.sweep_for(hours=30)
    assert [one.kind for one in world.notices() if "removed" in one.what or "deleted" in one.what]
    assert ours not in world.cloud.compute.left
    assert len(world.cloud.compute.left) == 1


def test_a_group_that_makes_its_vms_anew_is_not_told_of_anew(world):
    """Each hour another VM, with another id: it is the group that is told of."""
    world.job("other")
    for number in range(5):
        made = world.cloud.compute.add(f"web-{number}", labels={"spotwarden-job": "web"}, metadata=MIG)
        world.sweep_for(hours=1)
        if number < 4:
            world.cloud.compute.add(f"web-{number + 1}-new", labels={"spotwarden-job": "web"}, metadata=MIG)
            world.cloud.compute.owner_deletes(made)
    assert len([one for one in world.notices() if one.kind.startswith("orphan")]) == 1


def test_a_services_vm_with_the_name_of_a_job_is_not_taken_for_its_namesake(world):
    """Where the whole project is looked at, it is told of as the service's and by no other case."""
    world.set_policy(governance=GovernanceLimits(scope=Scope.PROJECT, ops="ops@x.org"))
    ended = world.job("ended")["ended"]
    world.end("ended")
    world.cloud.compute.add("ended", zone="us-central1-b", age=DAY, metadata=MIG)
    world.sweep_for(hours=2)
    assert world.asked() == [("delete", ended)]
    assert {one.kind for one in world.notices()} == {"orphan_warning", "orphan_acted"}
