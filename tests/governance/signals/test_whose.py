"""Whose a VM is: an id on record, or a request of the job's chain; a label can be copied by anybody."""

from datetime import timedelta

import msgspec
import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.governance.compliance import gather as compliance_gather
from spotwarden.governance.idle import gather as idle_gather
from spotwarden.governance.signals.listings import FEW
from spotwarden.governance.signals.whose import Owned, owned, owned_or_left
from spotwarden.layout import AttemptRecord, InstanceId
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.governance import Remedy
from spotwarden.model.request import Request
from spotwarden.model.rule_limits import ComplianceLimits, IdleLimits, InstanceCap, JobCap
from spotwarden.model.tick import Tick
from tests.fakes.trouble import unanswered
from tests.fakes.world import load
from tests.governance.caps.cap_world import CapWorld
from tests.governance.idle.idle_world import IdleWorld
from tests.governance.reap.reap_world import Calls, ReapWorld

COPIED = {"spotwarden-job": "train", "spotwarden-attempt": "1", "spotwarden-try": "1"}
ZONE = "us-central1-a"


@pytest.fixture
def world():
    """An empty project."""
    return ReapWorld(load("reap_vms"))


def asked(world, *only):
    """Whose the VMs are, and what was asked for that."""
    counted = Calls(world.cloud.ports())
    machines = [one for one in world.cloud.compute.fleet().items if not only or one.id in only]
    return owned(world.context(counted.cloud), machines), counted


def launch(world, request_id, *, zone=ZONE, job="train", attempt="1", name=""):
    """A VM with the labels of this attempt of the job, that this request makes; gives its id."""
    labels = {**COPIED, "spotwarden-job": job, "spotwarden-attempt": attempt}
    path = f"/compute/v1/projects/p/zones/{zone}/instances"
    body = {"name": name or job, "machineType": "e2-small", "labels": labels}
    request = Request(method="POST", path=path, query={}, body=body)
    return world.cloud.compute.launch(request, request_id).target_id


def placing(world, job="train"):
    """An attempt whose request `asked-for` was sent, and whose VM is on no record yet."""
    sent = Try(place=ZONE, request_id="asked-for", at=world.now)
    world.attempt(job, state=AttemptState.PLACING, instances={}, tries=(sent,), updated=world.now)


def look_idle(context):
    """What `flag_idle_gpus` knows of jobs."""
    return idle_gather.gather(context, ()).files


def look_compliance(context):
    """What `check_compliance` knows of jobs."""
    return compliance_gather.gather(context, ()).jobs


def test_vms_whose_ids_are_on_the_list_of_open_jobs_cost_one_listing(world):
    """Of labelled VMs as of others: no job is looked into, and no log is read."""
    for number in range(20):
        world.job(f"job-{number}", labelled=bool(number % 2))
    asked(world)
    known, counted = asked(world)
    assert len(known.jobs) == 20
    assert counted.made == [("each_entry", "spotwarden/open/")]


def test_a_vm_whose_id_only_its_jobs_records_have_costs_one_listing_of_that_job(world):
    """Of a job that is over: two VMs, one listing, and no log."""
    ids = world.job("train", nodes=("node-1", "node-2"))
    world.unwatch("train")
    asked(world)
    known, counted = asked(world)
    assert known.jobs == dict.fromkeys(ids.values(), "train")
    assert counted.made == [("each_entry", "spotwarden/open/"), ("entries", "train/metadata/")]


def test_new_vms_of_many_jobs_cost_a_few_lists_and_no_read(world):
    """As in a storm: their ids are on no record yet, the registrations are those of the VMs before them."""
    jobs = [f"train-{number}" for number in range(FEW + 1)]
    for job in jobs:
        world.register(job, "17", job)
        [row] = world.cloud.store.entries(world.layout.build(InstanceId(job=job, node=job)))
        world.attempt(job, instances={job: "17"}, registered={job: row.generation})
        sent = Try(place=ZONE, request_id=f"for-{job}", at=world.now)
        world.attempt(job, 2, state=AttemptState.PLACING, tries=(sent,), updated=world.now)
        launch(world, f"for-{job}", job=job, attempt="2")
    known, counted = asked(world)
    assert sorted(known.jobs.values()) == sorted(jobs)
    assert [call for call, _ in counted.made] == ["each_entry", "folders", "entries", "operations"]


