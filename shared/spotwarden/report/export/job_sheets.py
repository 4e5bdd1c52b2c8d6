"""A document of the report → a table for a spreadsheet: a job's life, jobs beside each other, actions."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from spotwarden.model.heartbeat import number
from spotwarden.report.export import sheets
from spotwarden.report.export.cells import Columns, table
from spotwarden.report.export.job_shapes import (
    BarDocument,
    ComparisonDocument,
    JobDocument,
    TrustDocument,
    WaitDocument,
)

_ENTRY = Columns(
    "at function action job node instance_ids rule owner place outcome why evidence policy"
    " sweep detail audit id"
)


class Happening(NamedTuple):
    """A row of a job's life: a bar, a wait, a value, or what happened at a moment."""

    what: str
    start: datetime
    end: datetime | None = None
    attempt: int | None = None
    node: str | None = None
    instance_id: str | None = None
    zone: str | None = None
    machine_type: str | None = None
    name: str | None = None
    step: float | None = None
    value: float | None = None
    said: str | None = None


def job(document: JobDocument) -> bytes:
    """All that is on record about a job, in the order of time."""
    rows = sorted(_life(document), key=lambda item: item.start)
    return table(Happening._fields, rows)


def comparison(document: ComparisonDocument) -> bytes:
    """A row for each job, as in the experiment table."""
    return sheets.jobs([life_document.job for life_document in document.jobs])


def trust(document: TrustDocument) -> bytes:
    """A row for each action; the evidence is JSON."""
    return table(_ENTRY.names, map(_ENTRY.of, document.entries))


def _life(document: JobDocument) -> Iterator[Happening]:
    yield from map(_bar, document.bars)
    for wait in document.waits:
        yield from _wait(wait)
    for mark in document.marks:
        yield Happening(mark.kind.value, mark.at, attempt=mark.attempt, node=mark.node, said=mark.what)
    yield from _measured(document)


def _bar(bar: BarDocument) -> Happening:
    return Happening(
        "bar",
        bar.start,
        bar.end,
        bar.attempt,
        bar.node,
        bar.instance_id,
        bar.zone,
        bar.machine_type,
        said=f"{bar.fate.value}: {bar.why}" if bar.why else bar.fate.value,
    )


def _wait(wait: WaitDocument) -> Iterator[Happening]:
    yield Happening("wait", wait.start, wait.end, wait.attempt, said=wait.reason)
    for document in wait.refused:
        yield Happening("place", document.at, attempt=wait.attempt, zone=document.place, said=document.error)


def _measured(document: JobDocument) -> Iterator[Happening]:
    for load in document.loads:
        for index, value in enumerate(load.percent):
            at = load.start + timedelta(seconds=index * load.step_seconds)
            yield Happening("gpu_percent", at, node=load.node, instance_id=load.instance_id, value=value)
    for curve in document.curves:
        for point in curve.points:
            yield Happening(
                "metric",
                point.at,
                attempt=point.attempt,
                node=curve.node,
                name=curve.metric,
                step=point.step,
                value=number(point.value),
            )
