"""From the manifest to topics, subscriptions, notifications, sinks and schedules, through the public APIs."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import msgspec

from localcloud.deployment.manifest import Function, Manifest
from localcloud.mailbox import NOTICES
from localcloud.outbound import NO_TLS

TICK = "spotwarden-tick"
NOTHING = "e30="
"""A tick's data, `{}`: functions-framework takes no message of a push subscription that has none."""
LEAST_ACK_SECONDS, MOST_ACK_SECONDS = 10, 600
"""Between these Pub/Sub waits for an answer; it is told to wait as long as the function may run."""
LOCATION = "us-central1"
EXISTS = 409


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """What the functions watch: `prefix` is the bucket-wide one, "" for none."""

    project: str
    bucket: str
    prefix: str = ""


class WiredCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call that makes something; that it is there already is success."""

    method: str
    path: str
    body: Mapping[str, Any]


async def wire(manifest: Manifest, where: Where, *, base: str, urls: Mapping[str, str]) -> None:
    """Make everything that wakes the functions; `RuntimeError` says what could not be made."""
    calls = [*shared(manifest, where, base)]
    for function in manifest.functions:
        calls += wires(function, where, urls[function.name])
        calls += listens(function, manifest, where.project, urls[function.name])
    async with httpx.AsyncClient(base_url=base, timeout=30, trust_env=False, verify=NO_TLS) as client:
        await _forget_notifications(client, where)
        for call in calls:
            answer = await client.request(call.method, call.path, json=call.body)
            if answer.is_error and answer.status_code != EXISTS:
                raise RuntimeError(f"{call.method} {call.path}: {answer.status_code} {answer.text}")


async def _forget_notifications(client: httpx.AsyncClient, where: Where) -> None:
    """Drop what an earlier start left in a bucket that was kept: the same twice would double each event."""
    path = f"/storage/v1/b/{where.bucket}/notificationConfigs"
    answer = await client.get(path)
    for item in answer.json().get("items", ()) if answer.is_success else ():
        await client.delete(f"{path}/{item['id']}")


def shared(manifest: Manifest, where: Where, base: str) -> Iterator[WiredCall]:
    """The jobs' bucket, and the topics for everybody: their messages go to the mailbox, too."""
    yield WiredCall(method="POST", path=f"/storage/v1/b?project={where.project}", body={"name": where.bucket})
    for topic in manifest.topics.values():
        yield _topic(where.project, topic)
        yield _mailbox(where.project, topic, base)


def wires(function: Function, where: Where, url: str) -> Iterator[WiredCall]:
    """Everything that wakes one function: all of it ends in the function's one topic."""
    if not function.is_woken:
        return
    project = where.project
    topic = f"projects/{project}/topics/{function.topic}"
    yield _topic(project, function.topic)
    yield _subscription(function, project, function.topic, url)
    for event, below in function.bucket_events.items():
        body = {
            "topic": f"//pubsub.googleapis.com/{topic}",
            "event_types": [event],
            "object_name_prefix": where.prefix + below,
            "payload_format": "JSON_API_V1",
        }
        yield WiredCall(method="POST", path=f"/storage/v1/b/{where.bucket}/notificationConfigs", body=body)
    if function.log_events:
        sink = {
            "name": function.topic,
            "destination": f"pubsub.googleapis.com/{topic}",
            "filter": function.log_events,
        }
        yield WiredCall(method="POST", path=f"/v2/projects/{project}/sinks", body=sink)
    if function.schedule:
        yield _schedule(function, project, topic)


def listens(function: Function, manifest: Manifest, project: str, url: str) -> Iterator[WiredCall]:
    """The topics that others publish on, whose messages it gets besides."""
    for name in function.listens_to:
        yield _subscription(function, project, manifest.topics[name], url)


def _topic(project: str, topic: str) -> WiredCall:
    return WiredCall(method="PUT", path=f"/v1/projects/{project}/topics/{topic}", body={})


def _mailbox(project: str, topic: str, base: str) -> WiredCall:
    body = {"topic": f"projects/{project}/topics/{topic}", "pushConfig": {"pushEndpoint": base + NOTICES}}
    return WiredCall(method="PUT", path=f"/v1/projects/{project}/subscriptions/{topic}-mailbox", body=body)


def _subscription(function: Function, project: str, topic: str, url: str) -> WiredCall:
    """A push subscription, named after the function and, where it is not the function's own, the topic."""
    name = function.topic if topic == function.topic else f"{function.topic}-{topic}"
    body = {
        "topic": f"projects/{project}/topics/{topic}",
        "ackDeadlineSeconds": min(MOST_ACK_SECONDS, max(LEAST_ACK_SECONDS, function.timeout_seconds)),
        "pushConfig": {"pushEndpoint": f"{url}/"},
        "retryPolicy": {
            "minimumBackoff": f"{function.retry.minimum_seconds:g}s",
            "maximumBackoff": f"{function.retry.maximum_seconds:g}s",
        },
    }
    return WiredCall(method="PUT", path=f"/v1/projects/{project}/subscriptions/{name}", body=body)


def _schedule(function: Function, project: str, topic: str) -> WiredCall:
    jobs = f"projects/{project}/locations/{LOCATION}/jobs"
    body = {
        "name": f"{jobs}/{function.topic}",
        "schedule": function.schedule,
        "timeZone": "Etc/UTC",
        "pubsubTarget": {"topicName": topic, "data": NOTHING, "attributes": {TICK: function.name}},
    }
    return WiredCall(method="POST", path=f"/v1/{jobs}", body=body)
