"""What `reap_vms` sees, and at what cost."""

from datetime import timedelta

import msgspec
import pytest

from spotwarden.governance.reap import rules as reaping
from spotwarden.governance.signals.facts import ReapFacts
from spotwarden.governance.signals.table import SignalSource, unread
from spotwarden.layout import AttemptRecord, Code, JobFileName, LaunchedRecord, OpenJob
from spotwarden.model.attempt import AttemptState, Try
from spotwarden.model.request import Request
from spotwarden.model.watch import Watch
from tests.fakes.beats import kit_beat
from tests.fakes.trouble import unanswered
from tests.fakes.world import load
from tests.governance.reap.reap_world import Calls, ReapWorld
from tests.governance.reap.reapable import shown

HOUR = timedelta(hours=1)


@pytest.fixture(scope="session")
def module():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


@pytest.fixture
def world(module):
    """An empty project."""
    return ReapWorld(module)


def calls(world, *only):
    """The look, and what it asked."""
    counted = Calls(world.cloud.ports())
    return world.look(*only, cloud=counted.cloud), counted


LISTS = [
    ("fleet", {"ids": set()}),
    ("leftovers", {}),
    ("each_entry", "spotwarden/open/"),
    ("each_entry", "heartbeats/"),
]
"""What every look costs, however many jobs there are."""


def test_jobs_with_the_kit_that_run_cost_nothing_more(world):
    """Their VMs are on the list of open jobs, and their heartbeats say that all is as it was."""
    for job, ids in {job: world.job(job) for job in ("a", "b", "c")}.items():
        kit_beat(world.cloud.store, job, job=job, attempt=1, instance_id=ids[job], progress_at=world.now)
    world.look()
    _, counted = calls(world)
    assert counted.made == LISTS


def test_a_job_without_the_kit_costs_reads_and_no_list(world):
    """Its end, its settings and its own heartbeat are looked at one by one."""
    world.job()
    world.beat()
    world.look()
    _, counted = calls(world)
    assert counted.made == [
        *LISTS,
        ("entry", "test-vm/metadata/status-code"),
        ("entry", "test-vm/metadata/job.toml"),
        ("entry", "test-vm/metadata/heartbeat/test-vm"),
    ]


def test_of_a_young_vm_nothing_is_asked(world):
    """It may be just being made; on the other side of the launch grace its record is read."""
    world.job(age=timedelta(minutes=10) - timedelta(seconds=1))
    _, young = calls(world)
    world.wait(seconds=1)
    _, old = calls(world)
    assert "test-vm/metadata/" not in young.of("entries")
    assert "test-vm/metadata/" in old.of("entries")


def test_strangers_cost_one_listing_of_folders(world):
    """Their names lead to no job."""
    for number in range(20):
        world.vm(labelled=False, name=f"web-{number}")
    facts, counted = calls(world)
    assert counted.of("folders") == [""]
    assert (counted.of("entries"), counted.of("each_entry")) == ([], ["spotwarden/open/", "heartbeats/"])
    assert (facts.machines, facts.jobs) == ((), {})


def test_a_vm_is_its_jobs_by_label_by_id_or_not_at_all(world):
    """By its label; by the list of open jobs; by the ledger or the job's metadata; a name is not enough."""
    labelled = world.job("by-label")["by-label"]
    listed = world.job("by-list", labelled=False)["by-list"]
    ledger = world.job("by-ledger", labelled=False)["by-ledger"]
    world.unwatch("by-ledger")
    registered = world.vm("by-file", labelled=False)
    world.register("by-file", registered, job="by-file")
    stranger = world.vm("by-name", labelled=False)
    world.store(Code(job="by-name"))
    facts = world.look()
    assert facts.whose == {
        labelled: "by-label", listed: "by-list", ledger: "by-ledger", registered: "by-file",
    }  # fmt: skip
    assert facts.namesakes == {stranger: "by-name"}


def test_a_node_of_a_gang_launched_by_hand_is_found_by_its_gangs_name(world):
    """Its job's name is its own without the number."""
    node = world.vm(labelled=False, name="gang-2")
    world.attempt("gang", state=AttemptState.STOPPED, instances={"gang-2": node})
    assert world.look().whose == {node: "gang"}


