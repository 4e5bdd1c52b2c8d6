"""`flag_idle_gpus` from tick to remedy: told, told again, stopped where the policy says so, or cleared."""

from datetime import timedelta
from threading import Barrier

import pytest
from msgspec.structs import replace

from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.idle.rule import grid
from spotwarden.governance.recording import read
from spotwarden.layout import JobFileName
from spotwarden.model.case import CaseState
from spotwarden.model.governance import GovernanceLimits, Mode, Remedy, Scope
from spotwarden.model.rule_limits import IdleLimits
from tests.fakes.trouble import unanswered
from tests.fakes.world import load
from tests.governance.idle.idle_world import BUSY, MINUTE, IdleWorld

DAY = timedelta(days=1)
STOP = IdleLimits(remedy=Remedy.STOP)


@pytest.fixture(scope="session")
def module():
    """functions/flag_idle_gpus/main.py."""
    return load("flag_idle_gpus")


@pytest.fixture
def world(module):
    """A project whose policy stops VMs after two idle hours."""
    return IdleWorld(module, idle=STOP)


@pytest.fixture
def telling(module):
    """A project under the default policy, which only tells."""
    return IdleWorld(module)


def labels(world, vm):
    """The labels of a VM."""
    (found,) = world.cloud.compute.fleet(ids=[vm]).items
    return found.labels


# --- the life of a case ---


def test_a_sleeping_vm_is_told_twice_and_stopped(world):
    """At 60 and 105 idle minutes, then at 120: each is ten minutes later for a VM that has just started."""
    vm = world.vm(0.0)
    told = []
    for _ in range(16):
        world.ticks(minutes=10)
        told.append((len(world.kinds()), world.asked() != []))
    assert told.index((1, False)) == 6
    assert told.index((2, False)) == 11
    assert told.index((3, True)) == 12
    assert world.kinds() == ["idle_warning", "idle_warning", "idle_acted"]
    assert world.asked() == [("stop", vm)]


def test_a_stopped_vm_has_no_case(world):
    """Once it stands still there is nothing to escalate, and nothing is told again."""
    vm = world.vm(0.0)
    world.ticks(hours=4)
    assert world.status(vm) == "TERMINATED"
    assert world.case("idle", vm) is None
    assert len(world.kinds()) == 3


def test_the_default_policy_only_tells(telling):
    """For as long as it idles."""
    vm = telling.vm(0.0)
    telling.ticks(hours=12)
    assert telling.asked() == []
    assert telling.status(vm) == "RUNNING"
    assert telling.kinds() == ["idle_warning", "idle_warning"]


def test_an_idle_vm_bears_a_label_until_it_works(telling):
    """Since when it idles; taken off again, with the others left in place."""
    vm = telling.vm(0.0)
    telling.ticks(hours=2)
    assert labels(telling, vm)["spotwarden-idle"].startswith("since-")
    telling.gauges.work(vm, BUSY)
    telling.ticks(minutes=20)
    assert labels(telling, vm) == {"spotwarden-job": "train"}


def test_one_that_wakes_up_is_cleared(world):
    """A case is closed, and counts from nothing the next time."""
    vm = world.vm(0.0)
    world.ticks(minutes=110)
    assert world.case("idle", vm).state is CaseState.WARNED
    world.gauges.work(vm, BUSY)
    world.ticks(minutes=20)
    assert world.case("idle", vm) is None
    world.gauges.work(vm, 0.0)
    world.ticks(minutes=70)
    assert world.asked() == []
    assert world.case("idle", vm).since > world.now - 80 * MINUTE


def test_a_busy_vm_is_never_told(world):
    """Nor is one that works a minute in each hour."""
    busy, short = world.vm(BUSY), world.vm(0.0, name="short")
    for _ in range(6):
        world.gauges.work(short, BUSY)
        world.wait(minutes=1)
        world.gauges.work(short, 0.0)
        world.ticks(minutes=50)
    assert world.notices() == []
    assert world.case("idle", busy) is world.case("idle", short) is None


