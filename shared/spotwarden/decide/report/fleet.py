"""All jobs' cells → the fleet: every table is a sum of the same cells, by another of their names."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

import msgspec

from spotwarden.decide.report.counting import AFTER, IDLE, LOST, WAITING, days_in
from spotwarden.decide.report.money import Till, added
from spotwarden.decide.rules.precedence import team_of
from spotwarden.model.placement import Event
from spotwarden.model.policy import Policy
from spotwarden.model.prices import Kind, PriceTable
from spotwarden.model.report import NOTHING, Experiment, Money
from spotwarden.model.report_fleet import By, Fleet, Recovery, Slice, Spans, WeatherHour
from spotwarden.model.report_kept import Cell, Entry, Index, Loss, Seconds

WASTE = (IDLE, LOST, AFTER)
_SHARES = {"median": 50, "p90": 90, "p99": 99}


class Asked(NamedTuple):
    """Which days, and whose: "" for everybody's."""

    first: date
    last: date
    owner: str = ""


class Piece(NamedTuple):
    """One cell with all that it may be sorted by, and with its price."""

    job: str
    owner: str
    team: str
    kind: Kind
    cell: Cell
    cost: Money
    on_demand: Money
    saved: Money
    waste: Money


class Hit(NamedTuple):
    """One loss, with all that it may be sorted by."""

    job: str
    owner: str
    team: str
    day: date
    loss: Loss


_KEYS: Mapping[By, tuple[Callable[[Piece], str], Callable[[Hit], str]]] = {
    By.OWNER: (lambda one: one.owner, lambda hit: hit.owner),
    By.TEAM: (lambda one: one.team, lambda hit: hit.team),
    By.MACHINE: (lambda one: one.kind.machine_type, lambda hit: hit.loss.machine),
    By.ZONE: (lambda one: one.cell.zone, lambda hit: hit.loss.zone),
    By.JOB: (lambda one: one.job, lambda hit: hit.job),
    By.DAY: (lambda one: one.cell.day.isoformat(), lambda hit: hit.day.isoformat()),
}


class Sums:
    """What is added up: who belongs to which team is looked up once."""

    def __init__(self, asked: Asked, policy: Policy, prices: PriceTable, zone: tzinfo) -> None:
        self.till = Till(prices)
        self._asked, self._policy, self._zone = asked, policy, zone
        self._teams: dict[str, str] = {}

    def team(self, owner: str) -> str:
        """The team of this owner, "" for none."""
        if owner not in self._teams:
            self._teams[owner] = team_of(self._policy, owner)
        return self._teams[owner]

    def wants(self, owner: str, day: date) -> bool:
        """Whether this is asked for."""
        return self._asked.first <= day <= self._asked.last and self._asked.owner in ("", owner)

    def pieces(self, entry: Entry) -> Iterator[Piece]:
        """The cells of a job that are asked for."""
        for cell in entry.cells:
            if self.wants(cell.owner, cell.day):
                yield self._piece(entry, cell)

    def _piece(self, entry: Entry, cell: Cell) -> Piece:
        kind = entry.kinds[cell.kind]
        up = used(cell.seconds)
        return Piece(
            job=entry.row.job,
            owner=cell.owner,
            team=self.team(cell.owner),
            kind=kind,
            cell=cell,
            cost=self.till.cost(kind, up),
            on_demand=self.till.on_demand(kind, up),
            saved=self.till.saved(kind, up),
            waste=self.till.cost(kind, sum(cell.seconds[part] for part in WASTE)),
        )

    def hits(self, entry: Entry) -> Iterator[Hit]:
        """The losses of a job that are asked for."""
        row = entry.row
        for loss in entry.losses:
            day = loss.at.astimezone(self._zone).date()
            if self.wants(row.owner, day):
                yield Hit(job=row.job, owner=row.owner, team=self.team(row.owner), day=day, loss=loss)


def fleet(index: Index, asked: Asked, policy: Policy, prices: PriceTable) -> Fleet:
    """The figures of these days; every table of them has the same total."""
    zone = days_in(index.timezone)
    sums = Sums(asked, policy, prices, zone)
    pieces = [piece for entry in index.entries for piece in sums.pieces(entry)]
    hits = [hit for entry in index.entries for hit in sums.hits(entry)]
    return Fleet(
        at=index.at,
        first=asked.first,
        last=asked.last,
        timezone=index.timezone,
        total=_slice("", pieces, hits),
        tables={by: _table(by, pieces, hits) for by in By},
        recovery=recovery(hit.loss.seconds for hit in hits),
        cases=tuple(one for one in index.cases if asked.owner in ("", one.owner)),
        weather=_weather(index.entries, asked, zone) if not asked.owner else (),
        prices=sums.till.basis(),
    )


