"""recover_spot over the ports: a thousand markers at once, and markers that nobody's VM wrote."""

import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.layout import CreateScript, InstanceId, MarkerName
from spotwarden.recovery.look.storms import CROWD
from spotwarden.recovery.markers.crowds import OF_A_JOB, UNKNOWN
from tests.fakes.trouble import unanswered
from tests.fakes.world import GANG, SCRIPT
from tests.long import long
from tests.recovery.crowd_world import Crowded, Slow

FIRST_CREATE_SECONDS = 3
IN_TIME_SECONDS = 120
BACK_SECONDS = 15
GARBAGE = 5_000


@pytest.fixture
def crowd(world):
    """A world of one job that runs and was seen."""
    world.settle()
    return Crowded(world)


def slow_sweep(crowd, about=""):
    """One sweep at 40 ms a call; gives its calls."""
    slow = Slow(crowd.world.cloud.ports())
    crowd.world.sweep_over(slow.cloud, about)
    return slow


def test_in_a_storm_of_a_thousand_the_first_create_is_sent_within_three_seconds(crowd):
    """And the last one well within the time that the function has."""
    names = crowd.jobs(1000)
    crowd.preempt(*names)
    crowd.world.wait(minutes=1)
    slow = slow_sweep(crowd)
    creates = slow.times("launch")
    assert len(creates) == len(names)
    assert creates[0] <= FIRST_CREATE_SECONDS
    assert slow.seconds() <= IN_TIME_SECONDS


@long
def test_what_no_function_remembers_does_not_delay_the_first_create(crowd):
    """A new instance of the function reads the whole list of open jobs first."""
    names = crowd.jobs(1000)
    crowd.preempt(*names)
    crowd.world.wait(minutes=1)
    GenerationCache.forget()
    assert slow_sweep(crowd).times("launch")[0] <= FIRST_CREATE_SECONDS


@pytest.mark.parametrize("about", ["", "test-vm"])
def test_a_real_preemption_among_five_thousand_forged_markers_is_answered_at_once(crowd, about):
    """Before any of the others is read; they are looked at later, some a sweep."""
    crowd.garbage(GARBAGE)
    crowd.preempt("test-vm")
    crowd.world.wait(minutes=1)
    slow = slow_sweep(crowd, about)
    assert slow.first("launch") <= BACK_SECONDS
    reads = [what for call, what, _ in slow.made if call == "read" and "preempted-jobs/a-" in str(what)]
    assert len(reads) <= UNKNOWN
    before = [str(what) for _, what, at in slow.made if at < slow.first("launch")]
    assert not any("preempted-jobs/a-" in what for what in before)


def test_no_forged_marker_is_dropped(crowd):
    """Those that one sweep does not read are read by the next."""
    crowd.garbage(UNKNOWN + 30)
    swept = crowd.world.sweep()
    assert swept.waiting == ("30 markers of no open job wait unread",)
    assert len(crowd.world.quarantined()) == UNKNOWN
    assert crowd.world.sweep().waiting == ()
    assert len(crowd.world.quarantined()) == UNKNOWN + 30
    assert crowd.world.names("preempted-jobs/") == []


def test_a_job_that_nobody_has_seen_is_not_behind_forged_markers(world):
    """Launched by hand and taken at once: the operation log knows its VM, and nothing of the others."""
    crowd = Crowded(world)
    crowd.garbage(UNKNOWN + 30)
    world.wait(minutes=1)
    crowd.preempt("test-vm")
    world.wait(minutes=1)
    world.sweep()
    assert [attempt.number for attempt in world.attempts()] == [2]


def test_a_node_whose_name_tells_no_job_is_not_behind_forged_markers(world):
    """Its marker names the job, and the operation log knows the VM."""
    script = SCRIPT.replace(b"test-vm", b"worker")
    world.store(CreateScript(job="bert"), script)
    (instance_id,) = world.launch_by_hand(script).values()
    world.store(InstanceId(job="bert", node="worker"), instance_id.encode())
    crowd = Crowded(world)
    crowd.garbage(UNKNOWN + 30)
    world.wait(minutes=1)
    world.preempt(b'{"job": "bert"}', node="worker")
    world.wait(minutes=1)
    world.sweep()
    assert world.names("bert/metadata/attempts/") == ["bert/metadata/attempts/2.json"]


def test_markers_of_an_open_jobs_name_do_not_delay_it(crowd):
    """Of those that only look like nodes of its gang it reads some."""
    for number in range(3 * OF_A_JOB):
        crowd.world.store(MarkerName(node=f"test-vm-{number}"), b"{}")
    crowd.preempt("test-vm")
    crowd.world.wait(minutes=1)
    slow = slow_sweep(crowd)
    before = [what for call, what, at in slow.made if call == "read" and at < slow.first("launch")]
    assert len([name for name in before if "preempted-jobs/" in str(name)]) <= OF_A_JOB + 1


