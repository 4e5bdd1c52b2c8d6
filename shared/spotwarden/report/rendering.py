"""Views of the report, and how each is rendered: as a page, as JSON, as CSV.

What renders is imported on first use: a request for JSON needs no HTML, and one for a page no CSV.
"""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from spotwarden.model.notice import Notice
from spotwarden.model.opening import zone_of
from spotwarden.report.figures import views
from spotwarden.report.figures.fleet import FleetQuery
from spotwarden.report.figures.fleet import fleet as fleet_of
from spotwarden.report.figures.trust import trust as trust_of
from spotwarden.report.figures.weekly import weekly as weekly_of
from spotwarden.report.model.experiments import Experiments
from spotwarden.report.model.fleet import FleetReport
from spotwarden.report.model.job import Comparison, JobReport
from spotwarden.report.model.kept import Summary
from spotwarden.report.model.trust import AuditQuery, TrustReport
from spotwarden.report.model.view import Basis, FoundAudit, PageScene, View
from spotwarden.report.model.week import Week


def _pages() -> ModuleType:
    from spotwarden.report import views as report_pages

    return report_pages


def _export() -> ModuleType:
    from spotwarden.report import export as report_export

    return report_export


def experiments(basis: Basis) -> Experiments:
    """The table of all jobs."""
    return views.experiments(basis.index, basis.policy, basis.prices)


def job(basis: Basis, summary: Summary) -> JobReport:
    """One job."""
    return views.job(basis.index, summary, basis.policy, basis.prices, basis.forecaster)


def fleet(basis: Basis, first: date, last: date, owner: str) -> FleetReport:
    """All jobs of these days together, of one owner or ("") of everybody."""
    return fleet_of(basis.index, FleetQuery(first, last, owner), basis.policy, basis.prices)


def trust(found: FoundAudit, query: AuditQuery, at: datetime | None) -> TrustReport:
    """The actions that fit a query."""
    return trust_of(found.entries, query, at, since=found.since, about=found.about)


def weekly(basis: Basis, week: Week, now: datetime) -> tuple[Notice, ...]:
    """What people are told of a week."""
    return weekly_of(basis.index, week, basis.policy, basis.prices, now, forecaster=basis.forecaster)


def chosen(table: Experiments, asked: Mapping[str, str]) -> Experiments:
    """The rows that fit what is asked, in its order, on all pages."""
    pages = _pages()
    wanted = pages.TableQuery.read(asked)
    rows = [row for row in table.rows if pages.asking.fits(row, wanted)]
    return replace(table, rows=tuple(pages.asking.ordered(rows, wanted)))


def _frame(scene: PageScene) -> Any:  # noqa: ANN401 — a PageFrame, whose room is opened on first use
    return _pages().PageFrame(
        updated=scene.updated,
        part=scene.part,
        zone=zone_in(scene.asked.get("tz", ""), scene.home),
        home=scene.home,
        depth=scene.depth,
        static=scene.static,
        assets=scene.assets,
        project=scene.project,
        bucket=scene.bucket,
    )


def zone_in(asked: str, home: str) -> str:
    """The time zone that is asked for, if there is one of this name; else the policy's."""
    try:
        zone_of(asked or home)
    except (ValueError, LookupError, OSError):
        return home
    return asked or home


def page(view: View, scene: PageScene) -> str:
    """A view as HTML."""
    pages, frame = _pages(), _frame(scene)
    match view:
        case Experiments():
            html = pages.experiments(view, pages.TableQuery.read(scene.asked), frame)
        case JobReport():
            html = pages.job(view, frame)
        case Comparison():
            html = pages.compare(view, frame)
        case FleetReport():
            html = pages.fleet(view, frame, scene.asked.get("unit", "gpu"), scene.asked.get("owner", ""))
        case TrustReport():
            html = pages.trust(view, frame)
    return str(html)


def copies(table: Experiments, scene: PageScene) -> Iterator[tuple[str, str]]:
    """The pages of a table that are files, each with its name."""
    yield from _pages().copies(table, _frame(scene))


def trouble(title: str, says: str, scene: PageScene) -> str:
    """A page that says what is wrong and what to do."""
    return str(_pages().trouble(title, says, _frame(scene)))


def as_both(view: View) -> Mapping[str, bytes]:
    """The view's document, and the view as a table for a spreadsheet: `json` and `csv`."""
    return dict(_export().as_both(view))


def as_json(view: View) -> bytes:
    """The view's document."""
    return bytes(_export().as_json(view))


def as_csv(view: View) -> bytes:
    """The view as a table for a spreadsheet."""
    return bytes(_export().as_csv(view))


def file_name(view: View, kind: str) -> str:
    """What a download of it is called."""
    return str(_export().file_name(view, kind))


def headers() -> Mapping[str, str]:
    """What a browser may do with a page."""
    return dict(_pages().HEADERS)


def edition() -> str:
    """Tells one version of the pages from another."""
    return str(_pages().edition())
