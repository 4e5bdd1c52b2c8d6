"""`cap_runtime` from tick to remedy: warned at 80 and 95 percent, stopped at 100, extended once."""

import re
from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.caps.facts import CapFacts
from spotwarden.governance.recording import read
from spotwarden.layout import JobFileName, StatusCode
from spotwarden.model.attempt import AttemptState
from spotwarden.model.governance import GovernanceLimits, Remedy, Scope
from spotwarden.model.instance import Status
from spotwarden.model.notice import Way
from spotwarden.model.policy import Mode
from spotwarden.model.rule_limits import InstanceCap, JobCap, OwnerCap
from tests.fakes.trouble import unanswered
from tests.fakes.world import load
from tests.governance.caps.cap_world import ADA, CapWorld, between
from tests.governance.reap.reap_world import Calls
from tests.notify.links.answer_web import Web

HOUR = timedelta(hours=1)
TEN = JobCap(max_runtime=10 * HOUR, longest=20 * HOUR)


@pytest.fixture(scope="session")
def module():
    """functions/cap_runtime/main.py."""
    return load("cap_runtime")


@pytest.fixture
def world(module):
    """A project in which a job may be up for ten hours."""
    return CapWorld(module, job_cap=TEN)


@pytest.fixture
def plain(module):
    """A project without any cap."""
    return CapWorld(module)


# --- the life of a case ---


def test_a_job_is_warned_twice_and_stopped(world):
    """At 8 h, at 9.5 h, and at 10 h: not a tick earlier or later."""
    vm = world.job()
    told = []
    for _ in range(121):
        world.sweep_for(minutes=5)
        told.append((len(world.kinds()), world.asked() != []))
    assert told.index((1, False)) == 8 * 12 - 1
    assert told.index((2, False)) == 9.5 * 12 - 1
    assert told.index((3, True)) == 10 * 12 - 1
    assert world.kinds() == ["job_cap_warning", "job_cap_warning", "job_cap_acted"]
    assert world.asked() == [("stop", vm)]
    assert {one.owner for one in world.notices()} == {ADA}


def test_a_job_without_a_cap_is_left_alone(plain):
    """Whatever it does; its use is metered all the same."""
    vm = plain.job()
    plain.sweep_for(hours=30)
    assert plain.kinds() == []
    assert plain.seconds(vm) > 0


def test_what_lists_show_of_attempts_is_not_read(plain):
    """In a storm the records of all jobs change at once."""
    for number in range(3):
        plain.attempt(f"train-{number}", plain.vm(f"train-{number}"))
    counted = Calls(plain.cloud.ports())
    plain.sweep(cloud=counted.cloud)
    read = [str(name) for name in counted.of("read")]
    assert [name for name in read if name.startswith("train-")] == []


def test_a_jobs_own_limit_holds_without_any_of_the_policys(plain):
    """`max_runtime` in its job.toml."""
    vm = plain.job(file='max_runtime = "1h"\n')
    plain.sweep_for(hours=2)
    assert plain.asked() == [("stop", vm)]


def test_a_limit_that_is_written_later_holds_from_then_on(plain):
    """A new generation of job.toml is read, an old one is not read twice."""
    vm = plain.job()
    plain.sweep_for(hours=2)
    plain.store(JobFileName(job="train"), b'max_runtime = "1h"\n')
    plain.sweep_for(hours=1)
    assert plain.asked() == [("stop", vm)]


def test_the_time_that_a_job_was_down_does_not_count(world):
    """Six hours, a night without a VM, and three more: warned, not stopped."""
    first = world.job()
    world.sweep_for(hours=6)
    world.stop(first)
    lost = world.now
    world.sweep_for(hours=12)
    world.attempt("train", world.vm("train", attempt=2), number=2, lost=lost)
    world.sweep_for(hours=3)
    assert world.kinds() == ["job_cap_warning"]
    assert world.asked() == []


