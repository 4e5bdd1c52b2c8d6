"""A view of the report → its JSON document: a job, several of them, and the trust page."""

from typing import Any

from spotwarden.report.export import job_shapes as shapes
from spotwarden.report.export.documents import row
from spotwarden.report.export.shapes import SCHEMA
from spotwarden.report.export.values import pairs, said, sound, texts
from spotwarden.report.model.job import Bar, Comparison, Curve, JobReport, Load, Mark, Point, Refused, Wait
from spotwarden.report.model.trust import Deed, Trust


def job(view: JobReport) -> shapes.Job:
    """A job with its timeline."""
    return shapes.Job(schema=SCHEMA, **_life(view))


def comparison(view: Comparison) -> shapes.Comparison:
    """Jobs beside each other."""
    lives = tuple(shapes.Life(**_life(one)) for one in view.jobs)
    return shapes.Comparison(schema=SCHEMA, jobs=lives, missing=texts(view.missing))


def trust(view: Trust) -> shapes.Trust:
    """The actions that were found."""
    return shapes.Trust(
        schema=SCHEMA,
        at=view.at,
        found=view.found,
        since=view.since,
        answer=said(view.answer),
        by=said(view.by),
        deeds=tuple(map(_deed, view.deeds)),
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
        "deeds": tuple(map(_deed, view.deeds)),
        "deeds_left_out": view.deeds_left_out,
        "prices": said(view.prices),
    }


def _bar(one: Bar) -> shapes.Bar:
    return shapes.Bar(
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


def _wait(one: Wait) -> shapes.Wait:
    return shapes.Wait(
        attempt=one.attempt,
        start=one.start,
        end=one.end,
        reason=said(one.reason),
        refused=tuple(map(_refusal, one.refused)),
    )


def _refusal(one: Refused) -> shapes.Refusal:
    return shapes.Refusal(at=one.at, place=sound(one.place), error=sound(one.error))


def _mark(one: Mark) -> shapes.Mark:
    return shapes.Mark(
        at=one.at,
        kind=one.kind,
        what=sound(one.what),
        attempt=one.attempt,
        node=said(one.node),
        deed=said(one.deed),
    )


def _load(one: Load) -> shapes.Load:
    return shapes.Load(
        instance_id=sound(one.instance_id),
        node=said(one.node),
        start=one.start,
        step_seconds=one.step.total_seconds(),
        percent=one.values,
    )


def _curve(one: Curve) -> shapes.Curve:
    return shapes.Curve(metric=sound(one.metric), node=said(one.node), points=tuple(map(_point, one.points)))


def _point(one: Point) -> shapes.Point:
    return shapes.Point(at=one.at, step=one.step, value=one.value, attempt=one.attempt)


def _deed(one: Deed) -> shapes.Deed:
    return shapes.Deed(
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
