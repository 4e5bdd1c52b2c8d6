"""All jobs' cells → the fleet: every table is a sum of the same cells, by another of their names."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

import msgspec

from spotwarden.model.placement import PlaceEvent
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import team_of
from spotwarden.model.prices import PriceTable, VmKind
from spotwarden.report.figures.counting import days_in
from spotwarden.report.figures.money import Till
from spotwarden.report.figures.tally import Tally, numbers, used
from spotwarden.report.model.experiments import NOTHING, Experiment
from spotwarden.report.model.fleet import By, FleetReport, OutageHour, RecoveryFigures, Slice
from spotwarden.report.model.kept import Cell, IndexEntry, Loss, ReportIndex

_SHARES = {"median": 50, "p90": 90, "p99": 99}


class FleetQuery(NamedTuple):
    """Which days, and whose: "" for everybody's."""

    first: date
    last: date
    owner: str = ""


class CellPlace(NamedTuple):
    """What cells and losses are sorted by, but for their job: few places hold those of many jobs."""

    owner: str
    machine: str
    zone: str
    day: date


class CellGroup:
    """What belongs to one row of a table: VM time with what it cost, and losses."""

    __slots__ = ("losses", "tally")

    def __init__(self) -> None:
        self.tally = Tally()
        self.losses: list[Loss] = []

    def merge(self, other: "CellGroup") -> None:
        """All of another, too."""
        self.tally.merge(other.tally)
        self.losses += other.losses

    def slice(self, key: str) -> Slice:
        """As a row."""
        vm, gpu = self.tally.spans()
        return Slice(
            key=key,
            jobs=len(self.tally.jobs - {""}),
            gpu=gpu,
            vm=vm,
            preemptions=sum(loss.preempted for loss in self.losses),
            recovery=recovery(loss.seconds for loss in self.losses),
            **self.tally.money(),
        )


class Sums:
    """What is added up: who belongs to which team, and what a VM costs, is looked up once."""

    def __init__(self, asked: FleetQuery, policy: Policy, prices: PriceTable, zone: tzinfo) -> None:
        self.till = Till(prices)
        self._asked, self._policy, self._zone = asked, policy, zone
        self._teams: dict[str, str] = {}
        self.places: dict[CellPlace, CellGroup] = defaultdict(CellGroup)
        self.jobs: dict[str, CellGroup] = defaultdict(CellGroup)

    def team(self, owner: str) -> str:
        """The team of this owner, "" for none."""
        if owner not in self._teams:
            self._teams[owner] = team_of(self._policy, owner)
        return self._teams[owner]

    def _wants(self, owner: str, day: date) -> bool:
        return self._asked.first <= day <= self._asked.last and self._asked.owner in ("", owner)

    def add(self, entry: IndexEntry) -> None:
        """Count in what is asked for of a job."""
        for cell in entry.cells:
            if self._wants(cell.owner, cell.day):
                self._cell(entry.row.job, entry.kinds[cell.kind], cell)
        row = entry.row
        for loss in entry.losses:
            day = loss.at.astimezone(self._zone).date()
            if self._wants(row.owner, day):
                for group in self._of(row.job, CellPlace(row.owner, loss.machine, loss.zone, day)):
                    group.losses.append(loss)
                    group.tally.jobs.add(row.job)

    def _cell(self, job: str, kind: VmKind, cell: Cell) -> None:
        counted, dates = numbers(kind, cell.seconds, self.till)
        for group in self._of(job, CellPlace(cell.owner, kind.machine_type, cell.zone, cell.day)):
            group.tally.add(job, counted, dates)

    def _of(self, job: str, place: CellPlace) -> tuple[CellGroup, CellGroup]:
        return self.places[place], self.jobs[job]

    def table(self, by: By) -> dict[str, CellGroup]:
        """The groups of a table by key."""
        return self.jobs if by is By.JOB else self.rolled(_KEYS[by])

    def rolled(self, key: Callable[["Sums", CellPlace], str]) -> dict[str, CellGroup]:
        """All places, those of one key together."""
        found: dict[str, CellGroup] = defaultdict(CellGroup)
        for place, group in self.places.items():
            found[key(self, place)].merge(group)
        return found


