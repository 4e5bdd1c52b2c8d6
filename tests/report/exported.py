"""Views of the report, for the tests of what is made of them: ordinary unless a test says otherwise."""

import csv
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any

from msgspec.structs import replace

from spotwarden.model.standing import Standing
from spotwarden.report.export import as_csv
from spotwarden.report.model.experiments import (
    Advance,
    Experiment,
    Experiments,
    JobLinks,
    MetricSummary,
    Money,
)
from spotwarden.report.model.fleet import (
    By,
    FleetReport,
    OutageHour,
    PendingCase,
    RecoveryFigures,
    Slice,
    Spans,
)
from spotwarden.report.model.job import (
    Bar,
    BarEnd,
    Comparison,
    Curve,
    CurvePoint,
    GpuLoad,
    JobReport,
    JobWait,
    Mark,
    MarkKind,
    RefusedTry,
)
from spotwarden.report.model.trust import AuditedAction, AuditQuery, TrustReport
from spotwarden.report.model.view import View

NOW = datetime(2026, 11, 21, 14, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
PRICED = date(2026, 11, 1)


def money(usd: float, unpriced: timedelta = timedelta(0)) -> Money:
    """So many dollars, for VMs that were up for an hour; perhaps some more that have no price."""
    return Money(micros=round(usd * 1_000_000), priced=HOUR, unpriced=unpriced, oldest=PRICED)


def experiment(**facts: Any) -> Experiment:
    """Ann's job, which has been preempted once and runs on one VM of four GPUs."""
    return replace(
        Experiment(
            job="nap",
            owner="ann@example.com",
            team="vision",
            standing=Standing.RUNNING,
            attempts=2,
            preemptions=1,
            nodes=1,
            gpus=4,
            zones=("us-central1-a", "us-central1-b"),
            machines=("g2-standard-48",),
            instances=("1234567890123456789", "1234567890123456790"),
            started=NOW - 3 * HOUR,
            runtime=3 * HOUR,
            up_time=2.5 * HOUR,
            gpu_time=10 * HOUR,
            cost=money(2.5),
            on_demand=money(10),
            saved=money(7.5),
            advance=Advance(at=NOW - HOUR / 60, step=40.0, steps=80.0, share=0.5, checkpoint="step-40"),
            metrics=(MetricSummary(name="loss", last=-0.25, lowest=-0.5, highest=3.0, best=-0.5),),
            links=JobLinks(code="gs://b/nap/my-code.tar", output="gs://b/nap/output/"),
            tags={"paper": "icml"},
        ),
        **facts,
    )


def experiments(*rows: Experiment) -> Experiments:
    """The table of these."""
    return Experiments(at=NOW, rows=rows or (experiment(),), prices="prices of 2026-11-01")


def portion(key: str, **facts: Any) -> Slice:
    """A row of the fleet: an hour on four GPUs, half of it useful."""
    gpu = Spans(useful=2 * HOUR, idle=HOUR, lost=HOUR / 2, unknown=HOUR / 2, waiting=HOUR / 3)
    return replace(
        Slice(
            key=key,
            jobs=1,
            gpu=gpu,
            vm=Spans(useful=HOUR / 2, idle=HOUR / 2),
            cost=money(2.5),
            on_demand=money(10),
            saved=money(7.5),
            waste=money(1.25),
            preemptions=2,
            recovery=RecoveryFigures(
                count=1, median=HOUR / 12, p90=HOUR / 12, p99=HOUR / 12, longest=HOUR / 12
            ),
        ),
        **facts,
    )


def fleet(**facts: Any) -> FleetReport:
    """Two owners, of whom one is not known, on one day."""
    return replace(
        FleetReport(
            at=NOW,
            first=date(2026, 11, 21),
            last=date(2026, 11, 21),
            timezone="Europe/Berlin",
            total=portion("", jobs=2),
            tables={By.OWNER: (portion("ann@example.com"), portion("")), By.DAY: (portion("2026-11-21"),)},
            cases=(PendingCase(rule="idle", key="123", job="nap", opened=NOW, vetoers=("ann@example.com",)),),
            outages=(OutageHour(zone="us-central1-a", hour=NOW, preempted=1),),
            prices="prices of 2026-11-01",
        ),
        **facts,
    )


def entry(**facts: Any) -> AuditedAction:
    """A VM was deleted, for its job had ended."""
    return replace(
        AuditedAction(
            id="2026-11-21/a-1",
            at=NOW,
            function="reap_vms",
            policy="7",
            action="DeleteInstance",
            why="the job nap ended 25 min ago",
            job="nap",
            node="nap-1",
            instance_ids=("1234567890123456789",),
            rule="orphan",
            evidence={"status-code": "0"},
            outcome="Done",
        ),
        **facts,
    )


def life(**facts: Any) -> JobReport:
    """The timeline of that job."""
    start = NOW - 3 * HOUR
    return replace(
        JobReport(
            at=NOW,
            experiment=experiment(),
            start=start,
            end=NOW,
            bars=(
                Bar(
                    attempt=1,
                    node="nap-1",
                    instance_id="1",
                    start=start,
                    end=start + HOUR,
                    fate=BarEnd.PREEMPTED,
                    why="Compute Engine preempted it",
                ),
            ),
            waits=(
                JobWait(
                    attempt=2,
                    start=start + HOUR,
                    reason="stockout",
                    refused=(RefusedTry(at=start + HOUR, place="us-central1-a", error="no room"),),
                ),
            ),
            marks=(Mark(at=start + HOUR / 2, kind=MarkKind.CHECKPOINT, what="step-20", attempt=1),),
            loads=(GpuLoad(instance_id="1", start=start, step=HOUR / 6, values=(99.0, None)),),
            curves=(Curve(metric="loss", points=(CurvePoint(at=start, step=1.0, value="nan"),)),),
            entries=(entry(),),
        ),
        **facts,
    )


def comparison(*jobs: JobReport) -> Comparison:
    """Jobs beside each other, and one that is missing."""
    return Comparison(jobs=jobs or (life(), life()), missing=("gone",))


def trust(*entries: AuditedAction, **facts: Any) -> TrustReport:
    """What was found of them."""
    return replace(TrustReport(at=NOW, query=AuditQuery(), entries=entries or (entry(),), found=1), **facts)


EVERY = (experiments(), life(), comparison(), fleet(), trust())


def read(view: View) -> list[dict[str, str]]:
    """The rows of its CSV by the names of the columns, texts as they stand there."""
    return list(csv.DictReader(StringIO(as_csv(view).decode(), newline=""), strict=True))
