"""What comes out of this package: requests to Compute Engine as data, and what was left out."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the Compute Engine API, exactly as gcloud would send it.

    `path` begins with `/compute/<version>/`, `body` is plain JSON data. gcloud's random
    `requestId` is not in `query`: whoever sends the request adds its own.
    """

    method: str
    path: str
    query: Mapping[str, str]
    body: Mapping[str, Any]


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A gcloud command of the script that is not part of any request, and why."""

    line: int
    text: str


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of one script in the order gcloud would send them, and the commands beside them."""

    requests: tuple[Request, ...]
    notes: tuple[Note, ...]


class Defaults(msgspec.Struct, frozen=True, kw_only=True):
    """What `gcloud config` holds before the script runs; each may be absent."""

    project: str | None = None
    zone: str | None = None
    region: str | None = None
