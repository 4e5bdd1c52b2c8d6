"""The table of experiments as a page."""

from collections.abc import Iterator, Sequence

import msgspec
from markupsafe import Markup, escape

from spotwarden.model.standing import Standing
from spotwarden.report.model.experiments import Advance, Experiment, Experiments
from spotwarden.report.views.asking import SIZES, TablePage, TableQuery, choose, first_order, measure
from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.rendering import render
from spotwarden.report.views.text import UNKNOWN, plain

_COLUMNS = (
    ("Job", "job", False),
    ("Status", "status", False),
    ("Owner, team", "owner", False),
    ("Attempts", "attempts", True),
    ("Zone", "zones", False),
    ("Started", "started", False),
    ("Runtime,\u00a0h", "runtime", True),
    ("VMs up,\u00a0h", "up", True),
    ("Cost,\u00a0USD", "cost", True),
    ("Done, last seen", "progress", True),
)
_AROUND = 2
"""Links to so many pages before and after the present one."""
MOST_COPIES = 4
"""Pages of the copy that needs no server: so many times 500 jobs, the newest."""
_MOST_NAMES = 500
"""Owners, and teams, that the search proposes."""


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a column.

    `sorted` is "ascending" or "descending" where the rows are in its order; `order` is what it asks for.
    """

    name: str
    id: str = ""
    number: bool = False
    url: str = ""
    order: str = ""
    sorted: str = ""


def experiments(table: Experiments, asked: TableQuery, frame: PageFrame) -> str:
    """The page of the rows that are asked for."""
    chosen, frame = choose(table.rows, asked), frame.at("index")
    asked = chosen.asked
    columns = tuple(_columns(chosen, frame))
    return render(
        "experiments",
        frame,
        chosen=chosen,
        asked=asked,
        columns=columns,
        sorted_by=next((column.name for column in columns if column.sorted), "start"),
        pages=tuple(_pages(chosen, frame)),
        count=_count(chosen, frame),
        nothing=_nothing(table),
        statuses=[standing.value for standing in Standing],
        owners=_names(row.owner for row in table.rows),
        teams=_names(row.team for row in table.rows),
        sizes=SIZES,
        prices=table.prices,
        progress=lambda row: progress(row.advance),
        measured=lambda row: measure(row, chosen.metric),
        links=lambda row: tuple(links(row, frame)),
    )


def copies(table: Experiments, frame: PageFrame) -> Iterator[tuple[str, str]]:
    """The table as pages of a copy without a server, the newest jobs first, each with its name."""
    asked = TableQuery(size=SIZES[-1])
    # More would take seconds to write at each tick; who has as many jobs looks for one on the server's page.
    for page in range(1, min(choose(table.rows, asked).pages, MOST_COPIES) + 1):
        said = msgspec.structs.replace(asked, page=page)
        yield f"{_name(page)}.html", experiments(table, said, frame)


def progress(advance: Advance) -> Markup:
    """How far a job is: percent where it says of how much, else its step."""
    if advance.share is not None:
        return escape(f"{min(advance.share, 1.0) * 100:.1f}\u202f%")
    return UNKNOWN if advance.step is None else escape(f"step {plain(advance.step)}")


def links(row: Experiment, frame: PageFrame) -> Iterator[tuple[str, str]]:
    """Where its things are, as pages of Google's console."""
    said = (("code", row.links.code), ("script", row.links.script))
    folders = (("logs", row.links.logs), ("output", row.links.output))
    for name, url in (*said, *folders):
        if found := frame.cloud(url):
            yield name, found


def _columns(chosen: TablePage, frame: PageFrame) -> Iterator[Column]:
    asked = chosen.asked
    metric = ((f"{chosen.metric}, last", "last", True), (f"{chosen.metric}, best", "best", True))
    for name, sort, number in (*_COLUMNS, *(metric if chosen.metric else ())):
        here = sort == asked.sort
        other = "asc" if asked.order == "desc" else "desc"
        order = other if here else first_order(sort)
        direction = "ascending" if asked.order == "asc" else "descending"
        yield Column(
            name=name,
            id=sort,
            number=number,
            url="" if frame.static else frame.to("index", asked.pairs(sort=sort, order=order, page=1)),
            order=order,
            sorted=direction if here else "",
        )
    yield Column(name="Links")


def _pages(chosen: TablePage, frame: PageFrame) -> Iterator[tuple[int, str]]:
    """The first and last page and those around the present one; a link of "" stands for those between."""
    here, last = chosen.asked.page, min(chosen.pages, MOST_COPIES) if frame.static else chosen.pages
    shown = {1, last, *range(max(1, here - _AROUND), min(last, here + _AROUND) + 1)}
    before = 0
    for number in sorted(shown):
        if number > before + 1:
            yield 0, ""
        plain_copy = frame.to(_name(number))
        yield number, plain_copy if frame.static else frame.to("index", chosen.asked.pairs(page=number))
        before = number


def _name(page: int) -> str:
    return "index" if page == 1 else f"index-{page}"


def _count(chosen: TablePage, frame: PageFrame) -> str:
    if not chosen.rows:
        return f"0 of {chosen.total:,} jobs" if chosen.total else "No jobs"
    some = f"{chosen.found:,} of {chosen.total:,}" if chosen.found < chosen.total else f"{chosen.found:,}"
    shown = f"{chosen.begin:,} to {chosen.begin + len(chosen.rows) - 1:,}"
    newest = ", the newest first" if frame.static else ""
    left = chosen.found - MOST_COPIES * SIZES[-1] if frame.static else 0
    older = f"; open the page of report_jobs for {left:,} older jobs" if left > 0 else ""
    return f"{some} {'job' if chosen.total == 1 else 'jobs'}; rows {shown}{newest}{older}"


def _nothing(table: Experiments) -> str:
    if table.at is None:
        return "No report yet. report_jobs writes the first one within 10 minutes."
    return "No jobs match your search." if table.rows else "No jobs in the bucket yet."


def _names(names: Iterator[str] | Sequence[str]) -> list[str]:
    return sorted({name for name in names if name})[:_MOST_NAMES]
