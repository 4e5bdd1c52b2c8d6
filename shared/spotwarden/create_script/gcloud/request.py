"""What goes into this package beside the commands, and what comes out of it."""

import msgspec

from spotwarden.model.gcloud import NEWEST
from spotwarden.model.request import Request

__all__ = ["Defaults", "Note", "Request", "Translation"]


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A gcloud command of the script that is not part of any request, and why."""

    line: int
    text: str


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of one script in the order gcloud would send them, and the commands beside them."""

    requests: tuple[Request, ...]
    notes: tuple[Note, ...]


class Defaults(msgspec.Struct, frozen=True, kw_only=True):
    """What `gcloud config` holds before the script runs, each may be absent; and which gcloud runs it."""

    project: str | None = None
    zone: str | None = None
    region: str | None = None
    gcloud_version: int = NEWEST
