"""What a job's records and metrics say → its forecast."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.model.attempt import Attempt
from spotwarden.model.heartbeat import Beat
from spotwarden.model.jobfile import JobFile
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import region_of
from spotwarden.recovery.forecast.course import Course, JobPast, Stretch, course
from spotwarden.recovery.forecast.forecast import Outlook, Rates, outlook, own_past
from spotwarden.recovery.forecast.markets import SeenMarkets
from spotwarden.recovery.forecast.pasts import PastByPlace, SpotPast, together
from spotwarden.recovery.forecast.simulate import Chance
from spotwarden.report.figures.money import Till
from spotwarden.report.model.kept import Gathered, IndexEntry, JobSpotPast, NodeMetrics, Sources

RUNS_OF_EACH = 100
"""The report has thousands of jobs: a third of the runs that a person waits for, for a third of the time."""
REMEMBERED = timedelta(days=30)


def course_of(
    attempts: Sequence[Attempt],
    file: JobFile,
    lines: Sequence[NodeMetrics],
    *,
    beat: Beat | None,
    moved: datetime | None,
    now: datetime,
    returns: bool,
) -> Course:
    """How the job goes; `moved` is when its program last made progress by `beat`."""
    said = beat or Beat()
    newest = attempts[-1].number if attempts else None
    return course(
        JobPast(
            now=now,
            attempts=attempts,
            file=file,
            step=said.step,
            steps=said.steps,
            first_step=said.first_step if said.attempt == newest else None,
            moved=moved,
            stretches=tuple(_stretches(lines)),
            saves=tuple(tuple(at for at, _ in line.saved) for line in lines),
            returns=returns,
        )
    )


def returns(sources: Sources, gathered: Gathered) -> bool:
    """Whether the job holds to a line where the policy lets it, by its records: the report reads no script.

    As `recovery.places.deadline_line` decides: one VM, in a zone, that hands over and has told a checkpoint.
    """
    file, newest = sources.file, sources.ledger[-1] if sources.ledger else None
    tries = [tried for attempt in sources.ledger for tried in attempt.tries]
    if newest is None or file.deadline is None or file.ladder or not file.move or file.handover is False:
        return False
    if len(newest.instances) > 1 or any(tried.place == region_of(tried.place) for tried in tries):
        return False
    saved = any(line.saved for line in gathered.lines) or bool(sources.beat and sources.beat.checkpoint)
    early = any(vm.early for vm in gathered.ran.values()) or any(tried.notice for tried in tries)
    return bool(file.handover) or (saved and early)


def past(course: Course) -> JobSpotPast | None:
    """What it tells other jobs: of VMs that are over, none of which is counted twice."""
    found = own_past(course)
    if not any(found.hours) and not found.waits:
        return None
    return JobSpotPast(machine=course.machine, place=course.place, past=found)


def pasts_of(entries: Iterable[IndexEntry], now: datetime) -> Mapping[str, PastByPlace]:
    """The pasts of all jobs by machine type and place, but of those that are long over: places change."""
    found: dict[str, dict[str, list[tuple[float, SpotPast]]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        if entry.past and (entry.row.ended is None or now - entry.row.ended < REMEMBERED):
            found[entry.past.machine][entry.past.place].append((1.0, entry.past.past))
    return {
        machine: {place: together(parts) for place, parts in places.items()}
        for machine, places in found.items()
    }


def others_of(pasts: Mapping[str, PastByPlace], machine: str, own: JobSpotPast | None) -> PastByPlace:
    """Those of all jobs on this machine type, but one's own."""
    known = pasts.get(machine, {})
    if own is None or own.machine != machine or own.place not in known:
        return known
    return {**known, own.place: together(((1.0, known[own.place]), (-1.0, own.past)))}


def _stretches(lines: Sequence[NodeMetrics]) -> Iterator[Stretch]:
    """Of each attempt the steps of the node that tells most of them: nodes of a gang tell the same."""
    longest: dict[int, tuple[int, Stretch]] = {}
    for line in lines:
        for curve in line.curves:
            told = [(point.at, point.step) for point in curve.points if point.step is not None]
            if len(told) > max(1, longest.get(line.attempt, (0, None))[0]):
                (since, first), (until, last) = told[0], told[-1]
                found = Stretch(attempt=line.attempt, since=since, until=until, first=first, last=last)
                longest[line.attempt] = len(told), found
    return (stretch for _, stretch in longest.values())


class Forecaster(msgspec.Struct, frozen=True, kw_only=True):
    """What the forecasts of all jobs have in common; `chance` gives each job its own.

    Without `handover` the policy moves no job back to spot. `pasts` gives
    those of all jobs, by machine type.
    """

    markets: SeenMarkets
    limits: PlacementLimits
    handover: bool = True
    pasts: Callable[[], Mapping[str, PastByPlace]] = dict
    chance: Callable[[str], Chance]

    def of(self, entry: IndexEntry, till: Till, now: datetime) -> Outlook | None:
        """The forecast of a job that is open; None of any other."""
        if entry.course is None:
            return None
        course = entry.course
        if not self.handover:
            course = replace(course, returns=False)
        chance = self.chance(entry.row.job)
        rates = _rates(entry, till)
        return outlook(
            course,
            self.markets,
            self.limits,
            rates,
            now=now,
            chance=chance,
            runs=RUNS_OF_EACH,
            others=self._others(entry),
        )

    def _others(self, entry: IndexEntry) -> PastByPlace:
        """The past of all jobs on its machine type but its own."""
        return others_of(self.pasts(), entry.course.machine, entry.past) if entry.course else {}


def _rates(entry: IndexEntry, till: Till) -> Rates:
    """What an hour of its VMs costs: all of them are as the newest was."""
    if not entry.cells or not entry.row.nodes:
        return Rates()
    kind = entry.kinds[max(entry.cells, key=lambda cell: cell.day).kind]
    other = kind if kind.provisioning != "SPOT" else replace(kind, provisioning="STANDARD")
    spot = till.bill(replace(kind, provisioning="SPOT")).paid
    full = till.bill(other).paid
    return Rates(
        spot=spot.per_hour * entry.row.nodes if spot else None,
        other=full.per_hour * entry.row.nodes if full else None,
    )
