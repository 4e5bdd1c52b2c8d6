"""Tables, durations and colours for a terminal."""

import os
from collections.abc import Sequence
from datetime import timedelta

import click

GAP = "  "


def render(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell, an empty cell as a dash; no trailing blanks."""
    lines = [list(head), *([plain(cell) or "-" for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def plain(text: str) -> str:
    """The text as one line that steers no terminal: anybody may have written it into the bucket."""
    return "".join(name if name.isprintable() else name.encode("unicode_escape").decode() for name in text)


def duration(span: timedelta) -> str:
    """`4s`, `3m12s`, `5h02m` or `2d07h`: the two largest units."""
    seconds = max(0, int(span.total_seconds()))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86_400
    if days:
        return f"{days}d{hours % 24:02}h"
    if hours:
        return f"{hours}h{minutes % 60:02}m"
    return f"{minutes}m{seconds % 60:02}s" if minutes else f"{seconds}s"


def coloured(text: str, colour: str, *, bold: bool = False) -> str:
    """The text in a colour; `click.echo` takes it off again where the output is no terminal."""
    if not colour or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=colour, bold=bold or None)
