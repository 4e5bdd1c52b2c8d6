"""Entries and sinks: written, found again, routed to topics."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from localcloud.rpc import RpcError
from tests.localcloud.logs.conftest import Topics
from tests.localcloud.stand import PROJECT, Stand
from tests.long import long

LOG = f"projects/{PROJECT}/logs/app"
AUDIT_LOG = f"projects/{PROJECT}/logs/cloudaudit.googleapis.com%2Fsystem_event"
SINKS = f"/v2/projects/{PROJECT}/sinks"
DESTINATION = f"pubsub.googleapis.com/projects/{PROJECT}/topics/audit"
PREEMPTED = {
    "logName": AUDIT_LOG,
    "severity": "INFO",
    "timestamp": "2026-11-21T08:00:00Z",
    "resource": {"type": "gce_instance", "labels": {"instance_id": "42"}},
    "protoPayload": {"methodName": "compute.instances.preempted"},
    "operation": {"id": "op", "first": True},
}

Write = Callable[..., httpx.Response]
Read = Callable[..., dict[str, Any]]


@pytest.fixture
def write(http: httpx.Client) -> Write:
    """Write entries of one log."""

    def post(*entries: dict[str, Any], **more: Any) -> httpx.Response:
        body = {"logName": LOG, "resource": {"type": "global"}, "entries": list(entries), **more}
        return http.post("/v2/entries:write", json=body)

    return post


@pytest.fixture
def read(http: httpx.Client) -> Read:
    """List entries."""

    def post(query: str = "", **more: Any) -> dict[str, Any]:
        body = {"resourceNames": [f"projects/{PROJECT}"], "filter": query, **more}
        answer = http.post("/v2/entries:list", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return post


def texts(answer: dict[str, Any]) -> list[str]:
    """The texts of the entries of an answer."""
    return [entry["textPayload"] for entry in answer["entries"]]


def at(second: int, text: str) -> dict[str, Any]:
    """An entry of a moment."""
    return {"textPayload": text, "timestamp": f"2026-11-21T08:00:{second:02}Z"}


def test_a_written_entry_is_found_complete(write: Write, read: Read):
    """With the request's defaults, an insert id and times."""
    assert write({"textPayload": "hello", "severity": "ERROR"}, labels={"a": "b"}).json() == {}
    (entry,) = read('textPayload="hello"')["entries"]
    assert (entry["logName"], entry["severity"], entry["labels"]) == (LOG, "ERROR", {"a": "b"})
    assert entry["insertId"]
    assert entry["timestamp"] == entry["receiveTimestamp"]


def test_entries_come_by_time_and_not_by_arrival(write: Write, read: Read):
    """Oldest first unless asked otherwise."""
    write(at(2, "b"), at(1, "a"), at(3, "c"))
    assert texts(read()) == ["a", "b", "c"]
    assert texts(read(orderBy="timestamp desc")) == ["c", "b", "a"]


@pytest.mark.parametrize("order", ["timestamp asc", "timestamp desc"])
def test_pages_follow_each_other_without_gap_or_double(write: Write, read: Read, order: str):
    """Also when entries arrive meanwhile."""
    write(*(at(second, str(second)) for second in range(1, 8)))
    found, token = [], ""
    while True:
        answer = read(orderBy=order, pageSize=3, pageToken=token)
        found += texts(answer)
        token = answer.get("nextPageToken", "")
        if not token:
            break
        write(at(0 if order == "timestamp asc" else 30, "late"))
    numbers = [str(number) for number in range(1, 8)]
    assert found == (numbers if order == "timestamp asc" else numbers[::-1])


