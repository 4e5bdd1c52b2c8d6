"""The knobs: messages doubled, lost, late and out of order, as often as asked, the same by the same seed."""

import httpx
import pytest
from google.cloud import pubsub_v1

from localcloud.pubsub.fault_injection import FaultInjection, PubSubFault
from tests.localcloud.pubsub.conftest import SUBSCRIPTION, TOPIC

# Only a pull that does not wait can say that nothing is there.
pytestmark = pytest.mark.filterwarnings("ignore:The return_immediately flag is deprecated:DeprecationWarning")


def pulled(subscriber: pubsub_v1.SubscriberClient, *, wait: bool = False) -> list[bytes]:
    """The data of what is there."""
    request = {"subscription": SUBSCRIPTION, "max_messages": 1000, "return_immediately": not wait}
    return [each.message.data for each in subscriber.pull(request=request).received_messages]


def test_a_doubled_message_comes_twice_under_one_id(
    http: httpx.Client,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    subscription: str,
):
    """A double is the same message, not another."""
    http.post("/local/messages", json={"double": 1}).raise_for_status()
    publisher.publish(TOPIC, b"x").result()
    received = subscriber.pull(subscription=subscription, max_messages=10).received_messages
    assert len(received) == 2
    assert received[0].message.message_id == received[1].message.message_id
    assert received[0].ack_id != received[1].ack_id


@pytest.mark.usefixtures("subscription")
def test_a_lost_message_never_comes(
    http: httpx.Client,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
):
    """The publisher is told nothing of it."""
    http.post("/local/messages", json={"topic": "topic", "drop": 1}).raise_for_status()
    assert publisher.publish(TOPIC, b"x").result()
    assert pulled(subscriber) == []


@pytest.mark.usefixtures("subscription")
def test_a_late_message_is_not_there_at_once(
    http: httpx.Client,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
):
    """A pull that waits gets it when it is due."""
    http.post("/local/messages", json={"delay_seconds": 0.5}).raise_for_status()
    publisher.publish(TOPIC, b"x").result()
    assert pulled(subscriber) == []
    assert pulled(subscriber, wait=True) == [b"x"]


@pytest.mark.usefixtures("subscription")
def test_a_rule_for_one_topic_leaves_others_alone(
    http: httpx.Client,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
):
    """And a cleared rule leaves all alone."""
    publisher.create_topic(name=f"{TOPIC}-2")
    http.post("/local/messages", json={"topic": "topic-2", "drop": 1}).raise_for_status()
    publisher.publish(TOPIC, b"1").result()
    http.post("/local/messages", json={"drop": 1}).raise_for_status()
    http.delete("/local/messages").raise_for_status()
    publisher.publish(TOPIC, b"2").result()
    assert sorted(pulled(subscriber)) == [b"1", b"2"]


def test_chance_is_as_large_as_asked_and_the_same_with_the_same_seed():
    """Of a thousand messages about a third; never the same with another seed."""

    def drawn(seed: int) -> list[int]:
        fault_injection = FaultInjection()
        fault_injection.set(PubSubFault(double=0.3, seed=seed), "")
        return [len(fault_injection.delays(TOPIC)) for _ in range(1000)]

    assert 250 < drawn(1).count(2) < 350
    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_reordering_holds_some_back_and_not_the_others():
    """Those held back come within the time that was given."""
    fault_injection = FaultInjection()
    fault_injection.set(PubSubFault(reorder=0.5, reorder_seconds=2.0), "")
    delays = [fault_injection.delays(TOPIC)[0] for _ in range(500)]
    held_back = [delay for delay in delays if delay]
    assert 200 < len(held_back) < 300
    assert 0 < min(held_back) < max(held_back) <= 2.0


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"double": 2}, 400, "double"),
        ({"dubble": 1}, 400, "dubble"),
        ({"topic": "nope", "drop": 1}, 404, "There is no topic 'nope'. There are: topic."),
    ],
)
@pytest.mark.usefixtures("topic")
def test_a_wrong_rule_is_refused(http: httpx.Client, body: dict, status: int, words: str):
    """With what is wrong about it; and none is put in force."""
    answer = http.post("/local/messages", json=body)
    assert answer.status_code == status
    assert words in answer.json()["error"]["message"]
    assert http.get("/local/messages").json() == {"messages": {}}


def test_the_overview_counts_what_is_where(
    http: httpx.Client,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    subscription: str,
):
    """Backlog, leases, acknowledgements and the age of the oldest."""
    for number in range(3):
        publisher.publish(TOPIC, str(number).encode()).result()
    received = subscriber.pull(subscription=subscription, max_messages=2).received_messages
    subscriber.acknowledge(subscription=subscription, ack_ids=[received[0].ack_id])
    (topic,) = http.get("/local/topics").json()["topics"]
    (found,) = topic["subscriptions"]
    assert (topic["published"], found["backlog"], found["outstanding"]) == (3, 2, 1)
    assert (found["delivered"], found["acknowledged"], found["dead_lettered"]) == (2, 1, 0)
    assert found["oldest_publish_time"] is not None


def test_the_overview_shows_subscriptions_whose_topic_is_gone(
    http: httpx.Client, publisher: pubsub_v1.PublisherClient, subscription: str
):
    """They hold messages that somebody may look for."""
    publisher.delete_topic(topic=TOPIC)
    shown = http.get("/local/topics").json()
    assert shown["topics"] == []
    assert [each["name"] for each in shown["without_topic"]] == [subscription]
