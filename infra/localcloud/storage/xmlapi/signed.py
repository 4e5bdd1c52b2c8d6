"""Signed URLs: of a signature only the end is checked."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from localcloud.errors import ApiError

_SIGNED = re.compile(
    r"x-goog-(algorithm|credential|date|expires|signature|signedheaders)|googleaccessid|expires|signature",
    re.IGNORECASE,
)


def unsigned(query: Mapping[str, str]) -> dict[str, str]:
    """The parameters that are no part of a signature."""
    return {key: value for key, value in query.items() if not _SIGNED.fullmatch(key)}


def check_signed(query: Mapping[str, str], now: datetime) -> None:
    """Raise `ApiError` 400 where a signed URL, of the second or fourth version, has expired."""
    fields = {key.lower(): value for key, value in query.items()}
    try:
        if "x-goog-expires" in fields:
            begun = datetime.strptime(fields.get("x-goog-date", ""), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            end = begun + timedelta(seconds=int(fields["x-goog-expires"]))
        elif "expires" in fields:
            end = datetime.fromtimestamp(int(fields["expires"]), tz=UTC)
        else:
            return
    except (ValueError, OverflowError) as error:
        raise ApiError(400, "invalid", f"The signed URL has no end that can be read: {error}") from error
    if now > end:
        raise ApiError(400, "expired", "The provided token has expired.")
