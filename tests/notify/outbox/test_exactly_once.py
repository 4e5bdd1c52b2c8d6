"""A outbox killed between any two calls, and several at a time: once to a person, and nothing lost."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import permutations

import pytest
from msgspec.structs import replace

from spotwarden.model.notice import Severity
from spotwarden.ports import Cloud
from tests.fakes.trouble import rejected, unanswered
from tests.notify.outbox.outbox_world import ADA, BOB, OPS, OutboxWorld, notice
from tests.recovery.test_exactly_once import KilledError, Watched, die

NOTICES = (notice("a"), notice("b"), notice("c", owner=BOB), notice("d", severity=Severity.INFO))
TO = {"made-up/a": ADA, "made-up/b": ADA, "made-up/c": BOB, "made-up/d": ADA}


def watched(room, calls, happen, *, after_work):
    """The cloud as a sweep sees it, and a counter that is above 0 where the n-th call was never made."""
    count = [calls]
    ports = room.cloud.ports()
    store, mailer = (
        Watched(part, count, happen, after_work=after_work) for part in (ports.store, ports.mailer)
    )
    cloud = Cloud(
        store=store, compute=ports.compute, notices=ports.notices, metrics=ports.metrics, mailer=mailer
    )
    return cloud, count


def run(room, cloud=None, *, notices=NOTICES):
    """Each message three times, out of order, and ticks in between and after."""
    room.publish(*notices, *reversed(notices), cloud=cloud)
    room.wait(seconds=5)
    room.tick(cloud)
    room.publish(*notices, cloud=cloud)
    room.wait(minutes=61)
    room.tick(cloud)


def finish(room, minutes=75):
    """What Pub/Sub and the Scheduler do afterwards: messages that were not acknowledged, and ticks."""
    room.publish(*NOTICES)
    room.tick_for(minutes=minutes, every=timedelta(minutes=13))
    room.publish(*NOTICES)
    room.tick_for(minutes=minutes, every=timedelta(minutes=13))


def assert_told_once(room, calls, *, doubles):
    """Everybody has each notice; a second copy only where nobody could know, and then one says so."""
    assert room.waiting() == [], calls
    assert room.undelivered() == [], calls
    twice = 0
    for one in NOTICES:
        copies = room.copies(one, TO[one.id])
        assert len(copies) in {1, 2}, (calls, one.id, copies)
        assert len(copies) == 1 or any(copies), (calls, one.id)
        twice += len(copies) - 1
        assert len(room.delivered(one)) == 1, (calls, one.id)
    assert twice <= doubles, calls


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
def test_a_kill_between_any_two_calls_loses_nothing_and_doubles_one_message_at_most(after_work):
    """For every n: killed at its n-th call, others tell the rest; only what was under way goes again."""
    doubled = 0
    for calls in range(1, 1000):
        room = OutboxWorld()
        cloud, count = watched(room, calls, die, after_work=after_work)
        with contextlib.suppress(KilledError):
            run(room, cloud)
        finish(room)
        assert_told_once(room, calls, doubles=1)
        doubled += any(len(room.copies(one, TO[one.id])) == 2 for one in NOTICES)
        if count[0] > 0:
            assert calls > 60
            # One for each message: killed when it was out, and not yet known to be.
            assert doubled == len(NOTICES)
            return
    raise AssertionError("the sweep never came to its end")


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("pause", [0, 130], ids=["at once", "lease over"])
def test_another_tick_between_any_two_calls_tells_nobody_twice(after_work, pause):
    """For every n: a whole tick around its n-th call; with the lease over, what was under way goes again."""
    for calls in range(1, 1000):
        room = OutboxWorld()

        def other(room=room):
            room.wait(seconds=pause)
            room.tick()

        cloud, count = watched(room, calls, other, after_work=after_work)
        run(room, cloud)
        finish(room)
        assert_told_once(room, calls, doubles=0 if pause == 0 else 1)
        if count[0] > 0:
            return
    raise AssertionError("the sweep never came to its end")


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
def test_a_message_between_any_two_calls_tells_nobody_twice(after_work):
    """For every n: all messages come once more around its n-th call."""
    for calls in range(1, 1000):
        room = OutboxWorld()

        def other(room=room):
            room.publish(*NOTICES)

        cloud, count = watched(room, calls, other, after_work=after_work)
        run(room, cloud)
        finish(room)
        assert_told_once(room, calls, doubles=0)
        if count[0] > 0:
            return
    raise AssertionError("the sweep never came to its end")


@pytest.mark.parametrize("call", ["read", "write", "delete", "entries"])
@pytest.mark.parametrize("after_work", [False, True], ids=["not done", "done"])
def test_a_call_without_an_answer_loses_nothing_and_doubles_one_message_at_most(call, after_work):
    """For every n: the bucket's n-th such call gets no answer, done or not."""
    for calls in range(1, 200):
        room = OutboxWorld()
        fail = unanswered(after_work=after_work).error

        def silent(fail=fail):
            raise fail

        ports = room.cloud.ports()
        count = [calls]
        only = _Only(call, ports.store, count, silent, after_work=after_work)
        cloud = Cloud(
            store=only,
            compute=ports.compute,
            notices=ports.notices,
            metrics=ports.metrics,
            mailer=ports.mailer,
        )
        with contextlib.suppress(ExceptionGroup, type(fail)):
            run(room, cloud)
        finish(room)
        assert_told_once(room, (call, calls), doubles=1)
        if count[0] > 0:
            return
    raise AssertionError("the sweep never came to its end")


