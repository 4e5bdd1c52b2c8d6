"""Mail by SMTP: one connection for each message, one recipient each."""

import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property

from spotwarden.model.message import Mail, Message
from spotwarden.notify.channels import replies
from spotwarden.notify.channels.addresses import is_address
from spotwarden.notify.channels.conversation import Conversation
from spotwarden.notify.channels.mime import to_bytes
from spotwarden.notify.channels.model import Smtp
from spotwarden.notify.channels.text import plain
from spotwarden.notify.channels.timeouts import ChannelTimeouts
from spotwarden.notify.channels.wire import Deadline
from spotwarden.ports import InTime, RejectedError, UnansweredError


class SmtpMailer:
    """`Mailer` for mail. Safe to use from several threads."""

    def __init__(self, smtp: Smtp, timeouts: ChannelTimeouts) -> None:
        self._smtp = smtp
        self._timeouts = timeouts

    def send(self, message: Message, *, before: datetime | None = None) -> str:
        """As `Mailer.send`, to one address."""
        if not isinstance(message, Mail):
            raise TypeError(f"no mail: {type(message).__name__}")
        if not is_address(message.to):
            raise RejectedError("refused", f"{plain(message.to)!r} is not a valid mail address")
        deadline = Deadline(self._timeouts.to_send)
        conversation = Conversation(self._smtp, lambda: self._tls, deadline)
        try:
            self._bring(message.to, to_bytes(message, self._smtp.sender), conversation, InTime(before))
            deadline.renew(self._timeouts.answer)
            return self._verdict(conversation)
        finally:
            conversation.leave()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        tls = ssl.create_default_context()
        try:
            if self._smtp.ca:
                tls.load_verify_locations(self._smtp.ca)
        except OSError as error:
            raise RejectedError(
                "unsent", f"the file of SPOTWARDEN_SMTP_CA cannot be read as certificates: {error.strerror}"
            ) from error
        return tls

    def _bring(self, to: str, data: bytes, conversation: Conversation, ready: InTime) -> None:
        with _unsent(self._smtp.host):
            conversation.open()
            if self._smtp.user:
                conversation.log_in()
            options = _options(conversation, to, len(data))
            replies.judge(replies.SENDER, conversation.mail(self._smtp.sender.address, options))
            replies.judge(replies.RECIPIENT, conversation.rcpt(to))
            ready()
            replies.judge(replies.DATA, conversation.docmd("DATA"))
            conversation.hand_over(data)

    def _verdict(self, conversation: Conversation) -> str:
        try:
            reply = conversation.getreply()
        except OSError as error:
            raise UnansweredError(
                f"{self._smtp.host} received the mail but didn't confirm it: {_reason(error)}"
            ) from error
        return replies.judge(replies.MAIL, reply)


def _options(conversation: Conversation, to: str, size: int) -> list[str]:
    options = [f"SIZE={size}"] if conversation.has_extn("size") else []
    if to.isascii():
        return options
    if not conversation.has_extn("smtputf8"):
        raise RejectedError(
            "refused", f"the mail server takes no address like {to}, only ASCII (no SMTPUTF8)"
        )
    return [*options, "SMTPUTF8", "BODY=8BITMIME"]


@contextmanager
def _unsent(host: str) -> Iterator[None]:
    """Say of what goes wrong before the mail is out that it is not out."""
    try:
        yield
    except smtplib.SMTPResponseException as error:
        said = plain(error.smtp_error)
        raise RejectedError("unsent", f"{host} said {error.smtp_code} {said}".rstrip()) from error
    except ssl.SSLCertVerificationError as error:
        raise RejectedError(
            "unsent", f"the certificate of {host} is invalid: {error.verify_message}"
        ) from error
    except socket.gaierror as error:
        raise RejectedError("unsent", f"{host} cannot be found: {error.strerror}") from error
    except (OSError, ValueError) as error:
        # smtplib's own are among the first, and a challenge or a name that cannot be decoded the second.
        raise RejectedError("unsent", f"{host}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    # smtplib calls any trouble a disconnection; what it was stands behind that.
    cause = error.__context__ if isinstance(error, smtplib.SMTPServerDisconnected) else None
    return plain(str(cause or error)) or type(error).__name__
