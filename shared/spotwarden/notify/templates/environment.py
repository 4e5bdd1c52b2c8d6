"""Templates are files that stand beside the code that fills them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(package: str, folder: str = "") -> "Environment":
    """Read the templates in a folder of a package (its own for ""), and those that all pages share.

    Each text is escaped, but in a `.txt.j2`. A name that nobody has given is an error, not a blank.
    """
    from jinja2 import (
        ChoiceLoader,
        Environment,
        PackageLoader,
        StrictUndefined,
        select_autoescape,
    )

    return Environment(
        loader=ChoiceLoader([PackageLoader(package, folder), PackageLoader(__package__, "shared")]),
        autoescape=select_autoescape(enabled_extensions=(), disabled_extensions=("txt.j2",), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
