"""Bucket notifications: what is told to Pub/Sub, and what is not."""

import json
from typing import Any

import httpx
import pytest
from google.api_core import exceptions
from google.cloud import storage
from google.cloud.storage.notification import (
    JSON_API_V1_PAYLOAD_FORMAT,
    NONE_PAYLOAD_FORMAT,
    OBJECT_DELETE_EVENT_TYPE,
    OBJECT_FINALIZE_EVENT_TYPE,
)

from tests.localcloud.storage.conftest import Served

TOPIC = "projects/project/topics/markers"
CONFIGS = "/storage/v1/b/bucket/notificationConfigs"


def _notify(bucket: storage.Bucket, **settings: Any) -> storage.notification.BucketNotification:
    settings = {"payload_format": JSON_API_V1_PAYLOAD_FORMAT, **settings}
    notification = bucket.notification(topic_name="markers", topic_project="project", **settings)
    notification.create()
    return notification


def _events(served: Served) -> list[tuple[str, str]]:
    return [(told.attributes["eventType"], told.attributes["objectId"]) for told in served.topics.told]


def test_a_configuration_is_made_listed_and_deleted(bucket: storage.Bucket):
    """With ids of its own, which are not used again."""
    first = _notify(bucket, event_types=[OBJECT_FINALIZE_EVENT_TYPE], blob_name_prefix="preempted-jobs/")
    second = _notify(bucket, custom_attributes={"k": "v"})
    listed = {item.notification_id: item for item in bucket.list_notifications()}
    assert set(listed) == {first.notification_id, second.notification_id}
    assert bucket.get_notification(first.notification_id).payload_format == JSON_API_V1_PAYLOAD_FORMAT
    found = listed[first.notification_id]
    assert (found.topic_name, found.event_types) == ("markers", [OBJECT_FINALIZE_EVENT_TYPE])
    assert found.blob_name_prefix == "preempted-jobs/"
    assert listed[second.notification_id].custom_attributes == {"k": "v"}
    second.delete()
    with pytest.raises(exceptions.NotFound):
        second.delete()
    assert _notify(bucket).notification_id not in listed


def test_a_new_object_is_told_with_its_resource(served: Served, bucket: storage.Bucket, http: httpx.Client):
    """Attributes are Google's, and the payload is what `objects.get` answers."""
    notification = _notify(bucket, custom_attributes={"own": "1"})
    blob = bucket.blob("preempted-jobs/test-vm")
    blob.upload_from_string("x")
    (told,) = served.topics.told
    resource = http.get("/storage/v1/b/bucket/o/preempted-jobs%2Ftest-vm").json()
    assert told.topic == TOPIC
    assert json.loads(told.data) == resource
    assert told.attributes == {
        "own": "1",
        "notificationConfig": f"projects/_/buckets/bucket/notificationConfigs/{notification.notification_id}",
        "eventType": "OBJECT_FINALIZE",
        "payloadFormat": "JSON_API_V1",
        "bucketId": "bucket",
        "objectId": "preempted-jobs/test-vm",
        "objectGeneration": str(blob.generation),
        "eventTime": resource["timeCreated"],
    }


def test_an_overwrite_is_told_from_both_sides(served: Served, bucket: storage.Bucket):
    """The new generation names the old one, and the old one, deleted, the new."""
    _notify(bucket)
    old, new = bucket.blob("a"), bucket.blob("a")
    old.upload_from_string("1")
    new.upload_from_string("2")
    _, finalized, deleted = served.topics.told
    assert finalized.attributes["overwroteGeneration"] == str(old.generation)
    assert deleted.attributes["eventType"] == "OBJECT_DELETE"
    assert deleted.attributes["objectGeneration"] == str(old.generation)
    assert deleted.attributes["overwrittenByGeneration"] == str(new.generation)