def test_memory_is_bounded(write: Write, read: Read):
    """Fifty here; the oldest go first."""
    for batch in range(3):
        write(*({"textPayload": f"{batch}-{number}"} for number in range(25)))
    found = texts(read(pageSize=1000))
    assert len(found) == 50
    assert found[0] == "1-0"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"textPayload": "x", "jsonPayload": {}}, "one payload"),
        ({"text": "x"}, 'Unknown name "text"'),
        ({"logName": "app", "textPayload": "x"}, "is not projects/P/logs/L"),
        ({"textPayload": "x", "timestamp": "now"}, "no time such as"),
        ({"textPayload": "x", "severity": "LOUD"}, "Invalid value at 'entries[1].severity' (TYPE_ENUM)"),
        ({"textPayload": "x", "resource": "global"}, "Invalid value at 'entries[1].resource' (an object)"),
        ({"textPayload": "x", "insertId": 7}, "Invalid value at 'entries[1].insert_id' (TYPE_STRING), 7"),
    ],
)
def test_what_is_no_entry_is_refused(write: Write, read: Read, entry: dict[str, Any], words: str):
    """And nothing of its request is kept."""
    answer = write({"textPayload": "good"}, entry)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]
    assert read()["entries"] == []


def test_with_partial_success_the_good_entries_are_kept(write: Write, read: Read):
    """The answer still says what was wrong with the other."""
    bad = {"textPayload": "x", "timestamp": "now"}
    assert write({"textPayload": "good"}, bad, partialSuccess=True).status_code == 400
    assert texts(read()) == ["good"]


def test_a_dry_run_keeps_nothing(write: Write, read: Read):
    """It only checks."""
    assert write({"textPayload": "x"}, dryRun=True).json() == {}
    assert read()["entries"] == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"resourceNames": ["projects/other"]}, 404),
        ({"resourceNames": [f"projects/{PROJECT}"], "orderBy": "severity"}, 400),
        ({"resourceNames": [f"projects/{PROJECT}"], "pageSize": -1}, 400),
        ({"resourceNames": [f"projects/{PROJECT}"], "pageToken": "x"}, 400),
        ({"resourceNames": [f"projects/{PROJECT}"], "filter": "x="}, 400),
        ({"resourceNames": [f"projects/{PROJECT}"], "filters": ""}, 400),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(http: httpx.Client, body: dict[str, Any], status: int):
    """With Google's error body."""
    assert http.post("/v2/entries:list", json=body).status_code == status


def test_logs_are_listed_and_deleted(write: Write, http: httpx.Client):
    """A name with a slash in it is URL-encoded inside the path."""
    write({"textPayload": "x"}, {**PREEMPTED})
    assert http.get(f"/v2/projects/{PROJECT}/logs").json() == {"logNames": [LOG, AUDIT_LOG]}
    encoded = AUDIT_LOG.rpartition("/")[2].replace("%", "%25")
    for path in ("cloudaudit.googleapis.com%2Fsystem_event", encoded):
        write({**PREEMPTED})
        assert http.delete(f"/v2/projects/{PROJECT}/logs/{path}").json() == {}
    assert http.get(f"/v2/projects/{PROJECT}/logs").json() == {"logNames": [LOG]}
    assert http.delete(f"/v2/projects/{PROJECT}/logs/none").status_code == 404


def test_a_sink_sends_what_matches_to_its_topic(stand: Stand, http: httpx.Client, topics: Topics):
    """The data are the entry, the attribute its time; other entries stay where they are."""
    query = 'protoPayload.methodName="compute.instances.preempted" AND operation.first=true'
    http.post(SINKS, json={"name": "s", "destination": DESTINATION, "filter": query}).raise_for_status()
    stand.call(stand.service.write, {**PREEMPTED, "operation": {"id": "op", "last": True}})
    stand.call(stand.service.write, PREEMPTED)
    ((data, attributes),) = topics.told
    entry = json.loads(data)
    assert entry["protoPayload"] == PREEMPTED["protoPayload"]
    assert entry["insertId"]
    assert attributes == {"logging.googleapis.com/timestamp": PREEMPTED["timestamp"]}
    (sink,) = http.get("/local/sinks").json()["sinks"]
    assert (sink["routed"], sink["failed"]) == (1, 0)