class _Only(Watched):
    """Counts and fails one kind of call only."""

    def __init__(self, kind, port, count, happen, *, after_work):
        super().__init__(port, count, happen, after_work=after_work)
        self._kind = kind

    def __getattr__(self, name):
        return super().__getattr__(name) if name == self._kind else getattr(self._port, name)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_messages_changes_nothing(order):
    """Three of them, each three times, in any order."""
    room = OutboxWorld()
    notices = [NOTICES[index] for index in order for _ in range(3)]
    room.told(*notices)
    finish(room)
    assert_told_once(room, order, doubles=0)


@pytest.mark.parametrize(
    "failure", [rejected("refused"), unanswered(after_work=True)], ids=["refused", "unknown"]
)
@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
def test_a_kill_while_a_notice_is_given_up_never_loses_it(failure, after_work):
    """For every n: it is kept in the end, and ops have it, whenever the sweep was killed."""
    for calls in range(1, 400):
        room = OutboxWorld()
        room.cloud.mailer.trouble.order("send", failure, about=ADA, times=99)
        cloud, count = watched(room, calls, die, after_work=after_work)
        with contextlib.suppress(KilledError):
            room.publish(NOTICES[0], cloud=cloud)
            for _ in range(5):
                room.wait(minutes=3)
                room.tick(cloud)
        room.publish(NOTICES[0])
        room.tick_for(minutes=30)
        assert room.waiting() == [], calls
        assert [one.pending.recipient.address for one in room.undelivered()] == [ADA], calls
        assert len(room.copies(NOTICES[0], ADA)) <= 2, calls
        to_ops = room.copies(NOTICES[0], OPS)
        assert len(to_ops) == 1 or (len(to_ops) == 2 and any(to_ops)), (calls, to_ops)
        if count[0] > 0:
            return
    raise AssertionError("the sweep never came to its end")


def test_three_ticks_at_the_same_time_with_many_threads_tell_everybody_once():
    """Whoever writes to a recipient first, keeps the others away."""
    room = OutboxWorld(flood=2)
    room.settings = replace(room.settings, workers=8)
    notices = [notice(f"{n}", owner=f"p{n % 20}@example.com") for n in range(60)]
    room.publish(*notices)
    room.wait(seconds=5)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: room.tick(), range(3)))
    assert room.waiting() == []
    assert [room.copies(one, one.owner) for one in notices] == [[False]] * 60
    assert len(room.messages()) == 20
