"""Pulling: what is published arrives, comes again until it is acknowledged, or ends in the grave."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import pubsub_v1
from google.protobuf.timestamp_pb2 import Timestamp

from tests.localcloud.pubsub.conftest import SUBSCRIPTION, TOPIC
from tests.localcloud.stand import PROJECT, TIMEOUT, Stand

# Only a pull that does not wait can say that nothing is there.
pytestmark = pytest.mark.filterwarnings("ignore:The return_immediately flag is deprecated:DeprecationWarning")

Pull = Callable[..., list[Any]]


@pytest.fixture
def pull(subscriber: pubsub_v1.SubscriberClient) -> Pull:
    """Pull from the subscription; `wait` waits for the first message, otherwise what is there must do."""

    def take(name: str = SUBSCRIPTION, *, most: int = 10, wait: bool = False) -> list[Any]:
        request = {"subscription": name, "max_messages": most, "return_immediately": not wait}
        return list(subscriber.pull(request=request, timeout=TIMEOUT).received_messages)

    return take


def test_a_message_arrives_whole(publisher: pubsub_v1.PublisherClient, subscription: str, pull: Pull):
    """Data, attributes, id and time are those of the publisher."""
    number = publisher.publish(TOPIC, b"data \x00", key="value").result()
    (received,) = pull(subscription)
    assert received.message.data == b"data \x00"
    assert received.message.attributes == {"key": "value"}
    assert received.message.message_id == number
    assert received.message.publish_time is not None


def test_a_thousand_messages_of_the_batching_publisher_all_arrive(
    publisher: pubsub_v1.PublisherClient, subscription: str, pull: Pull
):
    """The publisher's own batches are taken apart and nothing is lost or doubled."""
    futures = [publisher.publish(TOPIC, str(number).encode()) for number in range(1000)]
    numbers = {future.result() for future in futures}
    received = [each.message for each in pull(subscription, most=1000)]
    assert sorted(int(message.data) for message in received) == list(range(1000))
    assert {message.message_id for message in received} == numbers


def test_every_subscription_gets_its_own_copy(
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    subscription: str,
    pull: Pull,
):
    """What one acknowledges the other still has."""
    other = subscriber.create_subscription(name=f"{SUBSCRIPTION}-2", topic=TOPIC).name
    publisher.publish(TOPIC, b"x").result()
    subscriber.acknowledge(subscription=subscription, ack_ids=[pull(subscription)[0].ack_id])
    assert [each.message.data for each in pull(other)] == [b"x"]


def test_a_subscription_does_not_get_what_was_published_before_it(
    publisher: pubsub_v1.PublisherClient, subscriber: pubsub_v1.SubscriberClient, topic: str, pull: Pull
):
    """It starts with the next message."""
    publisher.publish(topic, b"early").result()
    subscriber.create_subscription(name=SUBSCRIPTION, topic=topic)
    publisher.publish(topic, b"late").result()
    assert [each.message.data for each in pull()] == [b"late"]


def test_an_acknowledged_message_is_gone(
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    subscription: str,
    pull: Pull,
):
    """Acknowledging twice does no harm."""
    publisher.publish(TOPIC, b"x").result()
    (received,) = pull(subscription)
    for _ in range(2):
        subscriber.acknowledge(subscription=subscription, ack_ids=[received.ack_id])
    subscriber.modify_ack_deadline(
        subscription=subscription, ack_ids=[received.ack_id], ack_deadline_seconds=0
    )
    assert pull(subscription) == []


def test_a_message_whose_deadline_has_passed_comes_again(
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    subscription: str,
    pull: Pull,
):
    """A pull that waits gets it at that moment, under a new ack id."""
    publisher.publish(TOPIC, b"x").result()
    (first,) = pull(subscription)
    subscriber.modify_ack_deadline(subscription=subscription, ack_ids=[first.ack_id], ack_deadline_seconds=1)
    assert pull(subscription) == []
    (again,) = pull(subscription, wait=True)
    assert again.message.message_id == first.message.message_id
    assert again.ack_id != first.ack_id


