"""An SMTP server that delivers to nobody, and a page that shows what it was given.

Notices come from the topic of notices as well, so that what a function published can be read where no
function sends mail.
"""

import asyncio
import base64
import json
from collections import deque
from collections.abc import Mapping
from email import message_from_bytes, policy
from email.message import EmailMessage
from html import escape
from typing import Any, Self

import msgspec
from aiosmtpd.smtp import SMTP, Envelope, Session
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import Clock, rfc3339
from localcloud.errors import ApiError
from localcloud.http import HOST, read_json

NOTICES = "/local/mailbox/notices"
KEPT = 1000
"""Messages that are kept; older ones go."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One mail or notice, as the page shows it."""

    number: int
    at: str
    channel: str
    to: str
    subject: str
    text: str


class Mailbox:
    """Takes mail on loopback and notices as JSON; newest first on the page."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._messages: deque[Message] = deque(maxlen=KEPT)
        self._count = 0
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The SMTP port."""
        if self._server is None:
            raise RuntimeError("the mailbox is not open")
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self, *, port: int = 0) -> Self:
        """Listen for SMTP on loopback."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: SMTP(self, hostname="localcloud", enable_SMTPUTF8=True), HOST, port
        )
        return self

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def handle_DATA(  # noqa: N802 — aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Keep a mail."""
        content = envelope.content
        mail = message_from_bytes(content if isinstance(content, bytes) else b"", policy=policy.default)
        self._keep("mail", ", ".join(envelope.rcpt_tos), str(mail.get("subject", "")), _text(mail))
        return "250 kept, not delivered"

    def notice(self, notice: Mapping[str, Any]) -> None:
        """Keep a notice."""
        parts = [notice.get(key) for key in ("why", "then", "todo")]
        text = "\n".join(str(part) for part in parts if part)
        self._keep("notice", str(notice.get("owner") or "ops"), str(notice.get("what", "")), text)

    def routes(self) -> list[BaseRoute]:
        """The page, the same as JSON, and where a push subscription brings notices."""
        return [
            Route(NOTICES, self._pushed, methods=["POST"]),
            Route("/local/mailbox", self._page),
            Route("/local/mailbox.json", self._json),
        ]

    def _keep(self, channel: str, to: str, subject: str, text: str) -> None:
        self._count += 1
        at = rfc3339(self._clock.now())
        self._messages.appendleft(
            Message(number=self._count, at=at, channel=channel, to=to, subject=subject, text=text)
        )

    async def _pushed(self, request: Request) -> Response:
        message = (await read_json(request)).get("message", {})
        try:
            self.notice(json.loads(base64.b64decode(message.get("data", ""))))
        except (ValueError, AttributeError) as error:
            raise ApiError(400, "invalid", f"The notice is not a JSON object: {error}") from error
        return Response(status_code=204)

    async def _json(self, _request: Request) -> Response:
        return JSONResponse(msgspec.to_builtins(list(self._messages)))

    async def _page(self, _request: Request) -> Response:
        rows = "".join(_row(message) for message in self._messages)
        return HTMLResponse(PAGE.replace("{rows}", rows or "<p>Nothing yet.</p>"))


def _text(mail: EmailMessage) -> str:
    body = mail.get_body(preferencelist=("plain", "html"))
    return str(body.get_content()) if body else ""


def _row(message: Message) -> str:
    return (
        f"<article><h2>{escape(message.subject)}</h2>"
        f"<p class=by>{escape(message.channel)} to {escape(message.to)}, "
        f"<time datetime='{message.at}'>{message.at}</time></p><pre>{escape(message.text)}</pre></article>"
    )


PAGE = """<!doctype html><html lang=en><meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<title>Mailbox of the local cloud</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
article { border: 1px solid #8886; border-radius: .5rem; padding: .75rem 1rem; margin: 1rem 0 }
h1 { font-size: 1.4rem }
h2 { font-size: 1.05rem; margin: 0 }
.by { margin: 0; opacity: .75; font-size: .85rem }
pre { white-space: pre-wrap; font: inherit; margin: .5rem 0 0 }
</style>
<h1>Mailbox</h1>
<p>Every mail and notice of this local cloud, newest first. Nothing is delivered to anybody.</p>
{rows}
</html>
"""
