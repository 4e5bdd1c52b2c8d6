"""The queue of one subscription: at least once, in order where asked for, given up only into a grave."""

from collections import defaultdict
from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from localcloud.pubsub.queue import Queue
from localcloud.pubsub.terms import AskedTerms, Backoff, Terms
from tests.long import examples

CONSUMER = object()


@dataclass(frozen=True)
class Message:
    """As much of a message as a queue looks at."""

    name: str
    ordering_key: str = ""
    size: int = 10

    def ByteSize(self) -> int:
        """How large it is."""
        return self.size


def queue(**terms) -> Queue:
    """A queue with a deadline of 10 s, and nowhere to bury."""
    return Queue(
        Terms(**{"ack_deadline": 10.0, "retention": 1000.0, **terms}), lambda _message, _attempts: False
    )


def names(queue: Queue, now: float, limit: int = 100, **ask) -> list[str]:
    """The names of what is taken."""
    return [held.message.name for held in take(queue, now, limit, **ask)]


def take(queue: Queue, now: float, limit: int = 100, **ask) -> list:
    """What is taken."""
    return queue.take(now, AskedTerms(**{"limit": limit, "holder": CONSUMER, **ask}))


def test_messages_come_in_the_order_of_publishing():
    """Without anything going wrong the first in is the first out."""
    line = queue()
    for name in "abc":
        line.add(Message(name), 0)
    assert names(line, 0, limit=2) == ["a", "b"]
    assert names(line, 0) == ["c"]


def test_a_leased_message_does_not_come_again_before_its_deadline():
    """A lease holds up to its last moment."""
    line = queue()
    line.add(Message("a"), 0)
    assert names(line, 0) == ["a"]
    assert names(line, 9.99) == []


def test_a_message_comes_again_at_its_deadline():
    """From the deadline on nobody holds it."""
    line = queue()
    line.add(Message("a"), 0)
    take(line, 0)
    assert names(line, 10) == ["a"]


def test_an_acknowledged_message_never_comes_again():
    """Once acknowledged in time, a message is gone."""
    line = queue()
    line.add(Message("a"), 0)
    (held,) = take(line, 0)
    assert line.ack(held.ack_id, 9.99)
    assert names(line, 500) == []
    assert line.backlog() == 0


def test_an_acknowledgement_after_the_deadline_is_too_late():
    """The message has gone back in line, and the acknowledgement does not count."""
    line = queue()
    line.add(Message("a"), 0)
    (held,) = take(line, 0)
    assert not line.ack(held.ack_id, 10)
    assert names(line, 10) == ["a"]


def test_an_extended_lease_ends_at_its_new_deadline():
    """The new deadline counts from the call, not from the old one."""
    line = queue()
    line.add(Message("a"), 0)
    (held,) = take(line, 0)
    assert line.extend(held.ack_id, 30, 5)
    assert names(line, 34.9) == []
    assert names(line, 35) == ["a"]


def test_a_refused_message_comes_again_at_once_without_a_backoff():
    """A deadline of zero is a nack."""
    line = queue()
    line.add(Message("a"), 0)
    (held,) = take(line, 0)
    line.extend(held.ack_id, 0, 1)
    assert names(line, 1) == ["a"]


def test_a_backoff_doubles_up_to_its_most():
    """Each failure waits twice as long as the one before, until the maximum."""
    line = queue(backoff=Backoff(least=1, most=3))
    line.add(Message("a"), 0)
    now = 0.0
    for wait in (1, 2, 3, 3):
        (held,) = take(line, now)
        line.extend(held.ack_id, 0, now)
        assert names(line, now + wait - 0.01) == []
        now += wait
    assert names(line, now) == ["a"]


def test_a_delayed_message_waits_and_lets_others_pass():
    """A delay holds one message back and no other."""
    line = queue()
    line.add(Message("late"), 0, delay=5)
    line.add(Message("prompt"), 1)
    assert names(line, 4.99) == ["prompt"]
    assert names(line, 5) == ["late"]


def test_the_attempts_of_a_message_are_counted():
    """The first delivery is attempt one."""
    line = queue()
    line.add(Message("a"), 0)
    for attempt in (1, 2, 3):
        (held,) = take(line, 0)
        assert held.attempts == attempt
        line.extend(held.ack_id, 0, 0)


def test_a_message_is_buried_after_its_last_attempt_and_not_before():
    """The grave gets it when the fifth delivery has failed."""
    graves = []
    line = Queue(
        Terms(ack_deadline=10, retention=1000, attempts=5),
        lambda message, attempts: graves.append((message.name, attempts)) is None,
    )
    line.add(Message("a"), 0)
    for attempt in range(1, 6):
        assert graves == []
        (held,) = take(line, attempt)
        line.extend(held.ack_id, 0, attempt)
    assert graves == [("a", 5)]
    assert line.backlog() == 0


