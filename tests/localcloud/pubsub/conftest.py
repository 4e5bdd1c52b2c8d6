"""A Pub/Sub behind real listeners, and Google's own clients pointed at it."""

from collections.abc import Iterator
from datetime import timedelta

import grpc
import pytest
from google.cloud import pubsub_v1
from google.pubsub_v1 import PublisherClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport

from localcloud.clock import Clock
from localcloud.pubsub import PubSubService, Settings
from tests.localcloud.stand import PROJECT, Stand, standing

TOPIC = f"projects/{PROJECT}/topics/topic"
SUBSCRIPTION = f"projects/{PROJECT}/subscriptions/sub"


@pytest.fixture
def stand() -> Iterator[Stand]:
    """A fresh Pub/Sub; at the end all that was said over REST must fit Google's document."""

    def make(stand: Stand) -> PubSubService:
        return PubSubService(
            project=PROJECT,
            clock=Clock(),
            post=stand.outbound.post,
            settings=Settings(push_limit=4, pull_wait=timedelta(seconds=5)),
        )

    with standing("pubsub", "v1", make) as stand:
        yield stand


@pytest.fixture
def publisher(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> Iterator[pubsub_v1.PublisherClient]:
    """Google's publisher, by its documented setting alone; it keeps the order of keys."""
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", stand.grpc)
    client = pubsub_v1.PublisherClient(
        publisher_options=pubsub_v1.types.PublisherOptions(enable_message_ordering=True)
    )
    yield client
    client.stop()
    client.transport.close()


@pytest.fixture
def plain_publisher(stand: Stand) -> Iterator[PublisherClient]:
    """The generated publisher, which sends what it is given as it is."""
    with grpc.insecure_channel(stand.grpc) as channel:
        yield PublisherClient(transport=PublisherGrpcTransport(channel=channel))


@pytest.fixture
def subscriber(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> Iterator[pubsub_v1.SubscriberClient]:
    """Google's subscriber."""
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", stand.grpc)
    client = pubsub_v1.SubscriberClient()
    yield client
    client.close()


@pytest.fixture
def topic(publisher: pubsub_v1.PublisherClient) -> str:
    """A topic."""
    return publisher.create_topic(name=TOPIC).name


@pytest.fixture
def subscription(topic: str, subscriber: pubsub_v1.SubscriberClient) -> str:
    """A plain pull subscription to it."""
    return subscriber.create_subscription(name=SUBSCRIPTION, topic=topic).name