def test_an_older_attempt_is_read_only_where_it_is_needed(world):
    """Where the newest one explains all VMs, it is enough."""
    old = world.vm()
    new = world.vm(attempt=2, name="test-vm-b")
    world.attempt(number=1, instances={"test-vm": old})
    world.attempt(number=2, instances={"test-vm": new}, replaces={"test-vm": old})
    world.register("test-vm", new)
    facts = world.look(new)
    assert facts.jobs["test-vm"].past == frozenset()
    whole = world.look().jobs["test-vm"]
    assert whole.past == {old}
    assert whole.registered == frozenset()


@pytest.mark.parametrize("early", [True, False])
def test_a_vm_that_was_replaced_while_it_ran_is_known_as_such(world, early):
    """By the record of the attempt that its announcement began."""
    old = world.job()["test-vm"]
    world.attempt(number=2, instances={"test-vm": "4002"}, replaces={"test-vm": old}, early=early)
    assert world.look().jobs["test-vm"].outlived == ({old} if early else set())


def test_a_list_of_open_jobs_that_is_behind_explains_nothing(world):
    """What it says of a former attempt is no reason to leave a VM alone."""
    old = world.job()["test-vm"]
    world.attempt(number=2, instances={"test-vm": "4002"}, replaces={"test-vm": old})
    assert world.look().jobs["test-vm"].past == {old}


def test_a_record_that_is_broken_is_a_problem_of_its_job_alone(world):
    """The others are seen as ever."""
    world.job("good")
    world.job("bad")
    world.store(AttemptRecord(job="bad", attempt=1), b"{")
    facts = world.look()
    assert facts.jobs["bad"].problem
    assert not facts.jobs["good"].problem


def test_a_record_without_an_answer_is_a_problem_of_its_job_alone(world):
    """And only in this sweep."""
    world.job("good")
    world.job("bad")
    world.cloud.store.trouble.order("entries", unanswered(after_work=False), about="^bad/")
    facts = world.look()
    assert facts.jobs["bad"].problem
    assert not facts.jobs["good"].problem
    assert not world.look().jobs["bad"].problem


def test_a_label_that_names_no_job_is_a_problem(world):
    """It is not looked for, and nothing else is held up."""
    world.vm("preempted-jobs", name="vm")
    assert "reserved" in world.look().jobs["preempted-jobs"].problem


def test_anything_else_that_fails_ends_the_look(world):
    """Nothing is judged by half of the facts."""
    world.job()
    world.cloud.store.trouble.order("each_entry", unanswered(after_work=False), about="spotwarden/open/")
    with pytest.raises(Exception, match="no answer"):
        world.look()


def test_a_hidden_zone_is_passed_on(world):
    """What the list lacks may be there."""
    world.cloud.compute.hide("us-central1-b")
    facts = world.look()
    assert facts.unreachable == ("us-central1-b",)
    assert facts.unlisted == ("us-central1-b",)


def test_a_bucket_without_jobs_is_bare(world):
    """One with any other job is not."""
    world.vm("gone")
    assert world.look().bare
    world.store(Code(job="other"))
    assert not world.look().bare


def test_a_bucket_with_an_open_job_is_not_bare(world):
    """Its folder may be gone; that there was one shows that it is the right bucket."""
    world.vm("gone")
    world.watch("other", {})
    assert not world.look().bare


def test_a_job_without_metadata_is_not_gone(world):
    """It has its code, and nothing else yet."""
    world.vm()
    assert not world.look().jobs["test-vm"].exists
    world.store(Code(job="test-vm"))
    assert world.look().jobs["test-vm"].exists


def test_a_vm_that_an_open_job_has_left_behind_is_its_own(world):
    """Launched by hand under a name of its own, and replaced since: the list of open jobs knows its id."""
    old = world.vm(labelled=False, name="worker")
    watch = Watch(job="test-vm", attempt=2, instances={"test-vm": "4002"}, past=(old,))
    world.store(OpenJob(job="test-vm"), msgspec.json.encode(watch))
    world.attempt(number=2, instances={"test-vm": "4002"}, replaces={"worker": old})
    facts = world.look()
    assert facts.whose == {old: "test-vm"}
    assert facts.jobs["test-vm"].past == {old}