@pytest.mark.parametrize("wakes", [True, False])
def test_one_that_wakes_up_between_the_looks_is_not_stopped(world, wakes):
    """The second look, at this VM alone, sees the point that the first did not have yet."""
    vm = world.vm(0.0)
    world.ticks(minutes=120)
    world.gauges.late = timedelta(0)
    fleet = world.cloud.compute.fleet

    def once_more(*, ids=()):
        if ids and wakes:
            world.gauges.told[vm].append((world.now - MINUTE, (BUSY,)))
        return fleet(ids=ids)

    world.cloud.compute.fleet = once_more
    world.ticks(minutes=10)
    assert world.asked() == ([] if wakes else [("stop", vm)])


# --- nothing is known ---


def test_a_vm_without_metrics_is_told_once_and_left_alone(world):
    """It gets the words that help, and runs on."""
    vm = world.vm(gpus=8)
    world.ticks(hours=6)
    assert world.kinds() == ["idle_unknown"]
    assert "google-cloud-ops-agent" in world.notices()[0].todo
    assert world.asked() == []
    assert world.case("idle", vm).state is CaseState.UNKNOWN


def test_an_agent_that_falls_silent_saves_the_vm(world):
    """Two idle hours end in silence before the remedy: nobody knows any more."""
    vm = world.vm(0.0)
    world.ticks(minutes=120)
    world.gauges.work(vm)
    world.ticks(hours=3)
    assert world.asked() == []


def test_a_hole_ends_the_idle_time(world):
    """What goes before it counts no more, and warnings begin anew."""
    vm = world.vm(0.0)
    world.ticks(minutes=110)
    world.gauges.work(vm)
    world.ticks(minutes=20)
    world.gauges.work(vm, 0.0)
    world.ticks(minutes=100)
    assert world.asked() == []
    assert world.case("idle", vm).since >= world.now - 100 * MINUTE


def test_metrics_that_cannot_be_read_are_told_once(world):
    """Not once for each VM; open cases stay as they are and nothing is done."""
    vms = [world.vm(0.0, name=f"train-{number}", job=f"train-{number}") for number in range(5)]
    world.ticks(minutes=110)
    warned = len(world.kinds())
    world.gauges.problem = "403 forbidden"
    world.ticks(hours=3)
    assert world.kinds()[warned:] == ["idle_unknown"]
    assert world.asked() == []
    assert all(world.case("idle", vm).state is CaseState.WARNED for vm in vms)


def test_counts_that_cannot_be_read_leave_everything_as_it_is(world):
    """The first question was answered, the second was not: half an answer calls nobody idle, or silent."""
    world.vm(0.0)
    world.ticks(minutes=120)
    whole = world.gauges.gpus

    def half(grid, *, ids=(), counts=True):
        return replace(whole(grid, ids=ids, counts=counts), problem="no answer" if counts else "")

    world.gauges.gpus = half
    world.ticks(minutes=10)
    assert world.asked() == []
    assert world.kinds()[-1] == "idle_unknown"
    assert "can't be read" in world.notices()[-1].why


def test_after_an_outage_of_monitoring_idle_time_begins_anew(world):
    """Three hours of which nobody knows are no three idle hours."""
    vm = world.vm(0.0)
    world.ticks(minutes=110)
    world.gauges.problem = "403 forbidden"
    world.ticks(hours=3)
    world.gauges.problem = ""
    world.ticks(minutes=10)
    assert world.asked() == []
    assert world.case("idle", vm).since >= world.now - 61 * MINUTE


def test_a_zone_that_cannot_be_listed_keeps_its_cases(world):
    """Not to be seen is neither gone nor at work."""
    vm = world.vm(0.0)
    world.ticks(minutes=90)
    world.cloud.compute.hide("us-central1-a")
    world.ticks(minutes=60)
    assert world.case("idle", vm).state is CaseState.WARNED
    assert world.asked() == []