def test_a_pull_waits_for_the_first_message(
    publisher: pubsub_v1.PublisherClient, subscription: str, pull: Pull
):
    """Nobody has to ask again and again."""
    publishing = threading.Thread(target=lambda: publisher.publish(TOPIC, b"x").result(), daemon=True)
    publishing.start()
    assert [each.message.data for each in pull(subscription, wait=True)] == [b"x"]
    publishing.join()


def test_a_pull_of_a_subscription_that_is_deleted_meanwhile_ends(
    subscriber: pubsub_v1.SubscriberClient, subscription: str, pull: Pull
):
    """The waiting call learns that it is gone."""
    deleting = threading.Timer(0, subscriber.delete_subscription, kwargs={"subscription": subscription})
    deleting.daemon = True
    deleting.start()
    with pytest.raises(exceptions.NotFound):
        pull(subscription, wait=True)
    deleting.join()


def test_a_message_goes_to_the_dead_letter_topic_after_its_last_attempt(
    publisher: pubsub_v1.PublisherClient, subscriber: pubsub_v1.SubscriberClient, topic: str, pull: Pull
):
    """Five refusals, then it lies in the other topic and says where it came from."""
    grave = publisher.create_topic(name=f"{TOPIC}-dead").name
    dead = subscriber.create_subscription(name=f"{SUBSCRIPTION}-dead", topic=grave).name
    subscriber.create_subscription(
        request={"name": SUBSCRIPTION, "topic": topic, "dead_letter_policy": {"dead_letter_topic": grave}}
    )
    publisher.publish(topic, b"poison", kind="bad").result()
    for attempt in range(1, 6):
        assert pull(dead) == []
        (received,) = pull()
        assert received.delivery_attempt == attempt
        subscriber.modify_ack_deadline(
            subscription=SUBSCRIPTION, ack_ids=[received.ack_id], ack_deadline_seconds=0
        )
    assert pull() == []
    (letter,) = pull(dead)
    assert letter.message.data == b"poison"
    assert letter.message.attributes["kind"] == "bad"
    assert letter.message.attributes["CloudPubSubDeadLetterSourceDeliveryCount"] == "5"
    assert letter.message.attributes["CloudPubSubDeadLetterSourceSubscription"] == "sub"
    assert letter.message.attributes["CloudPubSubDeadLetterSourceSubscriptionProject"] == PROJECT


def test_the_attempt_is_not_told_without_a_dead_letter_policy(
    publisher: pubsub_v1.PublisherClient, subscription: str, pull: Pull
):
    """Pub/Sub counts for dead letters only."""
    publisher.publish(TOPIC, b"x").result()
    assert pull(subscription)[0].delivery_attempt == 0


def test_a_retry_policy_holds_a_refused_message_back(
    publisher: pubsub_v1.PublisherClient, subscriber: pubsub_v1.SubscriberClient, topic: str, pull: Pull
):
    """It is not there at once, and is there after the backoff."""
    policy = {"minimum_backoff": {"seconds": 1}, "maximum_backoff": {"seconds": 1}}
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": topic, "retry_policy": policy})
    publisher.publish(topic, b"x").result()
    (received,) = pull()
    subscriber.modify_ack_deadline(
        subscription=SUBSCRIPTION, ack_ids=[received.ack_id], ack_deadline_seconds=0
    )
    assert pull() == []
    assert len(pull(wait=True)) == 1


def test_a_filter_acknowledges_what_does_not_match(
    publisher: pubsub_v1.PublisherClient, subscriber: pubsub_v1.SubscriberClient, topic: str, pull: Pull
):
    """The others are never delivered."""
    subscriber.create_subscription(
        request={"name": SUBSCRIPTION, "topic": topic, "filter": 'attributes.kind = "good"'}
    )
    for kind in ("bad", "good", "bad"):
        publisher.publish(topic, kind.encode(), kind=kind).result()
    assert [each.message.data for each in pull()] == [b"good"]


