"""A message as a page."""

from functools import cache
from typing import TYPE_CHECKING

from spotwarden.notify.templates.plain import ONE_CLICK
from spotwarden.notify.templates.template import PAGE
from spotwarden.notify.templates.text import code_split
from spotwarden.notify.templates.view import MessageView

if TYPE_CHECKING:
    from jinja2 import Template


def page(view: MessageView) -> str:
    """Its HTML: one column, nothing loaded from anywhere, and no word of a notice that is markup."""
    many = len(view.parts) > 1 or bool(view.rest)
    return _template().render(view=view, many=many, one_click=ONE_CLICK)


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 — first use: few functions write messages

    world = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    world.filters["code_split"] = code_split
    return world.from_string(PAGE)
