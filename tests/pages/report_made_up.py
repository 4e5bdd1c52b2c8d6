"""A made-up fleet for the report's pages: jobs of every standing, and one of which nothing is known."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from spotwarden.model.standing import Standing
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

NOW = datetime(2026, 11, 20, 15, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
ZONES = ("us-central1-a", "us-central1-b", "europe-west4-a", "asia-southeast1-c")
OWNERS = ("ada@example.com", "bob@example.com", "cyd@example.com")
PRICES = "Prices are those of 2026-09-26."


def money(usd: float, unpriced: timedelta = timedelta(0)) -> Money:
    """So many dollars, of an hour with a price and some time without one."""
    return Money(micros=round(usd * 1_000_000), priced=HOUR, unpriced=unpriced, oldest=date(2026, 9, 26))


def experiment(number: int, **other: Any) -> Experiment:
    """A job; its figures follow from its number."""
    standings = list(Standing)
    said: dict[str, Any] = {
        "job": f"train-{number:05}",
        "owner": OWNERS[number % 3],
        "team": "vision" if number % 2 else "speech",
        "standing": standings[number % len(standings)],
        "attempts": number % 5 + 1,
        "preemptions": number % 5,
        "nodes": 1,
        "gpus": 8,
        "zones": ZONES[: number % 4 + 1],
        "machines": ("a3-highgpu-8g",),
        "instances": (f"77000000000000{number:05}",),
        "started": NOW - timedelta(hours=number % 900, minutes=number % 60),
        "runtime": timedelta(hours=number % 97 + 1),
        "up_time": timedelta(hours=number % 91 + 1),
        "gpu_time": 8 * timedelta(hours=number % 91 + 1),
        "cost": money(number * 1.37),
        "on_demand": money(number * 3.1),
        "saved": money(number * 1.73),
        "advance": Advance(
            at=NOW - timedelta(minutes=number % 300), step=number % 100, steps=100, share=number % 100 / 100
        ),
        "metrics": (
            MetricSummary(name="loss", last=1 / (number + 1), best=1 / (number + 2), at=NOW),
            MetricSummary(name="accuracy", last=number % 100 / 100, best=0.99, at=NOW),
        ),
        "links": JobLinks(
            code=f"gs://jobs/train-{number:05}/my-code.tar", output=f"gs://jobs/train-{number:05}/output/"
        ),
        "tags": {"sweep": str(number // 10)},
    }
    return Experiment(**{**said, **other})


UNSAID = Experiment(job="nobody-knows")
"""A job of which the bucket says nothing but its name."""


def table(count: int = 24, *more: Experiment) -> Experiments:
    """The experiments."""
    return Experiments(at=NOW, rows=(*map(experiment, range(1, count + 1)), UNSAID, *more), prices=PRICES)


def curve(metric: str, node: str = "", *, count: int = 80, lift: float = 0.0, steps: bool = True) -> Curve:
    """A curve that falls; one of its values is no number."""
    start = NOW - 30 * HOUR
    return Curve(
        metric=metric,
        node=node,
        points=tuple(
            CurvePoint(
                at=start + number * timedelta(minutes=20),
                step=number * 10.0 if steps else None,
                value="nan" if number == count // 2 else lift + 2.0 / (1 + number / 9),
                attempt=1 + number // 40,
            )
            for number in range(count)
        ),
    )


def job_report(number: int = 7, **other: Any) -> JobReport:
    """A job that was preempted twice, waited, lost work, and goes on."""
    start = NOW - 30 * HOUR
    bar: dict[str, Any] = {"node": "train-vm", "machine": "a3-highgpu-8g", "spot": True}
    said: dict[str, Any] = {
        "at": NOW,
        "experiment": experiment(number, standing=Standing.RUNNING, zones=ZONES[:3]),
        "start": start,
        "end": NOW,
        "bars": (
            Bar(
                attempt=1,
                instance_id="7700000000000000001",
                zone=ZONES[0],
                start=start,
                end=start + 9 * HOUR,
                fate=BarEnd.PREEMPTED,
                why="Compute Engine preempted it",
                kept=start + 8 * HOUR,
                **bar,
            ),
            Bar(
                attempt=2,
                instance_id="7700000000000000002",
                zone=ZONES[1],
                start=start + 11 * HOUR,
                end=start + 20 * HOUR,
                fate=BarEnd.PREEMPTED,
                why="Compute Engine preempted it",
                **bar,
            ),
            Bar(
                attempt=3,
                instance_id="7700000000000000003",
                zone=ZONES[2],
                start=start + 20.3 * HOUR,
                fate=BarEnd.UP,
                **bar,
            ),
        ),
        "waits": (
            JobWait(
                attempt=2,
                start=start + 9 * HOUR,
                end=start + 11 * HOUR,
                reason="no zone had room",
                refused=(
                    RefusedTry(
                        at=start + 9.1 * HOUR, place="us-central1-a", error="ZONE_RESOURCE_POOL_EXHAUSTED"
                    ),
                ),
            ),
            JobWait(
                attempt=3, start=start + 20 * HOUR, end=start + 20.3 * HOUR, reason="a new VM was being made"
            ),
        ),
        "marks": (
            Mark(at=start, kind=MarkKind.LAUNCHED, what="by its developer", attempt=1, node="train-vm"),
            *(
                Mark(at=start + n * HOUR, kind=MarkKind.CHECKPOINT, what=f"epoch-{n}.pt", attempt=1)
                for n in range(1, 9)
            ),
            Mark(
                at=start + 9 * HOUR,
                kind=MarkKind.PREEMPTED,
                what="in us-central1-a",
                attempt=1,
                node="train-vm",
            ),
            Mark(at=start + 9.1 * HOUR, kind=MarkKind.REFUSED, what="us-central1-a had no room", attempt=2),
            Mark(
                at=start + 11 * HOUR, kind=MarkKind.LAUNCHED, what="in us-central1-b", attempt=2, entry="d1"
            ),
            Mark(at=start + 16 * HOUR, kind=MarkKind.WARNED, what="its GPUs are idle", attempt=2),
            Mark(at=start + 17 * HOUR, kind=MarkKind.ANSWERED, what="ada keeps it for 8 h", attempt=2),
            Mark(at=start + 20 * HOUR, kind=MarkKind.PREEMPTED, what="in us-central1-b", attempt=2),
            Mark(at=start + 20.3 * HOUR, kind=MarkKind.LAUNCHED, what="in europe-west4-a", attempt=3),
        ),
        "loads": tuple(
            GpuLoad(
                instance_id=f"770000000000000000{n}",
                node="train-vm",
                start=start + at * HOUR,
                step=HOUR / 2,
                values=values,
            )
            for n, at, values in (
                (1, 0, (None, 20, 85, 90, 92, None, None, 88, 91, 90, 87, 90, 93, 60, 90, 90, 90, 90)),
                (2, 11, (10, 80, 90, 91, 90, 88, 90, 0, 0, 0, 2, 0, 0, 85, 90, 91, 90, 90)),
                (3, 20.3, (15, 90, 92, 91, 90, 90, 90, 90, 90, 91, 92, 93, 90, 90, 88, 90, 91, 90, 90)),
            )
        ),
        "curves": (curve("loss"), curve("accuracy", lift=0.5)),
        "entries": (entry(1), entry(2)),
        "prices": PRICES,
    }
    return JobReport(**{**said, **other})


def entry(number: int, **other: Any) -> AuditedAction:
    """An action, with its evidence."""
    said: dict[str, Any] = {
        "id": f"d{number}",
        "at": NOW - number * HOUR,
        "function": "reap_vms",
        "sweep": f"sweep-{number}",
        "policy": "3f9c2a71",
        "action": ("DeleteInstance", "LaunchInstances", "FileCase")[number % 3],
        "why": "The job has ended, and its VM was still up after the grace of 10 min.",
        "job": "train-00007",
        "node": "train-vm",
        "instance_ids": ("7700000000000000001",),
        "rule": "orphans",
        "evidence": {"ended_at": "2026-11-20 12:00 UTC", "gpu_utilisation": "0% for 3 h"},
        "outcome": ("Done", "Observed", "Rejected")[number % 3],
        "detail": "quota GPUS_ALL_REGIONS exceeded" if number % 3 == 2 else "",
        "name": f"spotwarden/audit/2026-11-20/{number}.json",
    }
    return AuditedAction(**{**said, **other})


def trust_view(query: AuditQuery = AuditQuery(), count: int = 12, **other: Any) -> TrustReport:
    """What the audit has."""
    said: dict[str, Any] = {
        "at": NOW,
        "query": query,
        "entries": tuple(map(entry, range(1, count + 1))),
        "found": count,
        "since": date(2026, 10, 21),
        "functions": ("reap_vms", "recover_spot"),
        "rules": ("idle", "orphans"),
        "actions": ("DeleteInstance", "LaunchInstances"),
    }
    return TrustReport(**{**said, **other})


def part(number: int, key: str = "") -> Slice:
    """A row of the fleet's tables."""
    spans = Spans(
        useful=timedelta(hours=60 + number * 7),
        starting=timedelta(hours=2),
        idle=timedelta(hours=9 + number),
        lost=timedelta(hours=3.5),
        after=timedelta(minutes=90),
        unknown=timedelta(hours=4),
        waiting=timedelta(hours=2.2),
    )
    recovery = RecoveryFigures(count=3, median=timedelta(seconds=50), p90=HOUR / 4, p99=HOUR, longest=HOUR)
    return Slice(
        key=key,
        jobs=4 + number,
        gpu=spans,
        vm=spans,
        cost=money(812.4 + number),
        on_demand=money(2100 + number),
        saved=money(1287.6),
        waste=money(131.25, HOUR if number == 2 else timedelta(0)),
        preemptions=number,
        recovery=recovery,
    )


