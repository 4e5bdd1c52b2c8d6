"""A function's door: its calls are its own, and what it may not do is refused as Google refuses it."""

import os
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import google.auth
import google.auth.transport.requests
import grpc
import httpx
import pytest
from google.api_core.exceptions import Forbidden, PermissionDenied
from google.auth.credentials import AnonymousCredentials
from google.cloud import pubsub_v1, storage
from google.cloud.storage.exceptions import InvalidResponse
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport

from localcloud.story.telling import tell_refusals
from tests.localcloud.permissions.stage import BUCKET, NOTICES, PROJECT, ZONE, Stage

WHO = f"spotwarden-cap-runtime@{PROJECT}.iam.gserviceaccount.com"
HERE = f"projects/{PROJECT}/zones/{ZONE}"
COMPUTE = f"/compute/v1/projects/{PROJECT}"
TOPIC = f"projects/{PROJECT}/topics/{NOTICES}"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """`cap_runtime`, which may list and stop VMs, publish, and write below spotwarden/."""
    with Stage("cap_runtime") as stage:
        yield stage


@pytest.fixture
def door(stage: Stage) -> Iterator[httpx.Client]:
    """A client that comes by its door."""
    with httpx.Client(base_url=stage.account.entrance, trust_env=False) as client:
        yield client


@pytest.fixture
def bucket(stage: Stage) -> Iterator[Any]:
    """The bucket, through Google's client at the door."""
    with stage.acting():
        client = storage.Client(project=PROJECT, credentials=AnonymousCredentials())
        yield client.bucket(BUCKET)
        client.close()


def message(answer: httpx.Response) -> str:
    """What a refusal says."""
    assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (403, "forbidden")
    text: str = answer.json()["error"]["message"]
    return text


@pytest.mark.parametrize(
    ("verb", "path", "said"),
    [
        (
            "POST",
            f"/zones/{ZONE}/instances/7/start",
            f"Required 'compute.instances.start' permission for '{HERE}/instances/7'",
        ),
        (
            "GET",
            "/aggregated/addresses",
            f"Required 'compute.addresses.list' permission for 'projects/{PROJECT}'",
        ),
        (
            "GET",
            f"/zones/{ZONE}/disks/d",
            f"Required 'compute.disks.get' permission for '{HERE}/disks/d'",
        ),
    ],
)
def test_compute_engine_says_which_permission_on_what(door: httpx.Client, verb: str, path: str, said: str):
    """Before it looks whether the thing is there."""
    assert message(door.request(verb, COMPUTE + path)) == said


def test_what_is_granted_is_answered(door: httpx.Client):
    """By the same door."""
    assert door.get(f"{COMPUTE}/aggregated/instances").status_code == 200


def test_the_main_entrance_is_the_owners(stage: Stage):
    """A developer or a test may do everything."""
    url = f"{stage.local.endpoints.http}{COMPUTE}/aggregated/addresses"
    assert httpx.get(url, trust_env=False).status_code == 200


def test_a_batch_carries_no_call_past_the_door(door: httpx.Client):
    """Each call in it is its caller's."""
    inner = f"GET {COMPUTE}/aggregated/addresses HTTP/1.1\r\n\r\n"
    body = f"--b\r\nContent-Type: application/http\r\n\r\n{inner}\r\n--b--\r\n"
    headers = {"content-type": "multipart/mixed; boundary=b"}
    assert (
        "Required 'compute.addresses.list'"
        in door.post("/batch/compute/v1", content=body, headers=headers).text
    )


def test_operations_are_the_accounts(stage: Stage, door: httpx.Client):
    """A service account is no person, whatever its client calls itself."""
    made = stage.vm("mine")
    stopped = door.post(f"{COMPUTE}/zones/{ZONE}/instances/{made}/stop")
    assert stopped.json()["user"] == WHO


def test_google_auth_finds_the_account_at_the_door(stage: Stage):
    """As at a metadata server of Google's."""
    with patch.dict(os.environ, stage.environment):
        from google.auth import compute_engine  # noqa: PLC0415 - it reads the environment as it is loaded

        host = stage.account.entrance.removeprefix("http://")
        with patch.object(compute_engine._metadata, "_GCE_METADATA_HOST", host):
            credentials = compute_engine.Credentials()
            credentials.refresh(google.auth.transport.requests.Request())
    assert credentials.service_account_email == WHO


# --- the bucket ---


def test_objects_that_are_its_own_are_written_and_read(bucket: Any):
    """Downloads come by the door, too: their links lead there."""
    blob = bucket.blob("spotwarden/one")
    blob.upload_from_string(b"x")
    blob.reload()
    assert blob.download_as_bytes() == b"x"
    assert blob.media_link.startswith(os.environ["STORAGE_EMULATOR_HOST"])


def test_so_is_the_object_that_stands_for_its_folder(bucket: Any):
    """It begins as IAM's condition says, as all below it does."""
    blob = bucket.blob("spotwarden/")
    blob.upload_from_string(b"")
    assert blob.exists()
    blob.delete()
    assert not blob.exists()


