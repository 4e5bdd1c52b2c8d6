"""What has come in about a job, added to what is known of it; added twice, it changes nothing."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from spotwarden.report.figures.trust import CHANGES
from spotwarden.report.model.kept import Gathered, JobNews, KeptLoads, KeptUsage
from spotwarden.report.model.trust import AuditedAction

CHANGED, KEPT = 400, 100
"""Entries of a job that stay: those that changed something outside, and those that only kept records."""
SLOTS = 13_000
"""Values of one VM's GPUs that stay, the newest: three months of them."""


def merged(gathered: Gathered, news: JobNews) -> Gathered:
    """All of it together."""
    entries, gone = _entries(gathered.entries, news.entries)
    return replace(
        gathered,
        metered=_metered(gathered.metered, news.metered),
        loads=_loads(gathered.loads, news.loads),
        entries=entries,
        left_out=max(gathered.left_out, gone),
    )


def _metered(known: Mapping[str, KeptUsage], new: Mapping[str, KeptUsage]) -> Mapping[str, KeptUsage]:
    return {**known, **{name: add(known.get(name), metered) for name, metered in new.items()}}


def add(known: KeptUsage | None, new: KeptUsage) -> KeptUsage:
    """One VM's runs; of a run the longer count of a day, for the meter only adds."""
    if known is None:
        return new
    runs = {start: dict(days) for start, days in known.runs.items()}
    for start, days in new.runs.items():
        mine = runs.setdefault(start, {})
        for day, seconds in days.items():
            mine[day] = max(seconds, mine.get(day, 0))
    return KeptUsage(owner=new.owner or known.owner, kind=new.kind, runs=runs)


def _loads(known: Mapping[str, KeptLoads], new: Mapping[str, Mapping[str, float]]) -> Mapping[str, KeptLoads]:
    return {**known, **{name: _load(known.get(name, KeptLoads()), slots) for name, slots in new.items()}}


def _load(known: KeptLoads, new: Mapping[str, float]) -> KeptLoads:
    """The higher value of each slot: two looks may have cut it differently, and one may have come early."""
    slots = dict(known.slots)
    for number, top in new.items():
        slots[number] = max(top, slots.get(number, top))
    return KeptLoads(slots=dict(sorted(slots.items(), key=lambda slot: int(slot[0]))[-SLOTS:]))


def _entries(
    known: Sequence[AuditedAction], new: Sequence[AuditedAction]
) -> tuple[tuple[AuditedAction, ...], int]:
    """The newest of both kinds, oldest first, and how many have had to go."""
    both = sorted(
        {entry.id: entry for entry in (*known, *new)}.values(), key=lambda entry: (entry.at, entry.id)
    )
    changed = [entry for entry in both if entry.action in CHANGES]
    kept = [entry for entry in both if entry.action not in CHANGES]
    stay = {entry.id for entry in (*changed[-CHANGED:], *kept[-KEPT:])}
    return tuple(entry for entry in both if entry.id in stay), len(both) - len(stay)