def test_changes_deletions_and_archivals_are_told(served: Served, bucket: storage.Bucket):
    """A versioned bucket archives what it does not delete for good."""
    _notify(bucket)
    blob = bucket.blob("a")
    blob.upload_from_string("1")
    blob.metadata = {"k": "v"}
    blob.patch()
    bucket.blob("a").delete()
    bucket.versioning_enabled = True
    bucket.patch()
    blob.upload_from_string("2")
    bucket.blob("a").delete()
    bucket.blob("a", generation=blob.generation).delete()
    kinds = ["FINALIZE", "METADATA_UPDATE", "DELETE", "FINALIZE", "ARCHIVE", "DELETE"]
    assert _events(served) == [("OBJECT_" + kind, "a") for kind in kinds]


def test_copies_and_compositions_are_told_as_new_objects(served: Served, bucket: storage.Bucket):
    """Whatever made it, a new object is a new object."""
    blob = bucket.blob("a")
    blob.upload_from_string("1")
    _notify(bucket)
    bucket.copy_blob(blob, bucket, "copy")
    bucket.blob("whole").compose([blob])
    bucket.blob("chunks", chunk_size=256 * 1024).upload_from_string("3")
    assert _events(served) == [("OBJECT_FINALIZE", name) for name in ("copy", "whole", "chunks")]


def test_only_the_types_and_the_prefix_asked_for_are_told(served: Served, bucket: storage.Bucket):
    """Another type or another prefix is not."""
    _notify(bucket, event_types=[OBJECT_DELETE_EVENT_TYPE], blob_name_prefix="a/")
    for name in ("a/1", "b/1"):
        bucket.blob(name).upload_from_string("x")
        bucket.blob(name).delete()
    assert _events(served) == [("OBJECT_DELETE", "a/1")]


def test_a_refused_write_is_not_told(served: Served, bucket: storage.Bucket):
    """Neither a failed precondition nor an object that was never there."""
    bucket.blob("a").upload_from_string("x")
    _notify(bucket)
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob("a").upload_from_string("y", if_generation_match=0)
    with pytest.raises(exceptions.NotFound):
        bucket.blob("b").delete()
    assert served.topics.told == []


def test_without_a_payload_the_message_is_empty(served: Served, bucket: storage.Bucket):
    """`NONE` leaves the attributes."""
    _notify(bucket, payload_format=NONE_PAYLOAD_FORMAT)
    bucket.blob("a").upload_from_string("x")
    (told,) = served.topics.told
    assert (told.data, told.attributes["payloadFormat"]) == (b"", "NONE")


def test_every_configuration_is_told(served: Served, bucket: storage.Bucket):
    """Two that want the same event get a message each; a deleted one gets none."""
    gone = _notify(bucket)
    for _ in range(2):
        _notify(bucket)
    gone.delete()
    bucket.blob("a").upload_from_string("x")
    assert len(_events(served)) == 2


def test_a_missing_topic_does_not_fail_an_upload(served: Served, bucket: storage.Bucket):
    """The object is written, and the next message goes out once the topic is there."""
    _notify(bucket)
    served.topics.missing.add(TOPIC)
    bucket.blob("a").upload_from_string("x")
    assert bucket.blob("a").exists()
    served.topics.missing.clear()
    bucket.blob("b").upload_from_string("x")
    assert _events(served) == [("OBJECT_FINALIZE", "b")]


def test_configurations_outlive_the_server(served: Served, bucket: storage.Bucket):
    """After a restart the same events are told."""
    _notify(bucket)
    served.restart()
    bucket.blob("a").upload_from_string("x")
    assert _events(served) == [("OBJECT_FINALIZE", "a")]


RIGHT = {"topic": "//pubsub.googleapis.com/" + TOPIC, "payload_format": "NONE"}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "topic"),
        (RIGHT | {"topic": "markers"}, "projects/P/topics/T"),
        (RIGHT | {"payload_format": "XML"}, "JSON_API_V1"),
        (RIGHT | {"event_types": ["OBJECT_READ"]}, "OBJECT_FINALIZE"),
        (RIGHT | {"custom_attributes": {"a": 1}}, "custom_attributes"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(
    http: httpx.Client, bucket: storage.Bucket, body: dict[str, Any], says: str
):
    """400 says what would make sense, and nothing is configured."""
    answer = http.post(CONFIGS, json=body)
    assert answer.status_code == 400
    assert says in answer.json()["error"]["message"]
    assert list(bucket.list_notifications()) == []
