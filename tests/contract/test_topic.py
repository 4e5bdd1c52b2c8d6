"""What a topic promises, in memory and through Google's client."""

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from google.api_core.exceptions import Forbidden, InvalidArgument, NotFound
from google.auth.credentials import AnonymousCredentials
from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient
from google.pubsub_v1 import PublishResponse
from grpc import StatusCode
from msgspec.structs import replace

from spotwarden import clock
from spotwarden.gcp.pubsub import CloudTopic
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.tally import calls
from spotwarden.ports import ConflictError, NoTopic, RejectedError, Topic, UnansweredError
from tests.contract.retry_policies import QUICK, SHORT
from tests.contract.scripted_rpc import ScriptedRpc
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

    def open(self, retry_policy: RetryPolicy = QUICK, name: str = "") -> CloudTopic:
        """The adapter, on this topic or on another."""
        topic = CloudTopic(
            project=PROJECT, topic=name or self.name, endpoint=self._endpoint, retry_policy=retry_policy
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
    wired = Wired(f"http://{served.grpc}")
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


def test_a_message_is_published_only_before_its_time_is_over(
    topic_and_arrivals: tuple[Topic, Callable[[], list[Arrived]]], monkeypatch: pytest.MonkeyPatch
):
    """By the machine's own clock: a local cloud that has travelled meanwhile makes nothing late."""
    monkeypatch.setenv(clock.AHEAD, str(timedelta(days=9).total_seconds()))
    topic, arrived = topic_and_arrivals
    with pytest.raises(ConflictError, match="the time for it was over"):
        topic.publish(b"late", {}, before=datetime(2026, 1, 5, tzinfo=UTC))
    topic.publish(b"in time", {}, before=clock.machine() + timedelta(days=1))
    assert [data for _, data, _ in arrived()] == [b"in time"]


def test_a_storm_that_passes_goes_unnoticed(wired: Wired, faults: Callable[..., str]):
    """A notice gets through once Pub/Sub answers again."""
    faults(service="pubsub", method="Publish", status=503, count=5)
    wired.open().publish(b"x", {})
    assert [data for _, data, _ in wired.arrived()] == [b"x"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_storm_that_does_not_pass_is_no_answer(wired: Wired, faults: Callable[..., str], status: int):
    """The notice may or may not be out; the caller has to know that nobody knows."""
    faults(service="pubsub", method="Publish", status=status)
    with pytest.raises(UnansweredError):
        wired.open(SHORT).publish(b"x", {})


def test_a_topic_that_does_not_exist_is_said_to(wired: Wired):
    """A wrong name in the settings is no outage: it rises with the name."""
    with pytest.raises(NotFound, match="nobody-made-this"):
        wired.open(name="nobody-made-this").publish(b"x", {})


def test_the_fake_loses_answers_on_order():
    """Before the work nothing is out, after it the message is; then the outage is over."""
    fake = MemoryTopic()
    fake.trouble.order("publish", unanswered(after_work=False))
    fake.trouble.order("publish", unanswered(after_work=True))
    for _ in range(2):
        with pytest.raises(UnansweredError):
            fake.publish(b"x", {})
    assert len(fake.messages) == 1
    fake.publish(b"y", {})
    assert [message.data for message in fake.messages] == [b"x", b"y"]


def test_messages_that_go_together_arrive_one_by_one(
    topic_and_arrivals: tuple[Topic, Callable[[], list[Arrived]]],
):
    """Each with its own data and the attributes of all."""
    topic, arrived = topic_and_arrivals
    topic.publish_all([b"1", b"2"], {"kind": "batch"})
    assert sorted((data, attributes) for _, data, attributes in arrived()) == [
        (b"1", {"kind": "batch"}),
        (b"2", {"kind": "batch"}),
    ]


def test_messages_that_go_together_are_one_call(rpc: ScriptedRpc):
    """Killed before or after it, none or all of them are out."""
    rpc.say(PublishResponse(message_ids=["7", "8"]))
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=SHORT)
    topic.publish_all([b"1", b"2"], {})
    topic.close()
    assert len(rpc.asked) == 1


@pytest.mark.parametrize("code", [StatusCode.PERMISSION_DENIED, StatusCode.NOT_FOUND])
def test_messages_that_may_not_go_together_are_refused(rpc: ScriptedRpc, code: StatusCode):
    """Whoever wanted others to work must work itself then."""
    rpc.refuse(code, "made up")
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=QUICK)
    with pytest.raises(RejectedError, match="topics/t: made up"):
        topic.publish_all([b"1"], {})
    topic.close()


@pytest.mark.parametrize("after_work", [False, True])
def test_messages_that_go_together_without_an_answer_go_again(
    wired: Wired, faults: Callable[..., str], after_work: bool
):
    """Twice, perhaps: readers tell."""
    faults(service="pubsub", method="Publish", status=503, count=1, after_work=after_work)
    wired.open().publish_all([b"1", b"2"], {})
    assert sorted(data for _, data, _ in wired.arrived()) == sorted([b"1", b"2"] * (1 + after_work))


def test_where_there_is_no_topic_nothing_is_published():
    """Neither one message nor many."""
    with pytest.raises(RejectedError, match="noTopic"):
        NoTopic().publish(b"", {})
    with pytest.raises(RejectedError, match="noTopic"):
        NoTopic().publish_all([b""], {})


def test_an_answer_without_an_id_for_each_is_no_answer(rpc: ScriptedRpc):
    """Nobody knows which of them are out."""
    rpc.say(PublishResponse(message_ids=["7"]))
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=SHORT)
    with pytest.raises(UnansweredError, match="for each"):
        topic.publish_all([b"1", b"2"], {})
    topic.close()


