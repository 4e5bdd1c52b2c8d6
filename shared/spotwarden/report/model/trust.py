"""The report's trust page: every action of the control plane, as the audit has it."""

from collections.abc import Mapping
from datetime import date, datetime

import msgspec

from spotwarden.model.moment import Moment


class AuditedAction(msgspec.Struct, frozen=True, kw_only=True):
    """One action. `id` is unique: its audit object's day and entry, and its number in there.

    `at` is when its sweep began, `policy` the version it went by, `action` the kind (`DeleteInstance`, …),
    `why` the reason that was given before it was done. `evidence` are the figures behind it. `outcome` is
    `Done`, `Lost` (somebody else was first), `Rejected`, `Unanswered` or `Observed` (not done, on purpose);
    `detail` what the other side said. `name` is the audit object. What does not apply is "".
    """

    id: str
    at: Moment
    function: str
    sweep: str = ""
    policy: str = ""
    action: str
    why: str = ""
    job: str = ""
    node: str = ""
    instance_ids: tuple[str, ...] = ()
    rule: str = ""
    owner: str = ""
    place: str = ""
    evidence: Mapping[str, str] = {}
    outcome: str = ""
    detail: str = ""
    name: str = ""


class AuditQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for; "" and None ask for everything. `text` is looked for in all of an entry's words.

    `about` is a job's name, a VM's name or an instance id: what a person who asks has at hand. `changes`
    leaves out what only keeps our own records.
    """

    about: str = ""
    rule: str = ""
    function: str = ""
    action: str = ""
    day: date | None = None
    text: str = ""
    changes: bool = False


class TrustReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, newest first.

    `found` counts all of it, of which `entries` are the first. `since` is the oldest day that was looked
    through (of what is about one job, all of it is: then None). `functions`, `rules` and `actions` are those
    that occur, for a choice. `answer` says in a sentence why a VM or job is gone, "" where nobody asked or
    nobody knows; `by` is the id of the audit entry behind it.
    """

    at: datetime | None
    query: AuditQuery
    entries: tuple[AuditedAction, ...] = ()
    found: int = 0
    since: date | None = None
    functions: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    answer: str = ""
    by: str = ""
