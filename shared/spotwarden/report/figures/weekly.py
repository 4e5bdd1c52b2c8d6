"""The weekly report: what ran, what it cost and saved, what was wasted; to each owner, and to ops.

Its figures are those of the fleet page for the same days, from the same function.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.governance.costs import unpriced
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.notice import WEEKLY, Notice, Severity, Table
from spotwarden.model.opening import clock_of, zone_of
from spotwarden.model.policy import Policy
from spotwarden.model.prices import PriceTable
from spotwarden.recovery.forecast.text import cells as forecast_cells
from spotwarden.report.figures.fleet import FleetQuery, fleet
from spotwarden.report.figures.forecasting import Forecaster
from spotwarden.report.figures.money import Till
from spotwarden.report.figures.sums import MOST_ROWS, brief, hours, parts, percent, table, usd
from spotwarden.report.model.experiments import Money
from spotwarden.report.model.fleet import By, FleetReport, RecoveryFigures, Slice
from spotwarden.report.model.kept import IndexEntry, ReportIndex
from spotwarden.report.model.week import Week

LATEST = timedelta(days=2)
"""How late the message may go. What is later is old; the page has it, and the next Monday comes."""
MOST_OWNER = 300
"""Characters of an owner's name in the id of a message."""
WASTED = ("idle", "lost", "after")
_DAY = timedelta(days=1)


def due_week(limits: NotifyLimits, now: datetime) -> Week | None:
    """The week of which people are to be told by now: the last one, from Monday at `daily_at` on."""
    zone = zone_of(limits.timezone)
    today = now.astimezone(zone).date()
    monday = today - today.weekday() * _DAY
    begins = datetime.combine(monday, clock_of(limits.daily_at), tzinfo=zone)
    if not limits.weekly or not begins <= now < begins + LATEST:
        return None
    return Week(monday - 7 * _DAY, monday - _DAY)


def weekly(
    index: ReportIndex,
    week: Week,
    policy: Policy,
    prices: PriceTable,
    now: datetime,
    *,
    forecaster: Forecaster | None = None,
) -> tuple[Notice, ...]:
    """A message for ops, and one for each owner; none for who has neither used nor waited for anything."""
    asked = FleetQuery(week.first, week.last)
    everybody = fleet(index, asked, policy, prices)
    if not _anything(everybody):
        return ()
    theirs = _by_owner(index)
    mine = [
        (owner, fleet(replace(index, entries=entries), asked._replace(owner=owner), policy, prices))
        for owner, entries in sorted(theirs.items())
    ]
    till = Till(prices)
    messages = [
        _to_owner(owner, figures, week, now, _forecasts(theirs[owner], owner, forecaster, till, now))
        for owner, figures in mine
        if _anything(figures)
    ]
    return (_to_ops(everybody, week, policy, now), *messages)


def _anything(figures: FleetReport) -> bool:
    return bool(figures.total.vm.used or figures.total.vm.waiting)


def _by_owner(index: ReportIndex) -> Mapping[str, tuple[IndexEntry, ...]]:
    """The jobs with anything of each owner: looking through all jobs for each of them would take minutes."""
    found: dict[str, list[IndexEntry]] = defaultdict(list)
    for entry in index.entries:
        for owner in {entry.row.owner, *(cell.owner for cell in entry.cells)} - {""}:
            found[owner].append(entry)
    return {owner: tuple(entries) for owner, entries in found.items()}


def _to_owner(
    owner: str, figures: FleetReport, week: Week, now: datetime, forecasts: tuple[Table, ...]
) -> Notice:
    tables = (_table("Your jobs", "job", figures, By.JOB, "VMs without a job"), *forecasts)
    return message(figures, week, now, owner=owner, words=f"Your week {week.told}", tables=tables)


