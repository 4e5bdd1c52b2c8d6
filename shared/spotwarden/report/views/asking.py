"""What a reader asks of the table of experiments, and the rows that answer it.

What is asked stands in the address of the page. Nothing of it can be wrong: what is not understood is not
asked, so that an old or mangled link still shows the table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import msgspec

from spotwarden.model.heartbeat import number
from spotwarden.model.standing import Standing
from spotwarden.report.model.experiments import Experiment, MetricSummary

SIZES = (50, 100, 500)
"""Rows of a page; the second is what is shown unless asked."""
MOST = 200
"""Characters of what is asked for by text."""
_ORDER = {standing: place for place, standing in enumerate(Standing)}

Key = Callable[[Experiment], Any]
KEYS: Mapping[str, Key] = {
    "job": lambda row: row.job,
    "status": lambda row: _ORDER[row.standing],
    "owner": lambda row: row.owner or None,
    "attempts": lambda row: row.attempts,
    "preemptions": lambda row: row.preemptions,
    "zones": lambda row: row.zones or None,
    "started": lambda row: row.started,
    "runtime": lambda row: row.runtime,
    "up": lambda row: row.up_time,
    "cost": lambda row: None if row.up_time is None else row.cost.usd,
    "on-demand": lambda row: None if row.up_time is None else row.on_demand.usd,
    "progress": lambda row: row.advance.share,
    "beat": lambda row: row.advance.at,
}
"""What rows can be sorted by; a key of None is not known, and stands last in either order."""
FALLING = frozenset(KEYS) - {"job", "status", "owner", "zones"}
"""Columns whose large values one wants to see first."""


class TableQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked: words that a row must have, what it must be, the order, and the page.

    `metric` is the one that has columns of its own; "" is the one that most rows have. `last` and `best` sort
    by it.
    """

    q: str = ""
    status: str = ""
    owner: str = ""
    team: str = ""
    metric: str = ""
    sort: str = "started"
    order: str = "desc"
    page: int = 1
    size: int = SIZES[1]

    @classmethod
    def read(cls, args: Mapping[str, str]) -> Self:
        """Read the arguments of an address."""
        text = {
            name: args.get(name, "")[:MOST].strip() for name in ("q", "status", "owner", "team", "metric")
        }
        sort = args.get("sort", "")
        sort = sort if sort in KEYS or sort in {"last", "best"} else "started"
        order = args.get("order", "")
        size = _whole(args.get("size", ""), SIZES[1])
        return cls(
            **text,
            sort=sort,
            order=order if order in {"asc", "desc"} else first_order(sort),
            page=_whole(args.get("page", ""), 1),
            size=size if size in SIZES else SIZES[1],
        )

    def pairs(self, **other: str | int) -> list[tuple[str, str]]:
        """The arguments that ask for this, with others in place of some; what is so anyway is left out."""
        said = {**msgspec.structs.asdict(self), **other}
        usual = {**msgspec.structs.asdict(TableQuery()), "order": first_order(said["sort"])}
        return [(name, str(value)) for name, value in said.items() if value != usual[name]]


class TablePage(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one page, and how many there are on all pages.

    `asked` names a page that is there, `metric` is the one that has columns of its own, `metrics` are all.
    """

    rows: tuple[Experiment, ...]
    found: int
    total: int
    pages: int
    asked: TableQuery
    metrics: tuple[str, ...]
    metric: str

    @property
    def begin(self) -> int:
        """The number of the page's first row, counted from 1; 0 where there is none."""
        return (self.asked.page - 1) * self.asked.size + 1 if self.rows else 0


def choose(rows: Sequence[Experiment], asked: TableQuery) -> TablePage:
    """The rows that are asked for, in the order asked for, of the page asked for."""
    metrics = common_metrics(rows)
    found = ordered([row for row in rows if fits(row, asked)], asked)
    pages = max(1, -(-len(found) // asked.size))
    page = min(asked.page, pages)
    start = (page - 1) * asked.size
    return TablePage(
        rows=tuple(found[start : start + asked.size]),
        found=len(found),
        total=len(rows),
        pages=pages,
        asked=msgspec.structs.replace(asked, page=page),
        metrics=metrics,
        metric=asked.metric or next(iter(metrics), ""),
    )


def fits(row: Experiment, asked: TableQuery) -> bool:
    """Whether a row is one of those asked for; words are looked for in whatever the row says."""
    if asked.status and row.standing.value != asked.status:
        return False
    if asked.owner and row.owner.casefold() != asked.owner.casefold():
        return False
    if asked.team and row.team.casefold() != asked.team.casefold():
        return False
    return not asked.q or _has(row, asked.q.casefold().split())


def _has(row: Experiment, words: Iterable[str]) -> bool:
    tags = (f"{name}={value}" for name, value in row.tags.items())
    said = (
        row.job,
        row.owner,
        row.team,
        row.standing.value,
        *row.zones,
        *row.machines,
        *row.instances,
        *tags,
    )
    text = "\n".join(said).casefold()
    return all(word in text for word in words)


def ordered(rows: Iterable[Experiment], asked: TableQuery) -> list[Experiment]:
    """The rows in the order asked for, those alike by name; the unknown ones last."""
    by_name = sorted(rows, key=lambda row: row.job)
    key = _key(asked, by_name)
    keyed = [(key(row), row) for row in by_name]
    known = sorted(
        (entry for entry in keyed if entry[0] is not None),
        key=lambda item: item[0],
        reverse=asked.order == "desc",
    )
    return [row for _, row in known] + [row for value, row in keyed if value is None]


def _key(asked: TableQuery, rows: Sequence[Experiment]) -> Key:
    if asked.sort in KEYS:
        return KEYS[asked.sort]
    metric = asked.metric or next(iter(common_metrics(rows)), "")
    return lambda row: _measured(measure(row, metric), asked.sort)


def _measured(metric: MetricSummary | None, which: str) -> float | None:
    if metric is None:
        return None
    value = metric.best if which == "best" else number(metric.last)
    return None if value is None or value != value else value  # noqa: PLR0124 — not a number is not in order


def measure(row: Experiment, metric: str) -> MetricSummary | None:
    """A job's metric of this name; None where it has none."""
    return next((metric_summary for metric_summary in row.metrics if metric_summary.name == metric), None)


def common_metrics(rows: Iterable[Experiment], most: int = 50) -> tuple[str, ...]:
    """The metrics that rows have, those of the most rows first."""
    counts: dict[str, int] = {}
    for row in rows:
        for metric in row.metrics:
            counts[metric.name] = counts.get(metric.name, 0) + 1
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:most])


def first_order(sort: str) -> str:
    """The order that one wants to see first."""
    return "desc" if sort in FALLING else "asc"


def _whole(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 7 and int(text) else otherwise  # noqa: PLR2004 — no table has a million rows
