"""The figures of a week that never was."""

from datetime import date, datetime, timedelta

from spotwarden.model.notice import Table
from spotwarden.report.figures.sums import table
from spotwarden.report.model.experiments import Money
from spotwarden.report.model.fleet import FleetReport, RecoveryFigures, Slice, Spans
from spotwarden.report.model.week import Week

_HOUR, _MINUTE = timedelta(hours=1), timedelta(minutes=1)
WEEK = Week(date(2026, 11, 9), date(2026, 11, 15))


def figures(at: datetime) -> FleetReport:
    """Two jobs that were preempted five times."""
    total = _slice("", 2, Spans(useful=97.4 * _HOUR, idle=4.1 * _HOUR, lost=2 * _HOUR, waiting=1.2 * _HOUR))
    prices = "list prices of 2026-11-01, in US dollars, without discounts, disks and network"
    return FleetReport(at=at, first=WEEK.first, last=WEEK.last, total=total, prices=prices)


def tables() -> tuple[Table, ...]:
    """What they have used, each."""
    long = _slice("sample-job", 1, Spans(useful=80.2 * _HOUR, idle=0.1 * _HOUR, lost=2 * _HOUR))
    short = _slice("sample-job-short", 1, Spans(useful=17.2 * _HOUR, idle=4 * _HOUR), RecoveryFigures())
    return (table("Your jobs", "job", (long, short), gpus=True, nobody=""),)


def _slice(key: str, jobs: int, spans: Spans, recovery: RecoveryFigures | None = None) -> Slice:
    known = recovery or RecoveryFigures(count=5, median=3 * _MINUTE, longest=11 * _MINUTE)
    used = spans.used
    return Slice(
        key=key,
        jobs=jobs,
        gpu=spans,
        vm=spans,
        cost=_money(used, 0.28),
        on_demand=_money(used, 0.71),
        saved=_money(used, 0.43),
        waste=_money(spans.idle + spans.lost, 0.28),
        preemptions=known.count,
        recovery=known,
    )


def _money(time: timedelta, per_hour: float) -> Money:
    return Money(micros=round(time / _HOUR * per_hour * 1_000_000), priced=time, oldest=date(2026, 11, 1))