def test_four_hours_that_were_granted_are_had_once(world):
    """Ten hours become fourteen; it is warned again at the new 80 and 95 percent, then stopped."""
    vm = world.job()
    world.sweep_for(hours=9)
    case = world.case("job_cap", "train")
    unheard = tuple(replace(one, counts=False) for one in case.warnings)
    world.change_case("job_cap", "train", extended=4.0, warnings=unheard)
    world.sweep_for(hours=4, minutes=50)
    assert world.asked() == []
    world.sweep_for(minutes=15)
    assert world.asked() == [("stop", vm)]
    assert world.kinds() == ["job_cap_warning"] * 3 + ["job_cap_acted"]
    world.sweep_for(minutes=15)
    assert world.case("job_cap", "train") is None


def test_what_was_granted_outlives_that_the_job_is_content(world):
    """At 8.1 h of 14 there is nothing to tell, and the case with its grant stays."""
    world.job()
    world.sweep_for(hours=8, minutes=5)
    world.change_case("job_cap", "train", extended=4.0)
    world.sweep_for(hours=1)
    assert world.case("job_cap", "train").extended == 4.0
    assert world.kinds() == ["job_cap_warning"]


def test_what_was_granted_outlives_a_preemption(world):
    """Taken at 9 h of 14, back after six hours without a VM: it may still have its five hours."""
    first = world.job()
    world.sweep_for(hours=9)
    world.change_case("job_cap", "train", extended=4.0)
    world.stop(first)
    lost = world.now
    world.sweep_for(hours=6)
    world.attempt("train", world.vm("train", attempt=2), number=2, lost=lost)
    world.sweep_for(hours=4, minutes=50)
    assert world.asked() == []
    assert world.case("job_cap", "train").extended == 4.0


def test_what_was_granted_to_a_job_that_never_comes_back_is_forgotten(world):
    """After a week, and without a word."""
    first = world.job()
    world.sweep_for(hours=8)
    world.change_case("job_cap", "train", extended=4.0, warnings=())
    world.stop(first)
    told = len(world.kinds())
    world.sweep_for(days=7, every=HOUR)
    assert world.case("job_cap", "train") is not None
    world.sweep_for(hours=1)
    assert world.case("job_cap", "train") is None
    assert len(world.kinds()) == told


def test_a_job_that_ends_in_time_is_cleared(world):
    """Its case is closed, and nothing is stopped."""
    vm = world.job()
    world.sweep_for(hours=9)
    world.store(StatusCode(job="train"), b"0")
    world.stop(vm)
    world.sweep_for(minutes=10)
    assert world.case("job_cap", "train") is None
    assert world.asked() == []


def test_a_late_status_of_an_attempt_before_does_not_keep_a_job_from_its_cap(world):
    """Else whoever is slow to end could go on for ever."""
    vm = world.job()
    world.attempt("train", "999")
    world.attempt("train", vm, 2)
    world.sweep_for(hours=9)
    world.cloud.store.put("train/metadata/status-code", b"0", {"attempt": "1"})
    world.sweep_for(hours=2)
    assert world.asked() == [("stop", vm)]


def test_while_it_only_observes_nothing_is_stopped(module):
    """All is told, and the meter runs."""
    world = CapWorld(module, job_cap=TEN, mode=Mode.OBSERVE)
    vm = world.job()
    world.sweep_for(hours=12)
    assert world.asked() == []
    assert "job_cap_warning" in world.kinds()
    assert world.seconds(vm) > 0


# --- whose it is ---


def test_a_gang_is_stopped_whole(world):
    """Each node by its id."""
    nodes = world.gang("gang-1", "gang-2")
    world.sweep_for(hours=10, minutes=5)
    assert sorted(world.asked()) == sorted(("stop", node) for node in nodes)


