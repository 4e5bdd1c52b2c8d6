"""check_compliance from the event or tick that wakes it to what it tells and does."""

import base64
import json
from datetime import timedelta

import msgspec
import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.trigger import open_tick
from spotwarden.governance.compliance.gather import gather
from spotwarden.layout import AttemptRecord, InstanceId, JobFileName, OpenJob
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.case import CaseState
from spotwarden.model.governance import GovernanceLimits, Remedy, Scope
from spotwarden.model.instance import Status
from spotwarden.model.policy import Team
from spotwarden.model.rule_limits import ComplianceLimits
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from tests.fakes.trouble import unanswered
from tests.fakes.world import load
from tests.governance.governed import GovernedWorld

LIMITS = ComplianceLimits(remedy=Remedy.STOP, machine_types=("g2-*",), grace=timedelta(hours=1))
MINE = {"spotwarden-job": "job"}


class Complying(GovernedWorld):
    """A project where only g2 machines are allowed."""

    def __init__(self, **policy):
        super().__init__("check_compliance", load("check_compliance").sweep, compliance=LIMITS, **policy)

    def vm(self, name="vm-1", *, machine_type="a2-highgpu-1g", labels=MINE, **said):
        """A VM that is not allowed; gives its id. One with the job's label is on the job's record."""
        made = self.cloud.compute.add(name, machine_type=machine_type, labels=labels, **said)
        if labels.get("spotwarden-job") == "job":
            self.store(InstanceId(job="job", node=f"node-{made}"), made.encode())
        return made

    def known(self, job="job", owner="ada@x", **instances):
        """Write down a job and the ids of its nodes."""
        attempt = Attempt(
            job=job,
            number=1,
            state=AttemptState.RUNNING,
            created=self.now,
            updated=self.now,
            owner=owner,
            instances=instances,
        )
        self.store(AttemptRecord(job=job, attempt=1), msgspec.json.encode(attempt))
        self.store(OpenJob(job=job), msgspec.json.encode(Watch(job=job, attempt=1, instances=instances)))

    def told(self):
        """Whom each notice is about."""
        return [(one.kind, one.owner) for one in self.notices()]


@pytest.fixture
def world():
    """A project where only g2 machines are allowed, and a job of hers."""
    made = Complying()
    made.known()
    return made


def test_what_is_allowed_is_left_alone(world):
    """No case, no notice."""
    world.vm(machine_type="g2-standard-4")
    world.sweep_for(hours=3)
    assert world.kinds() == []
    assert world.asked() == []


def test_what_is_not_is_told_at_once_and_stopped_after_the_grace(world):
    """Not a minute before."""
    vm = world.vm()
    world.sweep()
    assert world.told() == [("compliance_warning", "ada@x")]
    world.sweep_for(minutes=59)
    assert world.asked() == []
    world.wait(minutes=1)
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_by_default_it_is_only_told(world):
    """However long it lasts."""
    world.set_policy(compliance=msgspec.structs.replace(LIMITS, remedy=Remedy.NONE))
    world.vm()
    world.sweep_for(hours=5)
    assert world.kinds() == ["compliance_warning"]
    assert world.asked() == []


def test_who_mends_it_in_time_is_left_alone(world):
    """A label can be added; the case is closed."""
    world.set_policy(compliance=msgspec.structs.replace(LIMITS, machine_types=(), labels=("team",)))
    vm = world.vm()
    world.sweep()
    world.cloud.compute.label("us-central1-a", vm, {"team": "eyes"})
    world.sweep_for(hours=3)
    assert world.case("compliance", vm) is None
    assert world.asked() == []


def test_who_keeps_it_is_left_alone(world):
    """By the label, for as long as it says."""
    vm = world.vm(labels={**MINE, "spotwarden-keep": "2999-12-31"})
    world.sweep_for(hours=3)
    assert world.asked() == []
    assert world.status(vm) == "RUNNING"


