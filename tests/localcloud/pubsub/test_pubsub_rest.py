"""Pub/Sub over REST, as gcloud and google-api-python-client speak it."""

import base64
import json
import shutil
from pathlib import Path

import httpx
import pytest

from tests.localcloud.pubsub.conftest import SUBSCRIPTION, TOPIC
from tests.localcloud.stand import PROJECT, Stand


def test_a_message_goes_all_the_way_over_rest(http: httpx.Client):
    """Create, publish, pull, acknowledge, delete."""
    http.put(f"/v1/{TOPIC}", json={"labels": {"a": "b"}}).raise_for_status()
    http.put(f"/v1/{SUBSCRIPTION}", json={"topic": TOPIC, "ackDeadlineSeconds": 30}).raise_for_status()
    message = {"data": base64.b64encode(b"hello").decode(), "attributes": {"k": "v"}}
    sent = http.post(f"/v1/{TOPIC}:publish", json={"messages": [message]}).json()
    pulled = http.post(f"/v1/{SUBSCRIPTION}:pull", json={"maxMessages": 5}).json()
    (received,) = pulled["receivedMessages"]
    assert received["message"]["messageId"] == sent["messageIds"][0]
    assert base64.b64decode(received["message"]["data"]) == b"hello"
    http.post(f"/v1/{SUBSCRIPTION}:acknowledge", json={"ackIds": [received["ackId"]]}).raise_for_status()
    again = http.post(f"/v1/{SUBSCRIPTION}:pull", json={"maxMessages": 5, "returnImmediately": True})
    assert again.json() == {}
    assert http.delete(f"/v1/{SUBSCRIPTION}").json() == {}
    assert http.get(f"/v1/{SUBSCRIPTION}").status_code == 404


def test_an_error_has_googles_form(http: httpx.Client):
    """Code, message and status."""
    answer = http.get(f"/v1/{TOPIC}")
    error = answer.json()["error"]
    assert answer.status_code == error["code"] == 404
    assert error["message"] == "Resource not found (resource=topic)."
    assert error["status"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("PUT", f"/v1/{TOPIC}", '{"labelz": {}}', "labelz"),
        ("PUT", f"/v1/{TOPIC}", "{", "not JSON"),
        ("PUT", f"/v1/{TOPIC}", "[]", "must be a JSON object"),
        ("GET", f"/v1/projects/{PROJECT}/topics?pageSize=x", None, "pageSize"),
        ("GET", f"/v1/projects/{PROJECT}/topics?pagesize=1", None, 'Unknown name "pagesize"'),
        ("GET", f"/v1/projects/{PROJECT}/topics?pageToken=x", None, "page token"),
        ("GET", f"/v1/projects/{PROJECT}/topics?pageSize=-1", None, "negative"),
    ],
)
def test_a_request_that_cannot_be_read_is_refused(
    http: httpx.Client, method: str, path: str, body: str | None, words: str
):
    """With 400 and the name of what does not fit."""
    answer = http.request(method, path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


def test_system_parameters_are_taken_and_ignored(http: httpx.Client):
    """Every client of Google's adds some."""
    path = f"/v1/projects/{PROJECT}/topics?alt=json&prettyPrint=true&$.xgafv=2&key=k"
    assert http.get(path).json() == {}


def test_names_with_percent_signs_keep_them(http: httpx.Client):
    """A percent sign is legal in a name and arrives encoded."""
    http.put(f"/v1/projects/{PROJECT}/topics/a%2525b", json={}).raise_for_status()
    (topic,) = http.get(f"/v1/projects/{PROJECT}/topics").json()["topics"]
    assert topic["name"] == f"projects/{PROJECT}/topics/a%25b"


def test_the_real_gcloud_works(stand: Stand, tmp_path: Path, http: httpx.Client):
    """Topics, subscriptions, publishing, pulling with acknowledgement."""
    if shutil.which("gcloud") is None:
        pytest.skip("gcloud is not installed: topics and subscriptions by gcloud were not tried")
    stand.gcloud(tmp_path, "pubsub", "topics", "create", "topic")
    stand.gcloud(
        tmp_path, "pubsub", "subscriptions", "create", "sub", "--topic=topic", "--ack-deadline=20",
        '--message-filter=attributes.k = "v"',
    )  # fmt: skip
    stand.gcloud(tmp_path, "pubsub", "topics", "publish", "topic", "--message=hello", "--attribute=k=v")
    pulled = json.loads(
        stand.gcloud(tmp_path, "pubsub", "subscriptions", "pull", "sub", "--auto-ack", "--format=json")
    )
    assert [base64.b64decode(each["message"]["data"]) for each in pulled] == [b"hello"]
    found = json.loads(stand.gcloud(tmp_path, "pubsub", "subscriptions", "describe", "sub", "--format=json"))
    assert (found["topic"], found["ackDeadlineSeconds"]) == (TOPIC, 20)
    (topic,) = http.get("/local/topics").json()["topics"]
    assert topic["subscriptions"][0]["backlog"] == 0
