"""A mail as the bytes that go over the wire."""

import re
from email.charset import QP, Charset
from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, formataddr

from spotwarden.model.message import Mail
from spotwarden.notify.channels.model import Sender
from spotwarden.notify.channels.text import clip, one_line

END = "\r\n"
LONGEST_SUBJECT = 400
"""Characters; with the bounds below, no header's line comes near the 998 of RFC 5322 (2.1.1)."""
LONGEST_ID = 250
LONGEST_NAME = 100
LONGEST_VALUE = 800

_NO_ID = re.compile(r"[^!-;=?-~]")
_EXTRA = re.compile(r"(?:X-[A-Za-z0-9-]+|Auto-Submitted)")
_URL = re.compile(r"https?://[!-;=?-~]+")
_UTF8 = Charset("utf-8")
_UTF8.header_encoding = QP


def to_bytes(mail: Mail, sender: Sender) -> bytes:
    """The whole mail in short lines, all ASCII but for a recipient who is not.

    Whatever stands in the texts, no header comes of it but those that are written here.

    Raises:
        ValueError: `mail.headers` names one that only we may set.
    """
    head = "".join(_line(name, value) for name, value in _headers(mail, sender))
    return head.encode() + _body(mail)


def _headers(mail: Mail, sender: Sender) -> list[tuple[str, str]]:
    return [
        ("From", formataddr((clip(one_line(sender.name), LONGEST_NAME), sender.address), _UTF8)),
        ("To", mail.to),
        ("Subject", _subject(mail.subject)),
        ("Date", format_datetime(mail.at)),
        ("Message-ID", _bracketed(mail.message_id)),
        *_threading(mail),
        *_unsubscribing(mail),
        *_extras(mail),
    ]


def _subject(said: str) -> str:
    # What looks like an encoded word would be decoded where it is read, into who knows what.
    subject = clip(one_line(said).replace("=?", "= ?"), LONGEST_SUBJECT)
    return subject if subject.isascii() else Header(subject, _UTF8, header_name="Subject").encode(linesep=END)


def _threading(mail: Mail) -> list[tuple[str, str]]:
    thread = _bracketed(mail.thread)
    if thread in {"<>", _bracketed(mail.message_id)}:
        return []
    return [("In-Reply-To", thread), ("References", thread)]


def _unsubscribing(mail: Mail) -> list[tuple[str, str]]:
    if not _URL.fullmatch(mail.unsubscribe) or len(mail.unsubscribe) > LONGEST_VALUE:
        return []
    # RFC 8058 wants https for its one click.
    one_click = mail.unsubscribe.startswith("https:")
    return [
        ("List-Unsubscribe", f"<{mail.unsubscribe}>"),
        *([("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")] if one_click else []),
    ]


def _extras(mail: Mail) -> list[tuple[str, str]]:
    if strange := [name for name in mail.headers if not _EXTRA.fullmatch(name)]:
        raise ValueError(f"no mail of ours has a header {strange[0]!r} of its own")
    extras = {"Auto-Submitted": "auto-generated", **mail.headers}
    return [(name, _ascii(value)) for name, value in extras.items()]


def _ascii(value: str) -> str:
    return clip(one_line(value), LONGEST_VALUE).encode("ascii", "replace").decode()


def _bracketed(identifier: str) -> str:
    return f"<{_NO_ID.sub('', identifier)[:LONGEST_ID]}>"


def _line(name: str, value: str) -> str:
    # Written by hand, since `EmailMessage` encodes what is long and has no blank, ids and URLs among it:
    # then threads fall apart and nobody can unsubscribe (python/cpython issue 100991).
    return f"{name}: {value}{END}"


def _body(mail: Mail) -> bytes:
    # Quoted-printable holds any character in short lines of ASCII, so no server on the way need touch it.
    body = EmailMessage(policy=SMTP)
    body.set_content(_whole(mail.text), cte="quoted-printable")
    body.add_alternative(_whole(mail.html), subtype="html", cte="quoted-printable")
    return body.as_bytes()


def _whole(text: str) -> str:
    """Halves of characters, which UTF-8 has no bytes for, as question marks; any line end as one."""
    return "\n".join(text.encode("utf-8", "replace").decode().splitlines())