def test_an_event_and_a_tick_come_to_the_same(world):
    """The event is only sooner."""
    vm = world.vm()
    other = Complying()
    other.known()
    same = other.vm()
    world.sweep(about="vm-1")
    other.sweep()
    one, two = world.case("compliance", vm), other.case("compliance", same)
    assert one.state is two.state is CaseState.WARNED
    assert (one.reason, one.evidence, one.subject.owner) == (two.reason, two.evidence, two.subject.owner)
    assert world.told() == other.told()


def test_after_an_event_a_tick_tells_nothing_twice(world):
    """Nor does a second event."""
    world.vm()
    for about in ("vm-1", "", "vm-1", ""):
        world.sweep(about=about)
    assert world.kinds() == ["compliance_warning"]


def test_of_a_flood_of_events_the_tick_sees_the_rest(world):
    """Twelve of a minute are looked at, the next minute has its own twelve, and no VM is forgotten."""
    vms = [world.vm(f"vm-{number}") for number in range(14)]
    waits = [world.sweep(about=f"vm-{number}") for number in range(13)]
    assert [bool(world.case("compliance", vm)) for vm in vms] == [True] * 12 + [False] * 2
    assert [(len(one.waiting), one.soon) for one in waits] == [(0, False)] * 12 + [(1, False)]
    world.wait(minutes=1)
    world.sweep(about="vm-13")
    assert world.case("compliance", vms[13])
    assert not world.case("compliance", vms[12])
    world.sweep()
    assert world.case("compliance", vms[12])


def test_an_event_is_about_its_own_vm_only(world):
    """And never closes or acts on what it has not seen."""
    one, other = world.vm("vm-1"), world.vm("vm-2")
    world.sweep()
    world.wait(hours=2)
    world.sweep(about="vm-2")
    assert world.asked() == []
    assert world.case("compliance", one)
    assert world.case("compliance", other)


def test_an_event_counts_the_other_vms_of_its_job(world):
    """The third of two is too many, and only it is told."""
    world.set_policy(compliance=ComplianceLimits(most_vms_per_job=2))
    vms = [world.vm(f"vm-{number}", age=timedelta(hours=5 - number)) for number in (1, 2)]
    world.sweep(about="vm-2")
    assert world.kinds() == []
    third = world.vm("vm-3")
    world.sweep(about="vm-3")
    assert world.case("compliance", third)
    assert not any(world.case("compliance", one) for one in vms)


def test_an_event_counts_the_vms_that_only_their_ids_make_its_jobs(world):
    """Launched by hand, without our label, and written down since."""
    world.set_policy(compliance=ComplianceLimits(most_vms_per_job=1))
    by_hand = world.vm("vm-1", labels={}, age=timedelta(hours=5))
    world.known(**{"vm-1": by_hand})
    second = world.vm("vm-2")
    world.sweep(about="vm-2")
    assert world.case("compliance", second)


def test_an_event_never_lists_the_whole_project(world):
    """Nor one about a VM that is gone."""
    world.vm("vm-1")
    asked = []
    ports = world.cloud.ports()

    class Watched:
        """Notes for which ids the VMs are listed."""

        def __getattr__(self, name):
            return getattr(ports.compute, name)

        def fleet(self, **said):
            asked.append(said)
            return ports.compute.fleet(**said)

    for about in ("vm-1", "nobody"):
        world.sweep(about=about, cloud=msgspec.structs.replace(ports, compute=Watched()))
    assert len(asked) == 1
    assert asked[0]["ids"]


@pytest.mark.parametrize(("scope", "seen"), [(Scope.JOBS, 1), (Scope.PROJECT, 2)])
def test_vms_of_nobody_are_not_even_in_the_facts_unless_the_policy_wants_it(world, scope, seen):
    """What is recorded for back-tests stays small."""
    world.vm()
    world.vm("theirs", labels={})
    policy = msgspec.structs.replace(world.policy, governance=GovernanceLimits(scope=scope))
    tick = Tick(function="check_compliance", sweep="s", now=world.now)
    context = SweepContext.open(world.cloud.ports(), world.settings, policy, tick)
    facts = gather(context, ())
    assert len(facts.machines) == seen


