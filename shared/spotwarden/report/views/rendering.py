"""From what a page says to its HTML, and what a browser may do with it."""

from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from spotwarden.notify.templates.environment import environment
from spotwarden.notify.templates.headers import page_headers
from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.safe import data, finalize
from spotwarden.report.views.text import NONE, UNKNOWN, Words

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment

HEADERS = page_headers(
    "style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:",
)
"""Show it, with our own files beside it, and ask us for more: no style and no script stands in a page."""


def render(template: str, frame: PageFrame, **said: object) -> str:
    """The page of this template; `say` and `frame` are there for it."""
    page = _environment().get_template(f"{template}.html.j2")
    return page.render(frame=frame, say=Words(zone=frame.zone), **said)


@cache
def edition() -> str:
    """Tells one version of the templates from another."""
    templates = _environment()
    loader: BaseLoader | None = templates.loader
    names = templates.list_templates()
    sources = (loader.get_source(templates, name)[0] for name in names) if loader else ()
    return sha256("".join(sources).encode()).hexdigest()[:16]


@cache
def _environment() -> "Environment":
    templates = environment("spotwarden.report", "templates")
    templates.finalize = finalize
    templates.globals.update(data=data, UNKNOWN=UNKNOWN, NONE=NONE)
    return templates