def test_a_message_with_no_grave_to_go_to_is_tried_again():
    """A dead-letter topic that is gone must not swallow the message."""
    line = queue(attempts=1)
    line.add(Message("a"), 0)
    (held,) = take(line, 0)
    line.extend(held.ack_id, 0, 0)
    assert names(line, 0) == ["a"]


def test_a_message_that_is_too_old_is_dropped():
    """What nobody took within the retention is gone, and what is one moment younger is not."""
    line = queue(retention=100.0)
    line.add(Message("old"), 0)
    line.add(Message("young"), 1)
    assert names(line, 100) == ["young"]


def test_flow_control_by_bytes_lets_at_least_one_through():
    """A message larger than the whole room is delivered alone, or it would wait for ever."""
    line = queue()
    line.add(Message("large", size=500), 0)
    line.add(Message("small"), 0)
    assert names(line, 0, room=100) == ["large"]
    assert names(line, 0, room=100) == ["small"]


def test_a_thousand_leases_that_end_at_once_are_all_given_back():
    """Expiry does not depend on how many there are."""
    line = queue()
    for number in range(5000):
        line.add(Message(str(number)), 0)
    assert len(take(line, 0, limit=5000)) == 5000
    assert len(take(line, 10, limit=5000)) == 5000


def test_the_queue_says_when_it_will_have_something_to_do():
    """A timer set to that moment is enough; no polling."""
    line = queue()
    assert line.wake_at() is None
    line.add(Message("late"), 0, delay=5)
    assert line.wake_at() == 5
    take(line, 5)
    assert line.wake_at() == 15


def ordered(**terms) -> Queue:
    """A queue that keeps the order of keys."""
    return queue(ordered=True, **terms)


def test_messages_of_one_key_go_out_together_and_in_order():
    """One consumer may have many of a key at once."""
    line = ordered()
    for name in "abc":
        line.add(Message(name, "key"), 0)
    assert names(line, 0) == ["a", "b", "c"]


def test_a_key_stays_with_its_consumer():
    """As long as one consumer has messages of a key, no other gets more of it."""
    line = ordered()
    line.add(Message("a", "key"), 0)
    (first,) = take(line, 0)
    line.add(Message("b", "key"), 0)
    assert names(line, 0, holder=object()) == []
    line.ack(first.ack_id, 0)
    assert names(line, 0, holder=object()) == ["b"]


def test_other_keys_do_not_wait_for_a_blocked_one():
    """Order holds inside a key only."""
    line = ordered()
    line.add(Message("a", "one"), 0)
    take(line, 0)
    line.add(Message("b", "one"), 0)
    line.add(Message("c", "two"), 0)
    line.add(Message("d"), 0)
    assert names(line, 0, holder=object()) == ["c", "d"]


def test_push_has_one_message_of_a_key_out_at_a_time():
    """`per_key` bounds what is out."""
    line = ordered()
    for name in "ab":
        line.add(Message(name, "key"), 0)
    (held,) = take(line, 0, per_key=1)
    assert names(line, 0, per_key=1) == []
    line.ack(held.ack_id, 0)
    assert names(line, 0, per_key=1) == ["b"]


def test_a_redelivery_brings_every_later_message_of_its_key():
    """Even those that were acknowledged: "Order messages" says so."""
    line = ordered()
    for name in "abc":
        line.add(Message(name, "key"), 0)
    a, b, c = take(line, 0)
    line.ack(a.ack_id, 0)
    line.ack(c.ack_id, 0)
    line.extend(b.ack_id, 0, 0)
    assert names(line, 0) == ["b", "c"]


def test_an_acknowledgement_of_a_later_message_waits_for_the_earlier():
    """Once the earlier is acknowledged too, both are gone for good."""
    line = ordered()
    for name in "ab":
        line.add(Message(name, "key"), 0)
    a, b = take(line, 0)
    line.ack(b.ack_id, 0)
    line.ack(a.ack_id, 0)
    assert names(line, 100) == []
    assert line.backlog() == 0


def test_a_buried_message_lets_the_next_of_its_key_go():
    """A message that nobody can handle must not block its key."""
    line = Queue(Terms(ack_deadline=10, retention=1000, attempts=1, ordered=True), lambda *_: True)
    for name in "ab":
        line.add(Message(name, "key"), 0)
    (a,) = take(line, 0, limit=1)
    line.extend(a.ack_id, 0, 0)
    assert names(line, 0) == ["b"]


def test_a_key_is_forgotten_with_its_last_message():
    """Keys are often unique: what was kept of each would never go."""
    line = ordered()
    for number in range(10):
        line.add(Message("a", f"key-{number}"), 0)
    for held in take(line, 0):
        line.ack(held.ack_id, 0)
    assert not line._chains


