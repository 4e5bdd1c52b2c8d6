"""A click that is killed between any two calls, and clicks and sweeps that meet: given once, never lost."""

import contextlib
from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.attempt import AttemptState
from spotwarden.model.governance import GovernanceLimits, Limits, Remedy
from spotwarden.model.instance import Status
from spotwarden.model.notice import Way
from spotwarden.model.rule_limits import JobCap
from spotwarden.ports import UnansweredError
from tests.fakes.trouble import unanswered
from tests.fakes.world import World, load
from tests.governance.caps.cap_world import CapWorld
from tests.governance.made_up import RULE, MadeUp, Said
from tests.notify.links.answer_web import ADA, Web
from tests.recovery.test_exactly_once import KilledError, die, watched

HOUR = timedelta(hours=1)
MOST_CALLS = 40


def warned():
    """A VM that was warned of."""
    world = MadeUp(Limits(remedy=Remedy.STOP, grace=HOUR))
    world.id = world.vm("vm")
    world.sweep()
    return Web(world)


def capped():
    """A job that is at or near its limit."""
    world = CapWorld(load("cap_runtime"), job_cap=JobCap(max_runtime=HOUR, longest=20 * HOUR))
    world.job()
    world.sweep_for(minutes=50, every=timedelta(minutes=25))
    return Web(world)


def stopped():
    """A job that governance has stopped and recovery has closed; its VM is gone, and a status stands.

    Nothing but the list of open jobs leads to it then.
    """
    world = World(load("recover_spot"))
    world.settle(2)
    world.cloud.compute.stop("us-central1-a", world.first, "00000000-0000-4000-8000-000000000000")
    world.wait(minutes=5)
    world.settle(3)
    world.cloud.compute.delete("us-central1-a", world.first, "00000000-0000-4000-8000-000000000001")
    world.wait(minutes=5)
    world.ended("1")
    world.settle(2)
    return Web(world)


def asked_for():
    """A gang of three that is due, where a sweep may act upon two; Ada is ops as well."""
    world = MadeUp(
        Limits(remedy=Remedy.STOP), governance=GovernanceLimits(blast_count=2, blast_share=1.0, ops=ADA)
    )
    world.id, *others = [world.vm(f"gang-{node}", said=None) for node in range(3)]
    world.said[world.id] = Said(ripe=True, beside=tuple(others))
    world.sweep()
    world.sweep_for(minutes=15)
    return Web(world)


def is_approved(web):
    """By Ada, once; the next sweep stops all three, once."""
    case = web.world.case(RULE, web.world.id)
    assert (case.approval.by, len(case.answered)) == (ADA, 1)
    web.world.sweep()
    assert len(web.world.asked()) == 3


def is_kept(web):
    """Nothing is done about it, and Ada stands in the case, once."""
    case = web.world.case(RULE, web.world.id)
    assert (case.kept_by, len(case.answered)) == (ADA, 1)
    assert web.now < case.keep_until <= web.now + 8 * HOUR


def is_extended(web):
    """By four hours, and no minute more."""
    case = web.world.case("job_cap", "train")
    assert (case.extended, len(case.answered)) == (4, 1)


def is_stopped(web):
    """One stop was asked for."""
    assert web.world.asked() == [("stop", web.world.id)]


def is_started(web):
    """One attempt, which recovery brings to one VM that runs."""
    web.world.settle(5)
    first, second = web.world.attempts()
    assert (first.state, second.state) == (AttemptState.STOPPED, AttemptState.RUNNING)
    assert [one.id for one in web.world.instances() if one.status is Status.RUNNING] == [
        second.instances["test-vm"]
    ]


WAYS = {
    Way.KEEP: (warned, is_kept),
    Way.EXTEND: (capped, is_extended),
    Way.STOP: (warned, is_stopped),
    Way.RESTART: (stopped, is_started),
    Way.APPROVE: (asked_for, is_approved),
}


