"""The objects of the service and every change to them.

Each method is one step of the event loop: it checks the preconditions, commits and tells the subscribers
without an await in between. That is what makes the preconditions exact for any number of callers.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from localcloud.clock import Clock
from localcloud.errors import ApiError
from localcloud.limits import BucketLimits, WriteLimits
from localcloud.permissions import Need, demand
from localcloud.storage.acl.author import author
from localcloud.storage.acl.lists import OWNER, Acl
from localcloud.storage.acl.rules import check_asked, owned
from localcloud.storage.acl.shown import entity_of
from localcloud.storage.bucket_shelf import BucketShelf
from localcloud.storage.checksums import NO_CLAIMS, Claims
from localcloud.storage.conditions import ANYTHING, Conditions
from localcloud.storage.content import Vault
from localcloud.storage.contexts import stamped
from localcloud.storage.events import EventType, Notifier, ObjectEvent
from localcloud.storage.fields import check_metadata
from localcloud.storage.index import Index
from localcloud.storage.listing import ObjectPage, ObjectQuery, list_page
from localcloud.storage.model import Blob, Draft, Fields
from localcloud.storage.retention import check_expired, check_holds, held_by_default, released

SESSION_LIFE = timedelta(days=7)
"""How long a resumable upload may take ("Resumable uploads")."""

_log = logging.getLogger(__name__)


class Store:
    """The objects of one folder, and its `buckets`."""

    def __init__(
        self,
        *,
        index: Index,
        vault: Vault,
        notifier: Notifier,
        clock: Clock,
        limits: WriteLimits,
        bucket_limits: BucketLimits,
        number: str,
        owner: str,
    ) -> None:
        """Take the parts; `number` is the project's, `owner` the address of its owner."""
        self.number = number
        self.owner = owner
        self.index = index
        self.vault = vault
        self.limits = limits
        self.buckets = BucketShelf(index=index, vault=vault, clock=clock, limits=bucket_limits)
        self._notifier = notifier
        self._clock = clock

    def now(self) -> datetime:
        """The time of the cloud."""
        return self._clock.now()

    def repair(self) -> None:
        """Make the files and the rows agree again after a crash: call it once, before anything else."""
        for blob in list(self.index.blobs()):
            if not self.vault.intact(blob.content):
                _log.error("gs://%s/%s is dropped: its content was lost in a crash", blob.bucket, blob.name)
                self.index.drop_blob(blob)
        for session in self.index.sessions():
            if session.created < self.now() - SESSION_LIFE:
                self.index.drop_session(session.id)
        self.index.multiparts.drop_lost(self.vault.intact)
        if orphans := self.vault.sweep(self.index.files()):
            _log.info("removed %d files of uploads that never finished", orphans)

    # Reading

    def find(self, bucket: str, name: str, generation: int | None = None) -> Blob | None:
        """An object: its live generation or the one asked for; None when there is none."""
        if generation is None:
            return self.index.live(bucket, name)
        return self.index.version(bucket, name, generation)

    def get(self, bucket: str, name: str, generation: int | None = None) -> Blob:
        """As `find`.

        Raises:
            ApiError: 404 for the bucket or the object.
        """
        self.buckets.get(bucket)
        blob = self.find(bucket, name, generation)
        if blob is None:
            suffix = "" if generation is None else f"#{generation}"
            raise ApiError(404, "notFound", f"No such object: {bucket}/{name}{suffix}")
        return blob

    def listing(self, bucket: str, query: ObjectQuery) -> ObjectPage:
        """One page of the objects of a bucket.

        Raises:
            ApiError: 404 for the bucket.
        """
        self.buckets.get(bucket)
        return list_page(
            lambda start, end: self.index.scan(bucket, start, end, versions=query.versions), query
        )

    # Changing

    def check(self, bucket: str, name: str, conditions: Conditions) -> None:
        """Raise what `write` would raise now, so that an upload in vain ends before it begins."""
        self.buckets.get(bucket)
        # Before the preconditions, as in Cloud Storage: whoever loses a race for a name hears 429, not 412.
        self.limits.check(bucket, name)
        old = self.find(bucket, name)
        conditions.check(old)
        for permission in ("storage.objects.create", *(["storage.objects.delete"] if old else [])):
            demand(Need(permission=permission, on=name, bucket=bucket, thing=name))

    def write(
        self,
        draft: Draft,
        conditions: Conditions = ANYTHING,
        *,
        claims: Claims = NO_CLAIMS,
        within: Callable[[Blob], None] = lambda _blob: None,
    ) -> Blob:
        """Make a draft the live generation; what `within` does to the index is in the same commit.

        When it is refused, the draft's file is removed.

        Raises:
            ApiError: 400 for a checksum that does not hold or too much metadata, 404 for the bucket, 412,
                403 when a hold protects what is there, or the caller may not write it, 429 when it comes
                too soon.
        """
        try:
            claims.check(draft.content)
            return self._write(draft, conditions, within)
        except ApiError:
            self.vault.remove([draft.content.file])
            raise

    def _write(self, draft: Draft, conditions: Conditions, within: Callable[[Blob], None]) -> Blob:
        self.check(draft.bucket, draft.name, conditions)
        check_metadata(draft.fields)
        bucket = self.buckets.get(draft.bucket)
        now, old = self.now(), self.find(draft.bucket, draft.name)
        if old:
            self._check_kept(old, now, forever=not bucket.versioned)
        acl = owned(draft.acl, bucket, f"user-{author() or self.owner}", self.number)
        draft = replace(draft, fields=stamped({}, held_by_default(draft.fields, bucket), now))
        with self.index.transaction():
            generation = self.index.next_generation(now)
            retired = self._retire(old, now) if old else None
            blob = replace(draft.blob(generation, now), owner=author(), acl=acl)
            self.index.put_blob(blob)
            within(blob)
        self.limits.count(draft.bucket, draft.name)
        if old:
            self._tell(EventType.FINALIZE, blob, now, overwroteGeneration=old.generation)
            self._gone(old, retired, now, overwrittenByGeneration=generation)
        else:
            self._tell(EventType.FINALIZE, blob, now)
        return blob

    def change(self, blob: Blob, fields: Fields, *, acl: Acl | None = None) -> Blob:
        """Write an object with other metadata, and another `acl` if there is one, as its next metageneration.

        Raises:
            ApiError: 429 when it comes too soon; 400 for too much metadata, and with 412 for an access
                control list that cannot be.
        """
        self.limits.check(blob.bucket, blob.name)
        check_metadata(fields)
        entity = entity_of(blob, self.owner)
        if acl is not None:
            check_asked(self.buckets.get(blob.bucket).fields, {"acl": acl}, "an object")
        listed = blob.acl if acl is None else {**acl, entity: OWNER}
        now = self.now()
        changed = replace(
            blob,
            fields=stamped(blob.fields, fields, now),
            acl=listed,
            metageneration=blob.metageneration + 1,
            updated=now,
            released=released(blob, fields, now),
        )
        self.index.put_blob(changed)
        self.limits.count(blob.bucket, blob.name)
        self._tell(EventType.METADATA_UPDATE, changed, now)
        return changed

    def delete(self, bucket: str, name: str, conditions: Conditions, generation: int | None = None) -> None:
        """Delete an object: with a generation for good, else its live one, which a versioned bucket keeps.

        Raises:
            ApiError: 404, 412, 403 when a hold protects it, 429 when it comes too soon.
        """
        blob = self.get(bucket, name, generation)
        self.limits.check(bucket, name)
        conditions.check(blob)
        now = self.now()
        versioned = self.buckets.get(bucket).versioned
        self._check_kept(blob, now, forever=generation is not None or not versioned)
        with self.index.transaction():
            if generation is None:
                retired = self._retire(blob, now)
            else:
                self.index.drop_blob(blob)
                retired = None
        self.limits.count(bucket, name)
        self._gone(blob, retired, now)

    def check_movable(self, blob: Blob, *, for_good: bool = False) -> None:
        """Raise `ApiError` when an object cannot lose its name: 403 as it is protected, 429 when too soon.

        `for_good`: not even a bucket with versions will keep it.
        """
        self.limits.check(blob.bucket, blob.name)
        self._check_kept(blob, self.now(), forever=for_good or not self.buckets.get(blob.bucket).versioned)

    def _check_kept(self, blob: Blob, now: datetime, *, forever: bool) -> None:
        """Raise `ApiError` 403 for a hold, and for a retention policy where nothing of the object stays."""
        check_holds(blob)
        if forever:
            check_expired(blob, self.buckets.get(blob.bucket), now)

    def _retire(self, blob: Blob, now: datetime) -> Blob | None:
        """Take the live generation away; return the noncurrent version that a versioned bucket keeps."""
        if not self.buckets.get(blob.bucket).versioned:
            self.index.drop_blob(blob)
            return None
        retired = replace(blob, deleted=now, updated=now)
        self.index.put_blob(retired)
        return retired

    def _gone(self, blob: Blob, retired: Blob | None, now: datetime, **generations: int) -> None:
        if retired is None:
            self.vault.remove([blob.content.file])
        kind = EventType.ARCHIVE if retired else EventType.DELETE
        self._tell(kind, retired or blob, now, **generations)

    def _tell(self, kind: EventType, blob: Blob, now: datetime, **generations: int) -> None:
        attributes: Mapping[str, str] = {name: str(value) for name, value in generations.items()}
        self._notifier.tell(ObjectEvent(type=kind, blob=blob, at=now, attributes=attributes))
