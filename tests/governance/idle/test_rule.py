"""Whether all the GPUs of a VM idle: which limits count, and what nobody knows."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.governance.idle.rule import judge
from spotwarden.model.finding import Reading
from spotwarden.model.governance import GovernanceLimits, Scope
from spotwarden.model.jobfile import JobFile
from spotwarden.model.load import GpuLoads, VmLoad
from tests.governance.idle.idle_vms import (
    IDLE,
    MINUTE,
    NOW,
    POLICY,
    brief,
    facts,
    found,
    judged,
    row,
    vm,
    with_idle,
)

PROJECT = replace(POLICY, governance=GovernanceLimits(scope=Scope.PROJECT))


def state(rows=None, machine=None, policy=POLICY):
    """`bad`, `unknown`, or `content` where nothing is found."""
    finding = found(machine=machine, rows=rows, policy=policy)
    return finding.reading.value if finding else "content"


# --- busy or idle ---


@pytest.mark.parametrize(("top", "says"), [(4.9, "bad"), (5.0, "content"), (0.0, "bad"), (100.0, "content")])
def test_a_gpu_below_the_threshold_idles(top, says):
    """The threshold itself is work, in the newest bucket and in the oldest."""
    assert state({"11": row((top,) * 6)}) == says
    assert state({"11": row((top, 1, 1, 1, 1, 1))}) == says


@pytest.mark.parametrize("busy", range(6))
def test_work_in_any_bucket_of_the_window_counts(busy):
    """Ten busy minutes in the last sixty are enough, wherever they are."""
    tops = [1.0] * 6
    tops[busy] = 30.0
    assert state({"11": row(tops)}) == "content"


def test_work_before_the_window_does_not_count():
    """Who was told that sixty minutes count need not have worked within two hours."""
    policy = replace(POLICY, teams={}, idle=replace(POLICY.idle, warn=(60 * MINUTE, 105 * MINUTE)))
    assert found(policy=policy, rows={"11": row(IDLE)}).since == NOW - 60 * MINUTE


@pytest.mark.parametrize("tops", [(99.0, 98.0, 1.0), (1.0, 99.0, 98.0), (1.0, 1.0, 99.0)])
def test_one_busy_gpu_makes_the_vm_busy(tops):
    """Of GPUs at 99, 98 and 1 percent the busiest counts, in whatever order they are named."""
    busiest = max(tops)
    assert state({"11": row((busiest,) * 6, gpus=3)}, vm(gpus=3)) == "content"


def test_a_vm_without_gpus_has_none_that_idle():
    """It is not on the list of machines at all, and one that is there works by its rows alone."""
    assert judged(machines=(), jobs={}).findings == ()


# --- which points must be there ---


@pytest.mark.parametrize(("points", "says"), [(8, "bad"), (7, "unknown"), (10, "bad"), (0, "unknown")])
def test_eight_of_ten_points_are_enough(points, says):
    """With fewer nobody knows what the GPU did in between."""
    assert state({"11": row(IDLE, points=(10, 10, points, 10, 10, 10))}) == says


@pytest.mark.parametrize("bucket", range(5))
def test_a_hole_anywhere_in_the_window_is_unknown(bucket):
    """Ten minutes of which nobody knows could have been work."""
    tops, points = [1.0] * 6, [10] * 6
    tops[bucket], points[bucket] = -1, -1
    assert state({"11": row(tops, points)}) == "unknown"


@pytest.mark.parametrize(("points", "says"), [(2, "bad"), (1, "unknown")])
def test_the_newest_points_may_still_come(points, says):
    """Metrics are up to seven minutes late: of the newest bucket 80% of three points must be there."""
    assert state({"11": row(IDLE, points=(10, 10, 10, 10, 10, points))}) == says


def test_with_a_lag_of_a_bucket_the_newest_may_be_empty():
    """What cannot have come yet is not missing."""
    policy = with_idle(lag=10 * MINUTE)
    late = {"11": VmLoad(top=(*IDLE[:5], -1), points=(10,) * 5 + (-1,), gpus=(1,) * 5 + (-1,))}
    assert state(late, policy=policy) == "bad"
    assert state(late, policy=with_idle(lag=9 * MINUTE)) == "unknown"


@pytest.mark.parametrize(("seen", "says"), [(8, "bad"), (7, "unknown"), (1, "unknown")])
def test_every_gpu_must_have_reported(seen, says):
    """Of one GPU of eight nobody can tell what the seven do."""
    finding = found(machine=vm(gpus=8), rows={"11": row(IDLE, gpus=seen)})
    assert finding.reading.value == says
    if says == "unknown":
        assert f"{seen} of 8 GPUs reported" in finding.reason


def test_a_silent_gpu_does_not_hide_a_busy_one():
    """One of eight reports, and it works: the VM works."""
    assert state({"11": row((97.0,) * 6, gpus=1)}, vm(gpus=8)) == "content"


def test_an_agent_that_came_back_under_another_name_leaves_no_hole():
    """Two rows for one GPU in the bucket of the restart, each with half of the points."""
    twice = VmLoad(top=IDLE, points=(10, 10, 4, 10, 10, 10), gpus=(1, 1, 2, 1, 1, 1))
    assert state({"11": twice}) == "bad"
    assert state({"11": replace(twice, gpus=(1,) * 6)}) == "unknown"
    assert state({"11": replace(twice, top=(1, 1, 50, 1, 1, 1))}) == "content"


# --- no metrics ---


def test_a_vm_that_never_reported_is_told_how_to():
    """It is unknown, never idle, and its owner learns what to install."""
    finding = found(rows={})
    assert finding.reading is Reading.UNKNOWN
    assert not finding.ripe
    assert finding.since is None
    assert "google-cloud-ops-agent" in finding.todo


@pytest.mark.parametrize(("minutes", "says"), [(26, "content"), (27, "unknown")])
def test_a_young_vm_need_not_have_reported(minutes, says):
    """Ten minutes to start, ten for one whole bucket, seven for it to come."""
    assert state({}, vm(started=NOW - minutes * MINUTE)) == says


def test_an_agent_that_died_is_unknown():
    """Its last points are idle, and yet nobody knows what came after them."""
    finding = found(rows={"11": row((1, 1, 1, -1, -1, -1), points=(10, 10, 10, -1, -1, -1))})
    assert finding.reading is Reading.UNKNOWN
    assert "nothing was reported between 11:30 and 11:40 UTC" in finding.reason


def test_where_nothing_can_be_read_one_thing_is_told():
    """Ten VMs and no Monitoring make one unknown, and every other case stays as it is."""
    machines = [vm(id=str(number)) for number in range(10)]
    blind = replace(facts(*machines), loads=GpuLoads(grid=facts().loads.grid, problem="403 forbidden"))
    seen = judge(blind, brief())
    (finding,) = seen.findings
    assert finding.reading is Reading.UNKNOWN
    assert finding.evidence == {"error": "403 forbidden"}
    assert not finding.subject.ours
    assert seen.repaired == {machine.id for machine in machines}


def test_where_there_is_nothing_to_judge_no_problem_is_told():
    """A project without GPUs needs no metrics of them."""
    blind = replace(facts(), machines=(), jobs={}, loads=GpuLoads(grid=facts().loads.grid, problem="403"))
    assert judge(blind, brief()).findings == ()


# --- young VMs ---


@pytest.mark.parametrize(("minutes", "says"), [(69, "content"), (70, "bad")])
def test_a_vm_is_judged_after_its_start_and_a_whole_window(minutes, says):
    """Ten minutes of grace and sixty in which it could have worked."""
    assert state(machine=vm(started=NOW - minutes * MINUTE)) == says


def test_a_vm_that_was_started_again_is_young():
    """The id is the old one, the metrics of before the stop are not about this life."""
    again = vm(created=NOW - timedelta(days=9), started=NOW - 30 * MINUTE)
    assert state(machine=again) == "content"


def test_a_vm_of_unknown_age_is_left_alone():
    """Nobody knows whether it could have worked yet."""
    assert state(machine=vm(created=None, started=None)) == "content"
    assert state(machine=vm(started=None)) == "bad"


def test_a_vm_from_the_future_is_young():
    """Its clock or ours is wrong: nothing is concluded."""
    assert state(machine=vm(started=NOW + 5 * MINUTE)) == "content"


# --- whose it is ---


def test_a_name_in_two_zones_is_two_vms():
    """The busy one keeps its name's honour, the idle one is found by its id."""
    busy, idle = vm(id="11"), vm(id="22", zone="us-central1-b")
    rows = {"11": row((78.0,) * 6), "22": row(IDLE)}
    (finding,) = judge(facts(busy, idle, rows=rows), brief()).findings
    assert finding.subject.key == "22"
    assert [(one.id, one.zone) for one in finding.subject.targets] == [("22", "us-central1-b")]


