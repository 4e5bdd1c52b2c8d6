"""Topics and subscriptions come, change and go, and what cannot be is refused in Pub/Sub's own words."""

from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import pubsub_v1
from google.pubsub_v1 import PublisherClient, types

from tests.localcloud.pubsub.conftest import SUBSCRIPTION, TOPIC
from tests.localcloud.stand import PROJECT

# Only a pull that does not wait can say that nothing is there.
pytestmark = pytest.mark.filterwarnings("ignore:The return_immediately flag is deprecated:DeprecationWarning")


def test_a_topic_is_found_until_it_is_deleted(publisher: pubsub_v1.PublisherClient, topic: str):
    """After the delete its name is unknown again."""
    assert publisher.get_topic(topic=topic).name == TOPIC
    publisher.delete_topic(topic=topic)
    with pytest.raises(exceptions.NotFound, match=r"Resource not found \(resource=topic\)\."):
        publisher.get_topic(topic=topic)


def test_a_name_is_taken_once(publisher: pubsub_v1.PublisherClient, topic: str):
    """The second topic of a name is a conflict."""
    with pytest.raises(exceptions.AlreadyExists, match=r"already exists in the project \(resource=topic\)"):
        publisher.create_topic(name=topic)


@pytest.mark.parametrize("name", ["1abc", "ab", "goog-x", "a b", "a" * 256, "topic/more"])
def test_a_bad_name_is_refused(publisher: pubsub_v1.PublisherClient, name: str):
    """The rules of resource names hold."""
    with pytest.raises(exceptions.InvalidArgument, match="Invalid resource name given"):
        publisher.create_topic(name=f"projects/{PROJECT}/topics/{name}")


def test_another_project_does_not_exist(publisher: pubsub_v1.PublisherClient):
    """The local cloud holds one project."""
    with pytest.raises(exceptions.NotFound, match=r"Requested project not found .*\(project=other\)"):
        publisher.create_topic(name="projects/other/topics/topic")


def test_topics_are_listed_in_pages(publisher: pubsub_v1.PublisherClient):
    """The client follows the tokens, and every topic is there once."""
    names = [f"projects/{PROJECT}/topics/t-{number:02}" for number in range(7)]
    for name in reversed(names):
        publisher.create_topic(name=name)
    listed = publisher.list_topics(request={"project": f"projects/{PROJECT}", "page_size": 3})
    assert [len(page.topics) for page in listed.pages] == [3, 3, 1]
    assert [topic.name for topic in publisher.list_topics(project=f"projects/{PROJECT}")] == names


def test_a_new_subscription_has_the_documented_defaults(
    subscriber: pubsub_v1.SubscriberClient, subscription: str
):
    """Ten seconds, seven days, thirty-one days."""
    found = subscriber.get_subscription(subscription=subscription)
    assert found.ack_deadline_seconds == 10
    assert found.message_retention_duration.days == 7
    assert found.expiration_policy.ttl.days == 31


def test_a_subscription_outlives_its_topic(
    publisher: pubsub_v1.PublisherClient, subscriber: pubsub_v1.SubscriberClient, subscription: str
):
    """It keeps what it holds, and names the topic as deleted."""
    publisher.publish(TOPIC, b"before").result()
    publisher.delete_topic(topic=TOPIC)
    assert subscriber.get_subscription(subscription=subscription).topic == "_deleted-topic_"
    pulled = subscriber.pull(subscription=subscription, max_messages=10)
    assert [each.message.data for each in pulled.received_messages] == [b"before"]


def test_a_change_touches_only_what_the_mask_names(subscriber: pubsub_v1.SubscriberClient, subscription: str):
    """Other fields of the given subscription are ignored."""
    change = types.Subscription(name=subscription, ack_deadline_seconds=60, labels={"a": "b"})
    found = subscriber.update_subscription(
        subscription=change, update_mask={"paths": ["ack_deadline_seconds"]}
    )
    assert found.ack_deadline_seconds == 60
    assert not found.labels


