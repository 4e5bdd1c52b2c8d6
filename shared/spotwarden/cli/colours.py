"""Colours, where somebody can see them and wants to (https://no-color.org)."""

import os

import click


def coloured(text: str, colour: str, *, bold: bool = False) -> str:
    """The text in a colour; `click.echo` takes it off again where the output is no terminal."""
    if not colour or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=colour, bold=bold or None)