def test_a_marker_without_an_answer_does_not_stop_the_others(crowd):
    """It stays, and the sweep fails in the end."""
    crowd.garbage(3)
    crowd.world.cloud.store.trouble.order("read", unanswered(after_work=False), about="/a-1$")
    assert len(crowd.world.sweep().failures) == 1
    assert crowd.world.names("preempted-jobs/") == ["preempted-jobs/a-1"]


def test_an_event_of_no_open_job_looks_at_everything_in_a_crowd(crowd):
    """Under the turn, so that further ones cost little meanwhile."""
    crowd.garbage(GARBAGE)
    slow = slow_sweep(crowd, about="a-1")
    listed = [at for call, what, at in slow.made if call == "entries" and what == "preempted-jobs/"]
    assert len(listed) == len(["whether there is a crowd", "all, under the turn"])
    assert "spotwarden/turns/recover_spot.json" in [what for _, what, _ in slow.made]


def test_an_event_in_a_crowd_looks_at_its_own_job_alone(crowd):
    """However many markers there are of no open job; a look at everything would list by no name."""
    crowd.garbage(GARBAGE)
    crowd.preempt("test-vm")
    crowd.world.wait(minutes=1)
    slow = slow_sweep(crowd, "test-vm")
    assert slow.times("launch")
    assert not any(call == "read" and "preempted-jobs/a-" in str(what) for call, what, _ in slow.made)
    taken = [what for call, what, _ in slow.made if call == "write"]
    assert "spotwarden/turns/recover_spot.json" not in taken


@pytest.mark.parametrize(("others", "alone"), [(CROWD - 1, True), (CROWD, False)])
def test_an_event_of_an_open_job_in_a_storm_of_open_jobs_looks_at_everything(crowd, others, alone):
    """With more than a crowd of them one sweep over all beats one for each."""
    names = crowd.jobs(others)
    crowd.garbage(CROWD)
    crowd.preempt("test-vm", *names)
    crowd.world.wait(minutes=1)
    slow = slow_sweep(crowd, "test-vm")
    assert len(slow.times("launch")) == (1 if alone else others + 1)


def test_a_marker_of_no_job_costs_no_listing_of_the_bucket(crowd):
    """What is listed is a job's folder, or a folder of ours."""
    crowd.garbage(3)
    slow = slow_sweep(crowd, about="a-1")
    assert "" not in [what for call, what, _ in slow.made if call == "entries"]


def test_nodes_that_compute_engine_shows_cost_one_listing_for_all(world):
    """A gang that was launched by hand, whose nodes bear names of their own: its registered ids tell."""
    script = GANG.replace(b"gang-1,gang-2", b"one,two")
    world.store(CreateScript(job="gang"), script)
    for node, instance_id in world.launch_by_hand(script).items():
        world.store(InstanceId(job="gang", node=node), instance_id.encode())
    crowd = Crowded(world)
    world.wait(minutes=5)
    for node in ("one", "two"):
        world.preempt(node=node)
    world.wait(minutes=1)
    slow = slow_sweep(crowd, about="one")
    assert [what for call, what, _ in slow.made if call == "entries"].count("") == 1
    assert world.names("gang/metadata/attempts/") == ["gang/metadata/attempts/2.json"]


def test_a_node_that_the_job_of_its_name_has_registered_is_that_jobs(world):
    """The parts behind the job's name may be any."""
    script = SCRIPT.replace(b"test-vm", b"bert-worker-a")
    world.store(CreateScript(job="bert"), script)
    (instance_id,) = world.launch_by_hand(script).values()
    world.store(InstanceId(job="bert", node="bert-worker-a"), instance_id.encode())
    world.wait(minutes=5)
    world.preempt(node="bert-worker-a")
    world.wait(minutes=1)
    world.sweep()
    assert world.names("bert/metadata/attempts/") == ["bert/metadata/attempts/2.json"]


def test_an_empty_marker_is_not_read(crowd):
    """The listing says all of it."""
    crowd.world.preempt()
    crowd.world.wait(minutes=1)
    slow = slow_sweep(crowd)
    assert not any(call == "read" and "preempted-jobs/" in str(what) for call, what, _ in slow.made)
    assert slow.times("launch")


def test_a_marker_that_was_written_anew_since_it_was_listed_is_the_next_sweeps(crowd):
    """What the lists show is older than it."""
    world = crowd.world
    crowd.preempt("test-vm")
    world.wait(minutes=1)
    read = world.cloud.store.read

    def rewritten(name, **limits):
        if name == "preempted-jobs/test-vm":
            world.store(name, b'{"instance_id": "1"}')
        return read(name, **limits)

    world.cloud.store.read = rewritten
    world.sweep()
    world.cloud.store.read = read
    assert world.attempts()[-1].markers == {}
