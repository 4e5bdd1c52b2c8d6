"""One message to a developer or to ops."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum

import msgspec


class Severity(Enum):
    """How soon a person should look."""

    INFO = "info"
    WARNING = "warning"
    URGENT = "urgent"


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, why, and what to do. Two notices with one `id` are one notice told twice.

    `then` is what will happen if nobody does anything, at the moment `due`.
    """

    id: str
    kind: str
    severity: Severity
    job: str
    at: datetime
    what: str
    why: str
    todo: str = ""
    then: str = ""
    due: datetime | None = None
    owner: str = ""
    evidence: Mapping[str, str] = {}