def fleet_view(**other: Any) -> FleetReport:
    """Five days of the fleet."""
    days = tuple(part(number % 5, str(date(2026, 11, 16) + timedelta(days=number))) for number in range(5))
    names = {
        By.OWNER: ("ada@example.com", ""),
        By.TEAM: ("vision", ""),
        By.MACHINE: ("a3-highgpu-8g", "g2-standard-4"),
        By.ZONE: ZONES[:2],
        By.JOB: ("train-00007", "train-00012"),
    }
    said: dict[str, Any] = {
        "at": NOW,
        "first": date(2026, 11, 16),
        "last": date(2026, 11, 20),
        "timezone": "Europe/Berlin",
        "total": part(4),
        "tables": {By.DAY: days}
        | {by: tuple(part(n, key) for n, key in enumerate(keys)) for by, keys in names.items()},
        "cases": (case(1), case(2, due=None, kept_until=NOW + 8 * HOUR, kept_by="ada@example.com")),
        "outages": tuple(
            OutageHour(zone=zone, hour=NOW - n * 5 * HOUR, preempted=n % 4, stockouts=n % 3, granted=1)
            for n in range(9)
            for zone in ZONES[: n % 4 + 1]
        ),
        "prices": PRICES,
    }
    return FleetReport(**{**said, **other})


def case(number: int, **other: Any) -> PendingCase:
    """An open case."""
    said: dict[str, Any] = {
        "rule": "idle_gpus",
        "key": f"770000000000000000{number}",
        "job": f"train-0000{number}",
        "owner": OWNERS[number % 3],
        "state": "warned",
        "reason": "All of its GPUs were idle for 3 h.",
        "evidence": {"gpu_utilisation": "0%"},
        "targets": (f"train-vm-{number}",),
        "opened": NOW - 2 * HOUR,
        "remedy": "stop",
        "due": NOW + HOUR,
        "vetoers": (OWNERS[number % 3], "ops@example.com"),
        "veto": f"spotwarden cases keep idle_gpus 770000000000000000{number} --for 8h",
    }
    return PendingCase(**{**said, **other})


def comparison(*numbers: int) -> Comparison:
    """Jobs beside each other."""
    reports = [
        JobReport(
            at=NOW,
            experiment=experiment(number),
            curves=(curve("loss", lift=place / 5), curve("accuracy", lift=0.3 + place / 10)),
        )
        for place, number in enumerate(numbers)
    ]
    return Comparison(jobs=tuple(reports))