def test_an_event_about_a_vm_that_is_gone_or_was_never_made_does_nothing(world):
    """A refused create request is in the log, too."""
    world.vm("vm-2")
    world.sweep(about="vm-1")
    assert world.kinds() == []


def test_two_vms_of_one_name_in_two_zones_are_two(world):
    """An event has only the name: both are looked at, and each is judged by what it is."""
    bad = world.vm("vm-1")
    good = world.vm("vm-1", zone="us-east4-a", machine_type="g2-standard-4")
    world.sweep(about="vm-1")
    assert world.case("compliance", bad)
    assert world.case("compliance", good) is None


def test_a_vm_without_our_label_is_its_jobs_by_its_id(world):
    """Launched by hand, and written down since."""
    vm = world.vm(labels={})
    world.known(**{"vm-1": vm})
    world.sweep()
    assert world.case("compliance", vm).subject.job == "job"
    assert world.told() == [("compliance_warning", "ada@x")]


@pytest.mark.parametrize("about", ["", "job"])
def test_a_vm_with_only_the_name_of_a_job_is_no_jobs(world, about):
    """A stranger's is left alone."""
    world.vm("job", labels={})
    world.sweep(about=about)
    world.sweep_for(hours=3)
    assert world.kinds() == []
    assert world.asked() == []


def test_a_strangers_vm_is_told_and_never_touched_where_the_whole_project_is_looked_at(world):
    """To ops."""
    world.set_policy(governance=GovernanceLimits(scope=Scope.PROJECT, ops="ops@x.org"))
    vm = world.vm("theirs", labels={})
    world.sweep_for(hours=3)
    assert world.asked() == []
    assert world.status(vm) == "RUNNING"
    assert world.notices()


def test_a_young_vm_with_a_jobs_label_is_not_told_of_as_nobodys(world):
    """Its id may be on record in a minute; once the log can tell, ops are told of it as of any other."""
    world.set_policy(governance=GovernanceLimits(scope=Scope.PROJECT, ops="ops@x.org"))
    world.known(instances="1")
    vm = world.cloud.compute.add("copy", machine_type="a2-highgpu-1g", labels=MINE)
    world.sweep_for(minutes=11)
    assert world.kinds() == []
    world.sweep_for(minutes=1)
    assert [(one.job, one.owner) for one in world.notices()] == [("", "ops@x.org")]
    world.sweep_for(hours=3)
    assert world.status(vm) == "RUNNING"


@pytest.mark.parametrize("gone", ["stopped", "preempted"])
def test_a_vm_that_is_not_up_is_not_judged(world, gone):
    """It uses nothing."""
    vm = world.vm()
    if gone == "stopped":
        world.cloud.compute.stop("us-central1-a", vm, "by-hand")
    else:
        world.cloud.compute.preempt("vm-1")
    world.wait(minutes=5)
    world.sweep()
    assert world.kinds() == []


def test_a_vm_that_waits_for_room_is_not_judged_before_it_runs(world):
    """It uses nothing yet, and nobody could stop it."""
    vm = world.vm()
    world.cloud.compute.vms.become(vm, Status.PENDING)
    world.sweep_for(hours=3)
    assert world.kinds() == []
    world.cloud.compute.vms.become(vm, Status.RUNNING)
    world.sweep()
    assert world.kinds() == ["compliance_warning"]


def test_what_a_list_hides_is_not_taken_for_mended(world):
    """The case stays open, and nothing is done meanwhile."""
    vm = world.vm()
    world.sweep()
    world.cloud.compute.hide("us-central1-a")
    world.sweep_for(hours=2)
    assert world.case("compliance", vm).state is CaseState.WARNED
    assert world.asked() == []


