"""Snapshots of subscriptions, and seeking to them ("Replay and purge messages with seek")."""

import base64
import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from localcloud.clock import Clock
from localcloud.pubsub import PubSubService, Settings
from tests.localcloud.pubsub.conftest import SUBSCRIPTION, TOPIC
from tests.localcloud.stand import PROJECT, Stand
from tests.long import long

SNAPSHOT = f"projects/{PROJECT}/snapshots/snap"


@pytest.fixture
def topic(http: httpx.Client) -> httpx.Client:
    """A client of a service with a topic and a subscription."""
    http.put(f"/v1/{TOPIC}", json={}).raise_for_status()
    http.put(f"/v1/{SUBSCRIPTION}", json={"topic": TOPIC}).raise_for_status()
    return http


def publish(http: httpx.Client, *words: str, **attributes: str) -> None:
    """Publish these."""
    messages = [
        {"data": base64.b64encode(word.encode()).decode(), "attributes": attributes} for word in words
    ]
    http.post(f"/v1/{TOPIC}:publish", json={"messages": messages}).raise_for_status()


def pulled(http: httpx.Client, *, acknowledge: bool = True, subscription: str = SUBSCRIPTION) -> list[str]:
    """What a pull gives, acknowledged unless told otherwise."""
    body = {"maxMessages": 100, "returnImmediately": True}
    found = http.post(f"/v1/{subscription}:pull", json=body).json().get("receivedMessages", [])
    if found and acknowledge:
        ids = [received["ackId"] for received in found]
        http.post(f"/v1/{subscription}:acknowledge", json={"ackIds": ids}).raise_for_status()
    return [base64.b64decode(received["message"]["data"]).decode() for received in found]


def create(http: httpx.Client, name: str = SNAPSHOT, **fields: object) -> httpx.Response:
    """Create a snapshot."""
    return http.put(f"/v1/{name}", json={"subscription": SUBSCRIPTION, **fields})


def seek(http: httpx.Client, subscription: str = SUBSCRIPTION) -> httpx.Response:
    """Seek to the snapshot."""
    return http.post(f"/v1/{subscription}:seek", json={"snapshot": SNAPSHOT})


def test_a_seek_brings_back_what_was_open_and_what_came_later(topic: httpx.Client):
    """What was acknowledged before the snapshot stays so."""
    publish(topic, "before")
    assert pulled(topic) == ["before"]
    publish(topic, "open")
    create(topic).raise_for_status()
    publish(topic, "later")
    assert sorted(pulled(topic)) == ["later", "open"]
    assert pulled(topic) == []
    assert seek(topic).json() == {}
    assert pulled(topic) == ["open", "later"]


def test_a_leased_message_is_open(topic: httpx.Client):
    """It was delivered, and is not acknowledged."""
    publish(topic, "leased")
    pulled(topic, acknowledge=False)
    create(topic).raise_for_status()
    seek(topic)
    assert pulled(topic) == ["leased"]


def test_a_seek_acknowledges_what_the_snapshot_does_not_hold(topic: httpx.Client):
    """A subscription with an older backlog than the snapshot's loses it."""
    other = f"projects/{PROJECT}/subscriptions/other"
    topic.put(f"/v1/{other}", json={"topic": TOPIC}).raise_for_status()
    publish(topic, "old")
    assert pulled(topic) == ["old"]
    create(topic).raise_for_status()
    publish(topic, "new")
    seek(topic, other).raise_for_status()
    assert pulled(topic, subscription=other) == ["new"]


def test_a_filter_holds_for_a_seek_too(topic: httpx.Client):
    """What another subscription does not want does not come to it."""
    other = f"projects/{PROJECT}/subscriptions/other"
    topic.put(f"/v1/{other}", json={"topic": TOPIC, "filter": 'attributes.k = "v"'}).raise_for_status()
    publish(topic, "wanted", k="v")
    publish(topic, "not")
    create(topic).raise_for_status()
    pulled(topic, subscription=other)
    seek(topic, other).raise_for_status()
    assert pulled(topic, subscription=other) == ["wanted"]


