"""From a reply to HTML."""

from functools import cache
from typing import Any

from spotwarden.notify.links.pages.template import PAGE, STYLE
from spotwarden.notify.links.pages.text import page
from spotwarden.notify.links.reply import Rendered, Reply


def render(reply: Reply, token: str) -> Rendered:
    """The page; `token` goes into its form, if it has one."""
    said = page(reply)
    return Rendered(code=said.code, html=_template().render(page=said, tone=said.tone.value, token=token))


@cache
def _template() -> Any:  # noqa: ANN401 — a jinja2.Template, whose room is opened on first use
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 — it takes a while to import
    from markupsafe import Markup  # noqa: PLC0415 — likewise

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    style = Markup(STYLE)  # noqa: S704 — our own; its digest is in the page's policy
    return environment.from_string(PAGE, globals={"style": style})
