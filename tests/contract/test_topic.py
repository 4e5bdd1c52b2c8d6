"""What a topic promises, in memory and through Google's client."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from google.api_core.exceptions import NotFound
from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient

from spotwarden.gcp.patience import Patience
from spotwarden.gcp.pubsub import CloudTopic
from spotwarden.ports import Topic, UnansweredError
from tests.contract.patience import QUICK, SHORT
from tests.contract.scripted import Scripted
from tests.contract.served import PROJECT, Served
from tests.fakes.topic import MemoryTopic
from tests.fakes.trouble import unanswered

Arrived = tuple[str, bytes, dict[str, str]]
numbers = itertools.count(1)


class Wired:
    """A topic on the local cloud and a subscription that tells what arrives."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self.name = f"notices-{next(numbers)}"
        self._publisher, self._subscriber = PublisherClient(), SubscriberClient()
        self._subscription = f"projects/{PROJECT}/subscriptions/{self.name}"
        path = f"projects/{PROJECT}/topics/{self.name}"
        self._publisher.create_topic(request={"name": path})
        self._subscriber.create_subscription(request={"name": self._subscription, "topic": path})
        self._opened: list[CloudTopic] = []

    def open(self, patience: Patience = QUICK, name: str = "") -> CloudTopic:
        """The adapter, on this topic or on another."""
        topic = CloudTopic(
            project=PROJECT, topic=name or self.name, endpoint=self._endpoint, patience=patience
        )
        self._opened.append(topic)
        return topic

    def arrived(self) -> list[Arrived]:
        """What was published; at least one message."""
        answer = self._subscriber.pull(request={"subscription": self._subscription, "max_messages": 100})
        messages = [item.message for item in answer.received_messages]
        return [(message.message_id, message.data, dict(message.attributes)) for message in messages]

    def close(self) -> None:
        """Let go of every connection."""
        for topic in self._opened:
            topic.close()
        self._publisher.transport.close()
        self._subscriber.close()


@pytest.fixture
def wired(served: Served) -> Iterator[Wired]:
    """A topic on the local cloud."""
    wired = Wired(served.url)
    yield wired
    wired.close()


@pytest.fixture(params=["fake", "adapter"])
def topic_and_arrivals(request: pytest.FixtureRequest) -> tuple[Topic, Callable[[], list[Arrived]]]:
    """A topic, and what has arrived at it."""
    if request.param == "fake":
        fake = MemoryTopic()
        return fake, lambda: [(one.id, one.data, dict(one.attributes)) for one in fake.messages]
    wired: Wired = request.getfixturevalue("wired")
    return wired.open(), wired.arrived


def test_a_message_arrives_as_it_was_published(
    topic_and_arrivals: tuple[Topic, Callable[[], list[Arrived]]],
):
    """Data and attributes, under the id that publishing gave back."""
    topic, arrived = topic_and_arrivals
    message_id = topic.publish(b'{"what": "gr\xc3\xbc\xc3\x9fe"}', {"kind": "recovered", "job": "j"}).id
    assert arrived() == [(message_id, b'{"what": "gr\xc3\xbc\xc3\x9fe"}', {"kind": "recovered", "job": "j"})]


@pytest.mark.parametrize("name", ["topic", "data", "retry", "timeout", "ordering_key", "self"])
def test_an_attribute_may_be_called_anything(
    topic_and_arrivals: tuple[Topic, Callable[[], list[Arrived]]], name: str
):
    """Also what Google's own `publish` takes for an argument of its own."""
    topic, arrived = topic_and_arrivals
    topic.publish(b"x", {name: "value"})
    assert [attributes for _, _, attributes in arrived()] == [{name: "value"}]


def test_a_storm_that_passes_goes_unnoticed(wired: Wired, faults: Callable[..., str]):
    """A notice gets through once Pub/Sub answers again."""
    faults(service="pubsub", path=":publish$", status=503, count=5)
    wired.open().publish(b"x", {})
    assert [data for _, data, _ in wired.arrived()] == [b"x"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_storm_that_does_not_pass_is_no_answer(wired: Wired, faults: Callable[..., str], status: int):
    """The notice may or may not be out; the caller has to know that nobody knows."""
    faults(service="pubsub", path=":publish$", status=status)
    with pytest.raises(UnansweredError):
        wired.open(SHORT).publish(b"x", {})


def test_a_topic_that_does_not_exist_is_said_to(wired: Wired):
    """A wrong name in the settings is no weather: it rises with the name."""
    with pytest.raises(NotFound, match="nobody-made-this"):
        wired.open(name="nobody-made-this").publish(b"x", {})


def test_the_fake_loses_answers_on_order():
    """Before the work nothing is out, after it the message is; then the weather is over."""
    fake = MemoryTopic()
    fake.trouble.order("publish", unanswered(after_work=False))
    fake.trouble.order("publish", unanswered(after_work=True))
    for _ in range(2):
        with pytest.raises(UnansweredError):
            fake.publish(b"x", {})
    assert len(fake.messages) == 1
    fake.publish(b"y", {})
    assert [message.data for message in fake.messages] == [b"x", b"y"]


def test_an_answer_without_an_id_is_no_answer(google: Scripted):
    """Nobody knows whether that is out: a proxy may have made it up."""
    google.say({})
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=google.url, patience=SHORT)
    with pytest.raises(UnansweredError, match="no id"):
        topic.publish(b"x", {})
    topic.close()