def at_every_call(web_of, happen, *, after_work):
    """A new world for each call that a click makes, on which something happens at that call."""
    for call in range(1, MOST_CALLS):
        web = web_of()
        web.cloud, left = watched(
            web.world.cloud.ports(), call, lambda web=web: happen(web), after_work=after_work
        )
        yield call, web
        if left[0] > 0:
            assert call > 4, "a click makes several calls"
            return
    raise AssertionError("a click makes more calls than that")


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.value)
def test_a_click_that_is_killed_between_any_two_calls_is_carried_on_by_the_next(way, after_work):
    """Whatever it had written: the next click says that it is done, and it is done once."""
    build, assert_done = WAYS[way]
    for call, web in at_every_call(build, lambda _: die(), after_work=after_work):
        token = web.token(way)
        with contextlib.suppress(KilledError):
            web.click(token)
        web.cloud = None
        web.world.wait(seconds=10)
        page = web.click(token)
        assert page.status_code == 200, (call, page.text)
        assert web.used(web.offer(way)).outcome, call
        assert_done(web)
        assert "Nothing was done again" in web.click(token).text, call
        assert_done(web)


def test_a_click_that_was_killed_is_carried_on_though_somebody_has_started_the_vm_again():
    """Compute Engine would take the very request of before for one that is done, and the VM would run on."""
    carried_on = 0
    for _, web in at_every_call(warned, lambda _: die(), after_work=True):
        with contextlib.suppress(KilledError):
            web.click(web.token(Way.STOP))
        web.cloud = None
        web.world.wait(minutes=2)
        used = web.used(web.offer(Way.STOP))
        if not web.world.asked() or used is None or used.outcome:
            continue
        assert _status(web) is Status.TERMINATED
        carried_on += 1
        web.world.cloud.compute.owner_starts(web.world.id)
        web.world.wait(minutes=1)
        assert _status(web) is Status.RUNNING
        web.click(web.token(Way.STOP))
        web.world.wait(minutes=2)
        assert _status(web) is Status.TERMINATED
    assert carried_on


def _status(web):
    [machine] = web.world.cloud.ports().compute.fleet(ids=[web.world.id]).items
    return machine.status


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.value)
def test_two_clicks_at_the_same_time_are_one(way):
    """The second comes whole at any call of the first: both pages are well, and it is done once."""
    build, assert_done = WAYS[way]
    seconds = []

    def click_too(web):
        web.cloud, mine = None, web.cloud
        seconds.append(web.click(web.token(way)).status_code)
        web.cloud = mine

    for call, web in at_every_call(build, click_too, after_work=False):
        first = web.click(web.token(way)).status_code
        assert {first, *seconds} == {200}, call
        web.cloud = None
        assert_done(web)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.value)
def test_a_sweep_that_comes_at_any_call_of_a_click_harms_nothing(way):
    """Governance, or recovery, looks at the same things meanwhile."""
    build, assert_done = WAYS[way]
    for call, web in at_every_call(build, lambda web: web.world.sweep(), after_work=False):
        assert web.click(web.token(way)).status_code == 200, call
        web.cloud = None
        assert_done(web)


def test_an_unsure_click_at_any_call_can_be_repeated():
    """What was asked of Compute Engine may have been carried out: the same request goes out once more."""
    for after_work in (False, True):
        web = warned()
        web.world.cloud.compute.trouble.order("stop", unanswered(after_work=after_work))
        token = web.token(Way.STOP)
        page = web.click(token)
        assert (page.status_code, "confirm that your answer was saved" in page.text) == (
            503,
            True,
        )
        assert web.click(token).status_code == 200
        is_stopped(web)


def test_what_a_click_came_to_is_told_as_it_is_though_it_was_killed():
    """The veto was written, and the click died: three hours later nobody is promised three hours more."""
    web = warned()
    cloud = web.world.cloud.ports()
    token = web.token(Way.KEEP)
    for call in range(1, MOST_CALLS):
        web.cloud, _ = watched(cloud, call, die, after_work=True)
        with contextlib.suppress(KilledError):
            web.click(token)
        if web.world.case(RULE, web.world.id).keep_until:
            break
    web.cloud = None
    until = web.world.case(RULE, web.world.id).keep_until
    web.world.wait(hours=3)
    web.click(token)
    assert f"until {until:%Y-%m-%d %H:%M} UTC" in web.used(web.offer(Way.KEEP)).outcome


def test_an_extension_that_was_lost_is_not_taken_for_another_persons():
    """Bob grants as much at the very moment when nobody knows whether Ada's click was written: both count."""
    web = capped()
    store = web.world.cloud.store
    write, lost = store.write, []

    def write_and_lose(name, data, **said):
        if "cases/job_cap" in name and not lost:
            lost.append(name)
            web.world.change_case("job_cap", "train", extended=4.0)
            raise UnansweredError("made up: no answer")
        return write(name, data, **said)

    store.write = write_and_lose
    assert web.click(web.token(Way.EXTEND)).status_code == 200
    assert lost
    assert web.world.case("job_cap", "train").extended == 8


