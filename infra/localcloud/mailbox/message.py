"""One mail or notice as it is kept: what a person and a program want to know of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from typing import Any

import msgspec

URL = re.compile(r"https?://[^\s<>\"']+[^\s<>\"'.,;:!?)\]]")


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link in a mail: what it says, and where it leads."""

    says: str
    url: str


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One mail or notice. `id` is its Message-ID or the notice's own, `kind` and `job` what it is about."""

    number: int
    at: str
    channel: str
    to: str
    subject: str
    text: str
    id: str = ""
    kind: str = ""
    job: str = ""
    links: tuple[Link, ...] = ()


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """A mail in full: besides what is said of it, its headers, its HTML and its source."""

    message: Message
    headers: tuple[tuple[str, str], ...]
    html: str
    source: bytes


def read_mail(source: bytes, to: Sequence[str], *, number: int, at: str) -> Mail:
    """Read a mail as it came over SMTP; whatever cannot be read of it is left empty."""
    mail = message_from_bytes(source, policy=policy.default)
    text, html = _part(mail, "plain"), _part(mail, "html")
    message = Message(
        number=number,
        at=at,
        channel="mail",
        to=", ".join(to),
        subject=_header(mail, "subject"),
        text=text or html,
        id=_header(mail, "message-id").strip("<>"),
        kind=_header(mail, "x-spotwarden-kind"),
        job=_header(mail, "x-spotwarden-job"),
        links=tuple(_links(html, text)),
    )
    headers = tuple((name, str(value)) for name, value in mail.items())
    return Mail(message=message, headers=headers, html=html, source=source)


def read_notice(notice: Mapping[str, Any], *, number: int, at: str) -> Message:
    """Read a notice; where it has no owner, ops are meant."""
    parts = [notice.get(key) for key in ("why", "then", "todo")]
    return Message(
        number=number,
        at=at,
        channel="notice",
        to=str(notice.get("owner") or "ops"),
        subject=str(notice.get("what", "")),
        text="\n".join(str(part) for part in parts if part),
        id=str(notice.get("id", "")),
        kind=str(notice.get("kind", "")),
        job=str(notice.get("job", "")),
    )


def _header(mail: EmailMessage, name: str) -> str:
    return str(mail.get(name, "")).strip()


def _part(mail: EmailMessage, kind: str) -> str:
    body = mail.get_body(preferencelist=(kind,))
    return str(body.get_content()) if body else ""


def _links(html: str, text: str) -> Iterator[Link]:
    """Those of the page, which have words; where there is none, those of the text."""
    anchors = _Anchors()
    anchors.feed(html)
    anchors.close()
    yield from anchors.found or (Link(says=url, url=url) for url in URL.findall(text))


class _Anchors(HTMLParser):
    """Collects the links of a page in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Link] = []
        self._url: str | None = None
        self._words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a link."""
        if tag == "a":
            self._url, self._words = dict(attrs).get("href"), []

    def handle_data(self, data: str) -> None:
        """Take its words."""
        self._words.append(data)

    def handle_endtag(self, tag: str) -> None:
        """End it."""
        if tag == "a" and self._url:
            self.found.append(Link(says=" ".join("".join(self._words).split()), url=self._url))
            self._url = None