def test_messages_of_one_key_are_pulled_in_order(
    publisher: pubsub_v1.PublisherClient, subscriber: pubsub_v1.SubscriberClient, topic: str, pull: Pull
):
    """Batches and redeliveries do not mix them up."""
    subscriber.create_subscription(
        request={"name": SUBSCRIPTION, "topic": topic, "enable_message_ordering": True}
    )
    futures = [publisher.publish(topic, str(n).encode(), ordering_key="k") for n in range(20)]
    for future in futures:
        future.result()
    first = pull(most=8)
    assert [int(each.message.data) for each in first] == list(range(8))
    assert pull() == []
    subscriber.modify_ack_deadline(
        subscription=SUBSCRIPTION, ack_ids=[first[3].ack_id], ack_deadline_seconds=0
    )
    subscriber.acknowledge(subscription=SUBSCRIPTION, ack_ids=[each.ack_id for each in first[:3]])
    assert [int(each.message.data) for each in pull(most=100)] == list(range(3, 20))


def test_a_seek_to_now_empties_the_subscription(
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    subscription: str,
    pull: Pull,
):
    """Everything published before the time counts as acknowledged."""
    publisher.publish(TOPIC, b"x").result()
    future = Timestamp()
    future.GetCurrentTime()
    future.seconds += 5
    subscriber.seek(request={"subscription": subscription, "time": future})
    assert pull(subscription) == []


def test_a_seek_without_a_target_is_refused(subscriber: pubsub_v1.SubscriberClient, subscription: str):
    """There is nothing to seek to."""
    with pytest.raises(exceptions.InvalidArgument, match="No target was specified"):
        subscriber.seek(request={"subscription": subscription})


def test_an_ack_id_that_nobody_got_is_refused(subscriber: pubsub_v1.SubscriberClient, subscription: str):
    """It is malformed, not late."""
    with pytest.raises(exceptions.InvalidArgument, match=r"invalid ack ID .*\(ack_id=nonsense\)"):
        subscriber.acknowledge(subscription=subscription, ack_ids=["nonsense"])


def test_a_push_subscription_cannot_be_pulled(
    stand: Stand, subscriber: pubsub_v1.SubscriberClient, topic: str, pull: Pull
):
    """Its messages go to the endpoint."""
    subscriber.create_subscription(
        request={"name": SUBSCRIPTION, "topic": topic, "push_config": {"push_endpoint": stand.receiver.url}}
    )
    with pytest.raises(exceptions.FailedPrecondition, match="not supported for this subscription type"):
        pull()


def test_a_fault_befalls_a_grpc_call(stand: Stand, publisher: pubsub_v1.PublisherClient, topic: str):
    """A rule for Pub/Sub hits the method it names and no other."""
    rule = {"service": "pubsub", "method": "GetTopic", "status": 403, "message": "no", "count": 1}
    with stand.client() as http:
        http.post("/local/faults", json=rule).raise_for_status()
    publisher.list_topics(project=f"projects/{PROJECT}")
    with pytest.raises(exceptions.PermissionDenied, match="no"):
        publisher.get_topic(topic=topic)
    assert publisher.get_topic(topic=topic).name == topic


def test_an_answer_lost_after_a_publish_makes_the_client_publish_again(
    stand: Stand, publisher: pubsub_v1.PublisherClient, subscription: str, pull: Pull
):
    """The real client retries, so the message is there twice: at least once, not exactly once."""
    rule = {"service": "pubsub", "method": "Publish", "status": 503, "after_work": True, "count": 1}
    with stand.client() as http:
        http.post("/local/faults", json=rule).raise_for_status()
    publisher.publish(TOPIC, b"x").result(timeout=TIMEOUT)
    received = pull(subscription)
    assert [each.message.data for each in received] == [b"x", b"x"]
    assert received[0].message.message_id != received[1].message.message_id
