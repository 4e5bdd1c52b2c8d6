"""What a person sees of the mailbox: the list, and one mail. Pages without a script."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from localcloud.mailbox.message import URL, Mail, Message

SANDBOX = "allow-popups allow-popups-to-escape-sandbox"
"""A mail's own page may open its links in a new tab, and nothing else."""
MAIL_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; sandbox {SANDBOX}"
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'none'"
TOLD = ("from", "to", "date", "message-id", "references", "list-unsubscribe")
"""The headers that are shown; the source has them all."""


def mailbox_page(mails: Sequence[Message], notices: Sequence[Message]) -> str:
    """Every mail, and apart from them every notice of the topic, newest first."""
    body = f"""
<header><h1>Mailbox</h1>
<p>All that people would get from this local cloud, newest first. Nothing leaves this machine.</p></header>
<nav aria-label="Lists"><a href="#mails">{_count(mails, "mail")}</a>
<a href="#notices">{_count(notices, "notice")}</a></nav>
<main>
<section aria-labelledby=mails><h2 id=mails tabindex=-1>Mails</h2>
{_list(map(_mail_row, mails))}</section>
<section aria-labelledby=notices><h2 id=notices tabindex=-1>Notices of the topic</h2>
<p class=by>What was published for everybody; who gets it as a mail, and when, is decided after that.</p>
{_list(map(_notice_row, notices))}</section>
</main>"""
    return _page("Mailbox of the local cloud", body)


def mail_page(mail: Mail) -> str:
    """One mail: who and when, its own page, its text, and the way to its source."""
    message = mail.message
    at = message.number  # links are relative: what leads to the mailbox may carry a token
    headers = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        for name, value in mail.headers
        if name.lower() in TOLD
    )
    own = (
        f"<h2>As a page</h2><p class=by>Its links open in a new tab.</p>"
        f'<iframe sandbox="{SANDBOX}" src="{at}/html" title="The mail as a page"></iframe>'
        if mail.html
        else ""
    )
    body = f"""
<nav aria-label="Back"><a href="../../mailbox">Mailbox</a></nav>
<main>
<h1>{escape(message.subject) or "(no subject)"}</h1>
<dl>{headers}</dl>
{own}
<h2>As text</h2>
<pre class=text tabindex=0 aria-label="The mail as text">{_linked(message.text)}</pre>
<p><a href="{at}/source">The source, as it came</a></p>
</main>"""
    return _page(f"{message.subject}: mailbox of the local cloud", body)


def framed(html: str) -> str:
    """A mail's own page, its links made to open in a new tab."""
    base = '<base target="_blank">'
    changed, count = re.subn(
        r"<head\b[^>]*>", lambda head: head[0] + base, html, count=1, flags=re.IGNORECASE
    )
    return changed if count else base + html


def _count(messages: Sequence[Message], word: str) -> str:
    return f"{len(messages)} {word}{'' if len(messages) == 1 else 's'}"


def _list(rows: Iterable[str]) -> str:
    return f"<ul>{found}</ul>" if (found := "".join(rows)) else "<p>Nothing yet.</p>"


def _mail_row(message: Message) -> str:
    link = f'<a href="mailbox/mails/{message.number}">{escape(message.subject) or "(no subject)"}</a>'
    return f"<li><h3>{link}</h3>{_by(message)}</li>"


def _notice_row(message: Message) -> str:
    text = f"<div class=text>{escape(message.text)}</div>"
    return f"<li><h3>{escape(message.subject) or '(nothing)'}</h3>{_by(message)}{text}</li>"


def _by(message: Message) -> str:
    kind = f"{escape(message.kind)}, " if message.kind else ""
    when = f"{message.at[:19].replace('T', ' ')} UTC"
    return f"<p class=by>{kind}to {escape(message.to)}, <time datetime='{message.at}'>{when}</time></p>"


def _linked(text: str) -> str:
    """The text as markup, its URLs as links."""
    parts, end = [], 0
    for found in URL.finditer(text):
        url = escape(found[0])
        link = f'<a href="{url}" target=_blank rel=noreferrer>{url}</a>'
        parts += [escape(text[end : found.start()]), link]
        end = found.end()
    return "".join([*parts, escape(text[end:])])


def _page(title: str, body: str) -> str:
    # The body first: the title may hold "{body}", and the body's "{title}" comes after the title's own.
    return PAGE.replace("{body}", body, 1).replace("{title}", escape(title), 1)


PAGE = """<!doctype html><html lang=en><head><meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root { color-scheme: light dark; background: #fff; color: #1b1b1b }
a { color: #0645ad }
@media (prefers-color-scheme: dark) { :root { background: #121212; color: #eee } a { color: #8ab4f8 } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: anywhere }
ul { list-style: none; padding: 0 }
li { border: 1px solid #8886; border-radius: .5rem; padding: .75rem 1rem; margin: 1rem 0 }
h1 { font-size: 1.4rem }
h2 { font-size: 1.2rem; margin: 1.5rem 0 0 }
h3 { font-size: 1.05rem; margin: 0 }
h3 a { display: block; padding: .25rem 0 }
nav a { display: inline-block; padding: .6rem 1rem .6rem 0 }
.by { margin: 0; font-size: .9rem }
.text { white-space: pre-wrap; font: inherit; margin: .5rem 0 0 }
pre { border: 1px solid #8886; border-radius: .5rem; padding: .75rem 1rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .9rem }
dd { margin: 0 }
iframe { box-sizing: border-box; width: 100%; height: 70vh; border: 1px solid #8886; border-radius: .5rem }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr } dt { font-weight: 600 } }
</style></head>
<body>{body}</body></html>
"""