def test_our_own_silence_is_nobodys_idle_time(world):
    """A day without ticks: what went on in between nobody saw."""
    vm = world.vm(0.0)
    world.ticks(minutes=90)
    world.wait(days=1)
    world.sweep()
    assert world.asked() == []
    assert world.case("idle", vm).since >= world.now - 61 * MINUTE


# --- traps ---


def test_the_same_name_in_two_zones_is_two_vms(world):
    """The one at 78 percent runs on beside the idle one that is stopped."""
    busy = world.vm(78.0, zone="us-central1-a")
    idle = world.vm(1.0, zone="us-central1-b")
    world.ticks(hours=3)
    assert world.asked() == [("stop", idle)]
    assert world.status(busy) == "RUNNING"


@pytest.mark.parametrize("work", [(99.0, 98.0, 1.0), (1.0, 99.0, 98.0)])
def test_one_quiet_gpu_of_three_is_nothing(world, work):
    """Whichever it is."""
    world.vm(*work)
    world.ticks(hours=3)
    assert world.notices() == []


def test_a_metric_of_one_gpu_of_eight_is_unknown(world):
    """Seven may work."""
    world.vm(0.0, gpus=8)
    world.ticks(hours=3)
    assert world.kinds() == ["idle_unknown"]
    assert "1 of 8 GPUs reported" in world.notices()[0].why


def test_a_name_used_again_is_a_new_vm(world):
    """The old one idled for long; the new one has just begun."""
    old = world.vm(0.0)
    world.ticks(minutes=110)
    zone = world.cloud.compute.fleet(ids=[old]).items[0].zone
    world.cloud.compute.delete(zone, old, "by-hand")
    world.wait(minutes=2)
    new = world.vm(0.0)
    world.ticks(minutes=40)
    assert world.asked(("stop",)) == []
    assert world.case("idle", old) is None
    assert world.case("idle", new) is None


def test_metrics_seven_minutes_late_are_early_enough(world):
    """As late as Google says that they may be."""
    vm = world.vm(0.0)
    world.gauges.late = 7 * MINUTE
    world.ticks(hours=3)
    assert world.asked() == [("stop", vm)]


# --- whose VM ---


def test_a_vm_that_is_no_jobs_is_never_touched(world):
    """Nor even told about, unless the whole project is in scope."""
    world.vm(0.0, job="")
    world.ticks(hours=4)
    assert world.notices() == []


def test_with_the_whole_project_in_scope_it_is_told_and_not_touched(module):
    """To ops; it bears no label of ours either."""
    everything = GovernanceLimits(ops="ops@x.org", scope=Scope.PROJECT)
    world = IdleWorld(module, idle=STOP, governance=everything)
    vm = world.vm(0.0, job="", name="notebook")
    world.ticks(hours=4)
    assert world.kinds() == ["idle_warning", "idle_warning"]
    assert world.asked() == []
    assert labels(world, vm) == {}


def test_a_vm_with_a_jobs_name_is_not_the_jobs(world):
    """Only its label, or its id on the job's record, makes it one."""
    world.write_down("train", train="1234567890")
    world.vm(0.0, job="", name="train")
    world.ticks(hours=4)
    assert world.notices() == []


def test_a_vm_whose_id_a_job_has_written_down_is_the_jobs(world):
    """As that of a first attempt, which its developer launched without any label."""
    vm = world.vm(0.0, job="", name="by-hand")
    world.write_down("train", **{"by-hand": vm})
    world.ticks(hours=4)
    assert world.asked() == [("stop", vm)]


def test_a_label_that_can_be_no_jobs_name_makes_it_nobodys(world):
    """It leads to no folder of the bucket, and stops no other VM's sweep."""
    world.vm(0.0, name="odd", job="preempted-jobs")
    vm = world.vm(0.0)
    world.ticks(hours=4)
    assert world.asked() == [("stop", vm)]
    assert {one.job for one in world.notices()} == {"train"}


