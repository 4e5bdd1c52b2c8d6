"""Views and their pages, as `model.report_view.Press` wants them.

What renders is imported on first use: a request for JSON needs no HTML, and one for a page no CSV.
"""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from msgspec.structs import replace

from spotwarden.model.notice import Notice
from spotwarden.model.opening import zone_of
from spotwarden.report.figures import views
from spotwarden.report.figures.fleet import Asked, fleet
from spotwarden.report.figures.trust import trust
from spotwarden.report.figures.weekly import due_week, weekly
from spotwarden.report.model.experiments import Experiments
from spotwarden.report.model.fleet import Fleet
from spotwarden.report.model.job import Comparison, JobReport
from spotwarden.report.model.kept import Summary
from spotwarden.report.model.trust import Query, Trust
from spotwarden.report.model.view import Basis, Found, Press, Scene, View
from spotwarden.report.model.week import Week


def _pages() -> Any:  # noqa: ANN401 — a module
    from spotwarden.report import views as report_pages  # noqa: PLC0415 — with it comes the template engine

    return report_pages


def _export() -> Any:  # noqa: ANN401 — a module
    from spotwarden.report import export as report_export  # noqa: PLC0415 — few requests are for figures

    return report_export


def _experiments(basis: Basis) -> Experiments:
    return views.experiments(basis.index, basis.policy, basis.prices)


def _job(basis: Basis, summary: Summary) -> JobReport:
    return views.job(basis.index, summary, basis.policy, basis.prices)


def _fleet(basis: Basis, first: date, last: date, owner: str) -> Fleet:
    return fleet(basis.index, Asked(first, last, owner), basis.policy, basis.prices)


def _trust(found: Found, query: Query, at: datetime | None) -> Trust:
    return trust(found.deeds, query, at, since=found.since, about=found.about)


def _weekly(basis: Basis, week: Week, now: datetime) -> tuple[Notice, ...]:
    return weekly(basis.index, week, basis.policy, basis.prices, now)


def _chosen(table: Experiments, asked: Mapping[str, str]) -> Experiments:
    """The rows that fit what is asked, in its order, on all pages."""
    pages = _pages()
    wanted = pages.Asked.read(asked)
    rows = [row for row in table.rows if pages.asking.fits(row, wanted)]
    return replace(table, rows=tuple(pages.asking.ordered(rows, wanted)))


def _frame(scene: Scene) -> Any:  # noqa: ANN401 — a Frame, whose room is opened on first use
    return _pages().Frame(
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


def _page(view: View, scene: Scene) -> str:
    pages, frame = _pages(), _frame(scene)
    match view:
        case Experiments():
            html = pages.experiments(view, pages.Asked.read(scene.asked), frame)
        case JobReport():
            html = pages.job(view, frame)
        case Comparison():
            html = pages.compare(view, frame)
        case Fleet():
            html = pages.fleet(view, frame, scene.asked.get("unit", "gpu"), scene.asked.get("owner", ""))
        case Trust():
            html = pages.trust(view, frame)
    return str(html)


def _copies(table: Experiments, scene: Scene) -> Iterator[tuple[str, str]]:
    yield from _pages().copies(table, _frame(scene))


def _trouble(title: str, says: str, scene: Scene) -> str:
    return str(_pages().trouble(title, says, _frame(scene)))


PRESS = Press(
    experiments=_experiments,
    chosen=_chosen,
    job=_job,
    fleet=_fleet,
    trust=_trust,
    named=views.named,
    page=_page,
    copies=_copies,
    trouble=_trouble,
    as_json=lambda view: bytes(_export().as_json(view)),
    as_csv=lambda view: bytes(_export().as_csv(view)),
    file_name=lambda view, kind: str(_export().file_name(view, kind)),
    headers=lambda: dict(_pages().HEADERS),
    edition=lambda: str(_pages().EDITION),
    due=due_week,
    weekly=_weekly,
)
