"""The tables of a message, for whoever reads at leisure."""

from collections.abc import Iterator

from spotwarden.model.notice import Notice, Table
from spotwarden.notify.templates.text import clean

OPEN_REPORT = "gcloud run services proxy report-jobs"
"""What opens the report page where nobody has said at which address it stands."""
_MOST_CELL, _MOST_COLUMN = 80, 40


def tables(notice: Notice, lines: int) -> tuple[Table, ...]:
    """Its tables, fit to be shown, each with so many lines at most; none where there is room for no line."""
    return tuple(_shown(table, lines) for table in notice.tables if table.columns and lines)


def _shown(table: Table, lines: int) -> Table:
    return Table(
        title=clean(table.title, _MOST_CELL),
        columns=tuple(clean(column, _MOST_COLUMN) for column in table.columns),
        rows=tuple(tuple(clean(cell, _MOST_CELL) for cell in row) for row in table.rows[:lines]),
    )


def as_lines(table: Table) -> Iterator[str]:
    """A line for each row of a table: its name, and what its cells say of which column."""
    for name, *cells in table.rows:
        told = zip(table.columns[1:], cells, strict=False)
        yield f"{name}: " + ", ".join(f"{column} {cell}" for column, cell in told if cell)
