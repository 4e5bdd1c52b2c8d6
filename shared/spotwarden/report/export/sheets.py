"""A document of the report → a table for a spreadsheet: the experiment table and the fleet."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from spotwarden.model.heartbeat import Measured, number
from spotwarden.report.export.cells import Cell, table
from spotwarden.report.export.shapes import (
    AmountDocument,
    ExperimentsDocument,
    FleetDocument,
    HoursDocument,
    LineDocument,
    RowDocument,
)

MOST_NAMES = 50
"""Metrics, and tags, that have columns of their own: those that most jobs have. The JSON has all of them."""
_JOB = (
    "job", "owner", "team", "status", "exit_code", "attempts", "preemptions", "nodes", "gpus", "zones",
    "machine_types", "instance_ids", "started", "ended", "runtime_seconds", "up_seconds", "gpu_hours",
    "cost_usd", "cost_unpriced_vm_hours", "on_demand_usd", "saved_usd", "prices_of", "progress_at", "step",
    "steps", "share", "checkpoint", "code", "script", "output", "logs", "problem",
)  # fmt: skip
_SPANS = ("used", "useful", "starting", "idle", "lost", "after", "unknown", "waiting")
_LINE = (
    "by", "key", "jobs", "preemptions", *(f"gpu_hours_{part}" for part in _SPANS), "goodput",
    *(f"vm_hours_{part}" for part in _SPANS), "vm_goodput", "cost_usd", "cost_unpriced_vm_hours",
    "on_demand_usd", "saved_usd", "waste_usd", "waste_unpriced_vm_hours", "prices_of",
    "recoveries", "recovery_median_seconds", "recovery_p90_seconds", "recovery_p99_seconds",
    "recovery_longest_seconds",
)  # fmt: skip
TOTAL = "total"
"""What the one row that is by nothing is called; it comes first."""


def experiments(document: ExperimentsDocument) -> bytes:
    """A row for each job."""
    return jobs(document.jobs)


def jobs(rows: Sequence[RowDocument]) -> bytes:
    """A row for each job, with columns for the metrics and tags that most of them have."""
    metrics = _commonest(metric.name for row in rows for metric in row.metrics)
    tags = _commonest(tag for row in rows for tag in row.tags)
    measured = [f"metric.{name}.{which}" for name in metrics for which in ("last", "best")]
    columns = (*_JOB, *measured, *(f"tag.{name}" for name in tags))
    return table(columns, (_job(row, metrics, tags) for row in rows))


def _commonest(names: Iterable[str]) -> list[str]:
    """The names that occur most often, those first, then by name."""
    counted = sorted(Counter(names).items(), key=lambda one: (-one[1], one[0]))
    return [name for name, _ in counted[:MOST_NAMES]]


def _job(row: RowDocument, metrics: Sequence[str], tags: Sequence[str]) -> list[Cell]:
    progress, links, known = row.progress, row.links, {metric.name: metric for metric in row.metrics}
    measured: list[Cell] = []
    for name in metrics:
        one = known.get(name)
        measured += [_measured(one.last), one.best] if one else [None, None]
    return [
        row.job, row.owner, row.team, row.status.value, row.exit_code, row.attempts, row.preemptions,
        row.nodes, row.gpus, " ".join(row.zones), " ".join(row.machine_types), " ".join(row.instance_ids),
        row.started, row.ended, row.runtime_seconds, row.up_seconds, row.gpu_hours,
        row.cost.usd, row.cost.unpriced_vm_hours, row.on_demand.usd, row.saved.usd, _oldest(row),
        progress.at, progress.step, progress.steps, progress.share, progress.checkpoint,
        links.code, links.script, links.output, links.logs, row.problem,
        *measured, *(row.tags.get(name) for name in tags),
    ]  # fmt: skip


def _measured(value: Measured) -> float:
    return number(value)


def _oldest(row: RowDocument | LineDocument) -> Cell:
    days = [one.prices_of for one in (row.cost, row.on_demand) if one.prices_of]
    return min(days, default=None)


def fleet(document: FleetDocument) -> bytes:
    """The total, and each row of each table; `by` says of which, `total` of none."""
    return table(_LINE, _lines(document))


def _lines(document: FleetDocument) -> Iterator[list[Cell]]:
    yield _line(TOTAL, document.total)
    for by, rows in document.tables.items():
        yield from (_line(by, row) for row in rows)


def _line(by: str, row: LineDocument) -> list[Cell]:
    return [
        by, row.key, row.jobs, row.preemptions, *_spans(row.gpu_hours), row.goodput,
        *_spans(row.vm_hours), row.vm_goodput,
        *_sum(row.cost), row.on_demand.usd, row.saved.usd, *_sum(row.waste), _oldest(row),
        row.recovery.count, row.recovery.median_seconds, row.recovery.p90_seconds, row.recovery.p99_seconds,
        row.recovery.longest_seconds,
    ]  # fmt: skip


def _spans(hours: HoursDocument) -> list[Cell]:
    return [getattr(hours, part) for part in _SPANS]


def _sum(amount: AmountDocument) -> tuple[Cell, Cell]:
    return amount.usd, amount.unpriced_vm_hours