@pytest.mark.parametrize("sign", ["beat", "produce"])
def test_metrics_are_asked_only_about_silent_jobs_and_once_for_all(world, sign):
    """The cheapest question first: heartbeats, then what it produces, then log lines and CPUs."""
    loud = world.job("loud")["loud"]
    silent = [world.job(name)[name] for name in ("quiet-a", "quiet-b")]
    world.store(JobFileName(job="quiet-a"), b'owner = "ben@x.org"\n')
    {"beat": world.beat, "produce": world.produce}[sign](
        job="loud", **{"node": "loud"} if sign == "beat" else {}
    )
    world.cloud.metrics.cpu = dict.fromkeys([loud, *silent], 1.0)
    facts, counted = calls(world)
    assert len(counted.of("cpus")) == 1
    assert shown(facts.jobs["loud"], SignalSource.CPU) == {}
    assert shown(facts.jobs["quiet-a"], SignalSource.CPU) == {silent[0]: 1.0}
    assert shown(facts.jobs["quiet-b"], SignalSource.CPU) == {silent[1]: 1.0}
    assert facts.jobs["quiet-a"].owner == "ben@x.org"
    outputs = [prefix for prefix in counted.of("entries") if not prefix.endswith("/")]
    # One list for all of them: how their names begin.
    assert outputs == ["" if sign == "produce" else "quiet-"]


def test_the_newest_object_counts(world):
    """Of all that the job has produced."""
    world.job()
    world.produce(path="zz-first")
    world.wait(hours=3)
    world.produce(path="aa-newest")
    newest = world.now
    world.wait(minutes=5)
    assert shown(world.look().jobs["test-vm"], SignalSource.OUTPUT) == {"": newest}


@pytest.mark.parametrize(("age", "so_old"), [(HOUR, HOUR), (10 * HOUR, 10 * HOUR), (200 * HOUR, None)])
def test_a_last_log_line_is_found_however_old(world, age, so_old):
    """Sharply where it matters, within a week at all."""
    vm = world.job(age=timedelta(days=30))["test-vm"]
    world.cloud.metrics.lines = {vm: world.now - age}
    found = shown(world.look().jobs["test-vm"], SignalSource.LOG_LINE).get(vm)
    assert found == (None if so_old is None else world.now - so_old)


def test_an_old_line_of_a_coarse_answer_is_never_newer_than_the_sharp_question(world):
    """A coarse bucket may end much later than its last line; what is silent must not look alive by it."""
    vm = world.job(age=timedelta(days=7))["test-vm"]
    sharp = world.now - 2 * world.policy.stall.after

    class Coarse:
        def logged(self, since, until, *, ids=()):
            del ids
            return {} if since >= sharp else {vm: until + HOUR}

        def cpus(self, since, until, *, ids=()):
            del since, until, ids
            return {}

    cloud = msgspec.structs.replace(world.cloud.ports(), metrics=Coarse())
    assert shown(world.look(cloud=cloud).jobs["test-vm"], SignalSource.LOG_LINE) == {vm: sharp}


@pytest.mark.parametrize("call", ["logged", "cpus"])
def test_metrics_without_an_answer_are_a_problem_not_silence(world, call):
    """Nobody knows then."""
    world.job()
    world.cloud.metrics.trouble.order(call, unanswered(after_work=False))
    assert "no answer" in unread(world.look().jobs["test-vm"].signals.nodes)


def test_leftovers_of_open_jobs_ask_nothing(world):
    """Of others the record is read."""
    world.job(age=timedelta(0))
    world.cloud.compute.leave("data", job="test-vm")
    world.cloud.compute.leave("old-data", job="over")
    facts = world.look()
    assert [one.name for one in facts.leftovers] == ["data", "old-data"]
    assert set(facts.jobs) == {"over"}
    assert not facts.jobs["over"].exists


