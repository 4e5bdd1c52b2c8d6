"""What Cloud Storage does and the local cloud does not: refused with 501 and its name. Pure."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers

from localcloud.errors import ApiError

HEADERS = ("x-goog-encryption-", "x-goog-copy-source-encryption-", "x-goog-content-length-range")
"""Beginnings of the names of headers: customer-supplied encryption keys, and limits of uploads."""

OBJECTS = "/storage/v1/b/{bucket}/o"
TAGGED = ("/storage/v1/b/{bucket}", OBJECTS + "/{object}", f"/download{OBJECTS}/{{object}}")
"""The paths whose methods do `If-Match` and `If-None-Match`."""

TAGS = ("if-match", "if-none-match")
"""Headers with conditions; of a bucket or an object that is named in the path they are done."""

PARAMETERS = (
    "destinationKmsKeyName",
    "enableObjectRetention",
    "kmsKeyName",
    "overrideUnlockedRetention",
    "restoreToken",
    "softDeleted",
)
"""Query parameters of any method."""

LISTS = frozenset({"softDeleted"})
"""Those that the list of objects does: nothing is kept after its deletion here."""

OBJECT_FIELDS = ("kmsKeyName", "retention")
"""Members of the body of an object."""

SETTINGS: Mapping[str, tuple[Any, ...]] = {
    "autoclass.enabled": (False,),
    "billing.requesterPays": (False,),
    "encryption.customerManagedEncryptionEnforcementConfig": (),
    "encryption.customerSuppliedEncryptionEnforcementConfig": (),
    "encryption.defaultKmsKeyName": ("",),
    "encryption.googleManagedEncryptionEnforcementConfig": (),
    "hierarchicalNamespace.enabled": (False,),
    "ipFilter.mode": ("Disabled",),
    "softDeletePolicy.retentionDurationSeconds": (0, "0"),
}
"""Settings of a bucket that are not done, each with the values that ask for nothing."""


def unimplemented(what: str) -> ApiError:
    """The refusal that names what is not done."""
    return ApiError(501, "notImplemented", f"The local cloud does not do {what}.")


def check_request(headers: Headers, query: Mapping[str, str], path: str) -> None:
    """Raise `ApiError` 501 for a header or query parameter that is not done; `path` is the method's."""
    for name in headers:
        if name.startswith(HEADERS) or (name in TAGS and path not in TAGGED):
            raise unimplemented(f"the header {name}")
    for name in PARAMETERS:
        if name in LISTS and path == OBJECTS:
            continue
        if query.get(name, "false").lower() not in ("", "false"):
            raise unimplemented(f"the parameter {name}")


def check_object(body: Mapping[str, Any]) -> None:
    """Raise `ApiError` 501 for a member of an `Object` body that is not done."""
    for name in OBJECT_FIELDS:
        if body.get(name):
            raise unimplemented(f"Object.{name}")


def check_bucket(fields: Mapping[str, Any]) -> None:
    """Raise `ApiError` 501 for a setting of a `Bucket` that is not done; switched off it is taken."""
    for path, off in SETTINGS.items():
        found: Any = fields
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        if found is not None and found not in off:
            raise unimplemented(f"Bucket.{path}")