def test_a_job_that_is_written_down_while_the_vms_are_listed_is_known(world):
    """VMs before records: the newer reading has the owner, and the limits of her team."""
    world.set_policy(
        teams={"eyes": Team(owners=("ada@*",), rules={"compliance": {"machine_types": ["a2-*"]}})}
    )
    late = world.vm("vm-9", labels={"spotwarden-job": "late"}, age=timedelta(hours=1))
    ports = world.cloud.ports()

    class Late:
        """The list of VMs comes before the record of their job."""

        def __getattr__(self, name):
            return getattr(ports.compute, name)

        def fleet(self, **said):
            listed = ports.compute.fleet(**said)
            world.known("late", **{"vm-9": late})
            return listed

    world.sweep(cloud=msgspec.structs.replace(ports, compute=Late()))
    assert world.kinds() == []


def test_who_asks_to_keep_it_while_we_look_is_heard(world):
    """job.toml is read last, also at the second look."""
    vm = world.vm()
    world.sweep()
    world.sweep_for(minutes=55)
    world.wait(minutes=5)
    ports = world.cloud.ports()
    looks = []

    class Asked:
        """Between the first look and the second its owner asks to keep it."""

        def __getattr__(self, name):
            return getattr(ports.compute, name)

        def fleet(self, **said):
            looks.append(said)
            if len(looks) == 2:
                world.store(JobFileName(job="job"), b"keep_until = 2999-12-31\n")
            return ports.compute.fleet(**said)

    world.sweep(cloud=msgspec.structs.replace(ports, compute=Asked()))
    assert len(looks) == 2
    assert world.asked() == []
    assert world.status(vm) == "RUNNING"


def test_a_record_that_cannot_be_read_is_nobodys_guilt(world):
    """Nothing is done where nobody knows whose limits hold."""
    world.vm()
    world.sweep()
    world.wait(hours=1)
    GenerationCache.forget()
    world.cloud.store.trouble.order("read", unanswered(after_work=False), about="attempts/1", times=99)
    world.sweep()
    assert world.asked() == []


def test_costs_of_a_content_project_are_one_list(world):
    """Jobs are read only where a VM is at fault."""
    for number in range(20):
        job = f"job-{number}"
        vm = world.vm(f"vm-{number}", machine_type="g2-standard-4", labels={"spotwarden-job": job})
        world.store(OpenJob(job=job), msgspec.json.encode(Watch(job=job, attempt=1, instances={job: vm})))
    reads = []
    store = world.cloud.store

    class Counting:
        """Counts what is read of jobs."""

        def __getattr__(self, name):
            return getattr(store, name)

        def entries(self, prefix, **said):
            reads.append(prefix)
            return store.entries(prefix, **said)

    world.sweep(cloud=msgspec.structs.replace(world.cloud.ports(), store=Counting()))
    assert not [one for one in reads if one.startswith("job-")]


def message(**entry):
    """A Pub/Sub message with an entry of the audit log."""
    return {"data": base64.b64encode(json.dumps({"protoPayload": entry}).encode()).decode(), "attributes": {}}


@pytest.mark.parametrize(
    ("resource", "about"),
    [
        ("projects/p/zones/us-central1-a/instances/vm-1", "vm-1"),
        ("projects/p/zones/us-central1-a/instances", ""),
        ("projects/p/zones/us-central1-a", ""),
    ],
)
def test_the_log_entry_of_a_creation_names_its_vm(resource, about):
    """One about many, as of a bulk request, means a look at everything."""
    tick = open_tick(
        "check_compliance", message(methodName="v1.compute.instances.insert", resourceName=resource)
    )
    assert (tick.about, tick.patient) == (about, False)


def test_who_was_stopped_and_started_again_is_warned_anew(world):
    """The same VM, stopped by us and started by its owner before the next look."""
    vm = world.vm()
    world.sweep()
    world.sweep_for(minutes=60)
    assert world.asked() == [("stop", vm)]
    world.wait(minutes=4)
    assert world.status(vm) == "TERMINATED"
    world.cloud.compute.vms.become(vm, Status.RUNNING)
    world.sweep_for(minutes=59)
    assert world.asked() == [("stop", vm)]