def test_a_gang_beyond_the_budget_is_stopped_whole_once_ops_approve_it(world):
    """A gang of four, where a sweep may act upon three: asked for once in a day of sweeps, then stopped."""
    nodes = world.gang("gang-1", "gang-2", "gang-3", "gang-4")
    world.sweep_for(hours=34)
    assert world.asked() == []
    [request] = [one for one in world.notices() if one.kind == "approval_needed"]
    web = Web(world)
    assert web.click(web.token(web.offer(Way.APPROVE, request, to="ops@x.org"))).status_code == 200
    world.sweep_for(minutes=5)
    assert sorted(world.asked()) == sorted(("stop", node) for node in nodes)


@pytest.mark.parametrize("managed", ["gang-1", "gang-2"])
def test_a_gang_with_a_node_that_its_group_makes_anew_is_not_stopped_by_halves(world, managed):
    """One of two is in a managed instance group: neither is stopped, and the owner is told that."""
    nodes = {}
    for name in ("gang-1", "gang-2"):
        group = {"metadata": {"created-by": "g", "instance-template": "t"}} if name == managed else {}
        nodes[name] = world.vm("gang" if not group else "", name=name, **group)
    world.attempt("gang", nodes["gang-1"], instances=nodes)
    world.write_down("gang", **nodes)
    world.sweep_for(hours=11)
    assert world.asked() == []
    assert "job_cap_warning" in world.kinds()
    assert all("takes no action" in one.then for one in world.notices())


def test_a_vm_that_was_launched_by_hand_is_its_jobs_by_its_id(world):
    """It bears no label; recovery has written it down."""
    vm = world.vm("", name="train")
    world.attempt("train", vm)
    world.write_down("train", train=vm)
    world.sweep_for(hours=10, minutes=5)
    assert world.asked() == [("stop", vm)]


def test_a_vm_that_is_written_down_while_we_look_is_known_as_its_jobs(world):
    """VMs first, then the list of open jobs: whose it is stands in the newer of the two."""
    vm = world.vm("", name="train")
    world.attempt("train", vm)
    world.wait(hours=8)
    world.sweep(cloud=between(world.cloud.ports(), "train", lambda: world.write_down("train", train=vm)))
    assert world.case("job_cap", "train") is not None


def test_a_namesake_in_another_zone_is_nobodys(world):
    """A name is no id: the stranger of the same name goes on."""
    vm = world.job()
    stranger = world.vm("", name="train", zone="us-east1-b")
    world.sweep_for(hours=10, minutes=5)
    assert world.asked() == [("stop", vm)]
    assert world.status(stranger) == "RUNNING"
    assert world.day().vms.keys() == {vm}


def test_a_stranger_is_told_about_only_where_the_project_is_looked_at(module):
    """And never touched."""
    caps = InstanceCap(max_uptime=HOUR, remedy=Remedy.STOP)
    for scope, told in ((Scope.JOBS, False), (Scope.PROJECT, True)):
        world = CapWorld(module, instance_cap=caps, governance=GovernanceLimits(scope=scope, ops="ops@x.org"))
        world.vm("", name="stranger")
        world.sweep_for(hours=3)
        assert bool(world.kinds()) is told
        assert world.asked() == []


def test_a_label_that_names_no_job_is_no_jobs(world):
    """Nothing is looked for under a reserved name."""
    world.vm("", name="odd", labels={"spotwarden-job": "spotwarden"})
    world.sweep_for(hours=11)
    assert world.kinds() == []


def test_an_owner_may_stand_on_the_vm(plain):
    """Where neither the job's file nor its ledger names one."""
    plain.set_policy(owner_cap=OwnerCap(gpu_hours_day=1.0))
    plain.job(owner="", labels={"owner": "ada"})
    plain.sweep_for(hours=1)
    assert {one.owner for one in plain.notices()} == {"ada"}


# --- VMs and owners ---


def test_a_vm_that_is_up_for_too_long_is_stopped(plain):
    """By the time since it was started, whatever its job."""
    plain.set_policy(instance_cap=InstanceCap(max_uptime=2 * HOUR, remedy=Remedy.STOP))
    vm = plain.job()
    plain.sweep_for(hours=1, minutes=59)
    assert plain.asked() == []
    plain.sweep_for(minutes=10)
    assert plain.asked() == [("stop", vm)]


