"""`If-Match` and `If-None-Match` of the JSON API: conditions on the entity tag of a bucket or an object."""

from starlette.datastructures import Headers

from localcloud.errors import ApiError
from localcloud.storage.conditions import UNMET, NotModified


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
