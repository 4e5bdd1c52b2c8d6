"""A bucket with the records of jobs, and ticks and requests of `report_jobs` over it."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from msgspec.structs import replace
from werkzeug.datastructures import Headers
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request, Response

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.settings import Settings
from spotwarden.layout import (
    AttemptRecord,
    AuditRecord,
    CreateScript,
    Layout,
    MetricsFile,
    ObjectName,
    OpenJob,
    ReportPart,
    StatusCode,
    UsageRecord,
)
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.governance import Mode
from spotwarden.model.policy import Policy
from spotwarden.model.prices import VmKind
from spotwarden.model.tick import Tick
from spotwarden.model.usage import UsageDay, UsageRun, VmUsage
from spotwarden.ports import Cloud
from spotwarden.report import sweep as tick_of_report
from spotwarden.report.model.kept import ReportIndex
from spotwarden.report.store import ReportStore
from spotwarden.report.sweep import sweep
from spotwarden.report.web import respond
from tests.fakes.cloud import MemoryCloud, memory_cloud

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
"""A Wednesday."""
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
L4 = VmKind(machine_type="g2-standard-8", gpu="nvidia-l4", gpus=1, region="us-central1", provisioning="SPOT")
ZONE, OTHER = "us-central1-a", "us-central1-b"
PREEMPTED = "Compute Engine preempted it"


class Heard:
    """A bucket that writes down what it is asked."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.asked: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Any:
        def call(what: str, *args: Any, **named: Any) -> Any:
            self.asked.append((name, what))
            return getattr(self._store, name)(what, *args, **named)

        return call


