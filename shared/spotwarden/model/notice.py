"""One message to a developer or to ops."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum

import msgspec

from spotwarden.model.finding import Target
from spotwarden.model.moment import Moment

WEEKLY = "weekly_report"
"""The kind that tells the figures of a week: a message by itself, at its own time, that can be declined."""


TEST = "test/"
"""What the id of a sample begins with: it goes to whom it names and to nobody else, and no answer counts."""


class Severity(Enum):
    """How soon a person should look."""

    INFO = "info"
    WARNING = "warning"
    URGENT = "urgent"


class Way(Enum):
    """How a person can answer a notice, by one click."""

    KEEP = "keep"
    EXTEND = "extend"
    STOP = "stop"
    RESTART = "restart"
    APPROVE = "approve"


class CaseRef(msgspec.Struct, frozen=True, kw_only=True):
    """The case that a notice is about, and when it was opened: a later one of the same name is another."""

    rule: str
    key: str
    opened: Moment


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Figures side by side: a row for each thing, its name first, and a cell for each of the columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, why, and what to do. Two notices with one `id` are one notice told twice.

    `then` is what will happen if nobody does anything, at the moment `due`, and with a `grace` no sooner than
    that after the notice has arrived: a message that is late names a later moment, in `due` and in `then`,
    where it stands as `model.spans.moment` writes it; but none after `latest`, which is when an earlier
    warning lets it happen whether this one arrives or not. `instances` are the VMs that it is about, `case`
    what it can be answered to, in one of the `ways`. `tables` are for whoever reads at leisure: nothing that
    matters stands in them alone. `title` is what is wrong, as the end of a sentence, where a case has another
    than its rule; the subject says it.
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
    grace: timedelta | None = None
    latest: datetime | None = None
    owner: str = ""
    evidence: Mapping[str, str] = {}
    instances: tuple[Target, ...] = ()
    case: CaseRef | None = None
    ways: tuple[Way, ...] = ()
    tables: tuple[Table, ...] = ()
    title: str = ""
