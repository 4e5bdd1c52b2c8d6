"""Which names Cloud Storage takes (its pages "Bucket names" and "Object names")."""

import re

from localcloud.errors import ApiError

_BUCKET = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
SHORTEST_BUCKET = 3
LONGEST_LABEL = 63
LONGEST_BUCKET = 222
LONGEST_OBJECT = 1024


def check_bucket(name: object) -> str:
    """Return the name of a bucket to create.

    Raises:
        ApiError: 400 when no bucket may be called that.
    """
    if not isinstance(name, str) or not name:
        raise ApiError(400, "required", "Required")
    labels = name.split(".")
    ok = (
        _BUCKET.fullmatch(name)
        and SHORTEST_BUCKET <= len(name) <= LONGEST_BUCKET
        and all(1 <= len(label) <= LONGEST_LABEL for label in labels)
        and not _ADDRESS.fullmatch(name)
        and not name.startswith("goog")
        and "google" not in name
    )
    if not ok:
        raise ApiError(400, "invalid", f"Invalid bucket name: '{name}'")
    return name


def check_object(name: object) -> str:
    """Return the name of an object to write.

    Raises:
        ApiError: 400 when no object may be called that.
    """
    if not isinstance(name, str) or not name:
        raise ApiError(400, "required", "Required")
    size = len(name.encode("utf-8", errors="surrogatepass"))
    if size > LONGEST_OBJECT:
        message = (
            f"The maximum object length is {LONGEST_OBJECT} characters, "
            f"but got a name with {size} characters: '{name[:32]}...'"
        )
        raise ApiError(400, "invalid", message)
    surrogate = any("\ud800" <= char <= "\udfff" for char in name)
    if surrogate or "\r" in name or "\n" in name:
        raise ApiError(400, "invalid", f"Disallowed unicode characters present in object name {name!a}")
    if name in {".", ".."} or name.startswith(".well-known/acme-challenge/"):
        raise ApiError(400, "invalid", f"Invalid object name: '{name}'")
    return name
