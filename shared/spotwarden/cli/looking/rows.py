"""The rows of the experiment table, read with as few calls as they take."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from spotwarden import typed
from spotwarden.cli.context import Context
from spotwarden.cli.looking.remembered import NOTHING, remembered
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.engine.fan_out import each
from spotwarden.governance.cases.store import read_cases
from spotwarden.layout import (
    RESERVED_JOBS,
    AttemptRecord,
    CreateScript,
    JobFileName,
    ObjectName,
    RunRecord,
    StatusCode,
    job_problem,
)
from spotwarden.model.attempt import Attempt, Recorded
from spotwarden.model.case import CaseState
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.jobfile import JobFile
from spotwarden.ports import BrokenError
from spotwarden.recovery.folder.chain import as_told, newest
from spotwarden.recovery.folder.folder_list import JobFolder, look_into, once
from spotwarden.recovery.folder.job_folder import read_job_file, read_status
from spotwarden.recovery.folder.standing import JobSummary, experiment
from spotwarden.recovery.folder.status_code import code_in, is_late

STALL = "stall"
FOUND = frozenset((CaseState.WARNED, CaseState.DUE, CaseState.ACTED))
"""The states of a case by which governance has found its job stalled, and not only suspects it."""
AT_ONCE = 32
"""Jobs that are read at a time: a command has one user who waits."""


class JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """What of a job its row takes."""

    facts: JobFacts
    tags: Mapping[str, str] = {}


class JobTable(msgspec.Struct, frozen=True, kw_only=True):
    """All rows, by name; of jobs that cannot be read, why not.

    `reported` of the rows are those of the report, as they were at `at`.
    """

    rows: tuple[JobSummary, ...]
    broken: tuple[BrokenError, ...] = ()
    reported: int = 0
    at: datetime | None = None


class JobRows:
    """Reads the table again and again; an object that has not changed is not read once more."""

    def __init__(self, context: Context, *, exact: bool = False) -> None:
        self._context = context
        self._exact = exact
        self._store, self._layout = context.cloud.store, context.settings.layout
        self._cache: GenerationCache[object] = GenerationCache(most=100_000)

    def names(self, patterns: Sequence[str] = ()) -> list[str]:
        """The folders of jobs; with patterns those whose names fit one."""
        found = self._store.folders(self._layout.prefix)
        return [
            name
            for name in found
            if name not in RESERVED_JOBS
            and job_problem(name) is None
            and (not patterns or any(fnmatchcase(name, pattern) for pattern in patterns))
        ]

    def read(self, names: Sequence[str], now: datetime, done: Callable[[], None] = lambda: None) -> JobTable:
        """The rows of these jobs; `done` hears of each that is there."""
        old = NOTHING if self._exact else remembered(self._context, names, now)
        for _ in old.rows:
            done()
        table = self._read([name for name in names if name not in old.rows], now, done)
        rows = sorted((*table.rows, *old.rows.values()), key=lambda row: row.job)
        return msgspec.structs.replace(table, rows=tuple(rows), reported=len(old.rows), at=old.at)

    def _read(self, names: Sequence[str], now: datetime, done: Callable[[], None]) -> JobTable:
        broken: list[BrokenError] = []

        def one(name: str) -> JobRow | None:
            try:
                return self._job(name)
            except BrokenError as problem:
                broken.append(problem)
                return None
            finally:
                done()

        # Jobs before instances: one that starts between the two is then seen to run.
        found = each(names, one, min(AT_ONCE, max(1, len(names))))
        if found.failures:
            raise found.failures[0]
        instances = self._context.cloud.compute.instances().items if found.results else ()
        stalled = self._stalled() if found.results else frozenset()
        rows = tuple(_row(job, instances, stalled, now) for job in found.results)
        return JobTable(rows=rows, broken=tuple(broken))

    def _job(self, name: str) -> JobRow | None:
        folder = look_into(self._store, self._layout, name)
        attempts = sorted(
            (
                object_name
                for object_name in folder.of(AttemptRecord)
                if isinstance(object_name, AttemptRecord)
            ),
            key=lambda object_name: object_name.attempt,
        )
        # The first and the newest are all that a row takes; the newest may say how the one before ended.
        ledger = tuple(
            recorded
            for object_name in dict.fromkeys((*attempts[:1], *attempts[-2:]))
            if (recorded := self._attempt(folder, object_name))
        )
        facts = JobFacts(
            job=name, ledger=ledger, file=self._file(folder, name), **self._end(folder, name, ledger)
        )
        if not (facts.ledger or facts.status_code is not None or CreateScript(job=name) in folder.things):
            return None
        return JobRow(facts=as_told(facts), tags=self._tags(folder, name))

    def _attempt(self, folder: JobFolder, object_name: AttemptRecord) -> Recorded | None:
        def read() -> Recorded | None:
            stored = self._store.read(name)
            if stored is None:
                return None
            return Recorded(attempt=decoded(name, stored.data, Attempt), generation=stored.generation)

        name = self._layout.build(object_name)
        return once(self._cache, self._layout, folder, object_name, read)

    def _file(self, folder: JobFolder, name: str) -> JobFile:
        def read() -> JobFile:
            return read_job_file(self._store, self._layout, name, folder)

        return once(self._cache, self._layout, folder, JobFileName(job=name), read)

    def _end(self, folder: JobFolder, name: str, ledger: Sequence[Recorded]) -> Mapping[str, Any]:
        object_name: ObjectName = StatusCode(job=name)
        entry, present = folder.things.get(object_name), newest([recorded.attempt for recorded in ledger])
        if entry is None or is_late(entry.metadata, entry.updated, present):
            return {}

        def read() -> Mapping[str, Any]:
            stored = read_status(self._store, self._layout.build(object_name))
            if stored is None:
                return {}
            return {"status_code": code_in(stored.data), "ended": stored.updated}

        return once(self._cache, self._layout, folder, object_name, read)

    def _tags(self, folder: JobFolder, name: str) -> Mapping[str, str]:
        object_name: ObjectName = RunRecord(job=name)
        if object_name not in folder.things:
            return {}

        def read() -> Mapping[str, str]:
            stored = self._store.read(self._layout.build(object_name))
            return tags_in(stored.data) if stored else {}

        return once(self._cache, self._layout, folder, object_name, read)

    def _stalled(self) -> frozenset[str]:
        """The ids and jobs that have an open case of standing still."""
        settings = self._context.settings
        opened = read_cases(self._store, settings.layout, (STALL,), workers=settings.workers)
        return frozenset(
            name
            for filed in opened.filed
            if filed.case.state in FOUND
            for name in (filed.case.subject.job, *(t.id for t in filed.case.subject.targets))
        )


class _Tagged(msgspec.Struct, frozen=True):
    tags: Mapping[str, str] = {}


typed.prepare(_Tagged, Attempt)


def tags_in(data: bytes) -> Mapping[str, str]:
    """The tags in a job's record of how it was asked for; none where it cannot be read."""
    try:
        return typed.decode(data, _Tagged).tags
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}


def _row(job: JobRow, instances: tuple[Instance, ...], stalled: frozenset[str], now: datetime) -> JobSummary:
    newest = job.facts.newest
    names = {job.facts.job, *(newest.instances.values() if newest else ())}
    return experiment(job.facts, instances, now, stalled=bool(names & stalled), tags=job.tags)
