"""Log entries: what a new one must have, and the ring that keeps the last of them."""

import itertools
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from localcloud.clock import Clock
from localcloud.logs.compare import SEVERITIES
from localcloud.logs.fields import SCHEMA
from localcloud.logs.packing import Packed, Packer
from localcloud.rpc import RpcError

Entry = Mapping[str, Any]

_LOG_NAME = re.compile(r"projects/(?P<project>[^/]+)/logs/[^/]{1,511}")
OBJECTS = frozenset(
    {"labels", "jsonPayload", "protoPayload", *(k for k, v in SCHEMA.items() if isinstance(v, dict))}
)
PAYLOADS = ("textPayload", "jsonPayload", "protoPayload")


class KeptEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An entry with what it is sorted by. It is packed: most entries are never read."""

    moment: datetime
    insert_id: str
    log: str
    packed: Packed

    @property
    def key(self) -> tuple[datetime, str]:
        """What it is sorted by: time, then insert id."""
        return self.moment, self.insert_id

    @property
    def entry(self) -> Entry:
        """As it was written."""
        return self.packed.unpack()


class Log:
    """The last `most` entries of the project, in the order of arrival."""

    def __init__(self, *, project: str, clock: Clock, most: int) -> None:
        self._project = project
        self._clock = clock
        self._ring: deque[KeptEntry] = deque(maxlen=most)
        self._packer = Packer()
        self._numbers = itertools.count(int(clock.now().timestamp() * 1e6))

    def complete(self, given: Entry) -> Entry:
        """The entry as it will be kept: with its times and an insert id.

        Raises:
            RpcError: INVALID_ARGUMENT, or NOT_FOUND for the log of another project.
        """
        self._check(given)
        now = _iso(self._clock.now())
        entry = {"insertId": f"{next(self._numbers):x}", "timestamp": now, **given, "receiveTimestamp": now}
        if "severity" in entry:
            entry["severity"] = _severity(entry["severity"])
        return entry

    def keep(self, entry: Entry) -> None:
        """Add a complete entry, in place of the oldest when there is no room."""
        self._ring.append(
            KeptEntry(
                moment=datetime.fromisoformat(entry["timestamp"]),
                insert_id=entry["insertId"],
                log=sys.intern(entry["logName"]),
                packed=self._packer.pack(entry),
            )
        )

    def snapshot(self) -> list[KeptEntry]:
        """The entries as they are now."""
        return list(self._ring)

    def names(self) -> list[str]:
        """The names of the logs that have entries."""
        return sorted({kept.log for kept in self._ring})

    def delete(self, name: str) -> bool:
        """Drop every entry of a log; False when there is none."""
        kept = [each for each in self._ring if each.log != name]
        changed = len(kept) < len(self._ring)
        self._ring = deque(kept, maxlen=self._ring.maxlen)
        return changed

    def _check(self, given: Entry) -> None:
        unknown = sorted(given.keys() - SCHEMA.keys() - {"traceSampled"})
        if unknown:
            raise RpcError("UNIMPLEMENTED", f"The local cloud does not do LogEntry.{unknown[0]}.")
        match = _LOG_NAME.fullmatch(str(given.get("logName", "")))
        if match is None:
            raise _invalid(f'Log name "{given.get("logName", "")}" is not projects/P/logs/L, L URL-encoded.')
        if match["project"] != self._project:
            raise RpcError("NOT_FOUND", f"The project {match['project']!r} does not exist.")
        for name in OBJECTS & given.keys():
            if not isinstance(given[name], Mapping):
                raise _invalid(f"{name} of a log entry must be an object, not {given[name]!r}.")
        if not isinstance(given.get("insertId", ""), str):
            raise _invalid("insertId of a log entry must be a string.")
        if sum(payload in given for payload in PAYLOADS) > 1:
            raise _invalid("An entry has one payload: textPayload, jsonPayload or protoPayload.")
        if not given.get("resource", {}).get("type"):
            raise _invalid("An entry needs a resource with a type.")
        if "timestamp" in given:
            _check_time(given["timestamp"])


def _check_time(text: Any) -> None:
    try:
        aware = datetime.fromisoformat(text).tzinfo is not None
    except (TypeError, ValueError):
        aware = False
    if not aware:
        raise _invalid(f"The timestamp {text!r} is no time such as 2026-11-21T08:00:00Z.")


def _severity(given: Any) -> str:
    if isinstance(given, str) and given in SEVERITIES:
        return given
    for name, number in SEVERITIES.items():
        if given == number:
            return name
    raise _invalid(f"{given!r} is no severity; there are {', '.join(SEVERITIES)}.")


def _invalid(why: str) -> RpcError:
    return RpcError("INVALID_ARGUMENT", why)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def matching(
    kept: list[KeptEntry], wanted: Callable[[Entry], bool], *, newest_first: bool
) -> Iterator[KeptEntry]:
    """The entries that match, sorted by their key."""
    found = [each for each in kept if wanted(each.entry)]
    yield from sorted(found, key=lambda each: each.key, reverse=newest_first)
