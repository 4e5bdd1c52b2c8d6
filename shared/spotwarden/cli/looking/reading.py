"""Tells a job's log as far as it is there, and at each further look what has come since."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from spotwarden.cli.looking.saying import Teller
from spotwarden.cli.looking.sources import Glance, LogCloud, LogSources
from spotwarden.layout import LogFile
from spotwarden.model.logline import LogLine
from spotwarden.recovery.folder.whereabouts import VmStay

OVERLAP = timedelta(seconds=30)
"""So late a line may come to Cloud Logging, by its own time, and still be told."""
STILL_SPEAK = 2
"""Of so many of the newest attempts lines may still come."""
TAIL_BYTES = 2048
"""By so much of its end a stored log that was cut at its beginning is known again."""


class LinesWanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which lines: of one node, of one attempt, since a moment, only so many of the last (0: all)."""

    node: str = ""
    attempt: int = 0
    since: datetime | None = None
    tail: int = 0

    def of(self, stays: Sequence[VmStay]) -> list[VmStay]:
        """Those of the VMs that are wanted."""
        return [
            stay
            for stay in stays
            if self.node in {"", stay.node} and (not self.attempt or self.attempt == stay.attempt)
        ]


class LogReader:
    """Reads one job's log on and on; `note` is told what stands in the way."""

    def __init__(
        self,
        sources: LogSources,
        cloud: LogCloud,
        teller: Teller,
        wanted: LinesWanted,
        note: Callable[[str], None],
    ) -> None:
        self._sources = sources
        self._cloud = cloud
        self._teller = teller
        self._wanted = wanted
        self._note = note
        self._told: dict[str, datetime] = {}
        self._newest: datetime | None = None
        self._floor: datetime | None = None
        self._by_cloud: set[str] = set()
        self._by_file: dict[LogFile, str] = {}
        self._generations: dict[LogFile, int] = {}
        self._trouble = ""

    @property
    def said(self) -> bool:
        """Whether there was anything to tell at all."""
        return bool(self._told or self._by_file)

    def read(self, glance: Glance, *, again: bool = False) -> None:
        """Tell what is new, oldest first; one who will look `again` waits for Cloud Logging a little."""
        stays = self._wanted.of(glance.stays)
        if not stays:
            return
        if self._newest is None and self._wanted.tail:
            self._read_tail(glance, stays, again=again)
        else:
            self._read_on(glance, stays, again=again)
        if again and self._cloud.passes:
            return
        if self._cloud.trouble != self._trouble and self._cloud.trouble:
            self._note(f"{self._cloud.trouble}; what the job kit has stored is shown")
        self._trouble = self._cloud.trouble

    def _read_on(self, glance: Glance, stays: Sequence[VmStay], *, again: bool) -> None:
        asked = stays if self._newest is None else _speaking(stays)
        whose = {part.instance_id: part for part in asked}
        left = list(stays)
        for line in self._cloud.lines(asked, self._since(asked)):
            stay = whose.get(line.instance_id)
            if stay is None or _key(line) in self._told or self._sources.log_of(stay) in self._by_file:
                continue
            while left and left[0].attempt < stay.attempt:
                self._tell_file(glance, left.pop(0), stays)
            self._by_cloud.add(stay.instance_id)
            self._told[_key(line)] = line.at
            self._newest = max(line.at, self._newest or line.at)
            self._teller.tell(stay, line.text, among=_among(stay, stays), at=line.at)
        for stay in left if not (again and self._cloud.passes) else ():
            self._tell_file(glance, stay, stays)
        self._forget()

    def _read_tail(self, glance: Glance, stays: Sequence[VmStay], *, again: bool) -> None:
        """Tell the last lines; of VMs that Cloud Logging knows nothing of, the last of what is stored."""
        count = self._wanted.tail
        lines = list(self._cloud.lines(stays, self._since(stays), newest=count))
        if again and self._cloud.passes:
            return
        whose = {vm_stay.instance_id: vm_stay for vm_stay in stays}
        told = [(whose[line.instance_id], line.text, line.at) for line in lines if line.instance_id in whose]
        self._by_cloud |= {stay.instance_id for stay, _, _ in told}
        self._told |= {_key(line): line.at for line in lines}
        every: list[tuple[VmStay, str, datetime | None]] = [*told]
        # Of an attempt after all that Cloud Logging has told of, what is stored is newer than these lines.
        last = max((stay.attempt for stay, _, _ in told), default=0)
        silent = [stay for stay in stays if len(lines) < count or stay.attempt > last]
        every += [(stay, text, None) for stay in silent for text in self._stored(glance, stay)]
        every.sort(key=lambda item: item[0].attempt)
        for stay, text, at in every[-count:]:
            self._teller.tell(stay, text, among=_among(stay, stays), at=at)
        self._newest = self._floor = max((line.at for line in lines), default=None)

    def _stored(self, glance: Glance, stay: VmStay) -> list[str]:
        text = self._new_in_file(glance, stay)
        return text.removesuffix("\n").split("\n") if text else []

    def _since(self, stays: Sequence[VmStay]) -> datetime:
        earliest = min(stay.since for stay in stays)
        if self._wanted.since:
            earliest = max(earliest, self._wanted.since)
        if self._floor:
            earliest = max(earliest, self._floor)
        return max(earliest, self._newest - OVERLAP) if self._newest else earliest

    def _tell_file(self, glance: Glance, stay: VmStay, stays: Sequence[VmStay]) -> None:
        if text := self._new_in_file(glance, stay):
            self._teller.tell(stay, text, among=_among(stay, stays))

    def _new_in_file(self, glance: Glance, stay: VmStay) -> str:
        """What the stored log of a VM has that was not told; "" where the VM is known to Cloud Logging."""
        object_name = self._sources.log_of(stay)
        entry = glance.files.get(object_name)
        if entry is None or stay.instance_id in self._by_cloud:
            return ""
        if self._wanted.since and entry.updated < self._wanted.since:
            return ""
        if self._generations.get(object_name) == entry.generation:
            return ""
        text = self._sources.file(object_name)
        self._generations[object_name] = entry.generation
        new = beyond(self._by_file.get(object_name, ""), text)
        self._by_file[object_name] = text
        return new

    def _forget(self) -> None:
        """Lines that are not asked for any more need not be known again."""
        if self._newest and len(self._told) > 10_000:  # noqa: PLR2004 — some megabytes
            oldest = self._newest - 2 * OVERLAP
            self._told = {key: at for key, at in self._told.items() if at >= oldest}


def beyond(told: str, text: str) -> str:
    """What of a stored log is new, where `told` is what it was; its beginning may have been cut since."""
    if text.startswith(told):
        return text[len(told) :]
    end = told[-TAIL_BYTES:]
    place = text.rfind(end)
    return text[place + len(end) :] if place >= 0 else text


def _key(line: LogLine) -> str:
    return f"{line.instance_id} {line.key}"


def _speaking(stays: Sequence[VmStay]) -> list[VmStay]:
    newest = sorted({stay.attempt for stay in stays})[-STILL_SPEAK:]
    return [stay for stay in stays if stay.attempt in newest]


def _among(stay: VmStay, stays: Sequence[VmStay]) -> list[VmStay]:
    return [vm_stay for vm_stay in stays if vm_stay.attempt == stay.attempt]
