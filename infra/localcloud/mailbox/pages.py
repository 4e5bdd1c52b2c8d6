"""What a person sees of the mailbox: the list, and one mail. Pages without a script."""

import re
from collections.abc import Iterator, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: TID253 - the local cloud is one long-lived process

from localcloud.mailbox.message import URL, Mail, Message

SANDBOX = "allow-popups allow-popups-to-escape-sandbox"
"""A mail's own page may open its links in a new tab, and nothing else."""
MAIL_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; sandbox {SANDBOX}"
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'none'"
TOLD = ("from", "to", "date", "message-id", "references", "list-unsubscribe")
"""The headers that are shown; the source has them all."""
_PAGES = Environment(
    loader=PackageLoader("localcloud.mailbox", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def mailbox_page(mails: Sequence[Message], notices: Sequence[Message]) -> str:
    """Every mail, and apart from them every notice of the topic, newest first."""
    return _PAGES.get_template("mailbox.html.j2").render(mails=mails, notices=notices)


def mail_page(mail: Mail) -> str:
    """One mail: who and when, its own page, its text, and the way to its source."""
    return _PAGES.get_template("mail.html.j2").render(
        message=mail.message,
        headers=[(name, value) for name, value in mail.headers if name.lower() in TOLD],
        html=mail.html,
        parts=_linked(mail.message.text),
        sandbox=SANDBOX,
    )


def framed(html: str) -> str:
    """A mail's own page, its links made to open in a new tab."""
    base = '<base target="_blank">'
    changed, count = re.subn(
        r"<head\b[^>]*>", lambda head: head[0] + base, html, count=1, flags=re.IGNORECASE
    )
    return changed if count else base + html


def _linked(text: str) -> Iterator[tuple[str, bool]]:
    """The text in parts, each with whether it is a URL."""
    end = 0
    for found in URL.finditer(text):
        yield text[end : found.start()], False
        yield found[0], True
        end = found.end()
    yield text[end:], False
