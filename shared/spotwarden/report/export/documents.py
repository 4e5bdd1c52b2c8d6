"""A view of the report → its JSON document: the experiment table and the fleet."""

from spotwarden.report.export import shapes
from spotwarden.report.export.values import amount, hours, pairs, said, seconds, share, sound, texts
from spotwarden.report.model.experiments import Advance, Experiment, Experiments, JobLinks, MetricSummary
from spotwarden.report.model.fleet import FleetReport, OutageHour, PendingCase, RecoveryFigures, Slice, Spans


def experiments(view: Experiments) -> shapes.ExperimentsDocument:
    """The experiment table."""
    return shapes.ExperimentsDocument(
        schema=shapes.SCHEMA, at=view.at, prices=said(view.prices), jobs=tuple(map(row, view.rows))
    )


def row(one: Experiment) -> shapes.RowDocument:
    """A job of the experiment table."""
    return shapes.RowDocument(
        job=sound(one.job),
        owner=said(one.owner),
        team=said(one.team),
        status=one.standing,
        exit_code=said(one.exit_code),
        attempts=one.attempts,
        preemptions=one.preemptions,
        nodes=one.nodes,
        gpus=one.gpus,
        zones=texts(one.zones),
        machine_types=texts(one.machines),
        instance_ids=texts(one.instances),
        started=one.started,
        ended=one.ended,
        runtime_seconds=seconds(one.runtime),
        up_seconds=seconds(one.up_time),
        gpu_hours=None if one.gpu_time is None else hours(one.gpu_time),
        cost=amount(one.cost),
        on_demand=amount(one.on_demand),
        saved=amount(one.saved),
        progress=_progress(one.advance),
        metrics=tuple(map(_metric, one.metrics)),
        links=_places(one.links),
        tags=pairs(one.tags),
        problem=said(one.problem),
    )


def _progress(one: Advance) -> shapes.ProgressDocument:
    return shapes.ProgressDocument(
        at=one.at, step=one.step, steps=one.steps, share=one.share, checkpoint=said(one.checkpoint)
    )


def _metric(one: MetricSummary) -> shapes.MetricDocument:
    return shapes.MetricDocument(
        name=sound(one.name),
        last=one.last,
        at=one.at,
        step=one.step,
        lowest=one.lowest,
        highest=one.highest,
        best=one.best,
    )


def _places(one: JobLinks) -> shapes.PlacesDocument:
    return shapes.PlacesDocument(
        code=said(one.code), script=said(one.script), output=said(one.output), logs=said(one.logs)
    )


def fleet(view: FleetReport) -> shapes.FleetDocument:
    """The fleet."""
    return shapes.FleetDocument(
        schema=shapes.SCHEMA,
        at=view.at,
        first=view.first,
        last=view.last,
        time_zone=view.timezone,
        prices=said(view.prices),
        total=_line(view.total),
        tables={by.value: tuple(map(_line, rows)) for by, rows in view.tables.items()},
        cases=tuple(map(_case, view.cases)),
        outages=tuple(map(_outages, view.outages)),
    )


def _line(one: Slice) -> shapes.LineDocument:
    return shapes.LineDocument(
        key=said(one.key),
        jobs=one.jobs,
        preemptions=one.preemptions,
        gpu_hours=_hours(one.gpu),
        vm_hours=_hours(one.vm),
        goodput=share(one.gpu.goodput),
        vm_goodput=share(one.vm.goodput),
        cost=amount(one.cost),
        on_demand=amount(one.on_demand),
        saved=amount(one.saved),
        waste=amount(one.waste),
        recovery=_recovery(one.recovery),
    )


def _hours(one: Spans) -> shapes.HoursDocument:
    return shapes.HoursDocument(
        used=hours(one.used),
        useful=hours(one.useful),
        starting=hours(one.starting),
        idle=hours(one.idle),
        lost=hours(one.lost),
        after=hours(one.after),
        unknown=hours(one.unknown),
        waiting=hours(one.waiting),
    )


def _recovery(one: RecoveryFigures) -> shapes.RecoveryDocument:
    return shapes.RecoveryDocument(
        count=one.count,
        median_seconds=seconds(one.median),
        p90_seconds=seconds(one.p90),
        p99_seconds=seconds(one.p99),
        longest_seconds=seconds(one.longest),
    )


def _case(one: PendingCase) -> shapes.CaseDocument:
    return shapes.CaseDocument(
        rule=sound(one.rule),
        key=sound(one.key),
        job=said(one.job),
        owner=said(one.owner),
        state=said(one.state),
        reason=said(one.reason),
        evidence=pairs(one.evidence),
        targets=texts(one.targets),
        opened=one.opened,
        since=one.since,
        remedy=said(one.remedy),
        due=one.due,
        kept_until=one.kept_until,
        kept_by=said(one.kept_by),
        kept_why=said(one.kept_why),
        vetoers=texts(one.vetoers),
        veto=said(one.veto),
    )


def _outages(one: OutageHour) -> shapes.OutageDocument:
    return shapes.OutageDocument(
        zone=sound(one.zone),
        hour=one.hour,
        preempted=one.preempted,
        stockouts=one.stockouts,
        granted=one.granted,
    )
