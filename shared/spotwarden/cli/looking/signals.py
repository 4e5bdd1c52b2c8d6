"""What was last seen of each node of a job: the very table that the rules of governance read."""

from datetime import datetime

from spotwarden.cli.context import Context, new_tick
from spotwarden.cli.table import duration, render
from spotwarden.engine.context import SweepContext
from spotwarden.governance.signals.gather import table_of
from spotwarden.governance.signals.shown import EARLIER, SignalRow, rows
from spotwarden.governance.signals.table import Coverage, SignalTable

HEAD = ("ATTEMPT", "NODE", "SIGNAL", "SOURCE", "LAST SEEN", "AGO", "VALUE", "COVERAGE")


def seen_of(context: Context, job: str) -> SignalTable:
    """Read every source about the job."""
    return table_of(
        SweepContext.open(context.cloud, context.settings, context.agreed(), new_tick("show")), job
    )


def signal_table(table: SignalTable, now: datetime) -> str:
    """The table, a line a signal."""
    lines = [_line(row, now) for row in rows(table)]
    gap = (
        f"\nlongest time without progress so far: {duration(table.longest_gap)}" if table.longest_gap else ""
    )
    return render(HEAD, lines) + gap


def _line(row: SignalRow, now: datetime) -> tuple[str, ...]:
    unread = row.coverage is Coverage.UNREAD
    return (
        str(row.attempt or EARLIER),
        row.node or "(job)",
        row.kind.value,
        row.source.value,
        "" if unread else (f"{row.at:%Y-%m-%d %H:%M:%S} UTC" if row.at else "never"),
        duration(now - row.at) if row.at else "",
        row.value,
        _coverage(row),
    )


def _coverage(row: SignalRow) -> str:
    if row.why:
        return f"{row.coverage.value}: {row.why}"
    if row.since is None:
        return row.coverage.value
    return f"{row.coverage.value}, from {row.since:%H:%M:%S}" if row.at else row.coverage.value
