"""The metadata of a new object, which the XML API takes from the headers of a request."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers

from localcloud.storage.undone import unimplemented

_MEMBERS: Mapping[str, str] = {
    "cache-control": "cacheControl",
    "content-disposition": "contentDisposition",
    "content-encoding": "contentEncoding",
    "content-language": "contentLanguage",
    "content-type": "contentType",
    "x-goog-custom-time": "customTime",
    "x-goog-storage-class": "storageClass",
}
_METADATA = "x-goog-meta-"
_IGNORED = frozenset({"x-goog-api-client", "x-goog-date", "x-goog-user-project", "x-goog-content-sha256"})
_HASH = "x-goog-hash"


def object_body(headers: Headers) -> dict[str, Any]:
    """The `Object` body that says the same.

    Raises:
        ApiError: 501 for an extension header that is not done.
    """
    body: dict[str, Any] = {member: headers[name] for name, member in _MEMBERS.items() if name in headers}
    metadata = dict[str, str]()
    for name, value in headers.items():
        if name.startswith(_METADATA):
            metadata[name.removeprefix(_METADATA)] = value
        elif name.startswith("x-goog-") and name not in {*_MEMBERS, *_IGNORED, _HASH}:
            raise unimplemented(f"the header {name} of the XML API")
    return {**body, **({"metadata": metadata} if metadata else {})}
