"""recover_spot over the ports: a running job is moved to where it costs less."""

import json
from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.layout import CreateScript, Heartbeat, JobFileName
from spotwarden.model.attempt import AttemptState, TryKind
from spotwarden.model.ladder import VmModel
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.policy import Mode
from tests.fakes.trouble import rejected
from tests.fakes.world import SCRIPT

HOME, FAR = "us-central1-a", "us-east4-a"
SHEET = """
[[sheet]]
date = 2026-11-01
source = "made up"
rows = [
  { machine = "g2-standard-4", region = "us-central1", standard = 0.7, spot = 0.3 },
  { machine = "g2-standard-4", region = "us-east4", standard = 0.7, spot = 0.2 },
]
"""
EARLY = SCRIPT.replace(b"--metadata=", b"--metadata=spotwarden-early=1,")
FILE = 'handover = true\nwork = "40h"\n'


def beats(world, attempt=1):
    """The job kit tells that this attempt runs."""
    world.store(Heartbeat(job="test-vm", node="test-vm"), b'{"attempt": %d}' % attempt)


@pytest.fixture
def ready(world, tmp_path):
    """A job that hands over, has 40 hours to do, and may go to a cheaper region."""
    sheet = tmp_path / "prices.toml"
    sheet.write_text(SHEET)
    world.settings = replace(world.settings, prices_file=sheet)
    world.policy = replace(world.policy, placement=PlacementLimits(regions=("us-east4",)))
    world.cloud.compute.zones += (FAR,)
    world.store(JobFileName(job="test-vm"), FILE.encode())
    beats(world)
    return world


def ticks(world, minutes=30):
    """So many ticks, a minute apart: each job has its turn in one of ten."""
    for _ in range(minutes):
        world.sweep()
        world.wait(minutes=1)
    return world


def moves(world):
    """The attempts that were planned."""
    return [attempt for attempt in world.attempts() if attempt.planned]


def zones(world):
    """Where its VMs are."""
    return sorted(instance.zone for instance in world.instances())


def test_a_job_goes_on_where_it_costs_less(ready):
    """The new VM is there before the old one goes, which is never stopped by us: its job kit hands over."""
    ticks(ready)
    (attempt,) = moves(ready)
    assert (attempt.state, attempt.early, attempt.number) == (AttemptState.RUNNING, True, 2)
    assert zones(ready) == [HOME, FAR]
    assert attempt.replaces == ready.ids
    assert not ready.done("DeleteInstance")


def test_its_owner_hears_both_prices_and_how_to_keep_it(ready):
    """Once."""
    ticks(ready)
    (notice,) = [m for m in ready.cloud.notices.messages if m.attributes["kind"] == "moved"]
    assert b"spot in us-east4-a costs $0.20 an hour, spot in us-central1-a $0.30" in notice.data
    assert b"move = false" in notice.data


def test_a_job_moves_once_and_not_back(ready):
    """Where it runs is the cheapest."""
    ticks(ready)
    beats(ready, attempt=2)
    ready.cloud.compute.owner_deletes(ready.first, user="job@p.iam.gserviceaccount.com")
    ticks(ready, 60)
    assert len(moves(ready)) == 1
    assert zones(ready) == [FAR]


def test_where_the_place_has_no_room_the_job_stays_as_the_next_attempt(ready):
    """Nothing of it was touched, and nobody is asked again within the hour."""
    ready.cloud.compute.stock_out(FAR)
    ticks(ready, 60)
    (attempt,) = moves(ready)
    assert (attempt.state, attempt.instances) == (AttemptState.RUNNING, ready.ids)
    assert [(tried.place, tried.kind) for tried in attempt.tries] == [
        (FAR, TryKind.CREATE),
        (HOME, TryKind.KEEP),
    ]
    assert zones(ready) == [HOME]
    assert "moved" not in ready.notices()


def test_a_refusal_at_once_leaves_the_job_where_it_is(ready):
    """Without an operation: a right is missing, or the quota is used up."""
    ready.cloud.compute.trouble.order("launch", rejected("quotaExceeded", "GPUs in us-east4"), times=9)
    ticks(ready, 60)
    (attempt,) = moves(ready)
    assert attempt.instances == ready.ids


