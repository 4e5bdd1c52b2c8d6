"""From what a page says to its HTML."""

from functools import cache
from typing import TYPE_CHECKING

from spotwarden.report.templates import TEMPLATES
from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.safe import data, finalize
from spotwarden.report.views.text import NONE, UNKNOWN, Words

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, frame: PageFrame, **said: object) -> str:
    """The page of this template; `say` and `frame` are there for it."""
    return _world().get_template(template).render(frame=frame, say=Words(zone=frame.zone), **said)


@cache
def _world() -> "Environment":
    from jinja2 import DictLoader, Environment, StrictUndefined  # noqa: PLC0415 — it takes a while to import

    world = Environment(
        loader=DictLoader(dict(TEMPLATES)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    world.globals.update(data=data, UNKNOWN=UNKNOWN, NONE=NONE)
    return world
