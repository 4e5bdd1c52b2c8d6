"""The buckets of the service and every change of their settings; their objects are the store's."""

from dataclasses import replace
from typing import Any

from localcloud.clock import Clock
from localcloud.errors import ApiError
from localcloud.limits import BucketLimits
from localcloud.storage.acl.lists import Acl
from localcloud.storage.conditions import Conditions
from localcloud.storage.content import Vault
from localcloud.storage.index import Index
from localcloud.storage.model import Bucket, Fields


class BucketShelf:
    """The buckets of one folder. As in the store, each method is one step of the event loop."""

    def __init__(self, *, index: Index, vault: Vault, clock: Clock, limits: BucketLimits) -> None:
        self.limits = limits
        self._index = index
        self._vault = vault
        self._clock = clock

    def get(self, name: str) -> Bucket:
        """The bucket of that name.

        Raises:
            ApiError: 404.
        """
        bucket = self._index.bucket(name)
        if bucket is None:
            raise ApiError(404, "notFound", "The specified bucket does not exist.")
        return bucket

    def create(self, name: str, fields: Fields, **lists: Acl) -> Bucket:
        """Create a bucket, with access control lists if there are any.

        Raises:
            ApiError: 409 when the name is taken.
        """
        if self._index.bucket(name):
            message = "Your previous request to create the named bucket succeeded and you already own it."
            raise ApiError(409, "conflict", message)
        now = self._clock.now()
        with self._index.transaction():
            generation = self._index.next_generation(now)
            bucket = Bucket(
                name=name,
                generation=generation,
                metageneration=1,
                created=now,
                updated=now,
                fields=fields,
                **lists,
            )
            self._index.put_bucket(bucket)
        return bucket

    def change(self, bucket: Bucket, **changes: Any) -> Bucket:
        """Write a bucket with these attributes changed, as its next metageneration.

        Raises:
            ApiError: 429 when it comes too soon.
        """
        self.limits.check_update(bucket.name)
        changed = replace(
            bucket, **changes, metageneration=bucket.metageneration + 1, updated=self._clock.now()
        )
        self._index.put_bucket(changed)
        self.limits.count_update(bucket.name)
        return changed

    def delete(self, name: str, conditions: Conditions) -> None:
        """Delete an empty bucket.

        Raises:
            ApiError: 404; 409 while it holds an object, live or not; 412; 429 when it comes too soon.
        """
        self.limits.check_creation()
        conditions.check_bucket(self.get(name))
        if next(self._index.scan(name, (b"", 0), versions=True), None):
            raise ApiError(409, "conflict", "The bucket you tried to delete is not empty.")
        files = list(self._index.multiparts.files(name))
        with self._index.transaction():
            self._index.drop_bucket(name)
        self._vault.remove(files)
        self.limits.count_creation()
        self.limits.forget(name)
