"""Answers of the JSON API on their way to a client of the XML API."""

import json
from collections.abc import Sequence

from starlette.types import Message, Send

from localcloud.storage.xmlapi.documents import error_document

OK, CREATED, FIRST_ERROR = 200, 201, 400


class XmlAnswers:
    """A `send` that makes errors of the JSON API those of the XML API.

    With `created` it says 201 where the JSON API says 200.
    """

    def __init__(self, send: Send, *, created: bool) -> None:
        self._send = send
        self._created = created
        self._error: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        """Pass a message on, or keep it until the error is whole."""
        if message["type"] == "http.response.start":
            if message["status"] >= FIRST_ERROR and _is_json(message["headers"]):
                self._error = message
                return
            good = self._created and message["status"] == OK
            message = {**message, "status": CREATED} if good else message
        if self._error is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body"):
            await self._tell(self._error)

    async def _tell(self, start: Message) -> None:
        error = json.loads(self._body or b"{}").get("error", {})
        reason = next((item.get("reason", "") for item in error.get("errors", ())), "")
        body = error_document(start["status"], reason, error.get("message", "")).encode()
        own = {b"content-type": b"application/xml; charset=UTF-8", b"content-length": b"%d" % len(body)}
        kept = [(name, value) for name, value in start["headers"] if name.lower() not in own]
        await self._send({**start, "headers": [*kept, *own.items()]})
        await self._send({"type": "http.response.body", "body": body})


def _is_json(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    return any(name.lower() == b"content-type" and b"json" in value for name, value in headers)
