"""A function that is killed between any two calls, and sweeps that run at the same time."""

import contextlib
from collections.abc import Callable

import pytest

from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.ports import Cloud
from tests.fakes.world import GANG, KEPT, SCRIPT
from tests.long import some

LEASE_SECONDS = 300


class KilledError(BaseException):
    """The process is gone."""


class Watched:
    """A port on which something happens around the n-th call of all ports together."""

    def __init__(self, port, count, happen, *, after_work):
        self._port, self._count, self._happen, self._after_work = port, count, happen, after_work

    def __getattr__(self, name):
        def call(*args, **kwargs):
            self._count[0] -= 1
            now = self._count[0] == 0
            if now and not self._after_work:
                self._happen()
            result = getattr(self._port, name)(*args, **kwargs)
            if now and self._after_work:
                self._happen()
            return result

        return call


def watched(
    cloud: Cloud, calls: int, happen: Callable[[], object], *, after_work: bool
) -> tuple[Cloud, list[int]]:
    """The cloud as a sweep sees it, and a counter that is above 0 where the n-th call was never made."""
    count = [calls]
    parts = (cloud.store, cloud.compute, cloud.notices)
    store, compute, notices = (Watched(part, count, happen, after_work=after_work) for part in parts)
    return Cloud(store=store, compute=compute, notices=notices, metrics=cloud.metrics), count


def finish(world, cloud: Cloud | None = None) -> None:
    """Sweep every ten seconds for a quarter of an hour, or until nothing waits."""
    for _ in range(90):
        if not world.sweep_over(cloud or world.cloud.ports()).waiting:
            return
        world.wait(seconds=10)


def assert_made_once(world, calls: int) -> None:
    """One attempt of ours, each node once and alive, no marker, and the news told under one id."""
    (attempt,) = (one for one in world.attempts() if not one.seen)
    assert attempt.state is AttemptState.RUNNING, calls
    alive = {one.name: one.id for one in world.instances() if one.status is Status.RUNNING}
    assert alive == attempt.instances, calls
    assert len(world.instances()) - len(alive) == len(world.left), calls
    assert set(alive) == set(world.ids), calls
    assert world.names("preempted-jobs/") == [], calls
    told = {message.attributes["id"] for message in world.cloud.notices.messages}
    assert told == {f"started/{world.job}/2"}, calls


def die() -> None:
    """End the process, without a word."""
    raise KilledError


KINDS = ["a VM", "a gang", "a VM without room at home", "a stopped VM", "a stopped VM without room"]


@pytest.fixture(params=KINDS)
def fallen(new_world, request):
    """A new world each time, whose job was preempted a minute ago; `left` are VMs that stay as they are."""

    def build():
        gang, kept = "gang" in request.param, "stopped" in request.param
        job, script = ("gang", GANG) if gang else ("test-vm", KEPT if kept else SCRIPT)
        world = new_world(job, script)
        world.node = "gang-1" if gang else "test-vm"
        world.left = [world.first] if "stopped VM without" in request.param else []
        if "without room" in request.param:
            world.cloud.compute.stock_out("us-central1-a")
        world.preempt(node=world.node)
        world.wait(minutes=1)
        return world

    return build


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
def test_a_kill_between_any_two_calls_leaves_one_attempt_and_one_job(fallen, after_work):
    """For every n: killed at its n-th call, the recovery is finished by later sweeps, and made once."""
    for calls in some(range(1, 300)):
        world = fallen()
        cloud, count = watched(world.cloud.ports(), calls, die, after_work=after_work)
        with contextlib.suppress(KilledError):
            finish(world, cloud)
        finish(world)
        assert_made_once(world, calls)
        if count[0] > 0:
            assert calls > 40
            return
    raise AssertionError("the sweep never came to its end")


@pytest.mark.parametrize(("event", "after_work"), [(False, False), (True, True)], ids=["a tick", "an event"])
@pytest.mark.parametrize("pause", [0, 400], ids=["at once", "lease over"])
def test_another_sweep_between_any_two_calls_changes_nothing(fallen, event, after_work, pause):
    """For every n: a tick's whole sweep before its n-th call, or an event's after it, lease over or not."""
    for calls in some(range(1, 300)):
        world = fallen()

        def other(world=world) -> None:
            world.wait(seconds=pause)
            world.sweep(about=world.node if event else "")

        cloud, count = watched(world.cloud.ports(), calls, other, after_work=after_work)
        finish(world, cloud)
        finish(world)
        assert_made_once(world, calls)
        if pause < LEASE_SECONDS:
            assert world.claims() == 1, calls
        if count[0] > 0:
            return
    raise AssertionError("the sweep never came to its end")


@pytest.mark.parametrize("event", [False, True], ids=["a tick", "an event"])
def test_two_sweeps_at_once_send_one_request(new_world, event):
    """While the lease holds, whoever comes by waits."""
    for calls in range(1, 300):
        world = new_world()
        world.preempt()
        world.wait(minutes=1)

        def other(world=world) -> None:
            world.sweep(about="test-vm" if event else "")

        cloud, count = watched(world.cloud.ports(), calls, other, after_work=True)
        finish(world, cloud)
        assert world.done("LaunchInstances") == 1, calls
        if count[0] > 0:
            return
    raise AssertionError("the sweep never came to its end")
