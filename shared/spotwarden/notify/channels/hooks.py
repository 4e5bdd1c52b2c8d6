"""Web hooks: one POST each, straight to the URL of the settings."""

import hashlib
import hmac
import http.client
import socket
import ssl
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

from spotwarden.model.message import HookPost, Message, Shape
from spotwarden.notify.channels.model import Hook
from spotwarden.notify.channels.text import one_line, plain
from spotwarden.notify.channels.timeouts import ChannelTimeouts
from spotwarden.notify.channels.wire import Deadline, Timed, dial
from spotwarden.ports import InTime, RejectedError, UnansweredError

KEPT = 1000
"""Bytes of an answer that are looked at."""

LATER = frozenset({408, 425, 429, *range(500, 600)})
"""What may be different next time (RFC 9110, 15)."""

UNKNOWN = 504
"""What stands before the hook gave up on it: it may have heard us."""


class HookMailer:
    """`Mailer` for web hooks, by their names. Safe to use from several threads.

    Over `http.client` and not `requests`, whose exceptions and log hold the URL, which is a secret, and whose
    time-outs begin anew with every byte. No redirect is followed and no proxy asked.
    """

    def __init__(self, hooks: Mapping[str, Hook], timeouts: ChannelTimeouts) -> None:
        self._hooks = hooks
        self._timeouts = timeouts

    def send(self, message: Message, *, before: datetime | None = None) -> str:
        """As `Mailer.send`, to the hook of this name."""
        if not isinstance(message, HookPost):
            raise TypeError(f"no post to a hook: {type(message).__name__}")
        hook = self._hooks.get(message.hook)
        if hook is None:
            known = ", ".join(sorted(self._hooks))
            raise RejectedError("unsent", f"SPOTWARDEN_HOOKS has no {plain(message.hook)!r}, only {known}")
        return self._bring(message, hook, InTime(before))

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()

    def _bring(self, message: HookPost, hook: Hook, ready: InTime) -> str:
        url, deadline = urlsplit(hook.url.reveal()), Deadline(self._timeouts.to_send)
        try:
            connection = self._connect(url, deadline)
        except (OSError, ValueError) as error:
            raise RejectedError("unsent", f"{message.hook}: no connection: {_reason(error)}") from None
        with closing(connection):
            talk = http.client.HTTPConnection(url.hostname or "", url.port)
            talk.sock = Timed(connection, deadline)
            ready()
            _hand_over(talk, message, hook, url)
            deadline.renew(self._timeouts.answer)
            return _verdict(talk, message, url)

    def _connect(self, url: SplitResult, deadline: Deadline) -> socket.socket:
        host, secure = url.hostname or "", url.scheme == "https"
        connection = dial(host, url.port or (443 if secure else 80), deadline)
        if not secure:
            return connection
        try:
            connection.settimeout(deadline.left())
            return self._tls.wrap_socket(connection, server_hostname=host)
        except BaseException:
            connection.close()
            raise


def _hand_over(talk: http.client.HTTPConnection, message: HookPost, hook: Hook, url: SplitResult) -> None:
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    try:
        talk.request("POST", target, message.body, _headers(message, hook))
    except OSError as error:
        # The end of the body has not gone out, and nobody acts on half a request.
        raise RejectedError("unsent", f"{message.hook}: cut off: {_reason(error)}") from None


def _headers(message: HookPost, hook: Hook) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "spotwarden",
        "Connection": "close",
        "X-Spotwarden-Id": one_line(message.id).encode("ascii", "replace").decode(),
    }
    if hook.shape is Shape.JSON:
        headers["X-Spotwarden-Signature"] = signature(message, hook.secret.reveal())
    return headers


def signature(message: HookPost, secret: str) -> str:
    """`t=<seconds>,v1=<HMAC-SHA256 of "t.body">`: from us, this body, at the message's own moment."""
    moment = int(message.at.timestamp())
    signed = f"{moment}.".encode() + message.body
    return f"t={moment},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def _verdict(talk: http.client.HTTPConnection, message: HookPost, url: SplitResult) -> str:
    try:
        answer = talk.getresponse()
    except (OSError, http.client.HTTPException) as error:
        why = plain(_without(url, str(error))) or type(error).__name__
        raise UnansweredError(f"{message.hook} received the message but didn't answer: {why}") from None
    said = f"{answer.status} {_words(answer, url)}".rstrip()
    if HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        return said
    if answer.status == UNKNOWN:
        raise UnansweredError(f"{message.hook} said {said}")
    if answer.status in LATER:
        wait = plain(answer.getheader("Retry-After", ""))
        raise RejectedError("unsent", f"{message.hook} said {said}" + (f", to wait {wait}" if wait else ""))
    raise RejectedError("refused", f"{message.hook} said {said}")


def _words(answer: http.client.HTTPResponse, url: SplitResult) -> str:
    """The beginning of what was said."""
    try:
        return plain(_without(url, answer.read(KEPT).decode("utf-8", "replace")))
    except (OSError, http.client.HTTPException):
        return ""


def _without(url: SplitResult, said: str) -> str:
    """What was said, but for the parts of the URL that may be secrets, should they be repeated there."""
    for part in (*url.path.split("/"), url.query, *url.query.replace("&", "=").split("=")):
        said = said.replace(part, "…") if len(part) > 7 else said  # noqa: PLR2004 - no secret is that short
    return said


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is invalid: {error.verify_message}"
    return plain(str(error)) or type(error).__name__
