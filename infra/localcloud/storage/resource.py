"""What the API answers: resources in the JSON form of the storage/v1 discovery document."""

import base64
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from localcloud.clock import rfc3339
from localcloud.storage.model import Blob, Bucket, StorageSubscription
from localcloud.storage.retention import expiry

Json = dict[str, Any]


def segment(name: str) -> str:
    """A name as one segment of a URL path."""
    return quote(name, safe="")


def etag(*numbers: int) -> str:
    """The entity tag of a version, built as Google builds it: a protocol buffer of the numbers, in base64."""
    message = b"".join(bytes([position << 3]) + _varint(value) for position, value in enumerate(numbers, 1))
    return base64.b64encode(message).decode()


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - seven bits a byte
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def blob_json(blob: Blob, base_url: str, kept: timedelta = timedelta()) -> Json:
    """The `Object` resource; `kept` is the period of its bucket's retention policy."""
    where = f"b/{blob.bucket}/o/{segment(blob.name)}"
    created = rfc3339(blob.created)
    resource: Json = {
        "kind": "storage#object",
        "id": f"{blob.bucket}/{blob.name}/{blob.generation}",
        "selfLink": f"{base_url}/storage/v1/{where}",
        "mediaLink": f"{base_url}/download/storage/v1/{where}?generation={blob.generation}&alt=media",
        "name": blob.name,
        "bucket": blob.bucket,
        "generation": str(blob.generation),
        "metageneration": str(blob.metageneration),
        "storageClass": "STANDARD",
        "size": str(blob.content.size),
        "crc32c": blob.content.crc32c,
        "etag": etag(blob.generation, blob.metageneration),
        "timeCreated": created,
        "updated": rfc3339(blob.updated),
        "timeStorageClassUpdated": created,
        "timeFinalized": created,
        **blob.fields,
    }
    if blob.content.md5:
        resource["md5Hash"] = blob.content.md5
    if blob.components:
        resource["componentCount"] = blob.components
    if until := expiry(blob, kept):
        resource["retentionExpirationTime"] = rfc3339(until)
    if blob.deleted:
        resource["timeDeleted"] = rfc3339(blob.deleted)
    return resource


def bucket_json(bucket: Bucket, base_url: str, project_number: str) -> Json:
    """The `Bucket` resource."""
    return {
        "kind": "storage#bucket",
        "id": bucket.name,
        "selfLink": f"{base_url}/storage/v1/b/{bucket.name}",
        "name": bucket.name,
        "projectNumber": project_number,
        "generation": str(bucket.generation),
        "metageneration": str(bucket.metageneration),
        "etag": etag(bucket.metageneration),
        "timeCreated": rfc3339(bucket.created),
        "updated": rfc3339(bucket.updated),
        "locationType": _location_type(bucket.fields),
        # No object outlives its deletion here.
        "softDeletePolicy": {"retentionDurationSeconds": "0"},
        **bucket.fields,
        "iamConfiguration": {
            "bucketPolicyOnly": {"enabled": True},
            "uniformBucketLevelAccess": {"enabled": True},
            "publicAccessPrevention": "inherited",
            **bucket.fields.get("iamConfiguration", {}),
        },
    }


def _location_type(fields: Mapping[str, Any]) -> str:
    location = fields["location"]
    if fields.get("customPlacementConfig", {}).get("dataLocations"):
        return "dual-region"
    if location in {"US", "EU", "ASIA"}:
        return "multi-region"
    return "region" if "-" in location else "dual-region"


def listing_json(kind: str, items: Iterable[Json], **others: Any) -> Json:
    """A list answer; what is empty is left out, as Google does."""
    answer: Json = {"kind": kind, "items": list(items), **others}
    return {key: value for key, value in answer.items() if value}


def subscription_json(subscription: StorageSubscription, base_url: str) -> Json:
    """The `Notification` resource."""
    resource: Mapping[str, Any] = {
        "kind": "storage#notification",
        "id": subscription.id,
        "selfLink": f"{base_url}/storage/v1/b/{subscription.bucket}/notificationConfigs/{subscription.id}",
        "topic": f"//pubsub.googleapis.com/{subscription.topic}",
        "etag": subscription.id,
        "payload_format": subscription.payload,
        "event_types": list(subscription.events),
        "object_name_prefix": subscription.prefix,
        "custom_attributes": dict(subscription.attributes),
    }
    return {key: value for key, value in resource.items() if value}
