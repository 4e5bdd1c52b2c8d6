"""Bucket notifications: what happened to an object, told to Pub/Sub ("Pub/Sub notifications")."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from localcloud.clock import rfc3339
from localcloud.errors import ApiError
from localcloud.ports import Publish
from localcloud.storage.links import StorageLinks
from localcloud.storage.model import Blob, StorageSubscription

_log = logging.getLogger(__name__)


class EventType(StrEnum):
    """What can happen to an object."""

    FINALIZE = "OBJECT_FINALIZE"
    METADATA_UPDATE = "OBJECT_METADATA_UPDATE"
    DELETE = "OBJECT_DELETE"
    ARCHIVE = "OBJECT_ARCHIVE"


PAYLOADS = ("JSON_API_V1", "NONE")


@dataclass(frozen=True, kw_only=True)
class ObjectEvent:
    """One thing that happened; `attributes` holds the generation on the other side of an overwrite."""

    type: EventType
    blob: Blob
    at: datetime
    attributes: Mapping[str, str]


def wants(subscription: StorageSubscription, event: ObjectEvent) -> bool:
    """Whether a configuration asks for this event: no types means all, no prefix means all."""
    return (not subscription.events or event.type in subscription.events) and event.blob.name.startswith(
        subscription.prefix
    )


def attributes(subscription: StorageSubscription, event: ObjectEvent) -> dict[str, str]:
    """The message's attributes."""
    blob = event.blob
    return {
        **subscription.attributes,
        "notificationConfig": f"projects/_/buckets/{blob.bucket}/notificationConfigs/{subscription.id}",
        "eventType": event.type.value,
        "payloadFormat": subscription.payload,
        "bucketId": blob.bucket,
        "objectId": blob.name,
        "objectGeneration": str(blob.generation),
        "eventTime": rfc3339(event.at),
        **event.attributes,
    }


class Notifier:
    """Tells every configuration of a bucket that wants to know."""

    def __init__(
        self,
        *,
        publish: Publish,
        subscriptions: Callable[[str], list[StorageSubscription]],
        links: StorageLinks,
    ) -> None:
        self._publish = publish
        self._subscriptions = subscriptions
        self._links = links

    def tell(self, event: ObjectEvent) -> None:
        """Publish; a topic that cannot take it is logged, for the object is written all the same."""
        for subscription in self._subscriptions(event.blob.bucket):
            if wants(subscription, event):
                self._send(subscription, event)

    def _send(self, subscription: StorageSubscription, event: ObjectEvent) -> None:
        payload = b""
        if subscription.payload == "JSON_API_V1":
            payload = json.dumps(self._links.blob(event.blob), ensure_ascii=False).encode()
        try:
            self._publish(subscription.topic, payload, attributes(subscription, event))
        except ApiError as error:
            _log.warning(
                "notification %s of bucket %s was not published to %s: %s",
                subscription.id, event.blob.bucket, subscription.topic, error.message,
            )  # fmt: skip
