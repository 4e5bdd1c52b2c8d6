"""Push: each message becomes an HTTP call that a function understands, until it is answered well."""

import asyncio
import base64
import json
from typing import Any

import pytest
from flask import Flask, request
from functions_framework.event_conversion import background_event_to_cloud_event
from google.cloud import pubsub_v1

from tests.localcloud.pubsub.conftest import SUBSCRIPTION, TOPIC
from tests.localcloud.stand import PROJECT, Stand
from tests.localcloud.verifying import verified


def push_to(
    stand: Stand, subscriber: pubsub_v1.SubscriberClient, topic: str, path: str = "/hook", **config: Any
) -> None:
    """A push subscription to the receiver."""
    push = {"push_endpoint": stand.receiver.url + path, **config.pop("push_config", {})}
    subscriber.create_subscription(
        request={"name": SUBSCRIPTION, "topic": topic, "push_config": push, **config}
    )


def overview(stand: Stand, topic: str = TOPIC) -> dict[str, Any]:
    """What the local cloud says of the first subscription of a topic."""
    with stand.client() as http:
        found = {each["name"]: each for each in http.get("/local/topics").json()["topics"]}
    return found[topic]["subscriptions"][0]


def test_the_body_is_that_of_pub_sub(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """The wrapped message with its doubled field names, and the subscription."""
    push_to(stand, subscriber, topic)
    number = publisher.publish(topic, b"data", kind="good").result()
    (heard,) = stand.receiver.wait_for(1)
    body = json.loads(heard.body)
    assert (heard.method, heard.path) == ("POST", "/hook")
    assert body["subscription"] == SUBSCRIPTION
    assert base64.b64decode(body["message"]["data"]) == b"data"
    assert body["message"]["attributes"] == {"kind": "good"}
    assert body["message"]["messageId"] == body["message"]["message_id"] == number
    assert body["message"]["publishTime"] == body["message"]["publish_time"]
    assert "deliveryAttempt" not in body


def test_functions_framework_makes_a_cloud_event_of_it(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """Which it has to: only Eventarc sends the headers of one, a subscription of one's own does not."""
    push_to(stand, subscriber, topic)
    number = publisher.publish(topic, b"data", kind="good").result()
    (heard,) = stand.receiver.wait_for(1)
    assert not [name for name in heard.headers if name.startswith("ce-")]
    with Flask("function").test_request_context(data=heard.body, headers=heard.headers):
        event = background_event_to_cloud_event(request)
    assert event["type"] == "google.cloud.pubsub.topic.v1.messagePublished"
    assert event["id"] == event.data["message"]["messageId"] == number
    assert event.data["message"]["attributes"] == {"kind": "good"}


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_a_good_answer_acknowledges(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
    status: int,
):
    """The message is not pushed again; the next one is."""
    stand.receiver.statuses = [status]
    push_to(stand, subscriber, topic)
    first = publisher.publish(topic, b"1").result()
    stand.receiver.wait_for(1)
    second = publisher.publish(topic, b"2").result()
    heard = stand.receiver.wait_for(2)
    assert [json.loads(each.body)["message"]["messageId"] for each in heard] == [first, second]


@pytest.mark.parametrize("status", [203, 301, 400, 404, 429, 500, 503])
def test_any_other_answer_has_it_pushed_again(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
    status: int,
):
    """Only the documented five acknowledge; the same message comes back with the same id."""
    stand.receiver.statuses = [status, 204]
    push_to(stand, subscriber, topic)
    number = publisher.publish(topic, b"x").result()
    heard = stand.receiver.wait_for(2)
    assert [json.loads(each.body)["message"]["messageId"] for each in heard] == [number, number]


def test_an_endpoint_that_is_not_there_is_tried_until_it_is(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """A function that starts late gets its messages all the same."""
    subscriber.create_subscription(
        request={
            "name": SUBSCRIPTION,
            "topic": topic,
            "push_config": {"push_endpoint": "http://127.0.0.1:9/x"},
        }
    )
    publisher.publish(topic, b"x").result()
    subscriber.modify_push_config(
        subscription=SUBSCRIPTION, push_config={"push_endpoint": stand.receiver.url + "/late"}
    )
    assert stand.receiver.wait_for(1)[0].path == "/late"


def test_a_push_that_fails_for_ever_ends_in_the_dead_letter_topic(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """Five attempts, each told in the body, then the grave."""
    grave = publisher.create_topic(name=f"{TOPIC}-dead").name
    dead = subscriber.create_subscription(name=f"{SUBSCRIPTION}-dead", topic=grave).name
    stand.receiver.statuses = [500]
    push_to(stand, subscriber, topic, dead_letter_policy={"dead_letter_topic": grave})
    publisher.publish(topic, b"poison").result()
    pulled = subscriber.pull(subscription=dead, max_messages=1)
    assert pulled.received_messages[0].message.data == b"poison"
    attempts = [json.loads(each.body)["deliveryAttempt"] for each in stand.receiver.wait_for(5)]
    assert attempts == [1, 2, 3, 4, 5]
    assert overview(stand)["dead_lettered"] == 1
    assert overview(stand)["last_push"] == "HTTP 500"


def test_no_more_calls_are_open_than_the_limit_allows(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """Four here; the rest follow as these end."""
    stand.receiver.held = asyncio.Event()
    push_to(stand, subscriber, topic)
    for number in range(12):
        publisher.publish(topic, str(number).encode()).result()
    stand.receiver.wait_for(4)
    assert overview(stand)["outstanding"] == 4
    stand.release()
    stand.receiver.wait_for(12)
    assert stand.receiver.most_at_once == 4


def test_one_message_of_a_key_is_pushed_at_a_time(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """The next of a key waits for the answer to the one before, also when that is an error."""
    stand.receiver.held = asyncio.Event()
    stand.receiver.statuses = [204, 500, 204]
    push_to(stand, subscriber, topic, enable_message_ordering=True)
    for number in range(4):
        publisher.publish(topic, str(number).encode(), ordering_key="k").result()
    stand.receiver.wait_for(1)
    assert (overview(stand)["outstanding"], overview(stand)["backlog"]) == (1, 4)
    stand.release()
    heard = [json.loads(each.body)["message"] for each in stand.receiver.wait_for(5)]
    assert [base64.b64decode(each["data"]) for each in heard] == [b"0", b"1", b"1", b"2", b"3"]
    assert {each["orderingKey"] for each in heard} == {"k"}
    assert stand.receiver.most_at_once == 1


def test_a_subscription_turned_to_pull_is_pushed_no_more(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """From then on its messages wait to be pulled."""
    push_to(stand, subscriber, topic)
    subscriber.modify_push_config(subscription=SUBSCRIPTION, push_config={})
    publisher.publish(topic, b"x").result()
    pulled = subscriber.pull(subscription=SUBSCRIPTION, max_messages=1)
    assert pulled.received_messages[0].message.data == b"x"
    assert stand.receiver.heard == []


def test_an_unwrapped_push_carries_the_data_alone(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """With `no_wrapper` the body is the data and the metadata are headers."""
    push_to(stand, subscriber, topic, push_config={"no_wrapper": {"write_metadata": True}})
    number = publisher.publish(topic, b"data", kind="good").result()
    (heard,) = stand.receiver.wait_for(1)
    assert heard.body == b"data"
    assert heard.headers["kind"] == "good"
    assert heard.headers["x-goog-pubsub-message-id"] == number


def test_an_identity_is_sent_where_one_is_configured(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """The token names the service account and the audience, and a verifier takes it."""
    token = {"service_account_email": "push@example.com", "audience": "me"}
    push_to(stand, subscriber, topic, push_config={"oidc_token": token})
    publisher.publish(topic, b"x").result()
    (heard,) = stand.receiver.wait_for(1)
    claims = verified(heard.headers["authorization"].removeprefix("Bearer "), "me")
    assert claims["email"] == "push@example.com"


def test_the_audience_is_the_endpoint_where_no_other_is_named(
    stand: Stand,
    publisher: pubsub_v1.PublisherClient,
    subscriber: pubsub_v1.SubscriberClient,
    topic: str,
):
    """As documented for `OidcToken.audience`."""
    endpoint = f"{stand.receiver.url}/deep?er=1"
    config = {"push_endpoint": endpoint, "oidc_token": {"service_account_email": "push@example.com"}}
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": topic, "push_config": config})
    publisher.publish(topic, b"x").result()
    (heard,) = stand.receiver.wait_for(1)
    assert verified(heard.headers["authorization"].removeprefix("Bearer "), endpoint)


def test_the_cloud_itself_publishes_through_the_port(
    stand: Stand, subscriber: pubsub_v1.SubscriberClient, topic: str
):
    """Bucket notifications, log sinks and ticks come this way."""
    push_to(stand, subscriber, topic)
    number = stand.call(stand.service.publish, topic, b"", {"eventType": "OBJECT_FINALIZE"})
    (heard,) = stand.receiver.wait_for(1)
    message = json.loads(heard.body)["message"]
    assert message["messageId"] == number
    assert message["attributes"] == {"eventType": "OBJECT_FINALIZE"}
    assert "data" not in message


def test_the_port_refuses_a_topic_that_is_not_there(stand: Stand):
    """With the error that every service knows."""
    with pytest.raises(Exception, match=r"Resource not found \(resource=nope\)") as refused:
        stand.call(stand.service.publish, f"projects/{PROJECT}/topics/nope", b"x", {})
    assert refused.value.status == 404
