"""A function that is killed between any two calls, and sweeps that run at the same time."""

import contextlib
from collections.abc import Callable

import pytest

from spotwarden.model.attempt import State
from spotwarden.ports import Cloud

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
    return Cloud(store=store, compute=compute, notices=notices), count


def finish(world, cloud: Cloud | None = None) -> None:
    """Sweep every ten seconds for a quarter of an hour, or until nothing waits."""
    for _ in range(90):
        if not world.sweep_over(cloud or world.cloud.ports()).waiting:
            return
        world.wait(seconds=10)


def assert_made_once(world, calls: int) -> None:
    """One attempt, one VM, no marker, and the news told under one id."""
    assert [attempt.state for attempt in world.attempts()] == [State.RUNNING], calls
    assert len(world.vms()) == 1, calls
    assert world.names("preempted-jobs/") == [], calls
    assert {message.attributes["id"] for message in world.cloud.notices.messages} == {"started/test-vm/2"}, (
        calls
    )


def die() -> None:
    """End the process, without a word."""
    raise KilledError


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
def test_a_kill_between_any_two_calls_leaves_one_attempt_and_one_vm(new_world, after_work):
    """For every n: killed at its n-th call, the recovery is finished by later sweeps, and made once."""
    for calls in range(1, 200):
        world = new_world()
        world.preempt()
        world.wait(minutes=1)
        cloud, count = watched(world.cloud.ports(), calls, die, after_work=after_work)
        with contextlib.suppress(KilledError):
            finish(world, cloud)
        finish(world)
        assert_made_once(world, calls)
        if count[0] > 0:
            assert calls > 40
            return
    raise AssertionError("the sweep never came to its end")


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("pause", [0, 7, 400], ids=["at once", "7 s", "lease over"])
def test_another_sweep_between_any_two_calls_changes_nothing(new_world, after_work, pause):
    """For every n: a whole other sweep at its n-th call, even after the lease has run out."""
    for calls in range(1, 200):
        world = new_world()
        world.preempt()
        world.wait(minutes=1)

        def other(world=world) -> None:
            world.wait(seconds=pause)
            world.sweep()

        cloud, count = watched(world.cloud.ports(), calls, other, after_work=after_work)
        finish(world, cloud)
        finish(world)
        assert_made_once(world, calls)
        if pause < LEASE_SECONDS:
            assert world.done("WriteAttempt", "claimed") == 1, calls
            assert world.done("LaunchInstances") == 1, calls
        if count[0] > 0:
            return
    raise AssertionError("the sweep never came to its end")