@pytest.mark.parametrize("field", ["topic", "filter", "enable_message_ordering", "nonsense"])
def test_a_fixed_or_unknown_field_cannot_be_changed(
    subscriber: pubsub_v1.SubscriberClient, subscription: str, field: str
):
    """What Pub/Sub holds fixed stays fixed."""
    with pytest.raises(exceptions.InvalidArgument, match=f"Invalid update_mask .*{field}"):
        subscriber.update_subscription(
            subscription=types.Subscription(name=subscription), update_mask={"paths": [field]}
        )


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"topic": f"projects/{PROJECT}/topics/nope"}, exceptions.NotFound, r"\(resource=nope\)"),
        ({"ack_deadline_seconds": 9}, exceptions.InvalidArgument, r"ack_deadline=9\).*between 10 and 600"),
        ({"ack_deadline_seconds": 601}, exceptions.InvalidArgument, r"ack_deadline=601\)"),
        ({"filter": "attributes:"}, exceptions.InvalidArgument, r"argument=filter"),
        ({"push_config": {"push_endpoint": "ftp://x"}}, exceptions.InvalidArgument, "endpoint=ftp://x"),
        ({"message_retention_duration": {"seconds": 599}}, exceptions.InvalidArgument, "passed 599s"),
        (
            {"retry_policy": {"minimum_backoff": {"seconds": 30}, "maximum_backoff": {"seconds": 29}}},
            exceptions.InvalidArgument,
            "maximum_backoff is too small",
        ),
        (
            {"dead_letter_policy": {"dead_letter_topic": TOPIC, "max_delivery_attempts": 4}},
            exceptions.OutOfRange,
            "passed 4 in the request, but the minimum value is 5",
        ),
        (
            {"dead_letter_policy": {"dead_letter_topic": f"projects/{PROJECT}/topics/nope"}},
            exceptions.NotFound,
            r"\(resource=nope\)",
        ),
        ({"enable_exactly_once_delivery": True}, exceptions.MethodNotImplemented, "exactly_once"),
        ({"bigquery_config": {"table": "x"}}, exceptions.MethodNotImplemented, "bigquery_config"),
    ],
)
def test_a_subscription_that_cannot_be_is_refused(
    subscriber: pubsub_v1.SubscriberClient, topic: str, wrong: Any, error: type[Exception], words: str
):
    """Each refusal names the field, and nothing is left behind."""
    with pytest.raises(error, match=words):
        subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": topic, **wrong})
    with pytest.raises(exceptions.NotFound):
        subscriber.get_subscription(subscription=SUBSCRIPTION)


def test_a_policy_is_given_back_and_guarded_by_its_etag(publisher: pubsub_v1.PublisherClient, topic: str):
    """The etag of an older read does not overwrite a newer policy."""
    binding = {"role": "roles/pubsub.publisher", "members": ["user:a@example.com"]}
    first = publisher.get_iam_policy({"resource": topic})
    policy = {"bindings": [binding], "etag": first.etag}
    publisher.set_iam_policy({"resource": topic, "policy": policy})
    assert publisher.get_iam_policy({"resource": topic}).bindings[0].role == "roles/pubsub.publisher"
    with pytest.raises(exceptions.Aborted, match="concurrent policy changes"):
        publisher.set_iam_policy({"resource": topic, "policy": policy})


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({}, "One or more messages in the publish request is empty"),
        ({"ordering_key": "k"}, "One or more messages in the publish request is empty"),
        ({"attributes": {"": "v"}}, "key is empty"),
        ({"attributes": {"google": "v"}}, "reserved"),
        ({"attributes": {"k" * 257: "v"}}, "attribute_key_size is too large"),
        ({"attributes": {"k": "v" * 1025}}, "attribute_value_size is too large"),
        ({"attributes": {f"k{number}": "v" for number in range(101)}}, "attribute_count is too large"),
    ],
)
def test_a_message_that_cannot_be_is_refused(
    plain_publisher: PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    subscription: str,
    message: Any,
    words: str,
):
    """And none of its request is published."""
    messages = [types.PubsubMessage(data=b"good"), types.PubsubMessage(message)]
    with pytest.raises(exceptions.InvalidArgument, match=words):
        plain_publisher.publish(topic=TOPIC, messages=messages)
    pulled = subscriber.pull(
        request={"subscription": subscription, "max_messages": 1, "return_immediately": True}
    )
    assert not pulled.received_messages


@pytest.mark.parametrize(("count", "size"), [(0, "small"), (1001, "large")])
def test_a_request_publishes_one_to_a_thousand_messages(
    plain_publisher: PublisherClient, topic: str, count: int, size: str
):
    """Both limits are Pub/Sub's."""
    messages = [types.PubsubMessage(data=b"x")] * count
    with pytest.raises(exceptions.InvalidArgument, match=f"message_count is too {size}. You passed {count}"):
        plain_publisher.publish(topic=topic, messages=messages)


def test_a_request_publishes_up_to_ten_million_bytes(plain_publisher: PublisherClient, topic: str):
    """One byte more is one too many, whatever the transport would take."""
    overhead = types.PublishRequest(topic=topic, messages=[types.PubsubMessage(data=b"x" * 9_000_000)])
    room = 10_000_000 - (types.PublishRequest.pb(overhead).ByteSize() - 9_000_000)
    plain_publisher.publish(topic=topic, messages=[types.PubsubMessage(data=b"x" * room)])
    with pytest.raises(exceptions.InvalidArgument, match=r"request_size is too large.* 10000001 "):
        plain_publisher.publish(topic=topic, messages=[types.PubsubMessage(data=b"x" * (room + 1))])
