"""Resources with links that lead back to this server."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from localcloud.storage.model import Blob, Bucket, StorageSubscription
from localcloud.storage.resource import blob_json, bucket_json, subscription_json


@dataclass(frozen=True)
class StorageLinks:
    """Renders resources; `base_url` is asked each time: the port is known only once the server listens.

    `kept` is for how long the objects of a bucket are kept, by its name; `project_number` that of all.
    """

    base_url: Callable[[], str]
    kept: Callable[[str], timedelta]
    project_number: str

    def blob(self, blob: Blob) -> dict[str, Any]:
        """The `Object` resource."""
        return blob_json(blob, self.base_url(), self.kept(blob.bucket))

    def blobs(self, bucket: str, blobs: Iterable[Blob]) -> list[dict[str, Any]]:
        """The `Object` resources of one bucket."""
        base_url, kept = self.base_url(), self.kept(bucket)
        return [blob_json(blob, base_url, kept) for blob in blobs]

    def bucket(self, bucket: Bucket) -> dict[str, Any]:
        """The `Bucket` resource."""
        return bucket_json(bucket, self.base_url(), self.project_number)

    def subscription(self, subscription: StorageSubscription) -> dict[str, Any]:
        """The `Notification` resource."""
        return subscription_json(subscription, self.base_url())

    def session(self, bucket: str, session_id: str) -> str:
        """The URL at which a resumable upload goes on."""
        path = f"/upload/storage/v1/b/{bucket}/o?uploadType=resumable&upload_id={session_id}"
        return self.base_url() + path
