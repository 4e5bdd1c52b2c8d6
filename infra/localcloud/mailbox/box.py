"""An SMTP server that delivers to nobody, and pages that show what it was given.

Notices come from the topic of notices as well, so that what a function published can be read where nobody
is sent mail.
"""

import base64
import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import Clock, rfc3339
from localcloud.errors import ApiError
from localcloud.http import Json, read_json
from localcloud.mailbox.door import MailDoor, Trouble
from localcloud.mailbox.message import Mail, Message, read_mail, read_notice
from localcloud.mailbox.pages import MAIL_POLICY, PAGE_POLICY, framed, mail_page, mailbox_page

NOTICES = "/local/mailbox/notices"
KEPT = 1000
"""Mails that are kept, and notices; older ones go."""


class Mailbox:
    """Takes mail on loopback and notices as JSON; newest first on the page."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._mails: deque[Mail] = deque(maxlen=KEPT)
        self._notices: deque[Message] = deque(maxlen=KEPT)
        self._count = 0
        self._door = MailDoor(self._keep)

    @property
    def port(self) -> int:
        """The SMTP port."""
        return self._door.port

    async def start(self) -> Self:
        """Listen for SMTP on loopback."""
        await self._door.open()
        return self

    async def stop(self) -> None:
        """Stop listening."""
        await self._door.close()

    def notice(self, notice: Mapping[str, Any]) -> None:
        """Keep a notice."""
        self._notices.appendleft(read_notice(notice, **self._next()))

    def routes(self) -> list[BaseRoute]:
        """The pages, the same as JSON, and where a push subscription brings notices."""
        mail = "/local/mailbox/mails/{number:int}"
        return [
            Route(NOTICES, self._pushed, methods=["POST"]),
            Route("/local/mailbox", self._page),
            Route("/local/mailbox.json", self._json),
            Route(mail, self._mail_page),
            Route(f"{mail}/html", self._mail_html),
            Route(f"{mail}/source", self._mail_source),
            Route("/local/mail", self._show, methods=["GET"]),
            Route("/local/mail", self._suffer, methods=["POST"]),
        ]

    def _next(self) -> Any:
        self._count += 1
        return {"number": self._count, "at": rfc3339(self._clock.now())}

    def _keep(self, source: bytes, to: Sequence[str]) -> None:
        self._mails.appendleft(read_mail(source, to, **self._next()))

    async def _pushed(self, request: Request) -> Response:
        message = (await read_json(request)).get("message", {})
        try:
            self.notice(json.loads(base64.b64decode(message.get("data", ""))))
        except (ValueError, AttributeError, RecursionError) as error:
            raise ApiError(400, "invalid", f"The notice is not a JSON object: {error}") from error
        return Response(status_code=204)

    async def _json(self, _request: Request) -> Response:
        both = [*(mail.message for mail in self._mails), *self._notices]
        newest_first = sorted(both, key=lambda message: message.number, reverse=True)
        return Json([msgspec.to_builtins(message) for message in newest_first])

    async def _page(self, _request: Request) -> Response:
        page = mailbox_page([mail.message for mail in self._mails], list(self._notices))
        return _html(page, PAGE_POLICY)

    async def _mail_page(self, request: Request) -> Response:
        return _html(mail_page(self._mail(request)), PAGE_POLICY)

    async def _mail_html(self, request: Request) -> Response:
        return _html(framed(self._mail(request).html), MAIL_POLICY)

    async def _mail_source(self, request: Request) -> Response:
        text = self._mail(request).source.decode(errors="replace")
        return PlainTextResponse(text, headers={"x-content-type-options": "nosniff"})

    def _mail(self, request: Request) -> Mail:
        number = request.path_params["number"]
        for mail in self._mails:
            if mail.message.number == number:
                return mail
        raise ApiError(404, "notFound", f"There is no mail {number}; /local/mailbox lists them.")

    async def _show(self, _request: Request) -> Response:
        return Json(msgspec.to_builtins(self._door.trouble))

    async def _suffer(self, request: Request) -> Response:
        """Be as the body says, and well where it says nothing."""
        try:
            trouble = msgspec.json.decode(await request.body(), type=Trouble)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"This is not a fault of the mail server: {error}") from error
        await self._door.suffer(trouble)
        return await self._show(request)


def _html(page: str, policy: str) -> Response:
    return HTMLResponse(page, headers={"content-security-policy": policy, "referrer-policy": "no-referrer"})
