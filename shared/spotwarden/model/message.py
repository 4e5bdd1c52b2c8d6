"""What is handed to a channel: words that are ready to go out."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum

import msgspec

from spotwarden.model.notice import Way


class Shape(Enum):
    """What a web hook's receiver understands: Slack, Google Chat, or the notices as plain JSON."""

    SLACK = "slack"
    CHAT = "chat"
    JSON = "json"


class MailLinks(msgspec.Struct, frozen=True, kw_only=True):
    """What one reader can do by a click: answers by the notice's id, and pages about his messages.

    `keep` and `extend` are what the answers of these names grant, so that the links can say it. A link of
    an answer is its reader's own: it stands in mails only. `report` is the report page, the same for all.
    """

    offers: Mapping[str, tuple[tuple[Way, str], ...]] = {}
    report: str = ""
    preferences: str = ""
    unsubscribe: str = ""
    keep: timedelta | None = None
    extend: timedelta | None = None


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


Message = Mail | HookPost