@pytest.mark.parametrize("name", ["train/metadata/create-instance.sh", "spotwarden", "xspotwarden/one"])
def test_other_objects_are_not_written(bucket: Any, name: str):
    """The names that a function writes are in its row."""
    with pytest.raises(Forbidden, match=f"{WHO} does not have storage.objects.create access to the Google"):
        bucket.blob(name).upload_from_string(b"x")


def test_nor_are_they_deleted(stage: Stage, bucket: Any):
    """Or replaced."""
    stage.store("train/output/one", b"x")
    with pytest.raises(Forbidden, match=r"does not have storage\.objects\.delete access"):
        bucket.blob("train/output/one").delete()
    assert stage.names("train/output/") == ["train/output/one"]


def test_an_upload_in_pieces_is_held_to_the_same(stage: Stage, bucket: Any):
    """It is refused before it begins."""
    blob = bucket.blob("train/output/large", chunk_size=256 * 1024)
    with pytest.raises(InvalidResponse, match="403"), blob.open("wb") as writer:
        writer.write(b"x" * 300_000)
    assert "train/output/large" not in stage.names("train/")


def test_another_bucket_is_nobodys(stage: Stage, door: httpx.Client):
    """The role is on the jobs' bucket only."""
    stage.post(f"/storage/v1/b?project={PROJECT}", name="another")
    said = message(door.get("/storage/v1/b/another/o"))
    assert said.startswith(
        f"{WHO} does not have storage.objects.list access to the Google Cloud Storage bucket."
    )


def test_replacing_an_object_needs_to_delete_it():
    """A role that only creates makes new objects, and leaves old ones as they are."""
    with Stage("cap_runtime", without="storage.objects.delete") as stage, stage.acting():
        client = storage.Client(project=PROJECT, credentials=AnonymousCredentials())
        blob = client.bucket(BUCKET).blob("spotwarden/one")
        blob.upload_from_string(b"old")
        with pytest.raises(Forbidden, match=r"storage\.objects\.delete"):
            blob.upload_from_string(b"new")
        assert blob.download_as_bytes() == b"old"
        client.close()


# --- Pub/Sub and Monitoring, in both of their languages ---


def publisher(stage: Stage) -> Any:
    """Google's client at the function's gRPC door."""
    channel = grpc.insecure_channel(stage.environment["PUBSUB_EMULATOR_HOST"])
    return pubsub_v1.PublisherClient(transport=PublisherGrpcTransport(channel=channel))


def test_grpc_has_a_door_as_well(stage: Stage):
    """It publishes, and makes no topic."""
    client = publisher(stage)
    assert client.publish(TOPIC, b"x").result(timeout=10)
    with pytest.raises(PermissionDenied, match="User not authorized to perform this action"):
        client.create_topic(name=f"projects/{PROJECT}/topics/another")
    client.transport.close()


def test_rest_comes_to_the_same(door: httpx.Client):
    """The same methods, the same refusals."""
    assert door.post(f"/v1/{TOPIC}:publish", json={"messages": [{"data": "eA=="}]}).status_code == 200
    deep = door.post(
        f"/v1/{TOPIC}:publish", content=b"[" * 100_000, headers={"content-type": "application/json"}
    )
    assert deep.status_code == 400
    refused = door.put(f"/v1/projects/{PROJECT}/topics/another", json={})
    assert message(refused) == "User not authorized to perform this action."
    refused = door.get(f"/v3/projects/{PROJECT}/timeSeries")
    assert message(refused) == "Permission monitoring.timeSeries.list denied (or the resource may not exist)."


# --- what is told ---


def test_a_story_in_which_a_function_is_refused_anything_has_not_come_true():
    """It says what was missing; where nothing was, it says nothing."""
    lines: list[str] = []
    with Stage("cap_runtime") as stage:
        assert (tell_refusals(stage.local, lines.append), lines) == (0, [])
        httpx.get(f"{stage.account.entrance}{COMPUTE}/aggregated/disks", trust_env=False)
        assert tell_refusals(stage.local, lines.append) == 1
    assert lines == ["cap_runtime was denied compute.disks.list. See its row in infra/functions.yaml"]


def test_what_was_used_refused_and_left_is_shown():
    """By permission, for each function."""
    with Stage("cap_runtime") as stage:
        with httpx.Client(base_url=stage.account.entrance, trust_env=False) as door:
            door.get(f"{COMPUTE}/aggregated/instances")
            door.get(f"{COMPUTE}/aggregated/disks")
            door.get(f"{COMPUTE}/aggregated/disks")
        [shown] = stage.look("/local/permissions")["permissions"]
    assert shown == {
        "function": "cap_runtime",
        "account": WHO,
        "used": ["compute.instances.list"],
        "refused": {"compute.disks.list": 2},
        "unused": [
            "compute.globalOperations.list",
            "compute.instanceGroupManagers.delete",
            "compute.instanceGroupManagers.get",
            "compute.instances.stop",
            "pubsub.topics.publish",
            "storage.objects.create",
            "storage.objects.delete",
            "storage.objects.get",
            "storage.objects.list",
        ],
        "written": [],
        "unwritten": ["spotwarden/"],
    }