_KEYS: Mapping[By, Callable[[Sums, CellPlace], str]] = {
    By.OWNER: lambda _, place: place.owner,
    By.TEAM: lambda sums, place: sums.team(place.owner),
    By.MACHINE: lambda _, place: place.machine,
    By.ZONE: lambda _, place: place.zone,
    By.DAY: lambda _, place: place.day.isoformat(),
}


def fleet(index: ReportIndex, asked: FleetQuery, policy: Policy, prices: PriceTable) -> FleetReport:
    """The figures of these days; every table of them has the same total."""
    zone = days_in(index.timezone)
    sums = Sums(asked, policy, prices, zone)
    for entry in index.entries:
        sums.add(entry)
    total = sums.rolled(lambda _, __: "")[""].slice("")
    return FleetReport(
        at=index.at,
        first=asked.first,
        last=asked.last,
        timezone=index.timezone,
        total=total,
        tables={by: _table(by, sums.table(by)) for by in By},
        recovery=total.recovery,
        cases=tuple(case for case in index.cases if asked.owner in ("", case.owner)),
        outages=_outages(index.entries, asked, zone) if not asked.owner else (),
        prices=sums.till.basis(),
    )


def _table(by: By, groups: Mapping[str, CellGroup]) -> tuple[Slice, ...]:
    rows = [group.slice(key) for key, group in sorted(groups.items())]
    if by is not By.DAY:
        rows.sort(key=lambda row: (row.gpu.used, row.vm.used, row.cost.micros), reverse=True)
    return tuple(rows)


def recovery(seconds: Iterable[int | None]) -> RecoveryFigures:
    """The percentiles of these, as nearest ranks: the smallest time that so many percent do not exceed."""
    ranked = sorted(timedelta(seconds=second) for second in seconds if second is not None)
    if not ranked:
        return RecoveryFigures()
    shares = {name: ranked[-(-share * len(ranked) // 100) - 1] for name, share in _SHARES.items()}
    return RecoveryFigures(count=len(ranked), longest=ranked[-1], **shares)


def _outages(entries: Iterable[IndexEntry], asked: FleetQuery, zone: tzinfo) -> tuple[OutageHour, ...]:
    hours: dict[tuple[datetime, str], Counter[PlaceEvent]] = defaultdict(Counter)
    for entry in entries:
        for happened in entry.happened:
            if asked.first <= happened.at.astimezone(zone).date() <= asked.last:
                hour = happened.at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
                hours[hour, happened.zone][happened.event] += 1
    return tuple(
        OutageHour(
            zone=place,
            hour=hour,
            preempted=counts[PlaceEvent.PREEMPTED],
            stockouts=counts[PlaceEvent.STOCKOUT],
            granted=counts[PlaceEvent.GAVE],
        )
        for (hour, place), counts in sorted(hours.items())
    )


def row_of(entry: IndexEntry, sums: Sums) -> Experiment:
    """The job's row with its sums: those of its cells, of all days."""
    row, tally = entry.row, Tally()
    up = gpu = 0
    for cell in entry.cells:
        kind = entry.kinds[cell.kind]
        tally.add(row.job, *numbers(kind, cell.seconds, sums.till))
        up += used(cell.seconds)
        gpu += used(cell.seconds) * kind.gpus
    known = bool(entry.cells) or not row.instances
    seen = all(kind.machine_type for kind in entry.kinds)
    money = tally.money()
    return msgspec.structs.replace(
        row,
        team=sums.team(row.owner),
        runtime=max((row.ended or entry.looked) - row.started, NOTHING) if row.started else None,
        up_time=timedelta(seconds=up) if known else None,
        gpu_time=timedelta(seconds=gpu) if known and seen else None,
        cost=money["cost"],
        on_demand=money["on_demand"],
        saved=money["saved"],
    )
