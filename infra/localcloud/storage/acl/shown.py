"""Access control lists as resources of the JSON API."""

from collections.abc import Mapping
from typing import Any

from localcloud.storage.acl.lists import OWNER, Acl, project_private
from localcloud.storage.model import Blob, Bucket
from localcloud.storage.resource import etag, segment

Json = dict[str, Any]


def bucket_acl(bucket: Bucket, number: str) -> Acl:
    """The list of a bucket."""
    return project_private(number) if bucket.acl is None else bucket.acl


def default_acl(bucket: Bucket, number: str) -> Acl:
    """The list that new objects of a bucket get."""
    return project_private(number) if bucket.default_acl is None else bucket.default_acl


def object_acl(blob: Blob, number: str, owner: str) -> Acl:
    """The list of an object; `owner` is that of what nobody in particular made."""
    if blob.acl is not None:
        return blob.acl
    return {**project_private(number), entity_of(blob, owner): OWNER}


def entity_of(blob: Blob, owner: str) -> str:
    """The entity that owns an object."""
    return f"user-{blob.owner or owner}"


def bucket_entry(bucket: Bucket, base_url: str, entity: str, role: str) -> Json:
    """The `BucketAccessControl` resource."""
    return {
        "kind": "storage#bucketAccessControl",
        "id": f"{bucket.name}/{entity}",
        "selfLink": f"{base_url}/storage/v1/b/{bucket.name}/acl/{segment(entity)}",
        "bucket": bucket.name,
        **_entry(entity, role, etag(bucket.metageneration)),
    }


def default_entry(bucket: Bucket, entity: str, role: str) -> Json:
    """The `ObjectAccessControl` resource of a default list."""
    kind = "storage#objectAccessControl"
    return {"kind": kind, **_entry(entity, role, etag(bucket.metageneration))}


def object_entry(blob: Blob, base_url: str, entity: str, role: str) -> Json:
    """The `ObjectAccessControl` resource of an object."""
    where = f"b/{blob.bucket}/o/{segment(blob.name)}/acl/{segment(entity)}"
    return {
        "kind": "storage#objectAccessControl",
        "id": f"{blob.bucket}/{blob.name}/{blob.generation}/{entity}",
        "selfLink": f"{base_url}/storage/v1/{where}",
        "bucket": blob.bucket,
        "object": blob.name,
        "generation": str(blob.generation),
        **_entry(entity, role, etag(blob.generation, blob.metageneration)),
    }


def bucket_access(bucket: Bucket, base_url: str, number: str) -> Json:
    """What a bucket's resource has where lists are asked for: its owner and both lists."""
    own, new = bucket_acl(bucket, number), default_acl(bucket, number)
    return {
        "owner": {"entity": f"project-owners-{number}"},
        "acl": [bucket_entry(bucket, base_url, entity, role) for entity, role in own.items()],
        "defaultObjectAcl": [default_entry(bucket, entity, role) for entity, role in new.items()],
    }


def object_access(blob: Blob, base_url: str, number: str, owner: str) -> Json:
    """The same of an object: its owner and its list."""
    listed = object_acl(blob, number, owner)
    return {
        "owner": {"entity": entity_of(blob, owner)},
        "acl": [object_entry(blob, base_url, entity, role) for entity, role in listed.items()],
    }


def _entry(entity: str, role: str, tag: str) -> Json:
    kind, _, name = entity.partition("-")
    more: Mapping[str, Any] = {}
    if kind in ("user", "group") and "@" in name:
        more = {"email": name}
    elif kind == "domain":
        more = {"domain": name}
    elif kind == "project":
        team, _, number = name.partition("-")
        more = {"projectTeam": {"projectNumber": number, "team": team}}
    return {"entity": entity, "role": role, "etag": tag, **more}
