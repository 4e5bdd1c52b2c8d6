"""Resources with links that lead back to this server."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from localcloud.errors import ApiError
from localcloud.storage.acl.shown import bucket_access, object_access
from localcloud.storage.model import Blob, Bucket, StorageSubscription
from localcloud.storage.resource import blob_json, bucket_json, subscription_json


@dataclass(frozen=True)
class StorageLinks:
    """Renders resources; `base_url` is asked each time: the port is known only once the server listens.

    `kept` is for how long the objects of a bucket are kept, by its name, and `uniform` whether it has no
    access control lists; `project_number` that of all, `owner` the address of the project's owner.
    """

    base_url: Callable[[], str]
    kept: Callable[[str], timedelta]
    uniform: Callable[[str], bool]
    project_number: str
    owner: str

    def blob(self, blob: Blob, *, full: bool = False) -> dict[str, Any]:
        """The `Object` resource; `full`: with its owner and access control list, where there are any."""
        resource = blob_json(blob, self.base_url(), self.kept(blob.bucket))
        return {**resource, **self._access(blob)} if full and not self.uniform(blob.bucket) else resource

    def blobs(self, bucket: str, blobs: Iterable[Blob], *, full: bool = False) -> list[dict[str, Any]]:
        """The `Object` resources of one bucket."""
        base_url, kept = self.base_url(), self.kept(bucket)
        full = full and not self.uniform(bucket)
        return [blob_json(blob, base_url, kept) | (self._access(blob) if full else {}) for blob in blobs]

    def _access(self, blob: Blob) -> dict[str, Any]:
        return object_access(blob, self.base_url(), self.project_number, self.owner)

    def bucket(self, bucket: Bucket, *, full: bool = False) -> dict[str, Any]:
        """The `Bucket` resource; `full`: with its owner and access control lists, where there are any."""
        base_url, number = self.base_url(), self.project_number
        resource = bucket_json(bucket, base_url, number)
        if not full or self.uniform(bucket.name):
            return resource
        return {**resource, **bucket_access(bucket, base_url, number)}

    def subscription(self, subscription: StorageSubscription) -> dict[str, Any]:
        """The `Notification` resource."""
        return subscription_json(subscription, self.base_url())

    def session(self, bucket: str, session_id: str) -> str:
        """The URL at which a resumable upload goes on."""
        path = f"/upload/storage/v1/b/{bucket}/o?uploadType=resumable&upload_id={session_id}"
        return self.base_url() + path


def wants_full(
    query: Mapping[str, str], body: Mapping[str, Any] | None = None, *, default: bool = False
) -> bool:
    """Whether an answer has owners and access control lists: as `projection` says, or as the body has some.

    Raises:
        ApiError: 400 for another projection.
    """
    asked = query.get("projection")
    if asked not in (None, "full", "noAcl"):
        message = f"Invalid value for parameter projection: {asked!r}."
        raise ApiError(400, "invalid", message, location="projection")
    named = any((body or {}).get(member) for member in ("acl", "defaultObjectAcl"))
    return default or named if asked is None else asked == "full"
