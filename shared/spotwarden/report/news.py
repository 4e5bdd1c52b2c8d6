"""What has come in since the last report: the meter's days, sweeps over GPUs, days of the audit.

Each is read bit by bit, and how far is written down with the index, after everything else: a tick that dies
is done again by the next one, and adding the same twice changes nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

import msgspec

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.engine.fan_out import each
from spotwarden.governance.caps.meter import LARGEST
from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.recording import read_one
from spotwarden.layout import AuditRecord, NotInLayoutError, SweepRecord, UsageRecord
from spotwarden.model.seen import RecordedSweep, Unreadable
from spotwarden.model.usage import UsageDay
from spotwarden.ports import BrokenError
from spotwarden.report.figures.audit import entries as entries_of
from spotwarden.report.model.kept import SLOT, AuditDay, IndexEntry, JobNews, KeptUsage, Record, ReportIndex
from spotwarden.report.model.trust import AuditedAction
from spotwarden.report.store import ReportStore

typed.prepare(list[Record], UsageDay, RecordedSweep[IdleFacts])

JOBS = 2_000
"""With news about more jobs than that the rest waits for the next tick: a report that is made anew."""
SWEEPS, LOADS = 144, 500_000
"""In one tick, and the VMs in them together: a day of them, or less of a large fleet."""
OBJECTS = 2_000
"""Of the audit, in one tick."""
KEEP = timedelta(days=30)
"""So far back the audit and sweeps are read where there is no report yet."""
LATE = timedelta(hours=2)
"""A day of the audit is whole this long after its end: a sweep writes under the time at which it began."""
OVERLAP = timedelta(minutes=20)
DAY = timedelta(days=1)
FLAGS = "flag_idle_gpus"


class TakenNews(msgspec.Struct, kw_only=True):
    """What has come in, by job, and how far that goes; `anew` means that jobs may have heard nothing yet.

    With `more` figures are not whole: the next tick has more of the meter or of the sweeps to take in.
    """

    news: defaultdict[str, JobNews] = msgspec.field(default_factory=lambda: defaultdict(JobNews))
    metered: dict[str, int] = {}
    swept: str = ""
    audited: tuple[date, ...] = ()
    days: list[tuple[AuditDay, int]] = []
    anew: bool = False
    more: bool = False

    @property
    def full(self) -> bool:
        """Whether a tick has enough to do."""
        return len(self.news) >= JOBS


def take(
    shelf: ReportStore,
    index: ReportIndex | None,
    now: datetime,
    workers: int,
    resting: Collection[str] = (),
) -> TakenNews:
    """All that is new, up to what one tick can do; all that there is, where the report is made anew.

    Of jobs that are `resting` what today's meter says waits for the tick that looks at all of them, and so
    does what GPUs did, of which a sweep tells for all jobs at once.
    """
    taken, looked = TakenNews(anew=True), {}
    if index is not None and not index.anew:
        taken = TakenNews(metered=dict(index.metered), swept=index.swept, audited=index.audited)
        looked = {entry.row.job: entry for entry in index.entries}
    _take_meter(shelf, taken, looked, now.date(), frozenset(resting))
    if not resting:
        _take_sweeps(shelf, taken, now)
    _take_audit(shelf, taken, now, workers)
    return taken


def _take_meter(
    shelf: ReportStore,
    taken: TakenNews,
    looked: Mapping[str, IndexEntry],
    today: date,
    resting: Collection[str],
) -> None:
    folder = shelf.layout.build(UsageRecord(day=date.min)).rpartition("/")[0]
    for row in shelf.store.entries(f"{folder}/"):
        before = taken.metered.get(row.name)
        if before == row.generation:
            continue
        if taken.full:
            taken.more = True
            continue
        try:
            stored = shelf.store.read(row.name, at_most=LARGEST)
            record = decoded(row.name, stored.data, UsageDay) if stored else None
        except BrokenError:
            record, stored = None, None
        if record is not None:
            # Of a day that was never read nothing is known, and to one that is over may be added late.
            again = before is not None and record.day == today
            late = resting if record.day == today else ()
            if _take_day(record, taken, looked if again else {}, late):
                # It is read again, until their seconds are taken in too: the mark stays where it was.
                taken.metered[row.name] = before or 0
                continue
        # What was read may be newer than the listing: then it is read once more, and adds nothing.
        taken.metered[row.name] = row.generation


def _take_day(
    record: UsageDay, taken: TakenNews, looked: Mapping[str, IndexEntry], late: Collection[str]
) -> bool:
    """Take in a day of the meter; gives whether some of it waits, for it is of a job that is `late`."""
    waits = False
    for instance_id, used in record.vms.items():
        runs = {run.started.isoformat(): {record.day.isoformat(): run.seconds} for run in used.runs}
        if not runs or _known(record, used.runs[-1].started, used.runs[-1].seconds, looked.get(used.job)):
            continue
        if used.job in late:
            waits = True
            continue
        news = taken.news[used.job]
        metered = news.metered.setdefault(instance_id, KeptUsage(owner=used.owner, kind=used.kind))
        news.metered[instance_id] = msgspec.structs.replace(
            metered,
            runs={
                **metered.runs,
                **{name: {**metered.runs.get(name, {}), **days} for name, days in runs.items()},
            },
        )
    return waits


def _known(record: UsageDay, started: datetime, seconds: int, entry: IndexEntry | None) -> bool:
    """Whether a VM's last second of the day was counted long before its job was last looked at."""
    if entry is None:
        return False
    first = max(started, datetime.fromisoformat(f"{record.day}T00:00:00+00:00"))
    return first + timedelta(seconds=seconds) + OVERLAP < entry.looked