def test_a_snapshot_is_shown_listed_changed_and_deleted(topic: httpx.Client):
    """With its topic, and when it will be gone."""
    made = create(topic, labels={"a": "b"}).json()
    assert (made["name"], made["topic"], made["labels"]) == (SNAPSHOT, TOPIC, {"a": "b"})
    left = datetime.fromisoformat(made["expireTime"]) - datetime.now(UTC)
    assert timedelta(days=6, hours=23) < left <= timedelta(days=7)
    assert topic.get(f"/v1/{SNAPSHOT}").json() == made
    assert topic.get(f"/v1/projects/{PROJECT}/snapshots").json() == {"snapshots": [made]}
    assert topic.get(f"/v1/{TOPIC}/snapshots").json() == {"snapshots": [SNAPSHOT]}
    change = {"snapshot": {"name": SNAPSHOT, "labels": {"a": "c"}}, "updateMask": "labels"}
    assert topic.patch(f"/v1/{SNAPSHOT}", json=change).json()["labels"] == {"a": "c"}
    assert topic.delete(f"/v1/{SNAPSHOT}").json() == {}
    assert topic.get(f"/v1/{SNAPSHOT}").status_code == 404
    assert seek(topic).status_code == 404


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        (f"projects/{PROJECT}/snapshots/x", {}, 400),
        (SNAPSHOT, {"subscription": f"projects/{PROJECT}/subscriptions/none"}, 404),
        (SNAPSHOT, {"tags": {"a": "b"}}, 501),
    ],
)
def test_what_cannot_be_is_refused(topic: httpx.Client, name: str, body: dict[str, object], code: int):
    """A name that is none, a subscription that there is not, what is not done."""
    assert create(topic, name, **body).status_code == code
    assert topic.get(f"/v1/projects/{PROJECT}/snapshots").json() == {}


def test_a_name_is_taken_once(topic: httpx.Client):
    """409."""
    create(topic).raise_for_status()
    assert create(topic).status_code == 409


def test_a_snapshot_of_another_topic_is_refused(topic: httpx.Client):
    """Its messages are none of that subscription's."""
    create(topic).raise_for_status()
    away, other = f"projects/{PROJECT}/topics/away", f"projects/{PROJECT}/subscriptions/other"
    topic.put(f"/v1/{away}", json={}).raise_for_status()
    topic.put(f"/v1/{other}", json={"topic": away}).raise_for_status()
    assert seek(topic, other).status_code == 400


def test_a_subscription_without_a_topic_has_no_snapshots(topic: httpx.Client):
    """There is nothing that could be published to it."""
    topic.delete(f"/v1/{TOPIC}").raise_for_status()
    assert create(topic).json()["error"]["status"] == "FAILED_PRECONDITION"


@pytest.fixture
def late() -> Iterator[tuple[Stand, Clock]]:
    """A service whose clock a test sets ahead."""
    stand, clock = Stand(), Clock()
    settings = Settings(push_limit=4, pull_wait=timedelta(seconds=5))
    made = {"project": PROJECT, "clock": clock, "post": stand.outbound.post, "settings": settings}
    stand.serve([stand.call(PubSubService, **made)])
    yield stand, clock
    stand.close()


def test_a_snapshot_is_gone_a_week_after_its_oldest_message(late: tuple[Stand, Clock]):
    """And of a backlog that is nearly as old as that none is made."""
    stand, clock = late
    with stand.client() as http:
        http.put(f"/v1/{TOPIC}", json={}).raise_for_status()
        http.put(f"/v1/{SUBSCRIPTION}", json={"topic": TOPIC}).raise_for_status()
        publish(http, "old")
        clock.skew += timedelta(days=3)
        create(http).raise_for_status()
        clock.skew += timedelta(days=3, hours=23, minutes=30)
        assert http.get(f"/v1/{SNAPSHOT}").status_code == 200
        refused = create(http, f"{SNAPSHOT}-2").json()["error"]
        assert (refused["status"], "too old" in refused["message"]) == ("FAILED_PRECONDITION", True)
        clock.skew += timedelta(hours=1)
        assert http.get(f"/v1/{SNAPSHOT}").status_code == 404
        assert http.get(f"/v1/projects/{PROJECT}/snapshots").json() == {}


@long
def test_gcloud_makes_lists_seeks_and_deletes(topic: httpx.Client, stand: Stand, tmp_path: Path):
    """`gcloud pubsub snapshots`, and `subscriptions seek`."""
    if shutil.which("gcloud") is None:
        pytest.skip("gcloud is not installed: snapshots by gcloud were not tried")
    publish(topic, "open")
    stand.gcloud(tmp_path, "pubsub", "snapshots", "create", "snap", "--subscription=sub")
    pulled(topic)
    listed = json.loads(stand.gcloud(tmp_path, "pubsub", "snapshots", "list", "--format=json"))
    assert [shown["name"] for shown in listed] == [SNAPSHOT]
    stand.gcloud(tmp_path, "pubsub", "subscriptions", "seek", "sub", "--snapshot=snap")
    assert pulled(topic) == ["open"]
    stand.gcloud(tmp_path, "pubsub", "snapshots", "delete", "snap")
    assert topic.get(f"/v1/{SNAPSHOT}").status_code == 404