def used(seconds: Seconds) -> int:
    """All of it but the waiting."""
    return sum(seconds) - seconds[WAITING]


def _table(by: By, pieces: Sequence[Piece], hits: Sequence[Hit]) -> tuple[Slice, ...]:
    of_piece, of_hit = _KEYS[by]
    spent: dict[str, list[Piece]] = defaultdict(list)
    lost: dict[str, list[Hit]] = defaultdict(list)
    for piece in pieces:
        spent[of_piece(piece)].append(piece)
    for hit in hits:
        lost[of_hit(hit)].append(hit)
    names = sorted({*spent, *lost})
    rows = [_slice(name, spent.get(name, ()), lost.get(name, ())) for name in names]
    if by is not By.DAY:
        rows.sort(key=lambda row: (row.gpu.used, row.vm.used, row.cost.micros), reverse=True)
    return tuple(rows)


def _slice(key: str, pieces: Sequence[Piece], hits: Sequence[Hit]) -> Slice:
    return Slice(
        key=key,
        jobs=len(({piece.job for piece in pieces} | {hit.job for hit in hits}) - {""}),
        gpu=spans((one.cell.seconds, one.kind.gpus) for one in pieces),
        vm=spans((one.cell.seconds, 1) for one in pieces),
        cost=added(one.cost for one in pieces),
        on_demand=added(one.on_demand for one in pieces),
        saved=added(one.saved for one in pieces),
        waste=added(one.waste for one in pieces),
        preemptions=sum(hit.loss.preempted for hit in hits),
        recovery=recovery(hit.loss.seconds for hit in hits),
    )


def spans(cells: Iterable[tuple[Seconds, int]]) -> Spans:
    """The sum of these, each times its weight."""
    sums = [0] * len(Seconds._fields)
    for seconds, weight in cells:
        for part, value in enumerate(seconds):
            sums[part] += value * weight
    return Spans(
        **{name: timedelta(seconds=value) for name, value in zip(Seconds._fields, sums, strict=True)}
    )


def recovery(seconds: Iterable[int | None]) -> Recovery:
    """The percentiles of these, as nearest ranks: the smallest time that so many percent do not exceed."""
    ranked = sorted(timedelta(seconds=one) for one in seconds if one is not None)
    if not ranked:
        return Recovery()
    shares = {name: ranked[-(-share * len(ranked) // 100) - 1] for name, share in _SHARES.items()}
    return Recovery(count=len(ranked), longest=ranked[-1], **shares)


def _weather(entries: Iterable[Entry], asked: Asked, zone: tzinfo) -> tuple[WeatherHour, ...]:
    hours: dict[tuple[datetime, str], Counter[Event]] = defaultdict(Counter)
    for entry in entries:
        for one in entry.happened:
            if asked.first <= one.at.astimezone(zone).date() <= asked.last:
                hour = one.at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
                hours[hour, one.zone][one.event] += 1
    return tuple(
        WeatherHour(
            zone=place,
            hour=hour,
            preempted=counts[Event.PREEMPTED],
            stockouts=counts[Event.STOCKOUT],
            granted=counts[Event.GAVE],
        )
        for (hour, place), counts in sorted(hours.items())
    )


def row_of(entry: Entry, sums: Sums) -> Experiment:
    """The job's row with its sums: those of its cells."""
    row, till = entry.row, sums.till
    spent = [(entry.kinds[cell.kind], used(cell.seconds)) for cell in entry.cells]
    known = bool(spent) or not row.instances
    return msgspec.structs.replace(
        row,
        team=sums.team(row.owner),
        runtime=max((row.ended or entry.looked) - row.started, NOTHING) if row.started else None,
        up_time=timedelta(seconds=sum(up for _, up in spent)) if known else None,
        gpu_time=timedelta(seconds=sum(up * kind.gpus for kind, up in spent)) if known else None,
        cost=added(till.cost(kind, up) for kind, up in spent),
        on_demand=added(till.on_demand(kind, up) for kind, up in spent),
        saved=added(till.saved(kind, up) for kind, up in spent),
    )
