"""What is said to a mail server, step by step, each in time."""

import re
import smtplib
import ssl
from collections.abc import Callable
from contextlib import suppress

from spotwarden.notify.channels.model import Security, Smtp
from spotwarden.notify.channels.wire import Deadline, dial, reader
from spotwarden.ports import RejectedError

_LEADING_DOT = re.compile(rb"(?m)^\.")


class Conversation(smtplib.SMTP):
    """One connection to the server of the settings, all of it by one deadline.

    smtplib's own time-out is for each operation on the socket. Here every reply is read, and every command
    sent, with what is left.
    """

    def __init__(self, smtp: Smtp, tls: Callable[[], ssl.SSLContext], deadline: Deadline) -> None:
        # The domain of our mail is what relays want to be greeted with; the machine's name means nothing, and
        # asking for it may take long.
        super().__init__(local_hostname=smtp.sender.domain)
        self._smtp = smtp
        self._tls = tls
        self._deadline = deadline

    def open(self) -> None:
        """Connect, hear the greeting, greet, begin TLS where it is due."""
        self.sock = dial(self._smtp.host, self._smtp.port, self._deadline)
        if self._smtp.security is Security.TLS:
            self._wrap()
        _expect(220, self.getreply())
        _expect(250, self.ehlo())
        if self._smtp.security is Security.STARTTLS:
            self._begin_tls()

    def log_in(self) -> None:
        """Log in as the user of the settings, in the one way that the server offers and TLS makes safe.

        Only one way is tried: three that fail would count three times where accounts are locked.
        """
        self.user, self.password = self._smtp.user, self._smtp.password.reveal()
        offered = self.esmtp_features.get("auth", "").upper().split()
        way = next((way for way in ("PLAIN", "LOGIN") if way in offered), "")
        if not way:
            raise smtplib.SMTPNotSupportedError("it offers neither PLAIN nor LOGIN to log in")
        try:
            self.auth(way, self.auth_plain if way == "PLAIN" else self.auth_login)
        except smtplib.SMTPAuthenticationError as error:
            # Its words are left out: some servers repeat what they were given.
            raise RejectedError(
                "unsent",
                f"{self._smtp.host} said {error.smtp_code} to the user of SPOTWARDEN_SMTP with "
                "SPOTWARDEN_SMTP_PASSWORD",
            ) from None

    def hand_over(self, data: bytes) -> None:
        """Send the mail and the dot that ends it; if this raises, the dot has not gone out."""
        quoted = _LEADING_DOT.sub(b"..", data)
        end = b".\r\n" if quoted.endswith(b"\r\n") else b"\r\n.\r\n"
        self.send(quoted + end)

    def leave(self) -> None:
        """Say goodbye where somebody still listens, and wait for nothing: what was to be said was said."""
        with suppress(OSError):
            self.send(b"QUIT\r\n")
        self.close()

    def send(self, s: str | bytes) -> None:  # type: ignore[override]  # smtplib sends these two and no other
        """As smtplib's, in time."""
        if self.sock is not None:
            self.sock.settimeout(self._deadline.left())
        super().send(s)

    def getreply(self) -> tuple[int, bytes]:
        """As smtplib's, in time. A line that is too long is no reply."""
        if self.file is None and self.sock is not None:
            self.file = reader(self.sock, self._deadline)
        try:
            return super().getreply()
        except smtplib.SMTPResponseException as error:
            raise smtplib.SMTPServerDisconnected(str(error.smtp_error)) from error

    def _begin_tls(self) -> None:
        if not self.has_extn("starttls"):
            raise smtplib.SMTPNotSupportedError("it offers no STARTTLS; nothing is sent unencrypted")
        _expect(220, self.docmd("STARTTLS"))
        self._wrap()
        _expect(250, self.ehlo())

    def _wrap(self) -> None:
        # What came before is forgotten, its unread rest as well: anybody could have said it (RFC 3207).
        self.file = None
        if self.sock is not None:
            self.sock.settimeout(self._deadline.left())
            self.sock = self._tls().wrap_socket(self.sock, server_hostname=self._smtp.host)


def _expect(code: int, reply: tuple[int, bytes]) -> None:
    if reply[0] != code:
        raise smtplib.SMTPResponseException(*reply)
