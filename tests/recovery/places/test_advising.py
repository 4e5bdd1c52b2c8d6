"""recover_spot asks Google about places: after its own requests, seldom, and not where it is refused."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.advice import CapacityAdvice
from spotwarden.model.attempt import Try
from spotwarden.model.limits import PlacementLimits
from spotwarden.recovery.folder.standing import timeline
from spotwarden.recovery.places.advice_calls import take_advice
from spotwarden.recovery.places.advising import AdviceWish, advisable
from tests.fakes.compute import MemoryCompute
from tests.fakes.trouble import rejected, unanswered
from tests.recovery.crowd_world import Slow
from tests.recovery.facts import NOW, attempt, job, launch
from tests.recovery.facts import gang as launch_of_gang

A, B, C = "us-central1-a", "us-central1-b", "us-central1-c"
RECORD = "spotwarden/placement/g2-standard-4.json"
POOR = CapacityAdvice(obtainability=0.1, uptime=timedelta(minutes=1))


def advice(world):
    """What is on record of it."""
    return world.read(RECORD)["advice"]


def questions(world, *, sweeps=1, pause=timedelta()):
    """The places that were asked about while so many sweeps brought a preempted VM back."""
    places, ask = list[str](), world.cloud.compute.advice

    def noted(machine, place, size):
        places.append(place)
        return ask(machine, place, size)

    world.cloud.compute.advice = noted
    for _ in range(sweeps):
        world.preempt()
        world.sweep_until_quiet()
        world.wait(seconds=pause.total_seconds())
    world.cloud.compute.advice = ask
    return places


def test_every_place_is_asked_about_after_the_request(world):
    """Nobody waits for it: the VM is asked for before."""
    slow = Slow(world.cloud.ports())
    world.preempt()
    world.wait(minutes=1)
    while world.sweep_over(slow.cloud).waiting:
        world.wait(seconds=10)
    calls = [call for call, _, _ in slow.made if call in {"launch", "advice", "capacity_history"}]
    assert calls == ["launch", *["advice", "capacity_history"] * 3]
    said = {"obtainability": 0.9, "uptime": "PT3600S", "preempted": 0.0}
    assert advice(world)["places"] == {A: said, B: said, C: said}


def test_the_next_job_goes_where_more_is_expected(world):
    """Home has taken a VM, and of the two others one is expected to have no room; the record says why."""
    world.cloud.compute.advised[B] = POOR
    questions(world)
    world.wait(minutes=5)
    world.preempt()
    world.sweep_until_quiet()
    (tried,) = world.attempts()[-1].tries
    assert tried.place == C
    assert tried.why == (
        "Google expects obtainability 0.9, 60 min up, 0% preempted;"
        " of us-central1-b obtainability 0.1, 1 min up, 0% preempted"
    )


def test_what_advice_did_is_in_the_timeline():
    """Behind the place that was asked."""
    tried = Try(place=B, request_id="r", at=NOW, why="Google expects more")
    told = [moment.what for moment in timeline(job(ledger=(attempt(tries=(tried,)),)))]
    assert f"attempt 1 asked {B} (Google expects more)" in told


@pytest.mark.parametrize(("pause", "asked"), [(timedelta(minutes=2), 3), (timedelta(minutes=12), 9)])
def test_a_machine_is_asked_about_once_in_ten_minutes(world, pause, asked):
    """Three preemptions within ten minutes are one question for each place; apart, three."""
    assert len(questions(world, sweeps=3, pause=pause)) == asked


def test_whoever_asks_first_says_so_before(world):
    """Another sweep at the same time sees that somebody asks, and what was known until then."""
    questions(world)
    world.wait(minutes=11)
    before, seen = advice(world), []
    ask = world.cloud.compute.advice
    world.cloud.compute.advice = lambda *words: (seen.append(advice(world)), ask(*words))[1]
    questions(world)
    assert seen[0]["asked_at"] > before["asked_at"]
    assert (seen[0]["answered_at"], seen[0]["places"]) == (before["answered_at"], before["places"])


def test_who_is_refused_asks_again_after_a_day(world):
    """Without the permission jobs come back all the same."""
    world.cloud.compute.advice_forbidden = True
    assert questions(world, sweeps=2, pause=timedelta(minutes=30)) == [A, B, C]
    assert "compute.advice.capacity" in advice(world)["refused"]
    assert len(world.attempts()) == 2
    world.cloud.compute.advice_forbidden = False
    world.wait(days=1)
    assert questions(world) == [A, B, C]
    assert advice(world)["refused"] == ""


def test_no_answer_is_no_refusal(world):
    """It is asked again after ten minutes; what was known is gone, for it was of another moment."""
    world.cloud.compute.trouble.order("advice", unanswered(after_work=False), times=3)
    assert questions(world, sweeps=2, pause=timedelta(minutes=12)) == [A, B, C] * 2
    assert [*advice(world)["places"]] == [A, B, C]


def test_a_place_that_is_refused_alone_is_left_out(world):
    """A zone may not have the machine any more."""
    world.cloud.compute.trouble.order("advice", rejected("invalid"), about=B)
    questions(world)
    assert [*advice(world)["places"]] == [A, C]
    assert advice(world)["refused"] == ""


def test_a_policy_may_switch_it_off(world):
    """Nothing is asked, and nothing is on record."""
    world.policy = replace(world.policy, placement=PlacementLimits(advice=False))
    assert questions(world) == []
    assert "advice" not in world.read(RECORD) or advice(world) is None


def test_rates_are_asked_for_once_a_day(world):
    """They are those of whole days; what was told stays with the new answer."""
    questions(world)
    world.wait(minutes=20)
    world.cloud.compute.trouble.order("capacity_history", unanswered(after_work=False), times=9)
    questions(world)
    assert advice(world)["places"][A]["preempted"] == 0.0
    world.wait(days=1)
    questions(world)
    assert advice(world)["places"][A]["preempted"] is None


def test_the_share_is_the_mean_of_the_week_before_today():
    """Today's still changes."""
    compute = MemoryCompute(zones=[A])
    compute.capacity_history = lambda *_: replace(MemoryCompute().capacity_history("m", A), preemption=DAYS)
    wish = AdviceWish(machine="m", places=(A,), size=1)
    taken = take_advice(compute, wish, None, NOW, 1)
    assert taken.places[A].preempted == 0.4


DAYS = (1.0,) * 22 + (0.4,) * 7 + (0.9,)


def test_a_gang_asks_for_all_of_its_nodes(gang):
    """One alone may fit where two do not."""
    questions_of = Slow(gang.cloud.ports())
    gang.preempt(node="gang-1")
    while gang.sweep_over(questions_of.cloud).waiting:
        gang.wait(seconds=10)
    assert advice(gang)["size"] == 2


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (launch(B, machine="g2-standard-4", accelerators=("nvidia-l4",)), True),
        (launch(B, machine="n1-standard-4"), True),
        (launch(B, machine="n1-standard-4", accelerators=("nvidia-tesla-t4",)), False),
        (launch(B, machine="custom-4-8192", accelerators=("nvidia-tesla-t4",)), False),
        (launch(machine="g2-standard-4"), False),
        (launch(B, machine="g2-standard-4", spot=False), False),
        (replace(launch_of_gang(B), machine="a3-highgpu-8g"), True),
    ],
)
def test_it_is_asked_only_where_it_could_change_something(asked, wanted):
    """Spot VMs that may go to several places; not of N1 with GPUs, on which there is none."""
    assert advisable(asked) is wanted
