"""The meter: what VMs have used on a day. Adding the same look again, or an older one, changes nothing."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

from msgspec.structs import replace

from spotwarden.governance.costs import kind_of
from spotwarden.model.prices import VmKind
from spotwarden.model.usage import DayTotal, MeteredVm, Spent, UsageDay, UsageRun, VmUsage

DAY = timedelta(days=1)
LATE = timedelta(hours=1)
"""A day changes no more this long after its end: whose a VM is may be known some time after its start."""


def days(now: datetime) -> tuple[date, ...]:
    """The days of this month and this week (from Monday) up to now, oldest first."""
    today = now.date()
    first = min(month_of(today), week_of(today))
    return tuple(first + index * DAY for index in range((today - first).days + 1))


def week_of(day: date) -> date:
    """The Monday of its ISO week, which may lie in the month or the year before."""
    return day - day.weekday() * DAY


def month_of(day: date) -> date:
    """The first of its month."""
    return day.replace(day=1)


def bounds_of(day: date) -> tuple[datetime, datetime]:
    """From when to when it lasts, UTC."""
    start = datetime.combine(day, time(), tzinfo=UTC)
    return start, start + DAY


def add(record: UsageDay, vms: Iterable[MeteredVm], now: datetime, *, whole: bool) -> UsageDay:
    """Count the VMs that run for as long as they were up on this day; nothing that was counted is lost.

    A VM that runs has run since it was started, whether or not anybody looked. `whole` means that no VM is
    missing from the list.
    """
    if record.settled:
        return record
    start, end = bounds_of(record.day)
    found = dict(record.vms)
    changed = False
    for vm in vms:
        run = _run(vm, start, min(now, end))
        if run is None:
            continue
        before = found.get(vm.machine.id)
        after = _counted(before, vm, run)
        if after is not before:
            found[vm.machine.id] = after
            changed = True
    settled = whole and bool(found) and now >= end + LATE
    return replace(record, vms=found, settled=settled) if changed or settled else record


def _run(vm: MeteredVm, start: datetime, end: datetime) -> UsageRun | None:
    """How long it has been up between these moments, since it was last started."""
    began = vm.machine.started or vm.machine.created
    if began is None:
        return None
    seconds = int((end - max(began, start)).total_seconds())
    return UsageRun(started=began, seconds=seconds) if seconds > 0 else None


def _counted(used: VmUsage | None, vm: MeteredVm, run: UsageRun) -> VmUsage:
    """With this run, in place of a shorter count of the same; the first known owner of a day stays."""
    if used is None:
        return VmUsage(owner=vm.owner, job=vm.job, kind=kind_of(vm.machine), runs=(run,))
    same = next((old for old in used.runs if old.started == run.started), None)
    if same is not None and same.seconds >= run.seconds and (used.owner or not vm.owner):
        return used
    longer = run if same is None or run.seconds > same.seconds else same
    runs = (*(old for old in used.runs if old.started != run.started), longer)
    return replace(used, owner=used.owner or vm.owner, runs=tuple(sorted(runs, key=lambda old: old.started)))


def total(record: UsageDay) -> DayTotal:
    """The day by owner and kind of VM."""
    sums: Counter[tuple[str, VmKind]] = Counter()
    start, _ = bounds_of(record.day)
    for used in record.vms.values():
        sums[used.owner, used.kind] += _seconds(used, start)
    spent = tuple(Spent(owner=owner, kind=kind, seconds=seconds) for (owner, kind), seconds in sums.items())
    return DayTotal(day=record.day, settled=record.settled, spent=spent)


def _seconds(used: VmUsage, start: datetime) -> int:
    """No run lasts beyond the next start of the same VM, whatever a wrong clock has counted."""
    seconds = sum(run.seconds for run in used.runs[-1:])
    for run, successor in pairwise(used.runs):
        room = int((successor.started - max(run.started, start)).total_seconds())
        seconds += max(0, min(run.seconds, room))
    return seconds
