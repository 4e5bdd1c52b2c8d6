"""A mail about one notice or many."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from spotwarden.model.delivery import Pending
from spotwarden.model.message import Mail, MailLinks
from spotwarden.model.notice import Notice
from spotwarden.notify.templates.page import page
from spotwarden.notify.templates.plain import plain
from spotwarden.notify.templates.subjects import jobs
from spotwarden.notify.templates.view import view

_MOST_KINDS = 20


def mail(
    pendings: Sequence[Pending], *, links: MailLinks, message_id: str, at: datetime, again: bool
) -> Mail:
    """Write the mail: its subject says what happened to which job, its first line what to do."""
    message = view(pendings, links, at, again=again)
    notices = [pending.notice for pending in pendings]
    return Mail(
        to=pendings[0].recipient.address,
        subject=message.subject,
        text=plain(message),
        html=page(message),
        message_id=message_id,
        at=at,
        thread=_thread(notices, message_id),
        unsubscribe=links.unsubscribe,
        headers=_headers(notices),
    )


def _thread(notices: Sequence[Notice], message_id: str) -> str:
    """The id that all mails about one job refer to; "" where several jobs, or none, are told of."""
    named = jobs(notices)
    if len(named) != 1 or not all(notice.job for notice in notices):
        return ""
    digest = hashlib.sha256(named[0].encode(errors="replace")).hexdigest()[:24]
    return f"job.{digest}@{message_id.rpartition('@')[2] or 'spotwarden'}"


def _headers(notices: Sequence[Notice]) -> Mapping[str, str]:
    """For filters; that nobody's absence answers (RFC 3834, and Exchange's own word for it)."""
    named = jobs(notices)
    job = {"X-Spotwarden-Job": _safe(named[0])} if len(named) == 1 else {}
    kinds = sorted({_safe(notice.kind) for notice in notices} - {""})
    return {
        "X-Spotwarden-Kind": ", ".join(kinds[:_MOST_KINDS]),
        **job,
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
    }


def _safe(name: str) -> str:
    """What of it may stand in a header."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name[:120])