def test_an_owner_is_only_told_by_default(plain):
    """At 80, 95, and no more."""
    plain.set_policy(owner_cap=OwnerCap(gpu_hours_day=2.0))
    plain.until(plain.midnight())
    plain.job()
    plain.sweep_for(hours=6)
    assert plain.kinds() == ["owner_cap_warning", "owner_cap_warning"]
    assert plain.asked() == []


def test_whoever_a_jobs_own_file_names_is_charged(plain):
    """Nothing proves that it is they who run it: the page on threats says so."""
    plain.set_policy(owner_cap=OwnerCap(concurrent_gpus=1))
    plain.job("one", owner=ADA, file='owner = "bob@example.com"\n')
    plain.job("two", owner=ADA, file='owner = "bob@example.com"\n')
    plain.sweep_for(hours=1)
    assert {told.owner for told in plain.notices()} == {"bob@example.com"}


def test_an_owners_newest_job_is_stopped_where_the_policy_says_so(plain):
    """Three GPUs where two may be: the last look sees all of the owner's VMs, not only the one to go."""
    plain.set_policy(owner_cap=OwnerCap(concurrent_gpus=2, remedy=Remedy.STOP))
    for job in ("a", "b", "c"):
        newest = plain.job(job)
        plain.wait(minutes=11)
    plain.sweep_for(hours=1)
    assert plain.asked() == [("stop", newest)]


def test_an_owner_is_the_same_in_whichever_case(plain):
    """Two jobs of one GPU each, of one who wrote the address in two ways."""
    plain.set_policy(owner_cap=OwnerCap(concurrent_gpus=1))
    plain.job("a", owner="Ada@x.org")
    plain.job("b", owner="ada@x.org")
    plain.sweep_for(hours=1)
    assert {notice.owner for notice in plain.notices()} == {"ada@x.org"}


def test_a_warning_about_several_jobs_of_an_owner_names_none_as_the_only_one(plain):
    """It lists the VMs of both."""
    plain.set_policy(owner_cap=OwnerCap(gpu_hours_day=1.0))
    plain.job("a")
    plain.job("b")
    plain.sweep_for(hours=1)
    said = [notice.what for notice in plain.notices()]
    assert re.fullmatch(r"[ab] \(and 1 more\) is near or over its owner's limit", said[-1]), said


def test_an_owners_new_day_begins_at_midnight(plain):
    """What was used up yesterday troubles nobody today."""
    plain.set_policy(owner_cap=OwnerCap(gpu_hours_day=2.0))
    plain.until(plain.midnight() - 3 * HOUR)
    plain.job()
    plain.sweep_for(hours=2, minutes=55)
    assert plain.case("owner_cap", "ada%40example.com") is not None
    plain.sweep_for(minutes=5)
    assert plain.case("owner_cap", "ada%40example.com") is None


def test_money_comes_from_the_price_file(plain, tmp_path):
    """A dollar an hour; without a file nobody knows, and nobody is stopped."""
    file = tmp_path / "prices.toml"
    file.write_text(
        '[[sheet]]\ndate = 2025-01-01\nsource = "made up"\n'
        'rows = [{ machine = "g2-standard-4", gpus = 1, region = "us-central1", standard = 1.0 }]\n'
    )
    plain.settings = replace(plain.settings, prices_file=file)
    plain.set_policy(job_cap=JobCap(budget=5.0))
    vm = plain.job()
    plain.sweep_for(hours=5, minutes=5)
    assert plain.asked() == [("stop", vm)]


def test_without_prices_nobody_knows_and_nobody_is_stopped(plain, tmp_path):
    """Its owner is told so, once."""
    plain.settings = replace(plain.settings, prices_file=tmp_path / "none.toml")
    plain.set_policy(job_cap=JobCap(budget=5.0))
    plain.job()
    plain.sweep_for(hours=20)
    assert plain.kinds() == ["job_cap_unknown"]
    assert "none.toml cannot be read" in plain.notices()[0].evidence["cost"]
    assert plain.asked() == []


