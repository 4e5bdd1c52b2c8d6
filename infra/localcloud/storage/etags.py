"""Entity tags of objects, and `If-Match` and `If-None-Match`: conditions on that of a bucket or an object."""

import base64

from starlette.datastructures import Headers
from starlette.types import Scope

from localcloud.errors import ApiError
from localcloud.storage.conditions import UNMET, NotModified
from localcloud.storage.model import Blob
from localcloud.storage.resource import etag

XML = "localcloud.xml"
"""What the scope of a call of the XML API has: that API's entity tags are others."""


def xml_tag(blob: Blob) -> str:
    """The entity tag of the XML API: the MD5 hash in hex; of what has none, as composites, another."""
    if blob.content.md5:
        return base64.b64decode(blob.content.md5).hex()
    return f"-{etag(blob.generation, blob.metageneration)}"


def tag_of(scope: Scope, blob: Blob) -> str:
    """The entity tag of an object as the API of this call has it."""
    return xml_tag(blob) if scope.get(XML) else etag(blob.generation, blob.metageneration)


def tag_header(scope: Scope, blob: Blob) -> str:
    """The header `ETag` of an answer; the JSON API sends it without quotation marks."""
    return f'"{xml_tag(blob)}"' if scope.get(XML) else tag_of(scope, blob)


def check_etag(headers: Headers, tag: str, *, reading: bool) -> None:
    """Check both headers against the tag of what there is; "" where there is nothing.

    Raises:
        ApiError: 412 where one does not hold.
        NotModified: a read by one who has this version already.
    """
    wanted, unwanted = headers.get("if-match"), headers.get("if-none-match")
    if wanted is not None and not _names(wanted, tag):
        raise ApiError(412, "conditionNotMet", UNMET)
    if unwanted is not None and _names(unwanted, tag):
        if reading:
            raise NotModified
        raise ApiError(412, "conditionNotMet", UNMET)


def _names(header: str, tag: str) -> bool:
    """Whether a list of tags, each with its quotation marks or without, has this one."""
    listed = [item.strip().removeprefix("W/").strip('"') for item in header.split(",")]
    return bool(tag) and ("*" in listed or tag in listed)
