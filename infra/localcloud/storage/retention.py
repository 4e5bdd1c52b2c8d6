"""What protects an object from being deleted or overwritten: holds and the retention policy of its bucket.

Pure. The pages "Bucket Lock" and "Object holds"; words and reasons are those that Cloud Storage sends.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from localcloud.clock import PACIFIC, rfc3339
from localcloud.errors import ApiError
from localcloud.storage.model import Blob, Bucket, Fields

NOT_MET = "retentionPolicyNotMet"
LONGEST_SECONDS = 3_155_760_000
"""A hundred years."""
_HOLDS = (("temporaryHold", "Temporary"), ("eventBasedHold", "Event-Based"))


def period(bucket: Bucket) -> timedelta:
    """For how long the objects of a bucket are kept; zero without a policy."""
    policy: Mapping[str, Any] = bucket.fields.get("retentionPolicy", {})
    return timedelta(seconds=int(policy.get("retentionPeriod", 0)))


def expiry(blob: Blob, kept: timedelta) -> datetime | None:
    """Until when an object is kept: from its creation, or from the end of its event-based hold.

    None without a policy, and while an event-based hold puts it off.
    """
    if not kept or blob.fields.get("eventBasedHold"):
        return None
    return (blob.released or blob.created) + kept


def check_holds(blob: Blob) -> None:
    """Raise `ApiError` 403 while a hold protects the object."""
    for hold, word in _HOLDS:
        if blob.fields.get(hold):
            message = (
                f"Object '{blob.bucket}/{blob.name}' is under active {word} hold and cannot be deleted, "
                "overwritten or archived until hold is removed."
            )
            raise ApiError(403, "forbidden", message)


def check_expired(blob: Blob, bucket: Bucket, now: datetime) -> None:
    """Raise `ApiError` 403 while the retention policy of the bucket protects the object."""
    until = expiry(blob, period(bucket))
    if until is not None and until > now:
        message = (
            f"Object '{blob.bucket}/{blob.name}' is subject to bucket's retention policy or object retention "
            f"and cannot be deleted or overwritten until {until.astimezone(PACIFIC).isoformat()}"
        )
        raise ApiError(403, NOT_MET, message)


def without_holds(fields: Fields) -> Fields:
    """What a copy takes over: never the holds of its source."""
    return {key: value for key, value in fields.items() if key not in dict(_HOLDS)}


def held_by_default(fields: Fields, bucket: Bucket) -> Fields:
    """The fields of a new object, with the event-based hold of its bucket unless it says otherwise."""
    if bucket.fields.get("defaultEventBasedHold") and "eventBasedHold" not in fields:
        return {**fields, "eventBasedHold": True}
    return fields


def released(blob: Blob, fields: Fields, now: datetime) -> datetime | None:
    """When the event-based hold ended, once the object has these fields."""
    ends = blob.fields.get("eventBasedHold") and not fields.get("eventBasedHold")
    return now if ends else blob.released


def with_policy(old: Fields, new: Fields, *, name: str, now: datetime) -> Fields:
    """The fields of a bucket with the retention policy that they ask for, checked and stamped.

    Raises:
        ApiError: 400 for a period that cannot be; 403 where a locked policy would be removed or shortened.
    """
    before: Mapping[str, Any] = old.get("retentionPolicy", {})
    asked = (new.get("retentionPolicy") or {}).get("retentionPeriod")
    if asked is None:
        if before.get("isLocked"):
            message = f"Bucket '{name}' has a locked Retention Policy which cannot be removed."
            raise ApiError(403, NOT_MET, message)
        return {key: value for key, value in new.items() if key != "retentionPolicy"}
    seconds = _seconds(asked)
    if before.get("isLocked") and seconds < int(before["retentionPeriod"]):
        message = f"Cannot reduce retention duration of a locked Retention Policy for bucket '{name}'."
        raise ApiError(403, NOT_MET, message)
    same = before.get("retentionPeriod") == str(seconds)
    policy = {
        "retentionPeriod": str(seconds),
        "effectiveTime": before["effectiveTime"] if same else rfc3339(now),
        **({"isLocked": True} if before.get("isLocked") else {}),
    }
    return {**new, "retentionPolicy": policy}


def locked(bucket: Bucket) -> Fields:
    """The fields of a bucket whose retention policy can only be lengthened from now on.

    Raises:
        ApiError: 400 where there is no policy.
    """
    if not period(bucket):
        raise ApiError(400, "invalid", f"Bucket '{bucket.name}' has no Retention Policy to lock.")
    return {**bucket.fields, "retentionPolicy": {**bucket.fields["retentionPolicy"], "isLocked": True}}


def _seconds(asked: object) -> int:
    text = str(asked)
    if text.isascii() and text.isdecimal() and 0 < int(text) < LONGEST_SECONDS:
        return int(text)
    raise ApiError(400, "invalid", f"Invalid argument: retentionPolicy.retentionPeriod '{text}'.")