def test_an_answer_without_an_id_is_no_answer(rpc: ScriptedRpc):
    """Nobody knows whether that is out: a proxy may have made it up."""
    rpc.say(PublishResponse())
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=SHORT)
    with pytest.raises(UnansweredError, match="no id"):
        topic.publish(b"x", {})
    topic.close()


@pytest.mark.parametrize("code", [StatusCode.ABORTED, StatusCode.CANCELLED, StatusCode.UNKNOWN])
def test_what_google_says_to_try_again_is_tried_again(rpc: ScriptedRpc, code: StatusCode):
    """Once more, and it is out; each try is counted."""
    rpc.refuse(code, "not now")
    rpc.say(PublishResponse(message_ids=["7"]))
    before = calls().get("pubsub", 0)
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=QUICK)
    assert topic.publish(b"x", {}).id == "7"
    topic.close()
    assert len(rpc.asked) == 2
    assert calls()["pubsub"] == before + 2


@pytest.mark.parametrize(
    ("code", "error"),
    [(StatusCode.PERMISSION_DENIED, Forbidden), (StatusCode.INVALID_ARGUMENT, InvalidArgument)],
)
def test_a_refusal_rises_at_once(rpc: ScriptedRpc, code: StatusCode, error: type[Exception]):
    """A fault of the deployment, which no waiting mends."""
    rpc.refuse(code, "pubsub.topics.publish denied")
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=QUICK)
    with pytest.raises(error, match=r"pubsub\.topics\.publish"):
        topic.publish(b"x", {})
    topic.close()
    assert len(rpc.asked) == 1


def test_a_try_has_a_deadline(rpc: ScriptedRpc):
    """A server that never answers is given up on after the time for one answer, not after gRPC's hour."""
    rpc.hang()
    retry_policy = RetryPolicy(small_answer=timedelta(milliseconds=80), in_all=timedelta(milliseconds=50))
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=retry_policy)
    with pytest.raises(UnansweredError, match="Deadline"):
        topic.publish(b"x", {})
    topic.close()


def test_a_call_that_hangs_is_tried_again(rpc: ScriptedRpc):
    """There is time for that: it is given up on before the patience is over."""
    rpc.hang()
    rpc.say(PublishResponse(message_ids=["7"]))
    retry_policy = replace(QUICK, small_answer=timedelta(milliseconds=80))
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=retry_policy)
    assert topic.publish(b"x", {}).id == "7"
    topic.close()


def test_there_is_time_for_a_second_try_of_a_message(rpc: ScriptedRpc):
    """The server is told how long it has; gRPC rounds that up by as much as a second."""
    rpc.say(PublishResponse(message_ids=["7"]))
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url)
    topic.publish(b"x", {})
    topic.close()
    assert rpc.seconds[0] < RetryPolicy().in_all.total_seconds()


def test_the_deadline_of_a_try_is_that_of_every_other_call(rpc: ScriptedRpc):
    """As the patience has it, and the server is told."""
    rpc.say(PublishResponse(message_ids=["7"]))
    retry_policy = RetryPolicy(small_answer=timedelta(seconds=300))
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=retry_policy)
    topic.publish(b"x", {})
    topic.close()
    # gRPC rounds a long deadline up by as much as a second on its way.
    assert 60 < rpc.seconds[0] <= 301


def test_the_audit_log_is_told_who_publishes(rpc: ScriptedRpc, monkeypatch: pytest.MonkeyPatch):
    """By the user agent, as over REST."""
    monkeypatch.setenv("K_SERVICE", "reap-vms")
    rpc.say(PublishResponse(message_ids=["7"]))
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=QUICK)
    topic.publish(b"x", {})
    topic.close()
    assert "spotwarden/reap-vms" in rpc.metadata[0]["x-goog-api-client"] + rpc.metadata[0]["user-agent"]


def test_a_closed_topic_opens_again(rpc: ScriptedRpc):
    """A function that was frozen in between publishes as before."""
    rpc.say(PublishResponse(message_ids=["7"]))
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=QUICK)
    for _ in range(2):
        assert topic.publish(b"x", {}).id == "7"
        topic.close()


def test_google_is_spoken_to_with_credentials(monkeypatch: pytest.MonkeyPatch):
    """Without an endpoint: Google's host, encrypted, by the credentials that the process finds."""
    opened: list[tuple[str, object]] = []
    found = AnonymousCredentials()
    monkeypatch.delenv("PUBSUB_EMULATOR_HOST", raising=False)
    monkeypatch.setattr("google.auth.default", lambda **_: (found, "p"))
    monkeypatch.setattr(
        "google.api_core.grpc_helpers.create_channel",
        lambda host, **more: (
            opened.append((host, more["credentials"])) or grpc.insecure_channel("127.0.0.1:9")
        ),
    )
    for endpoint in ("", "https://pubsub-psc.p.example.com"):
        topic = CloudTopic(project=PROJECT, topic="t", endpoint=endpoint, retry_policy=SHORT)
        with pytest.raises(UnansweredError):
            topic.publish(b"x", {})
        topic.close()
    assert opened == [("pubsub.googleapis.com:443", found), ("pubsub-psc.p.example.com:443", found)]


def test_the_local_cloud_is_published_to_past_a_proxy(rpc: ScriptedRpc, monkeypatch: pytest.MonkeyPatch):
    """GRPC reads the environment's proxies as well; loopback is not their business."""
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "no_grpc_proxy"):
        monkeypatch.delenv(name, raising=False)
    rpc.say(PublishResponse(message_ids=["7"]))
    topic = CloudTopic(project=PROJECT, topic="t", endpoint=rpc.url, retry_policy=SHORT)
    assert topic.publish(b"x", {}).id == "7"
    topic.close()