def _forecasts(
    entries: Sequence[IndexEntry], owner: str, forecaster: Forecaster | None, till: Till, now: datetime
) -> tuple[Table, ...]:
    """When the owner's open jobs end, the oldest first."""
    mine = [entry for entry in entries if entry.row.owner == owner and entry.course is not None]
    longest = sorted(mine, key=lambda entry: entry.row.started or now)[:MOST_ROWS]
    rows = tuple(
        (entry.row.job, *forecast_cells(found))
        for entry in longest
        if forecaster and (found := forecaster.of(entry, till, now))
    )
    columns = ("job", "ends by (P50)", "ends by (P90)", "to pay until then (P90)")
    return (Table(title="Forecasts", columns=columns, rows=rows),) if rows else ()


def _to_ops(figures: FleetReport, week: Week, policy: Policy, now: datetime) -> Notice:
    tables = (
        _table("By owner", "owner", figures, By.OWNER, "unknown"),
        _table("By machine type", "machine type", figures, By.MACHINE, "unknown"),
        _table("By job", "job", figures, By.JOB, "VMs without a job"),
    )
    words = f"Week {week.told}"
    return message(figures, week, now, owner=policy.governance.ops, words=words, tables=tables, whose="all")


def _table(title: str, what: str, figures: FleetReport, by: By, nobody: str) -> Table:
    return table(title, what, figures.tables[by], gpus=_gpus(figures), nobody=nobody)


def _gpus(figures: FleetReport) -> bool:
    """Whether hours are those of GPUs; where there are none at all, those of VMs."""
    return bool(figures.total.gpu.used or figures.total.gpu.waiting)


def message(
    figures: FleetReport,
    week: Week,
    now: datetime,
    *,
    owner: str,
    words: str,
    tables: tuple[Table, ...],
    whose: str = "",
) -> Notice:
    """Tell the figures of a week; `whose` tells the message about all from one to an owner."""
    return Notice(
        id=f"{WEEKLY}/{week.name}/{whose or f'owner/{owner[:MOST_OWNER]}'}",
        kind=WEEKLY,
        severity=Severity.INFO,
        job="",
        at=now,
        what=f"{words}: {_briefly(figures.total)}",
        why=f"this report covers one week, in the time zone {figures.timezone}",
        owner=owner,
        evidence=dict(_evidence(figures)),
        tables=tables,
    )


def _briefly(total: Slice) -> str:
    jobs = f"{total.jobs:,} job{'' if total.jobs == 1 else 's'}"
    if total.cost.usd is None:
        return f"{jobs}, cost unknown"
    return f"{jobs}, {usd(total.cost)}, {usd(total.waste)} wasted"


def _evidence(figures: FleetReport) -> Iterator[tuple[str, str]]:
    total, gpus = figures.total, _gpus(figures)
    spans = total.gpu if gpus else total.vm
    waited = f", {hours(spans.waiting)} spent waiting" if spans.waiting else ""
    yield "GPU-hours" if gpus else "VM-hours", f"{hours(spans.used)} used{waited}"
    lost = f" of known time; {hours(spans.unknown)} h unknown" if spans.unknown else ""
    yield "goodput", f"{percent(spans.goodput)}{lost}"
    yield "cost", _whole(total.cost)
    yield "saved compared with on-demand", usd(total.saved)
    where = parts(spans, WASTED)
    yield "wasted", f"{usd(total.waste)}{f': {where}' if where else ''}"
    yield "preemptions", f"{total.preemptions:,}"
    yield "recovered", _recovered(total.recovery)
    if figures.cases:
        yield "open cases", f"{len(figures.cases):,}"
    yield "prices", figures.prices


def _whole(cost: Money) -> str:
    """The cost, and what is not in it."""
    missing = unpriced(cost.unpriced)
    return f"{usd(cost)}; {missing}" if missing else usd(cost)


def _recovered(recovery: RecoveryFigures) -> str:
    if not recovery.count:
        return "0"
    if recovery.count == 1:
        return f"1, in {brief(recovery.longest)}"
    median, longest = brief(recovery.median), brief(recovery.longest)
    half = f"half within {median}, " if median != longest else ""
    return f"{recovery.count:,}, {half}all within {longest}"
