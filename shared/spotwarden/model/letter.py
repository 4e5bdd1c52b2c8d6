"""What is handed to a channel: words that are ready to go out."""

from collections.abc import Mapping
from datetime import datetime

import msgspec


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """One mail. Its texts may hold anything; only the adapter makes headers of them.

    `message_id` and `thread` are without their angle brackets; mails with one `thread` are one conversation
    ("" for none). `unsubscribe` is a URL that takes RFC 8058's one-click POST.
    """

    to: str
    subject: str
    text: str
    html: str
    message_id: str
    at: datetime
    thread: str = ""
    unsubscribe: str = ""
    headers: Mapping[str, str] = {}


class HookPost(msgspec.Struct, frozen=True, kw_only=True):
    """One POST to a web hook, by its name in the settings; `id` is the same when it is sent once more."""

    hook: str
    body: bytes
    id: str
    at: datetime


Letter = Mail | HookPost