def test_a_job_that_stayed_comes_back_when_it_is_preempted(ready):
    """As attempt 3: the one that stayed is an attempt as any other."""
    ready.cloud.compute.stock_out(FAR)
    ticks(ready)
    ready.preempt()
    ready.sweep_until_quiet()
    assert [attempt.number for attempt in ready.attempts()][-1] == 3
    assert len(zones(ready)) == 1


def test_a_place_that_refuses_the_notice_is_moved_to_without(ready):
    """At once, and its owner hears of a move as of any other."""
    refused = rejected("invalid", "Invalid value for field 'resource.scheduling.preemptionNoticeDuration'")
    ready.cloud.compute.trouble.order("launch", refused)
    ticks(ready)
    (attempt,) = moves(ready)
    assert [(tried.place, tried.notice) for tried in attempt.tries] == [(FAR, True), (FAR, False)]
    assert zones(ready) == [HOME, FAR]
    assert "moved" in ready.notices()


@pytest.mark.parametrize(("told", "moved"), [(b"", 0), (b', "checkpoint": "step-80.pt"', 1)])
def test_a_job_whose_owner_said_nothing_is_moved_once_it_has_told_a_checkpoint(ready, told, moved):
    """A program that keeps nothing would begin from the start."""
    ready.store(CreateScript(job="test-vm"), EARLY)
    ready.store(JobFileName(job="test-vm"), b'work = "40h"\n')
    ready.store(Heartbeat(job="test-vm", node="test-vm"), b'{"attempt": 1%s}' % told)
    ticks(ready)
    assert len(moves(ready)) == moved


def moving(world):
    """A job whose move was asked for a moment ago, where the cheaper place has no room."""
    world.cloud.compute.stock_out(FAR)
    while not moves(world):
        world.sweep()
        world.wait(seconds=20)
    return world


def test_a_vm_that_is_lost_on_the_way_comes_back_as_any_other(ready):
    """The move ends where it began, and its loss is judged: as the attempt after it."""
    moving(ready).preempt()
    ready.sweep_until_quiet()
    stayed, restarted = ready.attempts()[-2:]
    assert (stayed.planned != "", stayed.instances) == (True, ready.ids)
    assert (restarted.planned, restarted.state) == ("", AttemptState.RUNNING)
    assert len(zones(ready)) == 1


def test_a_vm_that_its_owner_removes_on_the_way_ends_the_job(ready):
    """However late the log tells who it was: nothing is launched before."""
    ready.cloud.compute.let_the_log_lag(timedelta(minutes=10))
    moving(ready).cloud.compute.owner_deletes(ready.first)
    ticks(ready)
    assert ready.attempts()[-1].state is AttemptState.STOPPED
    assert zones(ready) == []


def test_a_preemption_after_the_move_is_not_counted_twice(ready):
    """A move counts neither as a preemption nor as an end of the job's own."""
    ready.store(JobFileName(job="test-vm"), f"{FILE}max_restarts = 0\nmax_preemptions = 1\n".encode())
    ticks(ready)
    ready.cloud.compute.owner_deletes(ready.first, user="job@p.iam.gserviceaccount.com")
    ready.wait(minutes=1)
    ready.preempt()
    ready.sweep_until_quiet()
    assert ready.attempts()[-1].state is AttemptState.RUNNING


@pytest.mark.parametrize(
    "words",
    ["move = false\n", "places = []\n", "deadline = 2026-01-01T00:00:00Z\n"],
    ids=["it wants to stay", "it has no other place", "its deadline leaves no time"],
)
def test_a_job_that_says_so_stays(ready, words):
    """Nothing is asked for."""
    ready.store(JobFileName(job="test-vm"), f"{FILE}{words}".encode())
    assert moves(ticks(ready)) == []


