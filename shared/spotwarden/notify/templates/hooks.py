"""What a web hook gets."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from spotwarden.model.delivery import Pending
from spotwarden.model.message import MailLinks, Shape
from spotwarden.notify.templates import chat, slack
from spotwarden.notify.templates.view import MessageView, Room, view

SCHEMA = 1
"""The version of the plain shape; `docs/notices/schema.json` describes it."""
_LONGEST = 10_000


def body(
    pendings: Sequence[Pending],
    *,
    shape: Shape,
    id: str,  # noqa: A002 — the name of its field
    at: datetime,
    again: bool,
) -> bytes:
    """Write the body in the receiver's shape."""

    def message(room: Room) -> MessageView:
        return view(pendings, MailLinks(), at, again=again, room=room)

    if shape is Shape.SLACK:
        return msgspec.json.encode(slack.slack(message(slack.ROOM)))
    if shape is Shape.CHAT:
        return msgspec.json.encode(chat.chat(message(chat.ROOM)))
    notices = [_sound(msgspec.to_builtins(pending.notice)) for pending in pendings]
    return msgspec.json.encode({"schema": SCHEMA, "id": id, "at": at, "again": again, "notices": notices})


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
