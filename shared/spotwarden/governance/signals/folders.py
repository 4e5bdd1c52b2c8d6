"""The folders of jobs, listed as rarely as can be known to be enough.

A list is what costs, of a thousand jobs that are well above all. An attempt that begins, ends or is stopped
by us changes the job's entry among the open jobs, or its VMs; that its program ends changes the heartbeat of
the job kit. So a job whose entry, VMs and heartbeats are as they were is taken as it was listed, up to an
hour. Without the kit its status and settings are looked at instead, the more rarely the longer they have not
changed.

Where many are to be listed or looked at, as by a process that was just started or after a storm of
preemptions, one list shows all of them.
Nothing is done to a job by an old list: whoever has something against one asks for it `anew` first.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.governance.signals.listings import list_together
from spotwarden.layout import Heartbeat, JobFileName, Layout, ObjectName, StatusCode, job_problem
from spotwarden.model.watch import Watched
from spotwarden.ports import Entry, Store
from spotwarden.recovery.folder.folder_list import JobFolder, look_into
from spotwarden.recovery.folder.node_beats import BeatSource, LazyBeats, NodeBeat

Look = Callable[[str], JobFolder]
"""Gives a job's folder, with its heartbeats."""
LookAt = Callable[[str, Collection[str]], JobFolder]
"""The same for a job that has these VMs."""
LISTED_AGAIN = timedelta(hours=1)
"""How old a list may be; a job.toml that is written anew is seen by then, whatever else is as it was."""
BEATS = timedelta(minutes=16)
"""How old a heartbeat may be that speaks for its VM: three times the job kit's period, and a minute."""
SHARE = 12
"""A job without the kit is looked at again after this part of the time for which it has not changed."""
PAUSE_AT_MOST = timedelta(minutes=30)


class KeptFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder as it was listed, and by what it is known to be still so.

    `entry` is the generation of the job's entry among the open ones, `ids` are its VMs; `looked` is when its
    status and settings were looked at, `since` for how long they have not changed.
    """

    folder: JobFolder
    entry: int
    ids: frozenset[str]
    listed: datetime
    looked: datetime
    since: datetime


_KEPT: GenerationCache[KeptFolder] = GenerationCache()


class JobFolders:
    """The folders of jobs in one sweep. Safe to use from several threads, one job in one of them."""

    def __init__(
        self, store: Store, layout: Layout, now: datetime, beats: BeatSource, watches: Mapping[str, Watched]
    ) -> None:
        self._store, self._layout, self._now = store, layout, now
        self._beats, self._watches = beats, watches
        self._old: set[str] = set()
        self._ahead: dict[str, JobFolder] = {}

    def list_ahead(self, asked: Mapping[str, Collection[str]], workers: int) -> None:
        """List the folders of these jobs, which have these VMs, in a few lists where they are many."""
        # Heartbeats before the folders, as in each look: what ends meanwhile is in the newer reading.
        due = [
            job
            for job, ids in asked.items()
            if job_problem(job) is None and not self._is_as_it_was(job, frozenset(ids))
        ]
        self._ahead = list_together(self._store, self._layout, due, workers)

    def look(self, job: str, ids: Collection[str]) -> JobFolder:
        """The folder of a job that has these VMs; one that is known to be as it was is not listed."""
        beats = self._beats.of(job)
        ahead = self._ahead.pop(job, None)
        kept = self._kept(job, frozenset(ids), beats) if ahead is None else None
        if kept is None:
            return self._listed(job, ids, ahead).with_beats(beats)
        self._old.add(job)
        return kept.folder.with_beats(beats)

    def anew(self, job: str, ids: Collection[str] = ()) -> JobFolder:
        """The folder as it is now."""
        self._old.discard(job)
        return self._listed(job, ids).with_beats(self._beats.of(job))

    def old(self) -> frozenset[str]:
        """The jobs that were not listed in this sweep."""
        return frozenset(self._old)

    def _listed(self, job: str, ids: Collection[str], ahead: JobFolder | None = None) -> JobFolder:
        folder = ahead or look_into(self._store, self._layout, job)
        watched = self._watches.get(job)
        if watched is None:
            return folder
        before, now = _KEPT.get(self._name(job), 0), self._now
        known = before is not None and before.entry == watched.generation and _same(before.folder, folder)
        kept = KeptFolder(
            folder=_without_content(folder),
            entry=watched.generation,
            ids=frozenset(ids),
            listed=now,
            looked=now,
            since=before.since if before is not None and known else now,
        )
        _KEPT.keep(self._name(job), 0, kept)
        return folder

    def _known(self, job: str, ids: frozenset[str]) -> KeptFolder | None:
        """The folder as it was listed, if our own records do not say that it must be listed again."""
        watched = self._watches.get(job)
        kept = _KEPT.get(self._name(job), 0) if watched is not None else None
        if watched is None or kept is None or (kept.entry, kept.ids) != (watched.generation, ids):
            return None
        if watched.watch.whole is not None or not timedelta(0) <= self._now - kept.listed < LISTED_AGAIN:
            return None
        return kept

    def _kept(self, job: str, ids: frozenset[str], beats: Mapping[Heartbeat, NodeBeat]) -> KeptFolder | None:
        """What is known of the job, if that is enough, or is after a look at what may have changed."""
        kept = self._known(job, ids)
        if kept is None or self._is_enough(job, kept, beats):
            return kept
        return self._looked_at(job, kept)

    def _is_as_it_was(self, job: str, ids: frozenset[str]) -> bool:
        """Whether nothing need be asked about the job."""
        beats, kept = self._beats.of(job), self._known(job, ids)
        return kept is not None and self._is_enough(job, kept, beats)

    def _is_enough(self, job: str, kept: KeptFolder, beats: Mapping[Heartbeat, NodeBeat]) -> bool:
        """Whether its VMs say that all is as it was, or it was looked at not long ago."""
        pause = min((kept.looked - kept.since) / SHARE, PAUSE_AT_MOST)
        return self._now - kept.looked < pause or _speak_for(beats, self._watches[job], self._now)

    def _looked_at(self, job: str, kept: KeptFolder) -> KeptFolder | None:
        """The same after a look at what may have changed, object by object; None where anything has."""
        things = dict(kept.folder.things)
        for object_name in (StatusCode(job=job), JobFileName(job=job), *kept.folder.of(Heartbeat)):
            entry = self._store.entry(self._layout.build(object_name))
            if isinstance(object_name, Heartbeat) and entry is not None:
                things[object_name] = entry
            elif _generation(entry) != _generation(things.get(object_name)):
                return None
        looked = replace(kept, folder=JobFolder(things, whole=kept.folder.whole), looked=self._now)
        return _KEPT.keep(self._name(job), 0, looked)

    def _name(self, job: str) -> str:
        return self._layout.folder(job)


def look_together(context: SweepContext, jobs: Collection[str]) -> Look:
    """Gives the folder of each of these jobs as it is from now on; many are listed in a few lists at once."""
    store, layout = context.cloud.store, context.settings.layout
    beats = LazyBeats(store, layout)
    # Heartbeats before the folders, as in each look: what ends meanwhile is in the newer reading.
    beats.of(next(iter(jobs), ""))
    ahead = list_together(store, layout, jobs, context.settings.workers)

    def look(job: str) -> JobFolder:
        folder = ahead.pop(job, None) or look_into(store, layout, job)
        return folder.with_beats(beats.of(job))

    return look


def folders_of(context: SweepContext, beats: BeatSource, watched: Iterable[Watched]) -> JobFolders:
    """The folders of one sweep, by the entries of open jobs."""
    watches = {entry.watch.job: entry for entry in watched}
    return JobFolders(context.cloud.store, context.settings.layout, context.tick.now, beats, watches)


def _without_content(folder: JobFolder) -> JobFolder:
    """The same as it is kept: what was listed has been read by then, and remembered."""
    rows = folder.things.items()
    return folder._replace(
        things={name: replace(row, content=None) if row.content is not None else row for name, row in rows}
    )


def _generation(entry: Entry | None) -> int:
    return entry.generation if entry is not None else 0


def _same(before: JobFolder, now: JobFolder) -> bool:
    """Whether the job has the same end and the same settings."""
    return dict(_settled(before)) == dict(_settled(now))


def _settled(folder: JobFolder) -> Iterator[tuple[ObjectName, int]]:
    kinds = (StatusCode, JobFileName)
    return (
        (object_name, entry.generation)
        for object_name, entry in folder.things.items()
        if isinstance(object_name, kinds)
    )


def _speak_for(beats: Mapping[Heartbeat, NodeBeat], watched: Watched, now: datetime) -> bool:
    """Whether each VM that is expected says by a fresh heartbeat of this attempt that its program runs."""
    watch = watched.watch
    return bool(watch.instances) and all(
        (heard := beats.get(Heartbeat(job=watch.job, node=node))) is not None
        and heard.beat.instance_id == instance_id
        and heard.beat.attempt == watch.attempt
        and heard.beat.status == "running"
        and now - heard.entry.updated < BEATS
        for node, instance_id in watch.instances.items()
    )
