"""The report's own objects: an index, a summary for each job, a file for each day of the audit.

All of them are derived. One that cannot be read, or is of another edition, is made anew.
"""

import gc
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import TypeVar

import msgspec

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.layout import Layout, ReportPart
from spotwarden.ports import BrokenError, Store
from spotwarden.report.model.kept import EDITION, AuditDay, ReportIndex, Summary

typed.prepare(ReportIndex, Summary, AuditDay)

LARGEST = 256 * 1024 * 1024
"""Bytes that are read of one of them, packed; an index of 10,000 jobs has some three million."""
LEVEL = 1
GZIP = "application/gzip"

Part = TypeVar("Part", ReportIndex, Summary, AuditDay)

_INDEX: GenerationCache[ReportIndex] = GenerationCache(most=4)


class ReportStore(msgspec.Struct, frozen=True):
    """Where the report is kept."""

    store: Store
    layout: Layout

    def name(self, path: str) -> str:
        """The object of this part of the report."""
        return self.layout.build(ReportPart(path=path))

    def index(self) -> tuple[ReportIndex | None, int]:
        """The index and its generation; None with 0 where there is none."""
        found, generation = self._read("index.json.gz", ReportIndex)
        return found, generation

    def put_index(self, index: ReportIndex, generation: int) -> int:
        """Write it under the generation that was read; `ConflictError` where another was first."""
        return self._write("index.json.gz", index, generation)

    def summary(self, job: str) -> tuple[Summary | None, int]:
        """A job's summary and its generation."""
        return self._read(summary_path(job), Summary)

    def put_summary(self, job: str, summary: Summary, generation: int) -> int:
        """Write it; errors as of the index."""
        return self._write(summary_path(job), summary, generation)

    def audit_day(self, day: date) -> tuple[AuditDay | None, int]:
        """What is known of a day of the audit, and its generation."""
        return self._read(f"days/{day}.json.gz", AuditDay)

    def put_audit_day(self, day: AuditDay, generation: int) -> int:
        """Write it; errors as of the index."""
        return self._write(f"days/{day.day}.json.gz", day, generation)

    def _read(self, path: str, kind: type[Part]) -> tuple[Part | None, int]:
        try:
            stored = self.store.read(self.name(path), at_most=LARGEST)
        except BrokenError:
            return None, self._generation(path)
        if stored is None:
            return None, 0
        return _unpacked(stored.data, kind), stored.generation

    def _generation(self, path: str) -> int:
        """Of one that is too large to be read: it is written over."""
        name = self.name(path)
        found = [entry.generation for entry in self.store.entries(name, limit=1) if entry.name == name]
        return found[0] if found else 0

    def _write(self, path: str, part: ReportIndex | Summary | AuditDay, generation: int) -> int:
        data = gzip.compress(msgspec.json.encode(part), LEVEL, mtime=0)
        return self.store.write(self.name(path), data, generation=generation, content_type=GZIP)


def summary_path(job: str) -> str:
    """Where a job's summary is; that of nobody's job has a name that no job can have."""
    return f"jobs/{job or '_'}.json.gz"


def _unpacked(data: bytes, kind: type[Part]) -> Part | None:
    """What it says, if it is of this edition."""
    try:
        with no_collecting():
            found = typed.decode(gzip.decompress(data), kind)
    except (msgspec.DecodeError, OSError, EOFError, zlib.error):
        return None
    return found if found.edition == EDITION else None


@contextmanager
def no_collecting() -> Iterator[None]:
    """Let Python look for no cycles: among what 10,000 jobs are made of it takes nine tenths of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def current(shelf: ReportStore) -> ReportIndex | None:
    """The index for a view; it is unpacked once for each generation."""
    name = shelf.name("index.json.gz")
    stored = shelf.store.read(name, at_most=LARGEST)
    if stored is None:
        return None
    if known := _INDEX.get(name, stored.generation):
        return known
    found = _unpacked(stored.data, ReportIndex)
    return _INDEX.keep(name, stored.generation, found) if found else None