# --- what goes wrong ---


def test_one_bad_job_never_stops_the_others(world):
    """Its ledger cannot be read; it is unknown, and the other is stopped in time."""
    bad = world.job("bad")
    good = world.job("good")
    world.cloud.store.write("bad/metadata/attempts/1.json", b"{", generation=None)
    world.sweep_for(hours=10, minutes=5)
    assert world.asked() == [("stop", good)]
    assert world.status(bad) == "RUNNING"
    assert world.kinds().count("job_cap_unknown") == 1


def test_a_job_toml_that_cannot_be_read_keeps_its_job(world):
    """It might say so."""
    world.job(file="max_runtime = \n")
    world.sweep_for(hours=12)
    assert world.asked() == []


def test_a_zone_that_is_hidden_clears_nothing(world):
    """A case whose VM is not to be seen waits until it is."""
    vm = world.job()
    world.sweep_for(hours=9)
    world.cloud.compute.hide("us-central1-a")
    world.sweep_for(hours=2)
    assert world.case("job_cap", "train") is not None
    assert world.asked() == []
    world.cloud.compute.show("us-central1-a")
    world.sweep_for(minutes=20)
    assert world.asked() == [("stop", vm)]


def test_a_vm_that_is_repaired_clears_nothing(world):
    """It will run again: nobody is told that a warning is void which then holds on."""
    vm = world.job()
    world.sweep_for(hours=9)
    world.cloud.compute.vms.become(vm, Status.REPAIRING)
    told = world.kinds()
    world.sweep_for(minutes=30)
    assert (world.kinds(), world.asked()) == (told, [])
    world.start(vm)
    world.sweep_for(hours=1)
    assert world.asked() == [("stop", vm)]
    assert "job_cap_cleared" not in world.kinds()


def test_a_lost_answer_about_one_job_is_unknown_for_that_look(world):
    """The next look knows again."""
    vm = world.job()
    world.sweep_for(hours=9, minutes=55)
    world.cloud.store.trouble.order("entries", unanswered(after_work=False), about="^train/metadata/")
    world.sweep_for(minutes=5)
    assert world.asked() == []
    world.sweep_for(minutes=10)
    assert world.asked() == [("stop", vm)]


def test_an_attempt_that_begins_while_we_look_is_not_held_against_the_one_before(world):
    """VMs first, then ledgers: the other way round four days without a VM would count as time up."""
    first = world.job()
    world.sweep_for(hours=4)
    world.stop(first)
    lost = world.now
    world.wait(hours=96)

    def launched():
        world.attempt("train", "", number=2, lost=lost, state=AttemptState.CLAIMED, started=None)
        made = world.vm("train", attempt=2)
        world.attempt("train", made, number=2, lost=lost)

    world.sweep(cloud=between(world.cloud.ports(), "train", launched))
    assert len(world.cloud.compute.fleet().items) == 2
    assert world.case("job_cap", "train") is None
    world.sweep_for(minutes=30)
    assert world.case("job_cap", "train") is None


def test_a_warm_function_reads_what_has_not_changed_only_once(world):
    """One listing for each job, and no object of it a second time."""
    world.job(file='owner = "ada"\n')
    world.sweep()
    world.wait(minutes=5)
    world.cloud.store.trouble.order("read", unanswered(after_work=False), about="^train/", times=100)
    world.sweep()
    assert world.kinds() == []


def test_what_a_sweep_saw_can_be_read_back(world):
    """For the back-test: VMs, jobs, days, prices."""
    vm = world.job(file='max_runtime = "9h"\n')
    world.sweep_for(minutes=5)
    (seen,) = read(world.cloud.store, world.layout, "cap_runtime", world.now - HOUR, CapFacts)
    assert [one.id for one in seen.facts.machines] == [vm]
    assert seen.facts.records["train"].file.max_runtime == 9 * HOUR
    assert seen.facts.usage[-1].spent[0].owner == ADA
