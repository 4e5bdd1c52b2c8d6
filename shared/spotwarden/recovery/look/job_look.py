"""The look at one job after another, and last at the markers of no open job."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial

import msgspec
from msgspec.structs import replace

from spotwarden.layout import Layout
from spotwarden.model.facts import JobFacts
from spotwarden.model.marker import Marker, UnusableMarker
from spotwarden.model.watch import Watched
from spotwarden.ports import Entry, Store
from spotwarden.recovery.attempts import IN_FLIGHT
from spotwarden.recovery.folder.job_folder import NEVER, look_at_job
from spotwarden.recovery.folder.node_beats import BeatSource, JobBeats
from spotwarden.recovery.instances.nodes import with_nodes
from spotwarden.recovery.markers.crowds import LOOKED_UP, UNKNOWN, likeliest
from spotwarden.recovery.markers.reading import answered_marker, look_up, read_marker, read_markers
from spotwarden.recovery.observed.shown import ShownInstances


class RestOfMarkers(msgspec.Struct, frozen=True, kw_only=True):
    """What the markers of no open job lead to: jobs, markers to put aside, failures; `left` wait unread."""

    jobs: Sequence[Callable[[], JobFacts]] = ()
    unusable: Sequence[UnusableMarker] = ()
    failures: Sequence[Exception] = ()
    left: int = 0


class Looking:
    """Looks at one job after another, and last at the markers of no open job.

    A job's markers are read in its own turn, so that the first need not wait for the last. They are as they
    were when they were listed; one that was written anew since is the next sweep's.

    What was written before the moment `before`, by the bucket's clock, stood there when the instances were
    listed.
    """

    def __init__(
        self,
        store: Store,
        layout: Layout,
        *,
        shown: ShownInstances,
        swept: datetime | None = None,
        workers: int = 1,
        watched: Iterable[Watched] = (),
        beats: BeatSource | None = None,
        before: datetime = NEVER,
    ) -> None:
        self._store, self._layout = store, layout
        self._shown, self._swept, self._workers = shown, swept, workers
        self._before = before
        self._watched = {entry.watch.job: entry for entry in watched}
        self._beats = beats or JobBeats(store, layout)
        self._unusable: list[UnusableMarker] = []
        self._of_others: list[Entry] = []

    def at(self, job: str, entries: Sequence[Entry], *, may_move: bool = False) -> JobFacts:
        """The job with its markers; one that names another job is not its own."""
        found = self._found(job)
        facts = self._with_nodes(found, list(self._mine(found, entries)))
        return replace(facts, may_move=may_move)

    def _mine(self, facts: JobFacts, entries: Sequence[Entry]) -> Iterator[Marker]:
        job = facts.job
        for entry in entries:
            marker = answered_marker(self._layout, entry, facts.newest) or read_marker(
                self._store, self._layout, entry
            )
            if isinstance(marker, UnusableMarker):
                self._unusable.append(marker)
            elif marker is not None and marker.body.job not in {None, job}:
                self._of_others.append(entry)
            elif marker is not None:
                yield marker

    def at_the_others(self, entries: Sequence[Entry]) -> RestOfMarkers:
        """Some of the markers of no open job; the rest waits for the next sweep."""
        ranked = likeliest(self._layout, [*self._of_others, *entries], self._shown)
        found = read_markers(self._store, self._layout, ranked[:UNKNOWN], self._workers)
        shown = [marker for marker, _ in found.nameless if self._shown.speaks_of(marker.node)]
        made_up = [unusable for marker, unusable in found.nameless if marker not in shown]
        hidden, made_up = (made_up, []) if _may_hide(self._shown) else ([], made_up)
        more = look_up(self._store, self._layout, shown[:LOOKED_UP])
        jobs = [*found.by_job.items(), *more.by_job.items()]
        return RestOfMarkers(
            jobs=[partial(self.look, job, markers) for job, markers in jobs],
            unusable=[*self._unusable, *found.unusable, *made_up, *more.unusable],
            failures=found.failures,
            left=len(ranked[UNKNOWN:]) + len(shown[LOOKED_UP:]) + len(hidden),
        )

    def look(self, job: str, markers: Sequence[Marker]) -> JobFacts:
        """The job with these markers, and what Compute Engine shows of its nodes."""
        return self._with_nodes(self._found(job), markers)

    def _found(self, job: str) -> JobFacts:
        watched = self._watched.get(job)
        return look_at_job(self._store, self._layout, job, watched=watched, beats=self._beats)

    def _with_nodes(self, found: JobFacts, markers: Sequence[Marker]) -> JobFacts:
        facts = with_nodes(found, markers, self._shown)
        surveyed = self._is_old(found)
        return replace(facts, last_sweep=self._swept, surveyed=surveyed, fresh=surveyed)

    def _is_old(self, facts: JobFacts) -> bool:
        """Whether the instances were listed after all that its chain can have made was asked for."""
        newest = facts.ledger[-1] if facts.ledger else None
        if newest is None or newest.written is None or newest.attempt.state in IN_FLIGHT:
            return False
        return newest.written < self._before


def _may_hide(shown: ShownInstances) -> bool:
    """Whether there may be a VM that nobody has written down in a zone that is not shown."""
    return bool(shown.unsure)
