"""Messages to send."""

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from spotwarden.model.message import HookPost, Mail

AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def mail(**what: Any) -> Mail:
    """A mail; only what matters need be given."""
    given = {
        "to": "ada@example.com",
        "subject": "nap: idle GPUs",
        "text": "Please look.\n",
        "html": "<p>Please look.</p>\n",
        "message_id": "one@spotwarden.example.com",
        "at": AT,
        **what,
    }
    return Mail(**given)


def post(**what: Any) -> HookPost:
    """A post to a web hook."""
    return replace(HookPost(hook="ml-chat", body=b'{"text": "nap"}', id="one", at=AT), **what)