@pytest.mark.parametrize(
    "file",
    [b'work = "40h"\n', b"handover = true\n", b'handover = true\nwork = "2h"\n'],
    ids=["it hands nothing over", "nobody knows how long it takes", "it is nearly done"],
)
def test_a_job_for_which_it_does_not_pay_stays(ready, file):
    """One fact apart from the one that moves."""
    ready.store(JobFileName(job="test-vm"), file)
    assert moves(ticks(ready)) == []


def test_a_vm_without_the_job_kit_stays(ready):
    """No heartbeat of this attempt: without the kit both VMs would train."""
    beats(ready, attempt=7)
    assert moves(ticks(ready)) == []


@pytest.mark.parametrize("limits", [{"moves": 0}, {"move": False}])
def test_ops_can_keep_all_jobs_where_they_run(ready, limits):
    """By the policy."""
    ready.policy = replace(ready.policy, placement=PlacementLimits(regions=("us-east4",), **limits))
    assert moves(ticks(ready)) == []


def on_demand(world, words):
    """A job of one region that was preempted once and runs on-demand since; then its owner says this."""
    world.policy = replace(world.policy, placement=PlacementLimits())
    world.store(JobFileName(job="test-vm"), f"{FILE}on_demand_after = 1\n".encode())
    world.preempt()
    world.sweep_until_quiet()
    assert not world.attempts()[-1].tries[-1].spot
    beats(world, attempt=2)
    world.wait(hours=2)
    world.store(JobFileName(job="test-vm"), f"{FILE}{words}".encode())
    return ticks(world, 60)


def test_a_job_goes_back_from_on_demand_to_spot_in_another_zone(ready):
    """Nothing says on-demand any more, and spot costs less."""
    (attempt,) = moves(on_demand(ready, ""))
    assert attempt.tries[-1].spot
    assert attempt.tries[-1].place != HOME
    assert "on-demand in us-central1-a $0.70" in attempt.planned


@pytest.mark.parametrize("words", ["on_demand_after = 1\n", 'ladder = [{ model = "standard" }]\n'])
def test_a_job_whose_owner_wants_on_demand_stays_there(ready, words):
    """By a count of preemptions, or by a ladder without spot."""
    assert moves(on_demand(ready, words)) == []


def test_an_observing_deployment_moves_nothing(ready):
    """Nor does it write that it would."""
    ready.policy = replace(ready.policy, mode=Mode.OBSERVE)
    assert moves(ticks(ready)) == []


def test_a_place_that_took_one_of_our_vms_within_the_hour_is_not_moved_to(ready):
    """What is cheap and gone in ten minutes is not cheap."""
    now = ready.cloud.clock.now().isoformat()
    memory = {"machine": "g2-standard-4", "availability": {FAR: {"taken": now}}}
    ready.store("spotwarden/placement/g2-standard-4.json", json.dumps(memory).encode())
    assert moves(ticks(ready, 50)) == []
    assert len(moves(ticks(ready, 30))) == 1


LADDER = '{ model = "spot", up_to = "1h", max_price = %s }, { model = "standard" }'


@pytest.mark.parametrize(("most", "back"), [("0.30", True), ("0.29", False)])
def test_a_job_goes_back_from_the_lower_end_of_its_ladder_to_spot(ready, most, back):
    """It came down for want of room; when spot has room again elsewhere, and costs no more than allowed."""
    ready.policy = replace(ready.policy, placement=PlacementLimits())
    ready.store(JobFileName(job="test-vm"), f"{FILE}ladder = [{LADDER % most}]\n".encode())
    for zone in ready.cloud.compute.zones:
        ready.cloud.compute.stock_out(zone)
    ready.preempt()
    ticks(ready, 62)
    for zone in ready.cloud.compute.zones:
        ready.cloud.compute.restock(zone)
    ticks(ready, 30)
    lower = ready.attempts()[-1]
    assert (lower.state, lower.tries[-1].model) == (AttemptState.RUNNING, VmModel.STANDARD)
    beats(ready, attempt=lower.number)
    ready.wait(hours=2)
    ticks(ready, 60)
    planned = moves(ready)
    assert [attempt.tries[-1].model for attempt in planned] == ([VmModel.SPOT] if back else [])
