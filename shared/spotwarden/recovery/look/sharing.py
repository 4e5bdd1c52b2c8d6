"""Many jobs at once: which of them other instances of the function are asked to look at, and in what parts.

What is asked is safe to ask twice, late or not at all: it is a look at jobs by their names, and a job that is
missed is due at the next tick.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

import msgspec

from spotwarden.engine.turn import SharedJob, Turn
from spotwarden.model.facts import JobFacts
from spotwarden.model.tick import BATCHED, Tick
from spotwarden.model.watch import Watched
from spotwarden.ports import Entry
from spotwarden.recovery.observed.fates import GOING
from spotwarden.recovery.observed.shown import ShownInstances

AGAIN = timedelta(seconds=30)
"""After which a job that is due still is asked for anew: more than a look takes, and what a create takes."""
LOOKED_FOR = timedelta(minutes=5)
"""For how long one event comes again and again to see whose turn has come; then the ticks do."""
SHARED_FOR = timedelta(minutes=10)
"""After which one sweep looks at all of them: only so is it known until when the operation log was read."""
MESSAGES = 20
"""Parts of a crowd: each lists Compute Engine's instances, and those lists have a quota."""


class SharedJobs(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that are too many for one sweep.

    `messages` says which of them are to be looked at now; `own` are looks that this sweep takes itself.
    `soon` says that more of them may be ready within seconds. `done` is to be called once all is published.
    """

    messages: tuple[tuple[str, ...], ...]
    own: Sequence[Callable[[], JobFacts]]
    soon: bool
    done: Callable[[], None]


def none_shared(turn: Turn) -> Turn:
    """The turn of a sweep that looks at all jobs itself."""
    return msgspec.structs.replace(turn, shared={}, shared_since=None)


def parts(jobs: Sequence[str], share_from: int) -> tuple[tuple[str, ...], ...]:
    """The jobs in parts, of half the number that one sweep would take itself, or as many as must be."""
    size = min(BATCHED, max(1, share_from // 2, -(-len(jobs) // MESSAGES)))
    return tuple(tuple(jobs[first : first + size]) for first in range(0, len(jobs), size))


class Sharing:
    """What a turn knows of the jobs that are shared out, and what this sweep adds to it."""

    def __init__(self, turn: Turn, tick: Tick, shown: ShownInstances, watched: Iterable[Watched]) -> None:
        self._turn, self._tick, self._shown = turn, tick, shown
        self._since = turn.shared_since or tick.now
        self._watched = {entry.watch.job: entry for entry in watched}

    def share(
        self,
        looks: Mapping[str, Callable[[], JobFacts]],
        *,
        own: Collection[str],
        markers: Mapping[str, Sequence[Entry]],
        share_from: int,
        leave: Callable[..., None],
    ) -> SharedJobs | None:
        """What others are to look at of the jobs that are due, but for our `own`; None where they are few.

        Every ten minutes one sweep looks at all of them itself, however many they are.
        """
        if len(looks) <= share_from or self._tick.now - self._since >= SHARED_FOR:
            return None
        # By their names: the heartbeats of a part stand beside one another.
        others = sorted(job for job in looks if job not in own)
        messages = parts([job for job in others if self._is_ready(job, markers.get(job, ()))], share_from)
        left = self._left(looks, messages)
        return SharedJobs(
            messages=messages,
            own=[looks[job] for job in own],
            soon=self._soon,
            done=partial(leave, left, soon=self._soon),
        )

    def _is_ready(self, job: str, markers: Sequence[Entry]) -> bool:
        shared, now = self._turn.shared.get(job), self._tick.now
        if shared and any(marker.updated > shared.at for marker in markers):
            shared = None  # It was asked for because of something else, and is lost since.
        if self._goes(job):
            return now - (shared.at if shared else self._since) >= AGAIN
        return shared is None or shared.going or now - shared.at >= AGAIN or self._was_refused(job, shared.at)

    def _goes(self, job: str) -> bool:
        """Whether a VM that its entry counts on is on its way out: its name is taken until it is gone."""
        entry = self._watched.get(job)
        ids = entry.watch.instances.values() if entry else ()
        return any(instance.status in GOING for instance in self._shown.of_ids(ids))

    def _was_refused(self, job: str, since: datetime) -> bool:
        """Whether a create that was asked for since then has failed: the next place is asked for at once.

        What came of one that went well is written down after `AGAIN`: the job runs, and others wait.
        """
        entry = self._watched.get(job)
        names = {job, *(entry.watch.instances if entry else ())}
        return any(
            insert.done and insert.error and insert.at is not None and insert.at >= since
            for insert in self._shown.inserts(job=job, names=names)
        )

    @property
    def _soon(self) -> bool:
        """Whether what came is to come again within seconds, to see which of the others are ready then."""
        tick = self._tick
        return bool(tick.message) and not tick.patient and tick.now - self._since < LOOKED_FOR

    def _left(self, due: Iterable[str], messages: Iterable[Iterable[str]]) -> Turn:
        """The turn with what is shared out; of a job that is due no more nothing is kept."""
        kept = {job: self._turn.shared[job] for job in due if job in self._turn.shared}
        named = [job for message in messages for job in message]
        new = {job: SharedJob(at=self._tick.now, going=self._goes(job)) for job in named}
        return msgspec.structs.replace(self._turn, shared_since=self._since, shared={**kept, **new})
