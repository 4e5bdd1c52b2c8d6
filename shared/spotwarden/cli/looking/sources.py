"""Where a job's log is read: Cloud Logging, and where that has nothing the files that the job kit stores.

Of each VM one of the two is shown, never both: no line is told twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.layout import AttemptRecord, InstanceId, Layout, LogFile, ObjectName, StatusCode
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState
from spotwarden.model.logline import LogLine
from spotwarden.ports import Entry, Logs, RejectedError, Store, UnansweredError
from spotwarden.recovery.folder.chain import newest, told
from spotwarden.recovery.folder.folder_list import look_into
from spotwarden.recovery.folder.job_folder import read_status
from spotwarden.recovery.folder.status_code import code_in, is_late
from spotwarden.recovery.folder.whereabouts import VmStay, is_unnamed, stays

typed.prepare(Attempt)

FILE_AT_MOST = 16 * 1024 * 1024
"""Twice what the job kit stores."""

TIMEOUT = 3
"""Looks in a row without an answer, from which on the stored logs are shown."""


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be known of a job for its log: its attempts, its VMs, its stored logs, and its end.

    `status` is what it wrote as its end, None while it is open.
    """

    ledger: tuple[Attempt, ...] = ()
    stays: tuple[VmStay, ...] = ()
    files: Mapping[LogFile, Entry] = {}
    status: str | None = None
    exists: bool = False


class LogSources:
    """Looks at one job again and again; what has not changed is not read once more."""

    def __init__(self, store: Store, layout: Layout, job: str) -> None:
        self._store = store
        self._layout = layout
        self._job = job
        self._cache: GenerationCache[Attempt] = GenerationCache()
        self._ids: GenerationCache[str] = GenerationCache()

    def glance(self, now: datetime) -> Glance:
        """How the job is."""
        folder = look_into(self._store, self._layout, self._job)
        found = [
            attempt
            for object_name in folder.of(AttemptRecord)
            if (attempt := self._attempt(folder.things, object_name))
        ]
        ledger = told(sorted(found, key=lambda item: item.number))
        registered = {
            object_name.node: self._registered(folder.things, object_name)
            for object_name in folder.of(InstanceId)
            if isinstance(object_name, InstanceId) and (not ledger or is_unnamed(ledger[-1]))
        }
        status = self._status(folder.things, ledger)
        files = {
            object_name: entry
            for object_name, entry in folder.things.items()
            if isinstance(object_name, LogFile)
        }
        # While it runs its record may come to name its VMs; what has ended so soon is never named.
        over = status is not None or (ledger and ledger[-1].state in CLOSED)
        stored = {
            object_name.node
            for object_name in files
            if over and ledger and object_name.attempt == ledger[-1].number
        }
        return Glance(
            ledger=ledger,
            stays=tuple(stays(ledger, registered, now, stored=stored)),
            files=files,
            status=status,
            exists=bool(folder.things),
        )

    def file(self, object_name: LogFile) -> str:
        """A stored log; "" where it is gone."""
        stored = self._store.read(self._layout.build(object_name), at_most=FILE_AT_MOST)
        return stored.data.decode(errors="replace") if stored else ""

    def log_of(self, stay: VmStay) -> LogFile:
        """The name of what a VM's job kit stores."""
        return LogFile(job=self._job, node=stay.node, attempt=stay.attempt)

    def _attempt(self, things: Mapping[ObjectName, Entry], object_name: ObjectName) -> Attempt | None:
        name, generation = self._layout.build(object_name), things[object_name].generation
        if (found := self._cache.get(name, generation)) is None:
            stored = self._store.read(name)
            if stored is None:
                return None
            found = self._cache.keep(name, stored.generation, decoded(name, stored.data, Attempt))
        return found

    def _registered(self, things: Mapping[ObjectName, Entry], object_name: ObjectName) -> str:
        name, generation = self._layout.build(object_name), things[object_name].generation
        if (found := self._ids.get(name, generation)) is None:
            stored = self._store.read(name)
            found = stored.data.decode(errors="replace").strip() if stored else ""
            self._ids.keep(name, generation, found)
        return found

    def _status(self, things: Mapping[ObjectName, Entry], ledger: Sequence[Attempt]) -> str | None:
        object_name = StatusCode(job=self._job)
        # Written and closed after the listing: a job must not be taken for one that ended well.
        due = object_name in things or (ledger and ledger[-1].state is AttemptState.ENDED)
        stored = read_status(self._store, self._layout.build(object_name)) if due else None
        if stored is None or is_late(stored.metadata, stored.updated, newest(ledger)):
            return None
        return code_in(stored.data)


class LogCloud:
    """Cloud Logging, as far as it may be read: `trouble` says why it is not, "" while it is.

    A trouble that `passes` has only just begun, and may be over at the next look.
    """

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        self._unanswered = 0
        self.trouble = ""

    @property
    def passes(self) -> bool:
        """Whether it may be only a moment's."""
        return 0 < self._unanswered < TIMEOUT

    def lines(self, wanted: Sequence[VmStay], since: datetime, *, newest: int = 0) -> Iterator[LogLine]:
        """What these VMs have said since then; nothing where nobody lets us know."""
        ids = [stay.instance_id for stay in wanted if stay.instance_id]
        self.trouble = ""
        unanswered, self._unanswered = self._unanswered, 0
        try:
            yield from self._logs.lines(ids, since, newest=newest) if ids else ()
        except RejectedError as error:
            self.trouble = f"no permission to read Cloud Logging: {error}"
        except UnansweredError as error:
            self._unanswered = unanswered + 1
            self.trouble = f"Cloud Logging doesn't respond: {error}"
