"""A mail server as people run them: aiosmtpd, with certificates of a CA of its own."""

import asyncio
import ssl
import threading
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import trustme
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER = "robot@example.com"
PASSWORD = "correct horse battery"
AUTHORITY = trustme.CA()
TIMEOUT_SECONDS = 60


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A mail that was taken."""

    sender: str
    recipients: tuple[str, ...]
    data: bytes
    options: tuple[str, ...]
    user: str
    encrypted: bool
    greeted: str

    @property
    def message(self) -> EmailMessage:
        """It as a mail program reads it."""
        message = message_from_bytes(self.data, policy=default)
        assert isinstance(message, EmailMessage)
        return message


class MailServer:
    """Takes everything and keeps it in `taken`; wants TLS before anything else when it has STARTTLS."""

    def __init__(
        self,
        *,
        starttls: bool = False,
        tls: bool = False,
        login: bool = False,
        utf8: bool = True,
        name: str = "localhost",
        without: tuple[str, ...] = (),
    ) -> None:
        self.taken: list[Taken] = []
        self.logins = 0
        context = certificate(name) if starttls or tls else None
        self._tls = context if tls else None
        self._options: dict[str, Any] = {
            "tls_context": context if starttls else None,
            "require_starttls": starttls,
            "auth_required": login,
            "auth_require_tls": starttls,
            "authenticator": self._authenticate if login else None,
            "auth_exclude_mechanism": without,
            "enable_SMTPUTF8": utf8,
            "hostname": name,
        }
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(TIMEOUT_SECONDS), "the mail server did not start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(TIMEOUT_SECONDS)

    async def _live(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await self._loop.create_server(
            lambda: SMTP(self, **self._options), "127.0.0.1", 0, ssl=self._tls
        )
        self.port = int(server.sockets[0].getsockname()[1])
        self._ready.set()
        await self._over.wait()
        server.close()

    def _authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, given: LoginPassword
    ) -> AuthResult:
        self.logins += 1
        good = given == LoginPassword(USER.encode(), PASSWORD.encode())
        return AuthResult(success=good, auth_data=given.login.decode(), handled=False)

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:
        """Keep it."""
        content = envelope.content
        assert isinstance(content, bytes)
        self.taken.append(
            Taken(
                sender=str(envelope.mail_from),
                recipients=tuple(envelope.rcpt_tos),
                data=content,
                options=tuple(envelope.mail_options),
                user=str(session.auth_data or ""),
                encrypted=session.ssl is not None,
                greeted=str(session.host_name),
            )
        )
        return f"250 kept as {len(self.taken)}"


def certificate(name: str) -> ssl.SSLContext:
    """A server's certificate for this name, by our authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert(name).configure_cert(context)
    return context


def authority_file(folder: Path) -> str:
    """Our authority's certificate as a file."""
    path = folder / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(str(path))
    return str(path)
