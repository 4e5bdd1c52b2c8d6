"""A document of the report → a table for a spreadsheet: the experiment table and the fleet."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from spotwarden.model.heartbeat import number
from spotwarden.report.export.cells import Cell, Columns, every, table
from spotwarden.report.export.shapes import (
    ExperimentsDocument,
    FleetDocument,
    HoursDocument,
    RecoveryDocument,
    RowDocument,
)

MOST_NAMES = 50
"""Metrics, and tags, that have columns of their own: those that most jobs have. The JSON has all of them."""
_JOB = Columns(
    "job owner team status=status.value exit_code attempts preemptions nodes gpus zones machine_types"
    " instance_ids started ended runtime_seconds up_seconds gpu_hours cost_usd=cost.usd"
    " cost_unpriced_vm_hours=cost.unpriced_vm_hours on_demand_usd=on_demand.usd saved_usd=saved.usd"
    " prices_of=oldest_price progress_at=progress.at step=progress.step steps=progress.steps"
    " share=progress.share checkpoint=progress.checkpoint code=links.code script=links.script"
    " output=links.output logs=links.logs problem"
)
_LINE = Columns(
    f"key jobs preemptions {every(HoursDocument, 'gpu_hours')} goodput {every(HoursDocument, 'vm_hours')}"
    " vm_goodput cost_usd=cost.usd cost_unpriced_vm_hours=cost.unpriced_vm_hours"
    " on_demand_usd=on_demand.usd saved_usd=saved.usd waste_usd=waste.usd"
    " waste_unpriced_vm_hours=waste.unpriced_vm_hours prices_of=oldest_price"
    f" recoveries=recovery.count {every(RecoveryDocument, 'recovery', but='count')}"
)
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
    columns = (*_JOB.names, *measured, *(f"tag.{name}" for name in tags))
    return table(columns, (_job(row, metrics, tags) for row in rows))


def _commonest(names: Iterable[str]) -> list[str]:
    """The names that occur most often, those first, then by name."""
    counted = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return [name for name, _ in counted[:MOST_NAMES]]


def _job(row: RowDocument, metrics: Sequence[str], tags: Sequence[str]) -> list[Cell]:
    known = {metric.name: metric for metric in row.metrics}
    cells = [*_JOB.of(row)]
    for name in metrics:
        metric = known.get(name)
        cells += [number(metric.last), metric.best] if metric else [None, None]
    return [*cells, *map(row.tags.get, tags)]


def fleet(document: FleetDocument) -> bytes:
    """The total, and each row of each table; `by` says of which, `total` of none."""
    return table(("by", *_LINE.names), _lines(document))


def _lines(document: FleetDocument) -> Iterator[Sequence[Cell]]:
    yield (TOTAL, *_LINE.of(document.total))
    for by, rows in document.tables.items():
        yield from ((by, *_LINE.of(row)) for row in rows)