def test_a_new_vm_does_not_inherit_the_metrics_of_its_name():
    """The rows of the id that is gone are nobody's."""
    reused = vm(id="33", started=NOW - 20 * MINUTE, created=NOW - 20 * MINUTE)
    assert judge(facts(reused, rows={"11": row(IDLE)}), brief()).findings == ()


def test_a_vm_that_is_no_jobs_is_left_alone():
    """Nobody asked us about it."""
    assert state(machine=vm(labels={})) == "content"


def test_with_the_whole_project_in_scope_a_stranger_is_told_about():
    """It is found, as somebody else's."""
    finding = found(machine=vm(labels={}), policy=PROJECT)
    assert finding.reading is Reading.BAD
    assert not finding.subject.ours
    assert finding.subject.job == ""


def test_a_vm_on_the_list_of_open_jobs_is_a_jobs():
    """A first attempt bears no label; its id was written down."""
    finding = found(machine=vm(labels={}), jobs={"11": "by-hand"})
    assert finding.subject.ours
    assert finding.subject.job == "by-hand"


def test_what_was_seen_is_said():
    """Ids of those that run, the size of the fleet and what could not be listed."""
    seen = judged(running=7, hidden=("us-east4-a",))
    assert seen.present == {"11"}
    assert seen.fleet == 7
    assert seen.hidden == ("us-east4-a",)
    assert seen.rules == ("idle",)


