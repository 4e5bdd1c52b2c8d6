"""A function that is killed between any two calls, and sweeps that run at the same time."""

import pytest

from spotwarden.model.attempt import State
from spotwarden.ports import Cloud


class KilledError(BaseException):
    """The process is gone."""


class Mortal:
    """A port whose process dies at the n-th call of all ports together."""

    def __init__(self, port, budget, *, after_work):
        self._port, self._budget, self._after_work = port, budget, after_work

    def __getattr__(self, name):
        def call(*args, **kwargs):
            self._budget[0] -= 1
            if self._budget[0] == 0 and not self._after_work:
                raise KilledError
            result = getattr(self._port, name)(*args, **kwargs)
            if self._budget[0] == 0:
                raise KilledError
            return result

        return call


def mortal(cloud: Cloud, calls: int, *, after_work: bool) -> Cloud:
    """The cloud as a process sees it that dies before or after its n-th call."""
    budget = [calls]
    parts = (cloud.store, cloud.compute, cloud.notices)
    store, compute, notices = (Mortal(part, budget, after_work=after_work) for part in parts)
    return Cloud(store=store, compute=compute, notices=notices)


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
def test_a_kill_between_any_two_calls_leaves_one_attempt_and_one_vm(new_world, after_work):
    """For every n: killed at its n-th call, the recovery is finished by later sweeps, and made once."""
    for calls in range(1, 200):
        world = new_world()
        world.preempt()
        world.wait(minutes=1)
        died = False
        try:
            world.sweep_over(mortal(world.cloud.ports(), calls, after_work=after_work))
        except KilledError:
            died = True
        for _ in range(90):
            if not world.sweep().waiting:
                break
            world.wait(seconds=10)
        assert [attempt.state for attempt in world.attempts()] == [State.RUNNING], calls
        assert len(world.vms()) == 1, calls
        assert world.names("preempted-jobs/") == [], calls
        if not died:
            return
    raise AssertionError("the sweep never came to its end")
