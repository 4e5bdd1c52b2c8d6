"""`spotwarden local …`: hands over to the local cloud, which the product never imports."""

import os
import sys
from importlib.util import find_spec

import click


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def local(arguments: tuple[str, ...]) -> None:
    """Run a local cloud and inject failures."""
    if find_spec("localcloud") is None:
        raise click.ClickException("the local cloud is not installed; it comes with a checkout of Spotwarden")
    # The local cloud takes this process over, so that its pid is the one that was started.
    os.execv(sys.executable, [sys.executable, "-m", "localcloud", *arguments])  # noqa: S606 — no shell wanted