@pytest.mark.parametrize(
    "more", [{"disabled": True}, {"exclusions": [{"name": "x", "filter": "severity=INFO"}]}]
)
def test_a_sink_that_is_off_or_excludes_sends_nothing(
    stand: Stand, http: httpx.Client, topics: Topics, more: dict[str, Any]
):
    """Whatever its filter says."""
    http.post(SINKS, json={"name": "s", "destination": DESTINATION, **more}).raise_for_status()
    stand.call(stand.service.write, PREEMPTED)
    assert topics.told == []


def test_a_sink_whose_topic_is_gone_says_so_and_harms_no_writer(stand: Stand, http: httpx.Client, read: Read):
    """The entry is kept, the failure counted."""
    http.post(SINKS, json={"name": "s", "destination": f"{DESTINATION}-2"}).raise_for_status()
    stand.call(stand.service.write, PREEMPTED)
    assert len(read()["entries"]) == 1
    (sink,) = http.get("/local/sinks").json()["sinks"]
    assert (sink["failed"], sink["lastError"]) == (1, "Resource not found (resource=audit-2).")


def test_a_sink_is_found_changed_and_deleted(http: httpx.Client):
    """Changing touches what the mask names."""
    made = http.post(
        SINKS, json={"name": "s", "destination": DESTINATION, "filter": "severity>=ERROR"}
    ).json()
    assert made["writerIdentity"].startswith("serviceAccount:")
    assert made["resourceName"] == f"projects/{PROJECT}/sinks/s"
    body = {"name": "s", "destination": DESTINATION, "filter": "severity>=INFO", "description": "no"}
    changed = http.patch(f"{SINKS}/s?updateMask=filter", json=body).json()
    assert changed["filter"] == "severity>=INFO"
    assert "description" not in changed
    assert [each["name"] for each in http.get(SINKS).json()["sinks"]] == ["s"]
    assert http.delete(f"{SINKS}/s").json() == {}
    assert http.get(f"{SINKS}/s").status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "s s", "destination": DESTINATION}, 400),
        ({"name": "s", "destination": "storage.googleapis.com/bucket"}, 400),
        ({"name": "s", "destination": DESTINATION, "filter": "thud=1"}, 400),
        ({"name": "s", "destination": DESTINATION, "fitler": ""}, 400),
        ({"name": "taken", "destination": DESTINATION}, 409),
    ],
)
def test_a_sink_that_cannot_be_is_refused(http: httpx.Client, body: dict[str, Any], status: int):
    """And is not there afterwards."""
    http.post(SINKS, json={"name": "taken", "destination": DESTINATION}).raise_for_status()
    assert http.post(SINKS, json=body).status_code == status
    assert [each["name"] for each in http.get(SINKS).json()["sinks"]] == ["taken"]


def test_a_severity_may_be_a_number(stand: Stand, read: Read):
    """And is kept by its name."""
    stand.call(stand.service.write, {**PREEMPTED, "severity": 500})
    assert read()["entries"][0]["severity"] == "ERROR"


def test_the_port_refuses_what_is_no_entry(stand: Stand):
    """A service of the local cloud that writes nonsense is told at once."""
    with pytest.raises(RpcError, match="is not projects/P/logs/L"):
        stand.call(stand.service.write, {"textPayload": "x"})


@long
def test_the_real_gcloud_writes_reads_and_makes_sinks(stand: Stand, tmp_path: Path, topics: Topics):
    """As people do by hand."""
    if shutil.which("gcloud") is None:
        pytest.skip("gcloud is not installed: logging by gcloud was not tried")
    stand.gcloud(tmp_path, "logging", "sinks", "create", "s", DESTINATION, "--log-filter=severity>=WARNING")
    stand.gcloud(tmp_path, "logging", "write", "app", "careful", "--severity=WARNING")
    found = json.loads(stand.gcloud(tmp_path, "logging", "read", "severity>=WARNING", "--format=json"))
    assert [entry["textPayload"] for entry in found] == ["careful"]
    assert len(topics.told) == 1
