"""Where access control lists count: not in a bucket with uniform access ("Uniform bucket-level access").

Pure, over the settings of a bucket and the parameters and bodies of calls.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from localcloud.clock import rfc3339
from localcloud.errors import ApiError
from localcloud.storage.acl.lists import (
    BUCKET_ROLES,
    OBJECT_ROLES,
    OWNER,
    Acl,
    check_public,
    predefined,
    project_private,
    read_list,
)
from localcloud.storage.model import Bucket, Fields

UNIFORM = "Cannot {verb} legacy ACL for {what} when uniform bucket-level access is enabled."
LOCKED_AFTER = timedelta(days=90)
"""From then on uniform access cannot be switched off."""
PREVENTIONS = ("inherited", "unspecified", "enforced")


def is_uniform(fields: Fields) -> bool:
    """Whether a bucket with these settings has no access control lists; so have those that never said."""
    uniform: Mapping[str, Any] = fields.get("iamConfiguration", {}).get("uniformBucketLevelAccess", {})
    return bool(uniform.get("enabled", True))


def check_lists(bucket: Bucket, verb: str, what: str) -> None:
    """Raise `ApiError` 400 in a bucket with uniform access."""
    if is_uniform(bucket.fields):
        raise ApiError(400, "invalid", UNIFORM.format(verb=verb, what=what))


def with_access(old: Fields, new: Fields, now: datetime) -> Fields:
    """The settings of a bucket with those of its access checked and whole.

    `bucketPolicyOnly` is the older name of uniform access, and says the same.

    Raises:
        ApiError: 400 for a value that cannot be, 412 where uniform access is locked.
    """
    asked: Mapping[str, Any] = new.get("iamConfiguration") or {}
    before: Mapping[str, Any] = old.get("iamConfiguration", {})
    prevention = asked.get("publicAccessPrevention", "inherited")
    if prevention not in PREVENTIONS:
        raise ApiError(400, "invalid", f"Invalid argument: publicAccessPrevention {prevention!r}.")
    enabled = _enabled(before, asked)
    locked = before.get("uniformBucketLevelAccess", {}).get("lockedTime")
    if locked and not enabled and now >= datetime.fromisoformat(locked):
        message = "Cannot disable uniform bucket-level access on a bucket for which it is locked."
        raise ApiError(412, "conditionNotMet", message)
    told: dict[str, Any] = {"enabled": enabled}
    if enabled:
        told["lockedTime"] = locked or rfc3339(now + LOCKED_AFTER)
    access = {"uniformBucketLevelAccess": told, "bucketPolicyOnly": told}
    return {**new, "iamConfiguration": {**access, "publicAccessPrevention": prevention}}


def _enabled(before: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whichever of the two names was changed counts."""
    names = ("uniformBucketLevelAccess", "bucketPolicyOnly")
    values = [bool((asked.get(name) or {}).get("enabled", False)) for name in names]
    old = bool(before.get(names[0], {}).get("enabled", False))
    return next((value for value in values if value != old), old)


def bucket_lists(
    fields: Fields, query: Mapping[str, str], body: Mapping[str, Any], number: str
) -> dict[str, Acl]:
    """The lists that a call asks for a bucket to have: `acl` and `default_acl`, each only where asked for.

    Raises:
        ApiError: 400 for what cannot be, and with uniform access for any; 412 for public entries where public
            access is prevented.
    """
    asked: dict[str, Acl] = {}
    for key, member, parameter, own in (
        ("acl", "acl", "predefinedAcl", True),
        ("default_acl", "defaultObjectAcl", "predefinedDefaultObjectAcl", False),
    ):
        if name := query.get(parameter):
            asked[key] = predefined(name, number, bucket=own, parameter=parameter)
        elif body.get(member):
            asked[key] = read_list(body[member], BUCKET_ROLES if own else OBJECT_ROLES)
    check_asked(fields, asked, "a bucket")
    return asked


def object_list(
    query: Mapping[str, str], body: Mapping[str, Any], number: str, prefix: str = ""
) -> Acl | None:
    """The list that a call asks for an object to have; None where it asks for none.

    `prefix` is `destination` where the parameter is of the result of a copy.
    """
    parameter = f"{prefix}PredefinedAcl" if prefix else "predefinedAcl"
    if name := query.get(parameter):
        return predefined(name, number, bucket=False, parameter=parameter)
    if body.get("acl"):
        return read_list(body["acl"], OBJECT_ROLES)
    return None


def owned(acl: Acl | None, bucket: Bucket, owner: str, number: str) -> Acl | None:
    """The list that a new object gets: what was asked for, else its bucket's default, and its owner's entry.

    None stands for that which says nothing but what the roles in the project say.

    Raises:
        ApiError: 400 for one that was asked for in a bucket with uniform access; 412 for public entries where
            public access is prevented.
    """
    check_asked(bucket.fields, {} if acl is None else {"acl": acl}, "an object")
    found = bucket.default_acl if acl is None else acl
    if found is None or found == project_private(number):
        return None
    return {**found, owner: OWNER}


def check_asked(fields: Fields, asked: Mapping[str, Acl], what: str) -> None:
    """Raise `ApiError` 400 for lists with uniform access, 412 for public entries that are prevented."""
    if asked and is_uniform(fields):
        raise ApiError(400, "invalid", UNIFORM.format(verb="insert", what=what))
    for acl in asked.values():
        check_public(acl, fields)