def test_who_submitted_a_job_is_told(world):
    """The newest attempt names the owner; a job.toml that names another one is believed."""
    vm = world.vm(0.0)
    world.attempt(owner="ada@example.com", train=vm)
    world.ticks(minutes=80)
    assert {one.owner for one in world.notices()} == {"ada@example.com"}
    world.store(JobFileName(job="train"), b'owner = "bob@example.com"\n')
    world.ticks(minutes=50)
    assert {one.owner for one in world.notices()} == {"ada@example.com", "bob@example.com"}


@pytest.mark.parametrize("every", [5, 9, 10, 14])
@pytest.mark.parametrize("warn", [15, 30, 60])
def test_a_vm_that_idles_on_is_stopped_however_soon_its_owner_is_warned(module, warn, every):
    """Its case is not written at each look; since when the VM idles is remembered all the same."""
    limits = IdleLimits(warn=(warn * MINUTE,), act=120 * MINUTE, remedy=Remedy.STOP)
    world = IdleWorld(module, idle=limits)
    vm = world.vm(0.0)
    world.sweep_for(every=every * MINUTE, minutes=160)
    assert world.asked() == [("stop", vm)]


def test_a_vm_that_worked_while_nobody_looked_begins_anew(module):
    """For three minutes, half an hour after the last look and half an hour before the next one."""
    limits = IdleLimits(warn=(30 * MINUTE,), act=120 * MINUTE, remedy=Remedy.STOP)
    world = IdleWorld(module, idle=limits, governance=GovernanceLimits(ops="o@x.org", outage=DAY))
    vm = world.vm(0.0)
    world.ticks(minutes=100)
    world.wait(minutes=30)
    world.gauges.work(vm, BUSY)
    world.wait(minutes=3)
    world.gauges.work(vm, 0.0)
    world.wait(minutes=34)
    world.sweep()
    assert world.case("idle", vm).since > world.now - 40 * MINUTE
    assert world.asked() == []


# --- exempt, and observing ---


def test_who_asks_to_be_kept_is_kept(world):
    """Up to the end of the day that its label names, and no longer."""
    day = (world.now + timedelta(days=1)).date()
    vm = world.vm(0.0, labels={"spotwarden-keep": str(day)})
    world.ticks(hours=6)
    assert world.asked() == []
    world.ticks(days=2)
    assert world.asked() == [("stop", vm)]


def test_a_keep_that_is_written_while_we_look_is_heard(world):
    """The job's folder is read last of all: here it changes between the metrics and the end of the look."""
    world.vm(0.0)
    world.ticks(minutes=120)
    listed = world.cloud.store.entries
    folder = world.layout.metadata("train")

    def written_meanwhile(prefix, **said):
        if prefix == folder:
            world.store(JobFileName(job="train"), b"keep_until = 2999-01-01\n")
        return listed(prefix, **said)

    world.cloud.store.entries = written_meanwhile
    world.ticks(hours=1)
    assert world.asked() == []


def test_a_job_file_that_cannot_be_read_keeps_its_vm_and_no_other(world):
    """One job's trouble is not another's."""
    kept, stopped = world.vm(0.0), world.vm(0.0, name="other", job="other")
    world.ticks(minutes=120)
    world.store(JobFileName(job="train"), b'owner = "ada@example.com"\n')
    world.cloud.store.trouble.order(
        "read", unanswered(after_work=False), about="train/metadata/job.toml", times=99
    )
    world.ticks(minutes=30)
    assert world.asked() == [("stop", stopped)]
    assert world.status(kept) == "RUNNING"


def test_observing_decides_tells_and_does_nothing(module):
    """No label, no stop; what it would do stands in the notice."""
    world = IdleWorld(module, idle=STOP, mode=Mode.OBSERVE)
    vm = world.vm(0.0)
    world.ticks(hours=4)
    assert world.asked(("stop", "delete", "setLabels")) == []
    assert world.status(vm) == "RUNNING"
    assert set(world.kinds()) == {"idle_warning"}


