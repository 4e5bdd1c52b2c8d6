"""Google's streaming subscriber: it is served without polling, within its flow control, and in order."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from google.api_core import exceptions
from google.cloud import pubsub_v1
from google.pubsub_v1 import SubscriberClient, types
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport

from tests.localcloud.pubsub.conftest import SUBSCRIPTION, TOPIC
from tests.localcloud.stand import TIMEOUT, Stand


@dataclass
class Inbox:
    """What a subscriber's callback got, and what it does with it."""

    refuse: int = 0
    got: list[Any] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __call__(self, message: Any) -> None:
        """Keep a message; refuse the first few, acknowledge all others."""
        with self.changed:
            self.got.append(message)
            (message.nack if len(self.got) <= self.refuse else message.ack)()
            self.changed.notify_all()

    def wait_for(self, count: int) -> list[Any]:
        """Return the messages once there are so many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.got) >= count, timeout=TIMEOUT), len(self.got)
            return list(self.got)


@contextmanager
def subscribed(client: pubsub_v1.SubscriberClient, inbox: Inbox, **kwargs: Any) -> Iterator[Any]:
    """A running subscriber; on the way out it is shut down."""
    future = client.subscribe(SUBSCRIPTION, callback=inbox, **kwargs)
    try:
        yield future
    finally:
        future.cancel()
        with suppress(Exception):
            future.result(timeout=TIMEOUT)


@pytest.mark.usefixtures("subscription")
def test_what_is_published_reaches_the_callback(
    publisher: pubsub_v1.PublisherClient, subscriber: pubsub_v1.SubscriberClient
):
    """Before and after the stream was opened."""
    publisher.publish(TOPIC, b"before").result()
    inbox = Inbox()
    with subscribed(subscriber, inbox):
        inbox.wait_for(1)
        publisher.publish(TOPIC, b"after").result()
        assert [message.data for message in inbox.wait_for(2)] == [b"before", b"after"]


@pytest.mark.usefixtures("subscription")
def test_acknowledged_messages_are_gone_afterwards(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
):
    """The subscriber's own acknowledgements arrive over the stream; 500 of them here."""
    inbox = Inbox()
    with subscribed(subscriber, inbox):
        for future in [publisher.publish(TOPIC, str(number).encode()) for number in range(500)]:
            future.result()
        inbox.wait_for(500)
    with stand.client() as http:
        (topic,) = http.get("/local/topics").json()["topics"]
    assert topic["subscriptions"][0]["backlog"] == 0
    assert sorted(int(message.data) for message in inbox.got) == list(range(500))


@pytest.mark.usefixtures("subscription")
def test_a_refused_message_comes_again(
    publisher: pubsub_v1.PublisherClient, subscriber: pubsub_v1.SubscriberClient
):
    """A nack over the stream gives it back at once."""
    inbox = Inbox(refuse=2)
    with subscribed(subscriber, inbox):
        publisher.publish(TOPIC, b"x").result()
        got = inbox.wait_for(3)
    assert {message.message_id for message in got[:3]} == {got[0].message_id}


def test_the_callback_sees_one_key_in_order(
    publisher: pubsub_v1.PublisherClient, subscriber: pubsub_v1.SubscriberClient, topic: str
):
    """Each key keeps the order of publishing."""
    subscriber.create_subscription(
        request={"name": SUBSCRIPTION, "topic": topic, "enable_message_ordering": True}
    )
    inbox = Inbox()
    with subscribed(subscriber, inbox):
        for number in range(60):
            publisher.publish(topic, str(number).encode(), ordering_key=str(number % 3))
        got = inbox.wait_for(60)
    for key in "012":
        numbers = [int(message.data) for message in got if message.ordering_key == key]
        assert numbers == sorted(numbers)


def test_a_subscription_that_is_deleted_ends_the_stream(
    subscriber: pubsub_v1.SubscriberClient, subscription: str
):
    """The subscriber's future fails with the reason."""
    with subscribed(subscriber, Inbox()) as future:
        subscriber.delete_subscription(subscription=subscription)
        with pytest.raises(exceptions.NotFound, match=r"\(resource=sub\)"):
            future.result(timeout=TIMEOUT)


@pytest.fixture
def plain_subscriber(stand: Stand) -> Iterator[SubscriberClient]:
    """The generated client, which opens a stream with just the requests it is given."""
    with grpc.insecure_channel(stand.grpc) as channel:
        yield SubscriberClient(transport=SubscriberGrpcTransport(channel=channel))


def opened(client: SubscriberClient, *requests: Any) -> Any:
    """A stream with these requests, held open until the test is over."""
    return client.streaming_pull(iter([types.StreamingPullRequest(each) for each in requests]))


@pytest.mark.parametrize(
    ("requests", "error", "words"),
    [
        ([{"stream_ack_deadline_seconds": 10}], exceptions.InvalidArgument, "Invalid resource name"),
        (
            [{"subscription": f"{SUBSCRIPTION}-no", "stream_ack_deadline_seconds": 10}],
            exceptions.NotFound,
            "no",
        ),
        (
            [{"subscription": SUBSCRIPTION, "stream_ack_deadline_seconds": 9}],
            exceptions.InvalidArgument,
            "10 and",
        ),
        (
            [
                {"subscription": SUBSCRIPTION, "stream_ack_deadline_seconds": 10},
                {"modify_deadline_ack_ids": ["1-1"]},
            ],
            exceptions.InvalidArgument,
            "one for each",
        ),
        (
            [
                {"subscription": SUBSCRIPTION, "stream_ack_deadline_seconds": 10},
                {"subscription": SUBSCRIPTION},
            ],
            exceptions.InvalidArgument,
            "Only the first request",
        ),
        (
            [{"subscription": SUBSCRIPTION, "stream_ack_deadline_seconds": 10}, {"ack_ids": ["nonsense"]}],
            exceptions.InvalidArgument,
            "ack_id=nonsense",
        ),
    ],
)
@pytest.mark.usefixtures("subscription")
def test_a_wrong_request_ends_the_stream(
    plain_subscriber: SubscriberClient,
    requests: list[Any],
    error: type[Exception],
    words: str,
):
    """The status says which rule it broke."""
    with pytest.raises(error, match=words):
        list(opened(plain_subscriber, *requests))


def test_flow_control_holds_the_server_back(
    stand: Stand, publisher: pubsub_v1.PublisherClient, plain_subscriber: SubscriberClient, subscription: str
):
    """With two allowed out, the third comes only after an acknowledgement."""
    for number in range(3):
        publisher.publish(TOPIC, str(number).encode()).result()
    acknowledge, done = threading.Event(), threading.Event()
    ack_ids: list[str] = []

    def requests() -> Iterator[Any]:
        yield types.StreamingPullRequest(
            subscription=subscription, stream_ack_deadline_seconds=60, max_outstanding_messages=2
        )
        acknowledge.wait(TIMEOUT)
        yield types.StreamingPullRequest(ack_ids=ack_ids[:1])
        done.wait(TIMEOUT)

    got: list[bytes] = []
    held_back = None
    for response in plain_subscriber.streaming_pull(requests()):
        got += [each.message.data for each in response.received_messages]
        ack_ids += [each.ack_id for each in response.received_messages]
        if len(got) == 2:
            with stand.client() as http:
                (topic,) = http.get("/local/topics").json()["topics"]
            held_back = topic["subscriptions"][0]["backlog"] - topic["subscriptions"][0]["outstanding"]
            acknowledge.set()
        if len(got) == 3:
            acknowledge.set()
            done.set()
    assert got == [b"0", b"1", b"2"]
    assert held_back == 1