def test_a_registration_that_is_newer_than_an_attempt_knows_is_read(world):
    """It is that of a VM of which nothing else tells."""
    made = world.vm("train", attempt=7)
    world.attempt("train", instances={"train": "17"}, registered={"train": 1})
    world.register("train", made, "train")
    known, counted = asked(world)
    assert known.jobs == {made: "train"}
    assert len(counted.of("read")) == 1


def test_a_vm_with_copied_labels_is_nobodys(world):
    """Its id is on no record, and no request of the chain has made it; the job's own is the job's."""
    placing(world)
    mine, copied = launch(world, "asked-for"), launch(world, "somebody's", zone="us-central1-b")
    world.wait(minutes=30)
    known, _ = asked(world)
    assert known == Owned(jobs={mine: "train"})
    assert copied not in known.jobs


def test_labels_of_an_attempt_that_the_chain_does_not_have_are_nobodys_without_a_look_at_the_log(world):
    """There is nothing that the log could prove."""
    world.job("train")
    world.vm("train", name="copy", attempt=7)
    asked(world)
    known, counted = asked(world)
    assert len(known.jobs) == 1
    assert counted.of("operations") == []


def test_what_the_log_has_told_of_a_vm_is_not_asked_again(world):
    """A colleague's VM may run for weeks; a new one is asked about."""
    placing(world)
    launch(world, "somebody's")
    world.wait(minutes=30)
    assert [len(asked(world)[1].of("operations")) for _ in range(3)] == [1, 0, 0]
    launch(world, "asked-for", zone="us-central1-b")
    world.wait(minutes=30)
    known, counted = asked(world)
    assert len(counted.of("operations")) == 1
    assert len(known.jobs) == 1


def test_while_the_log_of_its_zone_is_hidden_a_vm_is_nobodys(world):
    """That no insert is seen there does not say that the job's request has made it."""
    placing(world)
    copied = launch(world, "somebody's")
    mine = launch(world, "asked-for", zone="us-central1-b")
    world.wait(minutes=30)
    machines = world.cloud.compute.fleet().items
    ports = world.cloud.ports()

    class Hidden:
        """The log without this zone."""

        def operations(self, since):
            log = ports.compute.operations(since)
            shown = tuple(one for one in log.items if one.zone != ZONE)
            return msgspec.structs.replace(log, items=shown, unreachable=(ZONE,))

    context = world.context(msgspec.structs.replace(ports, compute=Hidden()))
    assert owned(context, machines).jobs == {mine: "train"}
    assert copied not in owned(world.context(), machines).jobs


@pytest.mark.parametrize("fault", ["no answer", "broken"])
def test_of_a_job_whose_records_cannot_be_read_the_label_counts_and_is_named(world, fault):
    """The others are known as ever; who asks does nothing to VMs of such a job."""
    good = world.job("good")["good"]
    bad = world.job("bad")["bad"]
    world.unwatch("bad")
    if fault == "broken":
        world.store(AttemptRecord(job="bad", attempt=1), b"{")
    else:
        world.cloud.store.trouble.order("entries", unanswered(after_work=False), about="^bad/")
    known, _ = asked(world)
    assert known.jobs == {good: "good", bad: "bad"}
    assert list(known.broken) == ["bad"]


def test_the_reaper_does_nothing_to_the_vm_of_a_job_whose_records_cannot_be_read(world):
    """Not even where they can be read again in the same look; other jobs are looked at."""
    bad = world.job("bad")["bad"]
    world.job("good")
    world.unwatch("bad")
    world.cloud.store.trouble.order("entries", unanswered(after_work=False), about="^bad/metadata/")
    facts = world.look()
    assert facts.whose[bad] == "bad"
    assert facts.jobs["bad"].problem
    assert not facts.jobs["good"].problem