class ReportWorld:
    """One bucket; `tick` and `get` are what Pub/Sub and people do. Without `pages` a tick writes none."""

    def __init__(self, *, pages: bool = True, **policy: Any) -> None:
        self.pages = pages
        GenerationCache.forget()
        self.cloud: MemoryCloud = memory_cloud()
        self.layout = Layout()
        self.policy = Policy(version="test", mode=Mode.ENFORCE, **policy)
        self.settings = Settings(
            project="p",
            bucket="b",
            notices="n",
            policy_file=Path("policy.toml"),
            prices_file=ROOT / "infra/prices.toml",
        )
        self.cloud.clock.advance(NOON - self.cloud.clock.now())
        self._sweeps = count(1)

    @property
    def now(self) -> datetime:
        """The present moment."""
        return self.cloud.clock.now()

    def wait(self, **span: float) -> None:
        """Let time pass."""
        self.cloud.clock.advance(timedelta(**span))

    def context(self, cloud: Cloud | None = None) -> SweepContext:
        """What one tick or request works with."""
        tick = Tick(function="report_jobs", sweep=f"sweep-{next(self._sweeps):04}", now=self.now)
        return SweepContext.open(cloud or self.cloud.ports(), self.settings, self.policy, tick)

    def try_tick(self, cloud: Cloud | None = None) -> Swept:
        """One tick, whatever comes of it."""
        context = self.context(cloud)
        if self.pages:
            return sweep(context)
        with patch.object(tick_of_report, "publish", lambda _context, index, _summaries: index):
            return sweep(context)

    def tick(self, cloud: Cloud | None = None) -> Swept:
        """One tick; what fails rises."""
        swept = self.try_tick(cloud)
        if swept.failures:
            raise ExceptionGroup("the tick failed", swept.failures)
        return swept

    def get(
        self,
        path: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        cloud: Cloud | None = None,
    ) -> Response:
        """What a request gets."""
        where, _, query = path.partition("?")
        environ = EnvironBuilder(
            where, query_string=query, method=method, headers=Headers(headers or {})
        ).get_environ()
        return respond(Request(environ), self.context(cloud))

    def heard(self) -> tuple[Cloud, list[tuple[str, str]]]:
        """The cloud, and what is asked of its bucket from now on."""
        store = Heard(self.cloud.store)
        return replace(self.cloud.ports(), store=store), store.asked

    def json(self, path: str) -> Any:
        """The figures at this address."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return msgspec.json.decode(answer.get_data())

    def index(self) -> ReportIndex:
        """The index as it is kept."""
        found, _ = ReportStore(self.cloud.store, self.layout).index()
        assert found is not None
        return found

    def report(self) -> dict[str, bytes]:
        """Every object of the report, by its path."""
        prefix = self.layout.report()
        names = [row.name for row in self.cloud.store.entries(prefix)]
        read = {name: self.cloud.store.read(name) for name in names}
        return {name.removeprefix(prefix): found.data for name, found in read.items() if found is not None}

    def part(self, path: str) -> bytes:
        """One of them; b"" for none."""
        stored = self.cloud.store.read(self.layout.build(ReportPart(path=path)))
        return stored.data if stored else b""

    def store(self, thing: ObjectName, data: bytes = b"") -> int:
        """Write an object."""
        return self.cloud.store.write(self.layout.build(thing), data, generation=None)

    # --- the records of a job ---

    def job(
        self, job: str = "train", *, owner: str = "ada@x.org", ago: timedelta = HOUR, **more: Any
    ) -> Attempt:
        """A job whose developer launched it; it runs."""
        self.store(CreateScript(job=job), b"#!/bin/bash\n")
        self.store(OpenJob(job=job), msgspec.json.encode({"job": job}))
        began = self.now - ago
        return self.attempt(
            Attempt(
                job=job,
                number=1,
                state=AttemptState.RUNNING,
                created=began,
                updated=began,
                started=began,
                owner=owner,
                seen=True,
                instances={job: "11"},
                tries=(Try(place=ZONE, request_id="r", at=began),),
                **more,
            )
        )

    def attempt(self, attempt: Attempt) -> Attempt:
        """Write a record of the ledger."""
        self.store(AttemptRecord(job=attempt.job, attempt=attempt.number), msgspec.json.encode(attempt))
        return attempt

    def again(self, before: Attempt, *, lost: datetime, started: datetime | None, new: str = "22") -> Attempt:
        """The attempt after a preemption."""
        node = next(iter(before.instances))
        return self.attempt(
            Attempt(
                job=before.job,
                number=before.number + 1,
                state=AttemptState.RUNNING if started else AttemptState.BACKING_OFF,
                created=lost + MINUTE,
                updated=started or lost + MINUTE,
                reason="Compute Engine preempted it",
                owner=before.owner,
                replaces=dict(before.instances),
                instances={node: new} if started else {},
                lost=lost,
                lost_in=ZONE,
                fate=PREEMPTED,
                started=started,
                tries=(Try(place=OTHER, request_id="r2", at=lost + MINUTE),),
            )
        )

    def end(self, job: str = "train", code: str = "0") -> None:
        """The job writes its status, now, and leaves the list of open jobs."""
        self.store(StatusCode(job=job), code.encode())
        name = self.layout.build(OpenJob(job=job))
        stored = self.cloud.store.read(name)
        if stored:
            self.cloud.store.delete(name, generation=stored.generation)

    def metered(
        self, day: date, *vms: tuple[str, str, datetime, int], kind: VmKind = L4, owner: str = "ada@x.org"
    ) -> None:
        """A day of the meter: job, id, start and seconds of each VM."""
        used = {
            instance_id: VmUsage(
                owner=owner, job=job, kind=kind, runs=(UsageRun(started=started, seconds=seconds),)
            )
            for job, instance_id, started, seconds in vms
        }
        self.store(UsageRecord(day=day), msgspec.json.encode(UsageDay(day=day, vms=used)))

    def beats(self, *beats: Mapping[str, Any], job: str = "train", node: str = "", attempt: int = 1) -> None:
        """The metrics file of an attempt."""
        lines = b"".join(msgspec.json.encode(one) + b"\n" for one in beats)
        self.store(MetricsFile(job=job, node=node or job, attempt=attempt), lines)

    def audit(self, entry: str, *records: Mapping[str, Any], day: date | None = None) -> None:
        """An object of the audit."""
        thing = AuditRecord(day=day or self.now.date(), entry=entry)
        self.store(thing, msgspec.json.encode(records))