def test_a_seek_back_brings_acknowledged_messages_again_where_they_are_kept():
    """With retained messages a consumer can start over."""
    line = queue(keep_done=True)
    for name in "ab":
        line.add(Message(name), 0)
    for held in take(line, 0):
        line.ack(held.ack_id, 0)
    line.seek(1, lambda message: message.name < "b")
    assert names(line, 1) == ["b"]


def test_a_seek_forward_acknowledges_what_lies_before():
    """What is past is gone, leased or not; what is not past comes again."""
    line = queue()
    for name in "abc":
        line.add(Message(name), 0)
    take(line, 0, limit=1)
    line.seek(1, lambda message: message.name < "c")
    assert names(line, 1) == ["c"]
    assert names(line, 100) == ["c"]


class Consumers(RuleBasedStateMachine):
    """Two consumers, an ordered subscription, failures of every kind: held against a few plain sentences."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.buried: list[str] = []
        terms = Terms(
            ack_deadline=10, retention=1e9, ordered=True, attempts=4, backoff=Backoff(least=1, most=4)
        )
        self.line = Queue(terms, self.bury)
        self.published: list[Message] = []
        self.leases: dict[str, tuple[Message, object, float]] = {}
        self.acknowledged: set[str] = set()
        self.holders = (object(), object())

    def bury(self, message: Message, attempts: int) -> bool:
        """Take a message that failed four times."""
        assert attempts >= 4
        self.buried.append(message.name)
        return True

    @rule(key=st.sampled_from(["", "x", "y"]), delay=st.sampled_from([0.0, 0.0, 3.0]))
    def publish(self, key: str, delay: float) -> None:
        """Put one more in line."""
        message = Message(str(len(self.published)), key)
        self.published.append(message)
        self.line.add(message, self.now, delay=delay)

    @rule(limit=st.integers(1, 4), who=st.integers(0, 1))
    def pull(self, limit: int, who: int) -> None:
        """Take some: never a buried one, and of a key only after those that the same consumer has."""
        holder = self.holders[who]
        for held in self.line.take(self.now, AskedTerms(limit=limit, holder=holder)):
            assert held.message.name not in self.buried
            for other, other_holder, deadline in self.leases.values():
                if (
                    deadline > self.now
                    and held.message.ordering_key
                    and other.ordering_key == held.message.ordering_key
                ):
                    assert other_holder is holder
                    assert int(other.name) < int(held.message.name)
            self.leases[held.ack_id] = (held.message, holder, self.now + 10)

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), acknowledge=st.booleans())
    def answer(self, data: st.DataObject, *, acknowledge: bool) -> None:
        """Acknowledge or refuse one that is out; too late does not count."""
        ack_id = data.draw(st.sampled_from(sorted(self.leases)))
        message, _, deadline = self.leases.pop(ack_id)
        if acknowledge:
            done = self.line.ack(ack_id, self.now)
            assert not done or deadline > self.now
            if done:
                self.acknowledged.add(message.name)
        else:
            self.line.extend(ack_id, 0, self.now)
            self.revoke(message)

    def revoke(self, failed: Message) -> None:
        """Forget what a failure took back: later messages of its key."""
        for ack_id, (message, _, _) in list(self.leases.items()):
            later = int(message.name) > int(failed.name)
            if failed.ordering_key and message.ordering_key == failed.ordering_key and later:
                del self.leases[ack_id]

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0, 11.0]))
    def pass_time(self, seconds: float) -> None:
        """Let leases and delays run out."""
        self.now += seconds
        for ack_id, (message, _, deadline) in list(self.leases.items()):
            if deadline <= self.now:
                self.leases.pop(ack_id, None)
                self.revoke(message)

    @invariant()
    def nothing_is_lost(self) -> None:
        """What is neither acknowledged nor buried is in the backlog."""
        self.line.advance(self.now)
        gone = self.acknowledged | set(self.buried)
        assert self.line.backlog() >= len([each for each in self.published if each.name not in gone])

    def teardown(self) -> None:
        """Somebody who acknowledges everything gets each message that was not acknowledged before."""
        order: defaultdict[str, list[int]] = defaultdict(list)
        seen = set()
        for _ in range(60):
            self.now += 11
            for held in self.line.take(self.now, AskedTerms(limit=1000, holder=self)):
                seen.add(held.message.name)
                order[held.message.ordering_key].append(int(held.message.name))
                self.line.ack(held.ack_id, self.now)
        assert self.line.backlog() == 0
        assert {each.name for each in self.published} == seen | self.acknowledged | set(self.buried)
        for key, numbers in order.items():
            if key:
                assert numbers == sorted(numbers)


TestConsumers = Consumers.TestCase
TestConsumers.settings = settings(max_examples=examples(100), stateful_step_count=40, deadline=None)
