"""The meter: one record a day of what each VM has used, kept as VMs are seen.

A record is written under the generation that was read, and only ever adds: two sweeps at once, one done
twice or an old one that comes late leave it as it should be. A sweep that cannot write loses nothing, for the
next one counts the same VMs from their start.
"""

from collections.abc import Sequence
from datetime import date

import msgspec

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.engine.log import log
from spotwarden.governance.caps import usage
from spotwarden.layout import Layout, UsageRecord
from spotwarden.model.tick import Tick
from spotwarden.model.usage import DayTotal, MeteredVm, UsageDay
from spotwarden.ports import ConflictError, Entry, Store, UnansweredError

typed.prepare(UsageDay)

TRIES = 5
"""How often a day is read again after another sweep changed it. The next sweep writes what is lost then."""
LARGEST = 256 * 1024 * 1024
"""Bytes that are read of a day; 100,000 VMs take some 30 million."""

_CACHE: GenerationCache[DayTotal] = GenerationCache(most=1_000)


class UsageMeter(msgspec.Struct, frozen=True, kw_only=True):
    """The usage records of one bucket, as one sweep counts."""

    store: Store
    layout: Layout
    tick: Tick

    def count(self, vms: Sequence[MeteredVm], *, whole: bool) -> tuple[DayTotal, ...]:
        """Count these VMs into every day of this month and week that they were up on; give those days.

        `whole` means that no VM is missing.
        """
        days = {day: self.layout.build(UsageRecord(day=day)) for day in usage.days(self.tick.now)}
        folder = f"{next(iter(days.values())).rpartition('/')[0]}/"
        written = {entry.name: entry for entry in self.store.entries(folder)}
        found = []
        for day, name in days.items():
            entry = written.get(name)
            known = _CACHE.get(name, entry.generation if entry else 0)
            done = known is not None and (known.settled or not vms)
            found.append(known if known and done else self._count(day, name, vms, whole=whole, entry=entry))
        return tuple(found)

    def _count(
        self, day: date, name: str, vms: Sequence[MeteredVm], *, whole: bool, entry: Entry | None
    ) -> DayTotal:
        try:
            record, generation = self._kept(day, name, vms, whole=whole, entry=entry)
        except ValueError as problem:
            log(self.tick, "ERROR", f"{name} can't be read, so that day is not counted: {problem}")
            return DayTotal(day=day)
        total = usage.total(record)
        if generation:
            _CACHE.keep(name, generation, total)
        return total

    def _kept(
        self, day: date, name: str, vms: Sequence[MeteredVm], *, whole: bool, entry: Entry | None
    ) -> tuple[UsageDay, int]:
        """The day with these VMs, written where they add to it; generation 0 where it is not on record so."""
        record, generation = self._read(day, name, entry) if entry else (UsageDay(day=day), 0)
        after = record
        for _ in range(TRIES):
            after = usage.add(record, vms, self.tick.now, whole=whole)
            if after is record:
                return record, generation
            try:
                return after, self.store.write(name, msgspec.json.encode(after), generation=generation)
            except ConflictError:
                record, generation = self._read(day, name)
            except UnansweredError:
                break
        return after, 0

    def _read(self, day: date, name: str, entry: Entry | None = None) -> tuple[UsageDay, int]:
        stored = self.store.read(name, at_most=LARGEST, listed=entry)
        if stored is None:
            return UsageDay(day=day), 0
        return decoded(name, stored.data, UsageDay), stored.generation