# --- the order of the look ---


class Beside:
    """A port beside one of whose calls something happens, once: before it, or after it."""

    def __init__(self, port, call, happens, *, after=False):
        self._port, self._call, self._happens, self._after = port, call, happens, after

    def __getattr__(self, name):
        work = getattr(self._port, name)
        if name != self._call or not self._happens:
            return work

        def both(*args, **named):
            happens, self._happens = self._happens, None
            if not self._after:
                happens()
            answer = work(*args, **named)
            if self._after:
                happens()
            return answer

        return both


def test_work_that_begins_after_the_list_of_vms_is_seen(world):
    """VMs first, metrics later: the newer of the two speaks for the VM."""
    vm = world.vm(0.0)
    world.ticks(minutes=60)
    world.wait(minutes=10)
    world.gauges.late = timedelta(0)

    def wakes():
        world.gauges.told[vm].append((world.now - 2 * MINUTE, (BUSY,)))

    ports = world.ports()
    world.sweep(cloud=replace(ports, metrics=Beside(ports.metrics, "gpus", wakes)))
    assert world.notices() == []


def test_a_vm_made_after_the_list_is_not_judged(world):
    """Metrics of a VM that is on no list are nobody's."""
    ports = world.ports()

    def made():
        world.vm(0.0, name="new")

    world.sweep(cloud=replace(ports, metrics=Beside(ports.metrics, "gpus", made)))
    assert world.notices() == []


def test_a_job_recorded_after_the_list_of_vms_has_its_vm(world):
    """VMs first, open jobs later: the job of each VM on the list is known."""
    vm = world.vm(0.0, job="", name="by-hand")
    world.wait(minutes=80)
    ports = world.ports()

    def recorded():
        world.write_down("train", **{"by-hand": vm})

    compute = Beside(ports.compute, "fleet", recorded, after=True)
    world.sweep(cloud=replace(ports, compute=compute))
    assert world.case("idle", vm).subject.job == "train"


def test_where_the_audit_cannot_be_written_nothing_is_stopped(world):
    """What was told of another VM is in no audit: that sweep has failed, and the next one acts."""
    vm = world.vm(0.0)
    world.ticks(minutes=60)
    world.vm(0.0, name="other", job="other")
    world.ticks(minutes=50)
    world.cloud.store.trouble.order("write", unanswered(after_work=False), about="/audit/")
    with pytest.raises(ExceptionGroup, match="the sweep failed"):
        world.ticks(minutes=10)
    assert world.asked() == []
    world.ticks(minutes=10)
    assert world.asked() == [("stop", vm)]


# --- what it costs ---


def test_all_that_a_sweep_does_is_one_object_of_the_audit(world):
    """Not one for each VM: nine are warned by one sweep."""
    for number in range(9):
        world.vm(0.0, name=f"train-{number}", job=f"train-{number}")
    world.ticks(minutes=60)
    before = len(world.cloud.store.entries("spotwarden/audit/"))
    world.ticks(minutes=10)
    assert len(world.kinds()) == 9
    assert len(world.cloud.store.entries("spotwarden/audit/")) == before + 1


def test_a_quiet_fleet_costs_one_question(world):
    """Its newest bucket: where everybody works no counts are asked for, nor is any job.toml read."""
    for number in range(50):
        world.vm(BUSY, name=f"train-{number}", job=f"train-{number}")
    world.ticks(hours=2)
    world.gauges.asked.clear()
    reads = []
    stored = world.cloud.store.read

    def counted(name, **how):
        reads.append(name)
        return stored(name, **how)

    world.cloud.store.read = counted
    world.ticks(minutes=10)
    assert world.gauges.asked == [(False, 0, 1)]
    assert not [name for name in reads if name.endswith("job.toml")]


