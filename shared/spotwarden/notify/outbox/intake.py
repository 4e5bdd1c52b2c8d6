"""A message of the topic → a notice that waits for each of its recipients.

Taken in twice, or by two at a time, it waits once. The message is acknowledged only when all of that is
written; one that nobody can read is kept and acknowledged, for it would be no better the next time.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept, each, swept
from spotwarden.engine.log import log
from spotwarden.layout import job_problem
from spotwarden.model.delivery import Channel, Pending, Recipient, Undelivered
from spotwarden.model.jobfile import JobFile
from spotwarden.model.notice import WEEKLY, Notice
from spotwarden.notify.outbox.model import Addressed
from spotwarden.notify.outbox.preferences import preference
from spotwarden.notify.outbox.recipients import addressed
from spotwarden.notify.outbox.records import OutboxRecords
from spotwarden.notify.outbox.tidying import read, unreadable
from spotwarden.ports import BrokenError
from spotwarden.recovery.folder.job_folder import read_job_file

UNREADABLE, NOBODY = "unreadable", "nobody"


def take_in(context: SweepContext, message: Mapping[str, Any]) -> Swept:
    """Take a message in. Where the policy tells nobody by mail or hook, others read the topic."""
    if not context.policy.tells:
        return swept((), ())
    data = b""
    try:
        said = message.get("data")
        data = b64decode(said if isinstance(said, str | bytes) else b"")
        notice = read(data)
    except ValueError as problem:
        _set_aside(context, unreadable(data, str(problem), context.tick.now), UNREADABLE)
        return swept((), ())
    to = addressed(notice, _job_file(context, notice), context.policy)
    return _address(context, notice, to)


def _address(context: SweepContext, notice: Notice, to: Addressed) -> Swept:
    now = context.tick.now
    pendings = to.pendings(notice, now)
    if notice.kind == WEEKLY:
        # Whoever cannot be reached, or does not want it, goes without: ops have the figures of all.
        pendings = tuple(pending for pending in pendings if _wants_report(context, pending.recipient))
    elif not pendings:
        nobody = Pending(notice=notice, recipient=Recipient(channel=Channel.EMAIL, address=""), since=now)
        reason = f"there is no one to notify: {to.because}"
        _set_aside(context, Undelivered(pending=nobody, at=now, reason=reason), NOBODY)
    records = OutboxRecords(context.cloud.store, context.settings.layout)
    return swept((), each(pendings, records.put).failures)


def _wants_report(context: SweepContext, recipient: Recipient) -> bool:
    try:
        said = preference(context.cloud.store, context.settings.layout, recipient)
    except BrokenError as problem:
        log(context.tick, "WARNING", str(problem))
        return True
    return said is None or said.weekly


def _set_aside(context: SweepContext, record: Undelivered, person: str) -> None:
    if OutboxRecords(context.cloud.store, context.settings.layout).aside(record, person):
        notice = record.pending.notice
        log(
            context.tick,
            "ERROR",
            f"not delivered to anyone: {notice.what[:200]}: {record.reason[:500]}",
            job=notice.job,
        )


def _job_file(context: SweepContext, notice: Notice) -> JobFile:
    """What the job says of itself, where the notice names a job at all."""
    if job_problem(notice.job) is not None:
        return JobFile()
    return read_job_file(context.cloud.store, context.settings.layout, notice.job)