@pytest.mark.parametrize("gather", [look_idle, look_compliance], ids=["idle", "compliance"])
def test_what_could_not_be_read_to_tell_whose_a_vm_is_stays_unread_for_that_look(gather):
    """Though it can be read again a moment later: whose VM it is was not known."""
    world = IdleWorld(load("flag_idle_gpus"), compliance=ComplianceLimits(machine_types=("z3-*",)))
    own = world.vm(0.0)
    world.attempt(owner="ada@example.com", train=own)
    world.ticks(hours=2)
    world.cloud.store.trouble.order("entries", unanswered(after_work=False), about="^train/metadata/")
    tick = Tick(function="f", sweep="sweep-0", now=world.now)
    context = SweepContext.open(world.ports(), world.settings, world.policy, tick)
    assert gather(context)["train"].problem
    assert not gather(context)["train"].problem


# --- what the rules make of it ---


def idle_project(**policy):
    """VMs are stopped after two idle hours; a job with one VM that works."""
    world = IdleWorld(load("flag_idle_gpus"), idle=IdleLimits(remedy=Remedy.STOP), **policy)
    own = world.vm(97.0, labels=COPIED)
    world.attempt(owner="ada@example.com", train=own)
    world.write_down("train", train=own)
    return world, own


def test_an_idle_vm_with_copied_labels_is_neither_told_nor_stopped():
    """As any VM of nobody, while the policy looks at those of jobs."""
    world, _ = idle_project()
    copied = world.vm(0.0, name="copy", labels=COPIED)
    world.ticks(hours=6)
    assert world.notices() == []
    assert world.status(copied) == "RUNNING"


def test_a_vm_with_copied_labels_is_no_node_of_an_idle_gang():
    """Neither does its idleness make one of a job's VM, nor its work keep the job's idle VM."""
    world, own = idle_project()
    world.gauges.work(own, 0.0)
    world.vm(97.0, name="copy", labels=COPIED)
    world.ticks(hours=3)
    assert world.asked() == [("stop", own)]


def cap_project(**policy):
    """A job with one VM, whose time is capped at ten hours."""
    world = CapWorld(load("cap_runtime"), **policy)
    return world, world.job("train", file='max_runtime = "10h"')


def test_a_vm_with_copied_labels_is_not_stopped_with_a_job_at_its_cap():
    """The job's own VM is, and its message names no other."""
    world, own = cap_project()
    copied = world.vm("train", name="copy")
    world.sweep_for(hours=11)
    assert world.asked() == [("stop", own)]
    assert world.status(copied) == "RUNNING"


def test_a_vm_with_copied_labels_does_not_use_up_a_jobs_budget():
    """Nor is it metered, for the job's owner has not made it."""
    world, own = cap_project()
    copied = world.vm("train", name="copy", gpus=8)
    world.sweep_for(hours=1)
    assert world.seconds(own) == 3600
    assert world.seconds(copied) == 0


def test_a_vm_with_copied_labels_does_not_keep_a_job_under_its_cap():
    """A job whose own VM stands still is not up, whatever carries its labels."""
    world, own = cap_project(job_cap=JobCap(remedy=Remedy.STOP))
    world.vm("train", name="copy")
    world.stop(own)
    world.sweep_for(hours=11)
    assert world.asked() == []
    assert world.kinds() == []


def test_the_time_of_one_vm_is_held_against_a_job_only_by_its_id():
    """What one VM may be up is a job VM's limit; one with copied labels is told of nowhere."""
    world, own = cap_project(instance_cap=InstanceCap(max_uptime=timedelta(hours=2), remedy=Remedy.STOP))
    world.vm("train", name="copy")
    world.sweep_for(hours=4)
    assert world.asked() == [("stop", own)]


def test_a_vm_with_copied_labels_is_not_one_too_many_of_a_job():
    """Nor does it make the job's own VM one: the oldest are within the count."""
    limits = ComplianceLimits(remedy=Remedy.STOP, most_vms_per_job=1, grace=timedelta(hours=1))
    world = CapWorld(load("check_compliance"), compliance=limits)
    world._sweep, world.name = load("check_compliance").sweep, "check_compliance"
    world.vm("train", name="copy")
    world.wait(minutes=5)
    world.job("train")
    world.sweep_for(hours=3)
    assert world.notices() == []
    assert world.asked() == []