# --- exempt ---


@pytest.mark.parametrize(("day", "kept"), [("2026-11-21", True), ("2026-11-20", False), ("soon", True)])
def test_a_label_keeps_a_vm_to_the_end_of_its_day(day, kept):
    """A label that is no day keeps it as well."""
    finding = found(machine=vm(labels={"spotwarden-job": "train", "spotwarden-keep": day}))
    assert bool(finding.exempt) is kept


def test_a_job_that_asks_to_be_kept_is_exempt():
    """By its own file."""
    kept = found(files={"train": JobFile(keep_until=NOW.date())})
    assert "job.toml" in kept.exempt
    assert not found(files={"other": JobFile(keep_until=NOW.date())}).exempt


def test_of_a_job_whose_file_cannot_be_read_nothing_is_known():
    """It may say that it wants to be kept; a warning stays, since the file may be back soon."""
    finding = found(files={"train": JobFile(problem="no TOML")})
    assert (finding.reading, finding.exempt) == (Reading.UNKNOWN, "")
    assert "no TOML" in finding.reason


# --- properties ---

TOPS = st.lists(st.one_of(st.just(-1.0), st.floats(0, 100)), min_size=6, max_size=6)
POINTS = st.lists(st.integers(-1, 12), min_size=6, max_size=6)
GPUS = st.lists(st.integers(-1, 9), min_size=6, max_size=6)


@given(TOPS, POINTS, GPUS, st.integers(1, 8))
def test_idle_means_that_nothing_worked_and_nothing_was_missing(tops, points, gpus, cards):
    """Whatever the metrics look like."""
    finding = found(machine=vm(gpus=cards), rows={"11": VmLoad(top=tops, points=points, gpus=gpus)})
    if finding and finding.reading is Reading.BAD:
        assert max(tops) < 5
        assert min(gpus[:5]) >= cards
        assert all(point >= 8 or gpu > cards for point, gpu in zip(points[:5], gpus[:5], strict=True))
    if max(tops) >= 5:
        assert finding is None


@given(TOPS, POINTS, GPUS)
def test_unknown_is_never_ripe(tops, points, gpus):
    """What nobody knows leads to nothing."""
    finding = found(rows={"11": VmLoad(top=tops, points=points, gpus=gpus)})
    if finding and finding.reading is Reading.UNKNOWN:
        assert (finding.ripe, finding.since, finding.due, finding.labels) == (False, None, None, {})
