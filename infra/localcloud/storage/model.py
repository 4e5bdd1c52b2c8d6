"""The nouns of the service. All frozen: a change is a new value in the index."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Fields = Mapping[str, Any]
"""What a caller may set on a resource, in the JSON names of the API."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """The bytes of one generation: the file that holds them, how many, and their checksums.

    `md5` is None for a composed object, which has none in Cloud Storage either.
    """

    file: str
    size: int
    md5: str | None
    crc32c: str


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket; `fields` is what callers set."""

    name: str
    generation: int
    metageneration: int
    created: datetime
    updated: datetime
    fields: Fields = field(default_factory=dict)
    policy: Fields = field(default_factory=dict)
    acl: Mapping[str, str] | None = None
    """Role by entity; None for what the roles in the project say, as of all access control lists."""
    default_acl: Mapping[str, str] | None = None
    """The list that new objects get."""

    @property
    def versioned(self) -> bool:
        """Whether an overwritten or deleted object stays as a noncurrent version."""
        return bool(self.fields.get("versioning", {}).get("enabled"))


@dataclass(frozen=True, kw_only=True)
class Blob:
    """One generation of an object; live while `deleted` is None."""

    bucket: str
    name: str
    generation: int
    metageneration: int
    content: Content
    created: datetime
    updated: datetime
    deleted: datetime | None = None
    released: datetime | None = None
    """When its last event-based hold ended."""
    fields: Fields = field(default_factory=dict)
    components: int = 0
    owner: str = ""
    """The address of the account that made it; "" for the owner of the project."""
    acl: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An object about to be written; its content is in the vault already.

    `acl` is the access control list that was asked for, None for that of its bucket.
    """

    bucket: str
    name: str
    content: Content
    fields: Fields = field(default_factory=dict)
    components: int = 0
    acl: Mapping[str, str] | None = None

    def blob(self, generation: int, now: datetime) -> Blob:
        """The object that this becomes."""
        return Blob(
            bucket=self.bucket,
            name=self.name,
            generation=generation,
            metageneration=1,
            content=self.content,
            created=now,
            updated=now,
            fields=self.fields,
            components=self.components,
        )


@dataclass(frozen=True, kw_only=True)
class Session:
    """A resumable upload; `done` is the object it made, once it has."""

    id: str
    bucket: str
    file: str
    total: int | None
    query: Mapping[str, str]
    body: Fields
    content_type: str
    created: datetime
    done: Blob | None = None


@dataclass(frozen=True, kw_only=True)
class MultipartUpload:
    """An upload of the XML API that is under way; `number` is that of its place among those of one name."""

    id: str
    bucket: str
    name: str
    number: int
    fields: Fields
    created: datetime


@dataclass(frozen=True, kw_only=True)
class UploadPart:
    """One part that has arrived, of the upload with this id."""

    upload: str
    number: int
    content: Content
    written: datetime


@dataclass(frozen=True, kw_only=True)
class StorageSubscription:
    """A notification configuration of a bucket; `topic` is `projects/P/topics/T`."""

    id: str
    bucket: str
    topic: str
    payload: str
    events: tuple[str, ...] = ()
    prefix: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
