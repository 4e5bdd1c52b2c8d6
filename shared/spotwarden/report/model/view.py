"""What views of the report are made from, and where they are shown."""

from collections.abc import Mapping
from datetime import date, datetime

import msgspec

from spotwarden.model.policy import Policy
from spotwarden.model.prices import PriceTable
from spotwarden.report.figures.forecasting import Forecaster
from spotwarden.report.model.experiments import Experiments
from spotwarden.report.model.fleet import FleetReport
from spotwarden.report.model.job import Comparison, JobReport
from spotwarden.report.model.kept import ReportIndex, Summary
from spotwarden.report.model.trust import AuditedAction, TrustReport

View = Experiments | JobReport | Comparison | FleetReport | TrustReport


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """What every view is made from: the index, and by which policy and prices."""

    index: ReportIndex
    policy: Policy
    prices: PriceTable
    forecaster: Forecaster | None = None


class FoundAudit(msgspec.Struct, frozen=True, kw_only=True):
    """Entries that may fit a query, since when all are there (None: ever), and the job that is asked for."""

    entries: tuple[AuditedAction, ...] = ()
    since: date | None = None
    about: Summary | None = None


class PageScene(msgspec.Struct, frozen=True, kw_only=True):
    """Where and when a page is shown, `depth` folders down, and what its address asks of it, by name.

    `part` says that not all of the report is in it yet.
    """

    now: datetime
    asked: Mapping[str, str] = {}
    home: str = "UTC"
    updated: datetime | None = None
    part: bool = False
    static: bool = False
    assets: Mapping[str, str] = {}
    bucket: str = ""
    project: str = ""
    depth: int = 0
