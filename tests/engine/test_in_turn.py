"""A few different things, side by side or one after the other."""

import threading

import pytest

from spotwarden.engine.fan_out import beside


def _fail():
    raise ValueError("made up")


def test_one_worker_does_each_thing_as_it_is_submitted():
    """So that a history always runs the same way."""
    done = []
    pool = beside(1, 4)
    answers = [pool.submit(done.append, number) for number in range(3)]
    assert done == [0, 1, 2]
    assert all(answer.done() for answer in answers)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_fails_rises_where_its_result_is_asked_for(workers):
    """And stops nothing else."""
    pool = beside(workers, 4)
    failed, fine = pool.submit(_fail), pool.submit(len, "four")
    assert fine.result() == 4
    with pytest.raises(ValueError, match="made up"):
        failed.result()
    pool.shutdown()


def test_with_more_workers_things_are_done_at_the_same_time():
    """Two that wait for each other come to an end."""
    meet = threading.Barrier(2, timeout=60)
    pool = beside(2, 2)
    waiting = [pool.submit(meet.wait) for _ in range(2)]
    assert {answer.result() for answer in waiting} == {0, 1}
    pool.shutdown()
