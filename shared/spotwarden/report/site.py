"""The copy of the report that needs no server: the same pages as files, where something has changed."""

from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.model.notice import Notice
from spotwarden.model.opening import zone_of
from spotwarden.recovery.kinds.price_file import read_prices
from spotwarden.report import assets, rendering
from spotwarden.report.figures.weekly import due_week
from spotwarden.report.lookup import DAY, ReportLookup, forecaster_by
from spotwarden.report.model.kept import IndexEntry, ReportIndex, Summary
from spotwarden.report.model.trust import AuditQuery
from spotwarden.report.model.view import Basis, PageScene
from spotwarden.report.model.week import Week
from spotwarden.report.store import ReportStore
from spotwarden.report.weekly_mail import tell_weekly

PAGES = 500
"""Pages of jobs that one tick writes at most: after a new version of ours all of them are written anew."""
DAYS = 7
TYPES = {"html": "text/html; charset=utf-8", "json": "application/json", "csv": "text/csv; charset=utf-8"}


class File(NamedTuple):
    """One file of the copy."""

    path: str
    kind: str
    body: bytes


def publish(context: SweepContext, index: ReportIndex, summaries: Mapping[str, Summary]) -> ReportIndex:
    """Write what has changed, and say in the index which job's page is of what; a failure raises."""
    site = _Site.open(context, index)
    jobs = (entry for entry in index.entries if entry.row.job)
    due = [entry for entry in jobs if entry.paged != _mark(entry, site.edition)][:PAGES]
    done = each(due, partial(_job_page, site, summaries), context.settings.workers)
    files = [*site.pages(), *site.files(index)]
    done.failures.extend(each(files, site.write, context.settings.workers).failures)
    if done.failures:
        raise ExceptionGroup("the copy of the report could not be written", done.failures)
    paged = {entry.row.job: _mark(entry, site.edition) for entry in due}
    entries = tuple(
        replace(index_entry, paged=paged.get(index_entry.row.job, index_entry.paged))
        for index_entry in index.entries
    )
    return replace(index, entries=entries, site=site.edition)


def tell(context: SweepContext, index: ReportIndex) -> list[Exception]:
    """The weekly reports, where they are due; gives what failed."""
    return tell_weekly(context, due_week, partial(_messages, context, index))


def _messages(context: SweepContext, index: ReportIndex, week: Week) -> tuple[Notice, ...]:
    prices = read_prices(context.settings.prices_file)
    forecaster = forecaster_by(context.policy, index)
    basis = Basis(index=index, policy=context.policy, prices=prices, forecaster=forecaster)
    return tuple(rendering.weekly(basis, week, context.tick.now))


def _mark(entry: IndexEntry, edition: str) -> str:
    """What a page was made from. A job that runs has something new each tick: its page waits an hour."""
    hour = "" if entry.settled else f"{entry.looked:%d%H}"
    return f"{entry.shape}-{hour or entry.digest}-{entry.row.standing.value}-{edition}"


def _job_page(site: "_Site", summaries: Mapping[str, Summary], entry: IndexEntry) -> int:
    summary = summaries.get(entry.row.job)
    if summary is None:
        found, _ = site.looker.shelf.summary(entry.row.job)
        summary = found or Summary(entry=entry)
    report = rendering.job(site.basis, replace(summary, entry=entry))
    html = rendering.page(report, replace(site.scene, depth=1))
    return site.write(File(f"jobs/{entry.row.job}.html", TYPES["html"], html.encode()))


class _Site(msgspec.Struct, frozen=True, kw_only=True):
    """What the pages are made with."""

    looker: ReportLookup
    basis: Basis
    scene: PageScene
    edition: str

    @classmethod
    def open(cls, context: SweepContext, index: ReportIndex) -> "_Site":
        shelf = ReportStore(context.cloud.store, context.settings.layout)
        prices = read_prices(context.settings.prices_file)
        scene = PageScene(
            now=context.tick.now,
            home=index.timezone,
            updated=index.at,
            part=index.part or index.anew,
            static=True,
            assets=assets.names(),
            bucket=context.settings.bucket,
            project=context.settings.project,
        )
        looker = ReportLookup(
            shelf=shelf, policy=context.policy, prices=prices, index=index, now=context.tick.now
        )
        return cls(looker=looker, basis=looker.basis, scene=scene, edition=_edition())

    def write(self, file: File) -> int:
        """Write one file, over whatever is there; gives its generation."""
        shelf = self.looker.shelf
        return shelf.store.write(
            shelf.name(f"site/{file.path}"), file.body, generation=None, content_type=file.kind
        )

    def pages(self) -> Iterator[File]:
        """The pages of all jobs together, as pages and as figures."""
        looker = self.looker
        table = rendering.experiments(self.basis)
        last = looker.now.astimezone(zone_of(looker.policy.notify.timezone)).date()
        fleet = rendering.fleet(self.basis, last - (DAYS - 1) * DAY, last, "")
        trust = looker.trust(AuditQuery(changes=True))
        for name, html in rendering.copies(table, self.scene):
            yield File(name, TYPES["html"], html.encode())
        for name, view in (("index", table), ("fleet", fleet)):
            for kind, body in rendering.as_both(view).items():
                yield File(f"{name}.{kind}", TYPES[kind], body)
        yield File("fleet.html", TYPES["html"], rendering.page(fleet, self.scene).encode())
        yield File("trust.html", TYPES["html"], rendering.page(trust, self.scene).encode())

    def files(self, index: ReportIndex) -> Iterator[File]:
        """What pages load, once for each version of it."""
        for asset in assets.assets().values() if index.site != self.edition else ():
            yield File(f"assets/{asset.name}", asset.kind, asset.body)


def _edition() -> str:
    """Tells one version of the pages, and of the files that they load, from another."""
    words = (rendering.edition(), *sorted(assets.names().values()))
    return sha256(" ".join(words).encode()).hexdigest()[:8]