def _take_sweeps(shelf: ReportStore, taken: TakenNews, now: datetime) -> None:
    """What the newest sweeps over GPUs saw; each of them reaches back over several."""
    names, loads = _sweeps(shelf, taken.swept, now), 0
    for number, name in enumerate(names):
        if number >= SWEEPS or loads >= LOADS:
            taken.more = True
            return
        seen = read_one(shelf.store, name, IdleFacts)
        if isinstance(seen, RecordedSweep):
            _take_loads(seen.facts, taken)
            loads += len(seen.facts.loads.rows)
        if seen is None or isinstance(seen, RecordedSweep | Unreadable):
            taken.swept = name


def _sweeps(shelf: ReportStore, after: str, now: datetime) -> list[str]:
    folder = shelf.layout.sweeps(FLAGS)
    first = (now - KEEP).date()
    object_name = shelf.layout.parse(after) if after else None
    if isinstance(object_name, SweepRecord):
        first = max(first, object_name.day)
        days = [first + number * DAY for number in range((now.date() - first).days + 1)]
        rows = [row.name for day in days for row in shelf.store.entries(f"{folder}{day}/")]
    else:
        # Where none has been read there may be none at all: one look tells.
        rows = [row.name for row in shelf.store.entries(folder)]
    return sorted(name for name in rows if name > max(after, f"{folder}{first}"))


def _take_loads(facts: IdleFacts, taken: TakenNews) -> None:
    grid = facts.loads.grid
    middles = [grid.end - (grid.count - number - 0.5) * grid.step for number in range(grid.count)]
    slots = [str(int(middle.timestamp()) // SLOT) for middle in middles]
    for instance_id, load in facts.loads.rows.items():
        loads = taken.news[facts.jobs.get(instance_id, "")].loads.setdefault(instance_id, {})
        for number, top in zip(slots, load.top, strict=False):
            if top >= 0:
                loads[number] = max(top, loads.get(number, top))


def _take_audit(shelf: ReportStore, taken: TakenNews, now: datetime, workers: int) -> None:
    """New objects of the audit, the newest day first; a day that is whole is not listed again."""
    whole = set(taken.audited)
    left = OBJECTS
    for back in range(KEEP.days + 1):
        day = (now - back * DAY).date()
        if day in whole or left <= 0 or (taken.full and back > 1):
            continue
        known, generation = shelf.audit_day(day)
        listed = dict(_entries(shelf, day))
        new = [entry for entry in sorted(listed) if known is None or entry not in known.entries]
        found = dict(_read_all(shelf, day, {name: listed[name] for name in new[:left]}, workers))
        entries = {**(known.entries if known else {}), **found}
        for audited in (entries if taken.anew else found).values():
            for action in audited:
                if action.job:
                    taken.news[action.job].entries.append(action)
        if found:
            taken.days.append((AuditDay(day=day, entries=entries), generation))
        # The index is written before the day's own object, which may fail: whole is what was there already.
        if not new and now - datetime.fromisoformat(f"{day}T00:00:00+00:00") >= DAY + LATE:
            whole.add(day)
        left -= len(new)
    oldest = (now - KEEP - DAY).date()
    taken.audited = tuple(sorted(day for day in whole if day >= oldest))


def _entries(shelf: ReportStore, day: date) -> Iterator[tuple[str, str]]:
    folder = shelf.layout.build(AuditRecord(day=day, entry="0")).removesuffix("0.json")
    for row in shelf.store.entries(folder):
        try:
            object_name = shelf.layout.parse(row.name)
        except NotInLayoutError:
            continue
        if isinstance(object_name, AuditRecord):
            yield object_name.entry, row.name


def _read_all(
    shelf: ReportStore, day: date, names: Mapping[str, str], workers: int
) -> Sequence[tuple[str, tuple[AuditedAction, ...]]]:
    def read(entry: str) -> tuple[str, tuple[AuditedAction, ...]] | None:
        stored = shelf.store.read(names[entry])
        if stored is None:
            return None
        try:
            records = typed.decode(stored.data, list[Record])
        except msgspec.DecodeError:
            records = []
        return entry, entries_of(names[entry], day.isoformat(), entry, records)

    done = each(names, read, workers)
    if done.failures:
        raise ExceptionGroup("the audit could not be read", done.failures)
    return done.results