@pytest.mark.parametrize(("recorded", "theirs"), [(True, False), (False, True)])
def test_labels_older_than_the_operation_log_count_only_for_an_attempt_without_vms(world, recorded, theirs):
    """Nobody can read any more who made such a VM; what an attempt made is on its record, as a rule."""
    own = launch(world, "asked-for")
    sent = Try(place=ZONE, request_id="asked-for", at=world.now)
    instances = {"train": own} if recorded else {}
    state = AttemptState.RUNNING if recorded else AttemptState.PLACING
    world.attempt("train", state=state, instances=instances, tries=(sent,), updated=world.now)
    copy = launch(world, "somebody's", name="train-copy")
    assert copy not in asked(world)[0].jobs
    GenerationCache.forget()
    world.wait(days=20)
    assert (copy in asked(world)[0].jobs) is theirs


# --- VMs without labels that ran on when their job was closed ---


def closed(world, vm, job="train", **said):
    """The job's record, by which it is over; no list of open jobs has its VMs any more."""
    ordinary = {"created": world.now, "updated": world.now, "owner": "ada@example.com"}
    record = Attempt(
        job=job, number=1, state=AttemptState.STOPPED, instances={job: vm}, **{**ordinary, **said}
    )
    world.store(AttemptRecord(job=job, attempt=1), msgspec.json.encode(record), shown=True)


def test_the_idle_vm_of_a_closed_job_is_its_jobs_by_the_id_on_record():
    """It was launched by hand, without labels; a stranger of a job's name is nobody's."""
    world = IdleWorld(load("flag_idle_gpus"), idle=IdleLimits(remedy=Remedy.STOP))
    left, stranger = world.vm(0.0, job=""), world.vm(0.0, job="", name="train", zone="us-central1-b")
    closed(world, left)
    world.ticks(hours=3)
    assert world.asked() == [("stop", left)]
    assert {notice.owner for notice in world.notices()} == {"ada@example.com"}
    assert world.status(stranger) == "RUNNING"


def test_the_vm_of_a_closed_job_is_held_against_the_limits_of_vms():
    """A node of a gang has its job's name with a number."""
    limits = InstanceCap(max_uptime=timedelta(hours=2), remedy=Remedy.STOP)
    world = CapWorld(load("cap_runtime"), instance_cap=limits)
    left = world.vm("", name="train-2")
    closed(world, left)
    world.sweep_for(hours=4)
    assert world.asked() == [("stop", left)]


def test_the_vm_of_a_closed_job_has_to_comply():
    """As it had to before."""
    limits = ComplianceLimits(remedy=Remedy.STOP, machine_types=("z3-*",), grace=timedelta(hours=1))
    world = CapWorld(load("check_compliance"), compliance=limits)
    world._sweep, world.name = load("check_compliance").sweep, "check_compliance"
    left = world.vm("", name="train")
    closed(world, left)
    world.sweep_for(hours=3)
    assert world.asked() == [("stop", left)]


def left_or_not(world):
    """Whose the VMs are for a rule of VMs that run, and what was asked for that."""
    counted = Calls(world.cloud.ports())
    machines = world.cloud.compute.fleet().items
    return owned_or_left(world.context(counted.cloud), machines, {}).jobs, counted


def test_strangers_are_looked_for_once_an_hour(world):
    """A project has many VMs that are no job's; a young one may be a launch that is on no record yet."""
    world.attempt("train", instances={"train": "17"})
    world.vm("train", labelled=False)
    assert [len(left_or_not(world)[1].of("folders")) for _ in range(3)] == [1, 0, 0]
    world.wait(minutes=59)
    young = world.vm("other", labelled=False, age=timedelta(minutes=9))
    assert left_or_not(world)[1].made == []
    world.wait(minutes=1)
    world.attempt("other", state=AttemptState.STOPPED, instances={"other": young})
    known, counted = left_or_not(world)
    assert (known, len(counted.of("folders"))) == ({young: "other"}, 1)


def test_a_stranger_of_a_job_whose_records_cannot_be_read_is_looked_for_again(world):
    """Until they can be read it is nobody's."""
    left = world.vm("train", labelled=False)
    world.attempt("train", state=AttemptState.STOPPED, instances={"train": left})
    world.cloud.store.trouble.order("entries", unanswered(after_work=False), about="^train/")
    assert left_or_not(world)[0] == {}
    assert left_or_not(world)[0] == {left: "train"}