def test_what_the_vms_of_a_job_had_is_read_once_where_it_left_something_behind(world):
    """Disks by id and addresses, of all attempts; of other jobs nothing is asked."""
    ran = {
        "over": {
            "disks": {"projects/p/zones/z/disks/over": {"id": "4711"}},
            "instance": {
                "networkInterfaces": [{"networkIP": "10.0.0.2", "accessConfigs": [{"natIP": "203.0.113.9"}]}]
            },
        }
    }
    world.store(LaunchedRecord(job="over", attempt=1), msgspec.json.encode(ran))
    world.store(
        LaunchedRecord(job="over", attempt=2), b'{"over": {"disks": {"d": {"id": "4712"}, "e": null}}}'
    )
    world.cloud.compute.leave("data", job="over")
    name = world.layout.build(LaunchedRecord(job="over", attempt=1))
    for reads in (1, 0):
        counted = Calls(world.cloud.ports())
        facts = world.look(cloud=counted.cloud)
        assert facts.jobs["over"].had == {"4711", "4712", "203.0.113.9", "10.0.0.2"}
        assert counted.made.count(("read", name)) == reads


def test_a_broken_record_of_what_was_launched_is_a_problem(world):
    """What nobody can read proves nothing, and nothing is done."""
    world.store(LaunchedRecord(job="over", attempt=1), b"[")
    world.cloud.compute.leave("data", job="over")
    assert "launched/1.json" in world.look().jobs["over"].problem


def test_a_second_look_sees_what_it_is_told_to_see(world):
    """VMs by id, leftovers by link; of the other kind it says nothing."""
    vm = world.job()["test-vm"]
    world.job("other")
    link = world.cloud.compute.leave("data", job="over")
    world.cloud.compute.leave("more", job="over")
    machines, left = world.look(vm), world.look(link)
    assert [one.id for one in machines.machines] == [vm]
    assert machines.leftovers is None
    assert left.machines == ()
    assert [one.link for one in left.leftovers] == [link]


def test_the_second_look_sees_the_same_job(world):
    """What is judged of a whole gang is judged the same when only its VMs are looked at."""
    ids = world.job("gang", nodes=("gang-1", "gang-2"))
    world.beat("gang-1", job="gang")
    world.beat("gang-2", job="gang")
    world.wait(hours=3)
    world.job("other")
    whole, again = world.look(), world.look(*ids.values())
    assert whole.jobs["gang"] == again.jobs["gang"]
    assert whole.jobs["gang"].signals.nodes


def test_what_was_seen_can_be_recorded_and_read_again(world):
    """Nothing is lost on the way through JSON."""
    world.job()
    world.store(JobFileName(job="test-vm"), b'max_runtime = "2h"\n[rules.stall]\nafter = "30m"\n')
    world.beat()
    world.wait(hours=3)
    world.cloud.compute.leave("data", job="over")
    facts = world.look()
    assert msgspec.json.decode(msgspec.json.encode(facts), type=ReapFacts) == facts
    assert reaping.NAMES == ("orphan", "leftover", "stall", "early_stop")


def test_labels_of_an_attempt_under_way_count_with_an_insert_that_it_asked_for(world):
    """Until its id is on record; one whose labels were copied is a namesake, whatever they say."""
    labels = {"spotwarden-job": "test-vm", "spotwarden-attempt": "1", "spotwarden-try": "1"}
    asked = Try(place="us-central1-a", request_id="r-1", at=world.now)
    world.attempt(state=AttemptState.PLACING, instances={}, tries=(asked,))
    path = "/compute/v1/projects/p/zones/{}/instances"
    made = {}
    for request_id, zone in (("r-1", "us-central1-a"), ("somebody's", "us-central1-b")):
        body = {"name": "test-vm", "machineType": "e2-small", "labels": labels}
        request = Request(method="POST", path=path.format(zone), query={}, body=body)
        made[request_id] = world.cloud.compute.launch(request, request_id).target_id
    world.wait(minutes=30)
    facts = world.look()
    assert facts.whose == {made["r-1"]: "test-vm"}
    assert facts.namesakes == {made["somebody's"]: "test-vm"}
