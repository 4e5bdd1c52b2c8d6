"""A view of the report → its JSON document: a job, several of them, and the trust page."""

from typing import Any

from spotwarden.report.export import job_shapes as shapes
from spotwarden.report.export.documents import row
from spotwarden.report.export.shapes import SCHEMA
from spotwarden.report.export.values import pairs, said, sound, texts
from spotwarden.report.model.job import (
    Bar,
    Comparison,
    Curve,
    CurvePoint,
    GpuLoad,
    JobReport,
    JobWait,
    Mark,
    RefusedTry,
)
from spotwarden.report.model.trust import AuditedAction, TrustReport


def job(view: JobReport) -> shapes.JobDocument:
    """A job with its timeline."""
    return shapes.JobDocument(schema=SCHEMA, **_life(view))


def comparison(view: Comparison) -> shapes.ComparisonDocument:
    """Jobs beside each other."""
    lives = tuple(shapes.LifeDocument(**_life(one)) for one in view.jobs)
    return shapes.ComparisonDocument(schema=SCHEMA, jobs=lives, missing=texts(view.missing))


def trust(view: TrustReport) -> shapes.TrustDocument:
    """The actions that were found."""
    return shapes.TrustDocument(
        schema=SCHEMA,
        at=view.at,
        found=view.found,
        since=view.since,
        answer=said(view.answer),
        by=said(view.by),
        entries=tuple(map(_entry, view.entries)),
    )


def _life(view: JobReport) -> dict[str, Any]:
    return {
        "at": view.at,
        "job": row(view.experiment),
        "start": view.start,
        "end": view.end,
        "bars": tuple(map(_bar, view.bars)),
        "waits": tuple(map(_wait, view.waits)),
        "marks": tuple(map(_mark, view.marks)),
        "loads": tuple(map(_load, view.loads)),
        "curves": tuple(map(_curve, view.curves)),
        "entries": tuple(map(_entry, view.entries)),
        "entries_left_out": view.entries_left_out,
        "prices": said(view.prices),
    }


def _bar(one: Bar) -> shapes.BarDocument:
    return shapes.BarDocument(
        attempt=one.attempt,
        node=sound(one.node),
        instance_id=said(one.instance_id),
        zone=said(one.zone),
        machine_type=said(one.machine),
        spot=one.spot,
        start=one.start,
        end=one.end,
        fate=one.fate,
        why=said(one.why),
        kept=one.kept,
    )


def _wait(one: JobWait) -> shapes.WaitDocument:
    return shapes.WaitDocument(
        attempt=one.attempt,
        start=one.start,
        end=one.end,
        reason=said(one.reason),
        refused=tuple(map(_refusal, one.refused)),
    )


def _refusal(one: RefusedTry) -> shapes.RefusalDocument:
    return shapes.RefusalDocument(at=one.at, place=sound(one.place), error=sound(one.error))


def _mark(one: Mark) -> shapes.MarkDocument:
    return shapes.MarkDocument(
        at=one.at,
        kind=one.kind,
        what=sound(one.what),
        attempt=one.attempt,
        node=said(one.node),
        entry=said(one.entry),
    )


def _load(one: GpuLoad) -> shapes.LoadDocument:
    return shapes.LoadDocument(
        instance_id=sound(one.instance_id),
        node=said(one.node),
        start=one.start,
        step_seconds=one.step.total_seconds(),
        percent=one.values,
    )


def _curve(one: Curve) -> shapes.CurveDocument:
    return shapes.CurveDocument(
        metric=sound(one.metric), node=said(one.node), points=tuple(map(_point, one.points))
    )


def _point(one: CurvePoint) -> shapes.PointDocument:
    return shapes.PointDocument(at=one.at, step=one.step, value=one.value, attempt=one.attempt)


def _entry(one: AuditedAction) -> shapes.AuditDocument:
    return shapes.AuditDocument(
        id=sound(one.id),
        at=one.at,
        function=sound(one.function),
        sweep=said(one.sweep),
        policy=said(one.policy),
        action=sound(one.action),
        why=said(one.why),
        job=said(one.job),
        node=said(one.node),
        instance_ids=texts(one.instance_ids),
        rule=said(one.rule),
        owner=said(one.owner),
        place=said(one.place),
        evidence=pairs(one.evidence),
        outcome=said(one.outcome),
        detail=said(one.detail),
        audit=said(one.name),
    )
