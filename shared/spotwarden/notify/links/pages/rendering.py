"""From a reply to HTML, and what a browser may do with it."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from spotwarden.notify.links.pages.text import on_clock, page
from spotwarden.notify.links.reply import Rendered, Reply
from spotwarden.notify.templates.environment import environment
from spotwarden.notify.templates.headers import page_headers

if TYPE_CHECKING:
    from jinja2 import Environment

    from spotwarden.notify.templates.parts import Moments


def render(reply: Reply, token: str, moments: "Moments | None" = None) -> Rendered:
    """The page; `token` goes into its form, if it has one. `moments` says how its reader is told times."""
    said = page(reply)
    if moments is not None:
        said = on_clock(said, moments.told)
    template = _environment().get_template("answer.html.j2")
    return Rendered(code=said.code, html=template.render(page=said, tone=said.tone.value, token=token))


@cache
def headers() -> Mapping[str, str]:
    """Show it, and send its one form back to us. Its style sheet is allowed by its digest alone."""
    digest = b64encode(sha256(style().encode()).digest()).decode()
    return {**page_headers(f"style-src 'sha256-{digest}'"), "Cache-Control": "no-store"}


def style() -> str:
    """The style sheet, as it stands in every page."""
    return _environment().get_template("answer.css").render()


@cache
def _environment() -> "Environment":
    return environment(__package__)
