"""What a caller may set on an object or a bucket, and how a patch changes it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from localcloud.errors import ApiError
from localcloud.storage.contexts import read_contexts
from localcloud.storage.lifecycle import check_rules
from localcloud.storage.model import Fields
from localcloud.storage.settings import Cors, UsageLog, Versioning, Website, check_class, check_labels
from localcloud.storage.undone import check_bucket, check_object

LONGEST_METADATA = 8 << 10
"""Bytes of all keys and values of an object's custom metadata ("Quotas and limits")."""


class ObjectFields(msgspec.Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """The settable members of the `Object` resource; what else a caller sends is ignored, as by Google."""

    cache_control: str | None = None
    content_disposition: str | None = None
    content_encoding: str | None = None
    content_language: str | None = None
    content_type: str | None = None
    contexts: dict[str, Any] | None = None
    custom_time: datetime | None = None
    event_based_hold: bool | None = None
    temporary_hold: bool | None = None
    metadata: dict[str, str | None] | None = None
    storage_class: str | None = None
    crc32c: str | None = None
    md5_hash: str | None = None
    name: str | None = None


class BucketFields(msgspec.Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """The settable members of the `Bucket` resource. All are kept; `undone` says which are refused."""

    autoclass: dict[str, Any] | None = None
    ip_filter: dict[str, Any] | None = None
    billing: dict[str, Any] | None = None
    cors: list[Cors] | None = None
    custom_placement_config: dict[str, Any] | None = None
    default_event_based_hold: bool | None = None
    encryption: dict[str, Any] | None = None
    hierarchical_namespace: dict[str, Any] | None = None
    iam_configuration: dict[str, Any] | None = None
    labels: dict[str, str | None] | None = None
    lifecycle: dict[str, Any] | None = None
    location: str | None = None
    logging: UsageLog | None = None
    name: str | None = None
    retention_policy: dict[str, Any] | None = None
    rpo: str | None = None
    soft_delete_policy: dict[str, Any] | None = None
    storage_class: str | None = None
    versioning: Versioning | None = None
    website: Website | None = None


FIXED_IN_OBJECT = ("crc32c", "md5Hash", "name")
FIXED_IN_BUCKET = ("location", "name")


def _names(kind: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(kind))


_OBJECT_NAMES = _names(ObjectFields)
_BUCKET_NAMES = _names(BucketFields)


def read_object(body: Mapping[str, Any]) -> Fields:
    """Take the settable members out of an `Object` body.

    Raises:
        ApiError: 400 for a member of the wrong type, a storage class that does not exist or a context that
            cannot be, 501 for a member that is not done.
    """
    check_object(body)
    fields = _read(body, ObjectFields, _OBJECT_NAMES)
    check_class(fields.get("storageClass"))
    if "contexts" in fields:
        return {**fields, "contexts": read_contexts(fields["contexts"])}
    return fields


def read_bucket(body: Mapping[str, Any]) -> Fields:
    """Take the settable members out of a `Bucket` body.

    Raises:
        ApiError: 400 for a member of the wrong type, and for a storage class, a label or a lifecycle rule
            that cannot be; 501 for a setting that is not done.
    """
    fields = _read(body, BucketFields, _BUCKET_NAMES)
    check_class(fields.get("storageClass"))
    check_labels(fields.get("labels") or {})
    check_bucket(body)
    check_rules(fields.get("lifecycle"))
    return fields


def new_object(fields: Fields) -> Fields:
    """What is kept of the body of a new object."""
    return merge({}, {key: value for key, value in fields.items() if key not in FIXED_IN_OBJECT})


def check_metadata(fields: Fields) -> None:
    """Raise `ApiError` 400 when an object cannot have so much custom metadata."""
    metadata: Mapping[str, str] = fields.get("metadata") or {}
    size = sum(len(text.encode()) for pair in metadata.items() for text in pair)
    if size > LONGEST_METADATA:
        message = f"The custom metadata has {size} bytes; an object can have {LONGEST_METADATA}."
        raise ApiError(400, "invalid", message)


def check_custom_time(old: Fields, new: Fields) -> Fields:
    """The new fields of an object, which keep the `customTime` that it has: it only moves forward.

    Raises:
        ApiError: 400 for an earlier one.
    """
    if "customTime" not in old:
        return new
    if "customTime" not in new:
        return {**new, "customTime": old["customTime"]}
    before, after = (datetime.fromisoformat(fields["customTime"]) for fields in (old, new))
    if after < before:
        texts = [moment.astimezone(UTC).isoformat() for moment in (before, after)]
        message = f"Custom time cannot be decreased. Previously: {texts[0]}. Attempting to set: {texts[1]}."
        raise ApiError(400, "invalid", message)
    return new


def merge(old: Fields, patch: Fields) -> Fields:
    """Apply a JSON merge patch (RFC 7396): null removes, an object is merged, anything else replaces."""
    merged = dict(old)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            before = merged.get(key)
            merged[key] = merge(before if isinstance(before, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged


def _read(body: Mapping[str, Any], kind: type[msgspec.Struct], known: frozenset[str]) -> Fields:
    try:
        msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        raise ApiError(400, "invalid", f"Invalid value in the request body: {error}") from error
    return {key: value for key, value in body.items() if key in known}