def test_the_bucket_is_asked_while_the_metrics_are(world):
    """Neither waits for the other, where there are workers for both."""
    world.settings = replace(world.settings, workers=4)
    world.vm(0.0)
    both, met = Barrier(2, timeout=60), []
    metrics, listed = world.gauges.gpus, world.cloud.store.each_entry

    def asked(grid, *, ids=(), counts=True):
        if not counts:
            met.append(both.wait())
        return metrics(grid, ids=ids, counts=counts)

    def read(prefix):
        if prefix == world.layout.open_jobs():
            met.append(both.wait())
        return listed(prefix)

    world.gauges.gpus, world.cloud.store.each_entry = asked, read
    world.ticks(minutes=10)
    assert len(met) >= 2
    assert not both.broken


def test_who_works_is_asked_while_the_vms_are_listed(world):
    """Neither waits for the other; what is held against a VM is asked after the list."""
    world.settings = replace(world.settings, workers=4)
    world.vm(0.0)
    both, order = Barrier(2, timeout=60), []
    metrics, fleet = world.gauges.gpus, world.cloud.compute.fleet

    def asked(grid, *, ids=(), counts=True):
        if not counts:
            both.wait()
        order.append("counts" if counts else "who works")
        return metrics(grid, ids=ids, counts=counts)

    def listed(*, ids=()):
        both.wait()
        order.append("list")
        return fleet(ids=ids)

    world.gauges.gpus, world.cloud.compute.fleet = asked, listed
    world.ticks(minutes=10)
    assert not both.broken
    assert order[2::3] == ["counts"] * (len(order) // 3)


def test_before_anything_is_done_metrics_are_read_first_and_job_toml_last(world):
    """Also with many workers: who asks to keep a VM while its metrics are read is heard."""
    world.settings = replace(world.settings, workers=4)
    vm = world.vm(0.0)
    asked, closer = world.gauges.gpus, []

    def keeps(grid, *, ids=(), counts=True):
        closer.append(ids) if ids else closer.clear()
        if len(closer) == 2:  # the second look of a sweep
            world.store(JobFileName(job="train"), b"keep_until = 2999-01-01\n")
        return asked(grid, ids=ids, counts=counts)

    world.gauges.gpus = keeps
    world.ticks(hours=3)
    assert world.asked() == []
    assert world.status(vm) == "RUNNING"
    assert world.cloud.store.read(world.layout.build(JobFileName(job="train")))


def test_only_those_that_may_idle_are_looked_at_closer(world):
    """One of fifty: one more question, about one VM, as far back as its first warning."""
    for number in range(49):
        world.vm(BUSY, name=f"train-{number}")
    world.vm(0.0, name="quiet")
    world.ticks(minutes=60)
    world.gauges.asked.clear()
    world.ticks(minutes=10)
    hour = grid(world.policy, world.now).count
    assert world.gauges.asked == [(False, 0, 1), (True, 1, hour)]


def test_what_was_seen_is_recorded(world):
    """For the back-test: facts that can be read again, with the VM in them."""
    vm = world.vm(0.0)
    begun = world.now
    world.ticks(minutes=20)
    seen = list(read(world.cloud.store, world.layout, "flag_idle_gpus", begun, IdleFacts))
    assert [[one.id for one in look.facts.machines] for look in seen] == [[vm], [vm]]


MIG = {"created-by": "projects/1/zones/us-central1-a/instanceGroupManagers/web", "instance-template": "t"}


@pytest.mark.parametrize("made", [{"metadata": MIG}, {"labels": {"goog-gke-node": ""}}], ids=["group", "GKE"])
def test_what_a_google_service_makes_anew_is_never_stopped(module, made):
    """With our label it is no job's; where a job has its id on record, its owner is only told."""
    world = IdleWorld(module, idle=STOP)
    world.vm(0.0, name="node", job="node", **made)
    known = world.vm(0.0, name="known", job="", **made)
    world.write_down("known", known=known)
    world.ticks(hours=4)
    assert world.asked() == []
    told = [one for one in world.notices() if one.instances]
    assert {one.instances[0].name for one in told} == {"known"}
    assert all("takes no action" in one.then for one in told)