# --- gangs ---


@pytest.fixture(params=["launched by us", "launched by hand"])
def nodes(world, request):
    """A gang of two, of which one node is not allowed; the ids by node."""
    labels = MINE if request.param == "launched by us" else {}
    good = world.vm("job-1", machine_type="g2-standard-4", labels=labels)
    ids = {"job-1": good, "job-2": world.vm("job-2", labels=labels)}
    if labels:
        world.known(**ids)
    else:
        world.store(OpenJob(job="job"), msgspec.json.encode(Watch(job="job", instances=ids)))
        record = world.layout.build(AttemptRecord(job="job", attempt=1))
        world.cloud.store.delete(record, generation=world.cloud.store.read(record).generation)
        world.store(JobFileName(job="job"), b'owner = "ada@x"\n')
    return ids


def test_a_gang_with_a_node_that_is_not_allowed_is_warned_and_stopped_as_one(world, nodes):
    """Its owner is told once, of both nodes; neither is stopped before the grace, nor without the other."""
    world.sweep()
    assert world.told() == [("compliance_warning", "ada@x")]
    [warning] = world.case("compliance", "job").warnings
    assert set(warning.targets) == set(nodes.values())
    world.sweep_for(minutes=59)
    assert world.asked() == []
    world.sweep_for(minutes=10)
    assert sorted(world.asked()) == sorted(("stop", node) for node in nodes.values())


def test_a_gang_beyond_the_budget_is_not_stopped_by_halves(world, nodes):
    """A sweep may act upon one VM: ops are asked, and both run on."""
    limits = GovernanceLimits(blast_count=1, blast_least=1, ops="ops@x.org")
    world.set_policy(governance=limits)
    world.sweep_for(hours=3)
    assert world.asked() == []
    assert "approval_needed" in world.kinds()


def test_an_event_about_a_good_node_tells_of_its_gang(world, nodes):
    """All its nodes are looked at; that the tick comes later tells nothing twice."""
    world.sweep(about="job-1")
    assert world.told() == [("compliance_warning", "ada@x")]
    world.sweep()
    assert world.told() == [("compliance_warning", "ada@x")]


def test_a_gang_that_is_mended_in_time_is_left_alone(world, nodes):
    """The label that one node lacked."""
    world.set_policy(compliance=msgspec.structs.replace(LIMITS, machine_types=(), labels=("team",)))
    world.sweep()
    for node in nodes.values():
        world.cloud.compute.label("us-central1-a", node, {"team": "eyes"})
    world.sweep_for(hours=3)
    assert world.case("compliance", "job") is None
    assert world.asked() == []


def test_the_case_of_a_gang_waits_while_the_record_of_its_job_cannot_be_read(world, nodes):
    """The list of open jobs still tells its nodes: nothing is done, and nothing is taken for mended."""
    world.store(OpenJob(job="job"), msgspec.json.encode(Watch(job="job", instances=nodes)))
    world.sweep()
    world.cloud.store.trouble.order("entries", unanswered(after_work=False), about="^job/metadata/", times=99)
    world.sweep_for(hours=2)
    assert world.case("compliance", "job").state is CaseState.WARNED
    assert world.asked() == []


def test_a_gang_that_is_not_on_the_list_of_open_jobs_is_one_by_its_record(world):
    """Recovery takes a job off that list, and its VMs may run on."""
    good = world.vm("job-1", machine_type="g2-standard-4")
    world.known(**{"job-1": good, "job-2": world.vm("job-2")})
    entry = world.layout.build(OpenJob(job="job"))
    world.cloud.store.delete(entry, generation=world.cloud.store.read(entry).generation)
    world.sweep()
    assert len(world.case("compliance", "job").subject.targets) == 2
