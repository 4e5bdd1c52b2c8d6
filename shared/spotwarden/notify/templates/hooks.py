"""What a web hook gets."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

import msgspec

from spotwarden.model.delivery import Pending
from spotwarden.model.message import HookPost, MailLinks, Shape
from spotwarden.notify.templates import chat, slack
from spotwarden.notify.templates.view import view

SCHEMA = 1
"""The version of the plain shape; `docs/notices/schema.json` describes it."""
_LONGEST = 10_000


def hook(
    pendings: Sequence[Pending],
    *,
    shape: Shape,
    id: str,  # noqa: A002 — the name of its field
    at: datetime,
    again: bool,
    zone: tzinfo = UTC,
) -> HookPost:
    """Write one post that tells all of these, which are for one hook; `again` as in a mail.

    Many people read it: it carries no link of an answer, which is one reader's own.
    """
    if shape is Shape.JSON:
        notices = [_sound(msgspec.to_builtins(pending.notice)) for pending in pendings]
        body = {"schema": SCHEMA, "id": id, "at": at, "again": again, "notices": notices}
    else:
        write, room = (slack.slack, slack.ROOM) if shape is Shape.SLACK else (chat.chat, chat.ROOM)
        body = dict(write(view(pendings, MailLinks(), at, again=again, room=room, zone=zone)))
    address = pendings[0].recipient.address
    return HookPost(hook=address, body=msgspec.json.encode(body), id=id, at=at)


def _sound(value: Any) -> Any:  # noqa: ANN401 — whatever JSON can hold
    """The same, with every text such that UTF-8 can write it, and of bounded length."""
    if isinstance(value, str):
        text = (
            value
            if len(value) <= _LONGEST
            else f"{value[:_LONGEST]} … (cut; {len(value):,} characters in all)"
        )
        return text.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {_sound(key): _sound(each) for key, each in value.items()}
    return [_sound(each) for each in value] if isinstance(value, list | tuple) else value
