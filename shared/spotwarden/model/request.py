"""A call of Compute Engine's REST API, as data."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One HTTP request as gcloud would send it.

    `path` begins with `/compute/v1/`, `query` holds what stands behind the question mark (without
    `requestId`, which whoever sends it adds), `body` is the JSON body with int64 values as strings.
    """

    method: str
    path: str
    query: Mapping[str, str]
    body: Mapping[str, Any]
