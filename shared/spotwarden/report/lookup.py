"""What a view is made of, read with a constant number of calls: the index, and for some a summary or two."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.heartbeats import with_listed
from spotwarden.model.policy import Policy
from spotwarden.model.prices import PriceTable
from spotwarden.recovery.folder.node_beats import JobBeats
from spotwarden.recovery.forecast.table import chance_of, read_markets
from spotwarden.recovery.kinds.price_file import kept_prices
from spotwarden.report import rendering
from spotwarden.report.figures.forecasting import Forecaster, pasts_of
from spotwarden.report.figures.views import named
from spotwarden.report.model.experiments import Experiments
from spotwarden.report.model.fleet import FleetReport
from spotwarden.report.model.job import Comparison, JobReport
from spotwarden.report.model.kept import ReportIndex, Summary
from spotwarden.report.model.trust import AuditedAction, AuditQuery, TrustReport
from spotwarden.report.model.view import Basis, FoundAudit
from spotwarden.report.store import ReportStore, current, no_collecting

DAYS = 7
"""Of the audit, that a search without a job looks through."""
DAY = timedelta(days=1)


Value = TypeVar("Value", Experiments, FleetReport)

_MADE: GenerationCache[Experiments | FleetReport] = GenerationCache(most=8)


class ReportLookup(msgspec.Struct, frozen=True, kw_only=True):
    """Reads views. `index` is None where no tick has made a report yet."""

    shelf: ReportStore
    policy: Policy
    prices: PriceTable
    index: ReportIndex | None
    now: datetime

    @classmethod
    def open(cls, shelf: ReportStore, policy: Policy, prices_file: Path, now: datetime) -> "ReportLookup":
        """Read the index."""
        return cls(
            shelf=shelf,
            policy=policy,
            prices=kept_prices(prices_file),
            index=current(shelf),
            now=now,
        )

    @property
    def basis(self) -> Basis:
        """What views are made from; without a report an empty one."""
        index = self.index or ReportIndex(at=self.now, timezone=self.policy.notify.timezone)
        forecaster = forecaster_by(self.policy, index)
        return Basis(index=index, policy=self.policy, prices=self.prices, forecaster=forecaster)

    @property
    def at(self) -> datetime | None:
        """When the report was made."""
        return self.index.at if self.index else None

    @property
    def part(self) -> bool:
        """Whether the report is being made anew, and not all of it is there."""
        return self.index is not None and (self.index.part or self.index.anew)

    def experiments(self) -> Experiments:
        """The table of all jobs."""
        table = self._once("experiments", Experiments, lambda: rendering.experiments(self.basis))
        return table if self.index else replace(table, at=None)

    def fleet(self, first: date, last: date, owner: str) -> FleetReport:
        """The figures of these days, of one owner or of all."""
        what = f"fleet {first} {last} {owner}"
        return self._once(what, FleetReport, lambda: rendering.fleet(self.basis, first, last, owner))

    def _once(self, what: str, kind: type[Value], make: Callable[[], Value]) -> Value:
        """It, made once for each index as long as the process is warm."""
        if self.index is None:
            return make()
        moment = int(self.index.at.timestamp() * 1_000_000)
        name = f"{self.shelf.layout.prefix} {self.policy.version} {what}"
        known = _MADE.get(name, moment)
        if isinstance(known, kind):
            return known
        with no_collecting():
            return cast("Value", _MADE.keep(name, moment, make()))

    def job(self, job: str) -> JobReport | None:
        """The page of a job; None where there is no such job on record."""
        summary = self.summary(job)
        return rendering.job(self.basis, summary) if summary else None

    def summary(self, job: str) -> Summary | None:
        """A job's summary, with its row as the index has it: that one is newer."""
        entry = next(
            (index_entry for index_entry in self.basis.index.entries if job and index_entry.row.job == job),
            None,
        )
        if entry is None:
            return None
        found, _ = self.shelf.summary(job)
        return self._heard(replace(found, entry=entry)) if found else Summary(entry=entry)

    def _heard(self, summary: Summary) -> Summary:
        """With what the heartbeats of the job kit say by now: one list, of a job that is open."""
        entry = summary.entry
        if entry.settled or not entry.heard:
            return summary
        record = JobRecord(job=entry.row.job, attempt=entry.row.attempts, signals=summary.signals)
        heard = JobBeats(self.shelf.store, self.shelf.layout).of(record.job, entry.nodes)
        return replace(summary, signals=with_listed(record, heard).signals)

    def comparison(self, jobs: tuple[str, ...]) -> Comparison:
        """Jobs beside each other."""
        found = {job: self.job(job) for job in dict.fromkeys(jobs)}
        return Comparison(
            jobs=tuple(match for match in found.values() if match),
            missing=tuple(job for job, report in found.items() if report is None),
        )

    def trust(self, query: AuditQuery) -> TrustReport:
        """The entries that are asked for: of a job all that are kept, else those of a day, or of a week."""
        job = named(self.basis.index, query.about) if query.about else ""
        about = self.summary(job) if job else None
        if about is not None:
            found = FoundAudit(entries=about.gathered.entries, about=about)
        else:
            newest = query.day or self.now.date()
            days = [newest] if query.day else [newest - back * DAY for back in range(DAYS)]
            found = FoundAudit(entries=self._entries(days), since=days[-1])
        return rendering.trust(found, query, self.at)

    def _entries(self, days: list[date]) -> tuple[AuditedAction, ...]:
        read = [self.shelf.audit_day(day)[0] for day in days]
        return tuple(entry for day in read if day for entries in day.entries.values() for entry in entries)


def forecaster_by(policy: Policy, index: ReportIndex) -> Forecaster:
    """What forecasts of jobs are made with."""
    return Forecaster(
        markets=read_markets(),
        limits=policy.placement,
        handover=policy.recovery.handover,
        pasts=cache(lambda: pasts_of(index.entries, index.at)),
        chance=chance_of,
    )