def test_a_click_that_was_never_finished_says_so_to_nobody_else():
    """A claim without an outcome is not an answer: a look shows the button, and the click carries it on."""
    web = warned()
    web.cloud, _ = watched(web.world.cloud.ports(), 4, die, after_work=True)
    with pytest.raises(KilledError):
        web.click(web.token(Way.KEEP))
    web.cloud = None
    assert replace(web.used(web.offer(Way.KEEP)), outcome="") == web.used(web.offer(Way.KEEP))
    assert "Keep for 8 h" in web.open(web.token(Way.KEEP)).text


def at_every_call_of_a_sweep(approved, act):
    """For each call of a sweep over a gang that is asked for, a world in which somebody acts at that call."""
    for call in range(1, 2 * MOST_CALLS):
        web = asked_for()
        if approved:
            web.click(web.token(Way.APPROVE))
        web.world.wait(minutes=5)
        cloud, left = watched(web.world.cloud.ports(), call, lambda web=web: act(web), after_work=False)
        with contextlib.suppress(ExceptionGroup):
            web.world.sweep(cloud=cloud)
        if left[0] > 0:
            assert call > 6, "a sweep makes several calls"
            return
        yield call, web
    raise AssertionError("a sweep makes more calls than that")


def test_an_approval_that_comes_at_any_call_of_a_sweep_is_carried_out_once():
    """By that sweep or by the next one: all three VMs, each by one request."""
    for call, web in at_every_call_of_a_sweep(False, lambda web: web.click(web.token(Way.APPROVE))):
        assert len(web.world.asked()) in {0, 3}, call
        web.world.sweep_for(minutes=5)
        assert len(web.world.asked()) == len(set(web.world.asked())) == 3, call


def test_a_veto_that_comes_at_any_call_of_the_sweep_that_was_allowed_leaves_no_half_gang():
    """All three are stopped, or none; what was kept in time is kept for its eight hours."""
    outcomes = set()
    for call, web in at_every_call_of_a_sweep(True, lambda web: web.click(web.token(Way.KEEP))):
        stopped = len(web.world.asked())
        assert stopped in {0, 3}, call
        web.world.sweep_for(hours=7)
        assert len(web.world.asked()) == stopped, call
        outcomes.add(stopped)
    assert outcomes == {0, 3}


def test_two_people_at_once_one_approves_and_one_keeps():
    """At any call of the approval: a veto is never lost, and nothing is stopped while it lasts."""
    kept_at = []

    def keep(web):
        web.cloud, mine = None, web.cloud
        kept_at.append(web.click(web.token(Way.KEEP)).status_code)
        web.cloud = mine

    for call, web in at_every_call(asked_for, keep, after_work=False):
        web.click(web.token(Way.APPROVE))
        web.cloud = None
        if len(kept_at) < call:
            break
        web.world.sweep_for(hours=7)
        kept = web.world.case(RULE, web.world.id)
        assert kept is None or kept.kept_by == ADA, call
        assert web.world.asked() == [], call
    assert set(kept_at) == {200}


def test_a_sweep_that_dies_at_any_call_over_an_allowed_gang_leaves_no_half_of_it():
    """The next ones finish what it has begun: each VM is stopped, and by one request."""
    cap_runtime = load("cap_runtime")
    for call in range(1, 2 * MOST_CALLS):
        cap = JobCap(max_runtime=2 * HOUR, remedy=Remedy.STOP)
        world = CapWorld(cap_runtime, job_cap=cap, governance=GovernanceLimits(blast_count=2, ops=ADA))
        world.gang("gang-1", "gang-2", "gang-3")
        world.sweep_for(hours=3, every=timedelta(minutes=20))
        web = Web(world)
        assert web.click(web.token(Way.APPROVE)).status_code == 200
        web.world.wait(minutes=5)
        cloud, left = watched(web.world.cloud.ports(), call, die, after_work=True)
        with contextlib.suppress(KilledError, ExceptionGroup):
            web.world.sweep(cloud=cloud)
        if left[0] > 0:
            assert call > 12, "a sweep that stops three VMs makes many calls"
            return
        web.world.sweep_for(minutes=15)
        assert len(web.world.asked()) == len(set(web.world.asked())) == 3, call
    raise AssertionError("a sweep makes more calls than that")
