"""A mail about one notice or many."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import TYPE_CHECKING

from spotwarden.model.delivery import Pending
from spotwarden.model.message import Mail, MailLinks
from spotwarden.model.notice import Notice
from spotwarden.model.threads import Threads
from spotwarden.notify.templates.environment import environment
from spotwarden.notify.templates.subjects import jobs, only_job
from spotwarden.notify.templates.tables import as_lines
from spotwarden.notify.templates.text import code_split
from spotwarden.notify.templates.view import MessageView, view

if TYPE_CHECKING:
    from jinja2 import Environment

ONE_CLICK = "Each button shows what it will do and asks you to confirm. It works once, and only you have it."
_MOST_KINDS = 20


def mail(
    pendings: Sequence[Pending],
    *,
    links: MailLinks,
    message_id: str,
    at: datetime,
    again: bool,
    zone: tzinfo = UTC,
    threads: Threads = Threads.NEWS,
) -> Mail:
    """Write one mail that tells all of these, which are for one address.

    Its subject says what happened to which job, or with `threads` of jobs which job alone; then comes what
    will happen when, by the clock of `zone`, and what to do. `again` says that it may be a second copy:
    nobody knows whether the first one arrived.
    """
    message = view(pendings, links, at, again=again, zone=zone, threads=threads)
    notices = [pending.notice for pending in pendings]
    return Mail(
        to=pendings[0].recipient.address,
        subject=message.subject,
        text=_render("mail.txt.j2", message),
        html=_render("mail.html.j2", message),
        message_id=message_id,
        at=at,
        thread=_thread(notices, message_id),
        unsubscribe=links.unsubscribe,
        headers=_headers(notices),
    )


def _render(template: str, view: MessageView) -> str:
    many = len(view.parts) > 1 or bool(view.rest)
    answerable = any(part.buttons for part in view.parts)
    return (
        _environment()
        .get_template(template)
        .render(view=view, many=many, answerable=answerable, one_click=ONE_CLICK)
    )


@cache
def _environment() -> "Environment":
    mails = environment(__package__)
    mails.filters.update(code_split=code_split, lines=as_lines)
    return mails


def _thread(notices: Sequence[Notice], message_id: str) -> str:
    """The id that all mails about one job refer to; "" where several jobs, or none, are told of."""
    if not (job := only_job(notices)):
        return ""
    digest = hashlib.sha256(job.encode(errors="replace")).hexdigest()[:24]
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
