"""Snapshots: what a subscription had not acknowledged at a moment, and all that was published after it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, timedelta

from google.protobuf.empty_pb2 import Empty

from localcloud.google_types import pubsub as types
from localcloud.pubsub.checks import updated
from localcloud.pubsub.names import (
    DELETED_TOPIC,
    already_exists,
    check_name,
    check_project,
    invalid,
    not_found,
)
from localcloud.pubsub.registry import PubSubRegistry
from localcloud.rpc import Method, Raw, RpcError, page, plain, table

LIFE = timedelta(days=7)
"""A snapshot is kept for so long, less the age of its oldest message ("Replay and purge messages")."""
SHORTEST_LIFE = timedelta(hours=1)
"""A snapshot that would be gone sooner is not made."""
_NAME = "projects/*/snapshots/*"
ROWS = (
    ("CreateSnapshot", types.CreateSnapshotRequest, types.Snapshot, f"PUT /v1/{{name={_NAME}}} *"),
    ("GetSnapshot", types.GetSnapshotRequest, types.Snapshot, f"GET /v1/{{snapshot={_NAME}}}"),
    (
        "UpdateSnapshot",
        types.UpdateSnapshotRequest,
        types.Snapshot,
        f"PATCH /v1/{{snapshot.name={_NAME}}} *",
    ),
    (
        "ListSnapshots",
        types.ListSnapshotsRequest,
        types.ListSnapshotsResponse,
        "GET /v1/{project=projects/*}/snapshots",
    ),
    ("DeleteSnapshot", types.DeleteSnapshotRequest, Empty, f"DELETE /v1/{{snapshot={_NAME}}}"),
)
TOPIC_ROWS = (
    (
        "ListTopicSnapshots",
        types.ListTopicSnapshotsRequest,
        types.ListTopicSnapshotsResponse,
        "GET /v1/{topic=projects/*/topics/*}/snapshots",
    ),
)


@dataclass(eq=False, kw_only=True)
class Snapshot:
    """One snapshot with its messages, in the order of publishing."""

    config: Raw
    messages: list[Raw] = field(default_factory=list)


class Snapshots:
    """Answers the calls that `SubscriberClient` and `gcloud pubsub snapshots` make."""

    def __init__(self, registry: PubSubRegistry) -> None:
        self._registry = registry
        self._snapshots: dict[str, Snapshot] = {}
        registry.published = self._published

    def methods(self) -> Iterator[Method]:
        """The table of methods."""
        yield from table("google.pubsub.v1.Subscriber", self, ROWS)
        yield from table("google.pubsub.v1.Publisher", self, TOPIC_ROWS)

    def create_snapshot(self, request: Raw) -> Raw:
        """Keep what a subscription has not acknowledged, and from now on what is published to its topic."""
        check_name(request.name, "snapshots")
        check_project(request.name, self._registry.project)
        if request.tags:
            raise RpcError("UNIMPLEMENTED", "The local cloud does not do tags of a snapshot.")
        subscription = self._registry.subscription(request.subscription)
        if subscription.config.topic == DELETED_TOPIC:
            raise RpcError("FAILED_PRECONDITION", "The topic of the subscription is deleted.")
        if request.name in self._kept():
            raise already_exists(request.name)
        subscription.queue.advance(subscription.now())
        messages = subscription.queue.unacknowledged()
        now = self._registry.clock.now()
        times = [message.publish_time.ToDatetime(tzinfo=UTC) for message in messages]
        expires = min(times, default=now) + LIFE
        if expires - now < SHORTEST_LIFE:
            text = "The oldest message of the subscription is too old for a snapshot."
            raise RpcError("FAILED_PRECONDITION", text)
        config = plain(types.Snapshot)(name=request.name, topic=subscription.config.topic)
        config.labels.update(request.labels)
        config.expire_time.FromDatetime(expires)
        self._snapshots[request.name] = Snapshot(config=config, messages=messages)
        return config

    def get_snapshot(self, request: Raw) -> Raw:
        """A snapshot, without its messages."""
        return self.find(request.snapshot).config

    def update_snapshot(self, request: Raw) -> Raw:
        """Change the labels or the moment at which it is gone."""
        snapshot = self.find(request.snapshot.name)
        snapshot.config = updated(snapshot.config, request.snapshot, request.update_mask)
        return snapshot.config

    def list_snapshots(self, request: Raw) -> Raw:
        """One page of the project's snapshots, by name."""
        check_project(request.project, self._registry.project)
        kept = self._kept()
        names, token = page(kept, size=request.page_size, token=request.page_token)
        shown = [kept[name].config for name in names]
        return plain(types.ListSnapshotsResponse)(snapshots=shown, next_page_token=token)

    def list_topic_snapshots(self, request: Raw) -> Raw:
        """One page of the names of a topic's snapshots."""
        self._registry.topic(request.topic)
        of_topic = [name for name, kept in self._kept().items() if kept.config.topic == request.topic]
        names, token = page(of_topic, size=request.page_size, token=request.page_token)
        return plain(types.ListTopicSnapshotsResponse)(snapshots=names, next_page_token=token)

    def delete_snapshot(self, request: Raw) -> Raw:
        """Let go of it and of its messages."""
        self.find(request.snapshot)
        del self._snapshots[request.snapshot]
        return Empty()

    def find(self, name: str) -> Snapshot:
        """The snapshot of this name.

        Raises:
            RpcError: NOT_FOUND, also when its time is over.
        """
        check_project(name, self._registry.project)
        found = self._kept().get(name)
        if found is None:
            raise not_found(name)
        return found

    def messages_for(self, name: str, topic: str) -> list[Raw]:
        """What a subscription of this topic has to deliver after a seek to this snapshot.

        Raises:
            RpcError: NOT_FOUND, or INVALID_ARGUMENT where the snapshot is of another topic.
        """
        found = self.find(name)
        if found.config.topic != topic:
            raise invalid("snapshot", "The snapshot is of another topic than the subscription.")
        return found.messages

    def _kept(self) -> dict[str, Snapshot]:
        """Those whose time is not over; the others are gone."""
        now = self._registry.clock.now()
        self._snapshots = {
            name: snapshot
            for name, snapshot in self._snapshots.items()
            if snapshot.config.expire_time.ToDatetime(tzinfo=UTC) > now
        }
        return self._snapshots

    def _published(self, topic: str, message: Raw) -> None:
        for snapshot in self._snapshots.values():
            if snapshot.config.topic == topic:
                snapshot.messages.append(message)
