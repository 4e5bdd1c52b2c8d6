"""`spotwarden jobs`: what runs, and what has run."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

import click

from spotwarden import clock
from spotwarden.cli.context import Context, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.looking.choosing import SORTS, OutputChoice, Tag
from spotwarden.cli.looking.rows import JobRows, JobTable
from spotwarden.cli.table import duration, plain, render
from spotwarden.cli.times import Since, SpanParam
from spotwarden.layout import Code
from spotwarden.model.standing import Standing
from spotwarden.recovery.folder.standing import JobSummary, worded

HEAD = ("JOB", "STATUS", "ATTEMPTS", "INSTANCE AND LOG ID", "ZONE", "OWNER", "RUNTIME", "CODE")
MANY = 100
"""From so many jobs on, a bar shows how far the reading is."""
HOME_AND_CLEAR = "\x1b[H\x1b[J"
WORDS = [standing.value for standing in Standing]


@click.command()
@click.argument("patterns", metavar="[NAME]...", nargs=-1)
@click.option(
    "--status",
    "statuses",
    type=click.Choice(WORDS),
    multiple=True,
    help="Only jobs with this status; repeatable.",
)
@click.option("--owner", default="", help="Only jobs whose owner contains this text.")
@click.option(
    "--tag", "tags", type=Tag(), multiple=True, metavar="NAME[=VALUE]", help="Only jobs with this tag."
)
@click.option("--since", type=Since(), help="Only jobs that ran since: 2d, or 2026-11-21 (UTC).")
@click.option("--sort", type=click.Choice(list(SORTS)), default="name", show_default=True)
@click.option("--reverse", is_flag=True, help="Reverse the order.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N jobs.")
@click.option("--exact", is_flag=True, help="Read every job, also those that are over.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one list.")
@click.option("--watch", is_flag=True, help="Refresh until Ctrl-C.")
@click.option(
    "--every", type=SpanParam(), default="5s", show_default=True, help="How often --watch refreshes."
)
def jobs(
    patterns: tuple[str, ...],
    *,
    statuses: tuple[str, ...],
    owner: str,
    tags: tuple[tuple[str, str | None], ...],
    since: datetime | None,
    sort: str,
    reverse: bool,
    limit: int | None,
    exact: bool,
    as_json: bool,
    watch: bool,
    every: timedelta,
) -> None:
    """List the jobs in the bucket, or those that match NAME.

    With --watch, a terminal redraws the table; elsewhere a row is printed again, with the time, when it
    changes. Jobs that can't be read are named at the end, and the exit status is 1. In large buckets,
    jobs that are over come from the report, and a line on stderr says so.

    \b
    Examples:
      spotwarden jobs --status running --status recovering
      spotwarden jobs 'exp-*' --sort started --limit 20
      spotwarden jobs --owner ada --since 7d --json
      spotwarden jobs --tag team=vision --watch
    """
    if watch and as_json:
        raise click.UsageError("--json prints one list; leave out --watch")
    choice = OutputChoice(
        statuses=frozenset(statuses),
        owner=owner,
        tags=tags,
        since=since,
        sort=sort,
        reverse=reverse,
        limit=limit,
    )
    context = open_context()
    look = _looker(context, patterns, exact=exact)
    if watch:
        _watch(context, choice, look, every)
    else:
        _print(context, choice, look(), patterns, as_json=as_json)


def _looker(context: Context, patterns: Sequence[str], *, exact: bool) -> Callable[[], JobTable]:
    rows = JobRows(context, exact=exact)

    def look() -> JobTable:
        names = rows.names(patterns)
        with _bar(len(names)) as done:
            return rows.read(names, clock.now(), done)

    return look


@contextmanager
def _bar(count: int) -> Iterator[Callable[[], None]]:
    """A bar over many jobs, on a terminal; it leaves nothing behind in the output."""
    hidden = count < MANY or not sys.stderr.isatty()
    with click.progressbar(length=count, label="reading jobs", file=sys.stderr, hidden=hidden) as shown:
        yield lambda: shown.update(1)


def _print(
    context: Context, choice: OutputChoice, table: JobTable, patterns: Sequence[str], *, as_json: bool
) -> None:
    found = choice.of(table.rows)
    shown = choice.cut(found)
    if as_json:
        click.echo(json_text(shown))
    elif shown:
        click.echo(render(HEAD, [_cells(context, row) for row in shown]))
    elif not table.broken:
        click.echo(_nothing(context, table, patterns))
    if len(shown) < len(found):
        click.echo(f"{len(shown)} of {len(found)} jobs", err=True)
    if table.at:
        age = duration(clock.now() - table.at)
        told = f"{table.reported} jobs that are over are shown as of {age} ago; --exact reads them"
        click.echo(told, err=True)
    if table.broken:
        listed = "\n".join(f"  {plain(str(broken))}" for broken in table.broken)
        raise click.ClickException(f"these can't be read; fix or remove them:\n{listed}")


def _nothing(context: Context, table: JobTable, patterns: Sequence[str]) -> str:
    if table.rows:
        return f"none of the {len(table.rows)} jobs match these options"
    if patterns:
        return f"no job in gs://{context.settings.bucket} matches {' or '.join(patterns)}"
    return (
        f"no jobs yet in gs://{context.settings.bucket}. To run your code on a spot VM:\n"
        "  spotwarden run --job my-job --gpu l4:1 --zone us-central1-a -- python train.py"
    )


def _cells(context: Context, row: JobSummary) -> tuple[str, ...]:
    runtime = duration(row.runtime) if row.runtime is not None else ""
    return (
        row.job,
        worded(row),
        str(row.attempts),
        row.instance_id,
        row.zone,
        row.owner,
        runtime,
        f"gs://{context.settings.bucket}/{context.settings.layout.build(Code(job=row.job))}",
    )


def _watch(context: Context, choice: OutputChoice, look: Callable[[], JobTable], every: timedelta) -> None:
    show = _Screen(context, choice).show if sys.stdout.isatty() else _Changes(context, choice).show
    try:
        while True:
            show(look())
            time.sleep(every.total_seconds())
    except KeyboardInterrupt:
        pass


class _Screen:
    """The table where it was, as it is now."""

    def __init__(self, context: Context, choice: OutputChoice) -> None:
        self._context = context
        self._choice = choice

    def show(self, table: JobTable) -> None:
        """Draw it anew, as much of it as the terminal has lines."""
        found = self._choice.cut(self._choice.of(table.rows))
        lines = render(HEAD, [_cells(self._context, row) for row in found]).splitlines()
        room = shutil.get_terminal_size().lines - 2
        left = len(lines) - room
        more = [f"and {left} more; --limit, --status and --sort choose"] if left > 0 else []
        click.echo(HOME_AND_CLEAR + "\n".join([*lines[:room], *more]))


class _Changes:
    """Each row once, and again when anything but its runtime is new; the moment stands before it."""

    def __init__(self, context: Context, choice: OutputChoice) -> None:
        self._context = context
        self._choice = choice
        self._shown: dict[str, tuple[str, ...]] = {}

    def show(self, table: JobTable) -> None:
        """Print what is new, and what is gone."""
        found = {row.job: row for row in self._choice.cut(self._choice.of(table.rows))}
        at = f"{clock.now():%Y-%m-%d %H:%M:%S}"
        for job, row in found.items():
            cells = _cells(self._context, row)
            same = (*cells[:6], *cells[7:])
            if self._shown.get(job) != same:
                self._shown[job] = same
                click.echo("  ".join((at, *(plain(cell) or "-" for cell in cells))))
        for job in self._shown.keys() - found.keys():
            del self._shown[job]
            click.echo(f"{at}  {job}  is no longer in the table")
