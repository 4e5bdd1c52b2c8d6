"""Cloud Logging behind `Logs`: what VMs have said, by their ids. Spoken as REST, as Monitoring is.

Of a VM's entries those are taken that are its scripts' or its programs' own. The guest agent writes what a
startup script prints to the log `google_metadata_script_runner`, before 2021 `GCEMetadataScripts`, as
`jsonPayload.message`, each line with `startup-script: ` before it (GoogleCloudPlatform/guest-agent). It does
so where the VM's service account may write logs and its scopes allow it.
"""

import heapq
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import msgspec

from spotwarden import typed
from spotwarden.gcp.calls import ID_ONLY, decode
from spotwarden.gcp.rest import Rest
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.model.logline import LogLine
from spotwarden.ports import UnansweredError

GOOGLE = "https://logging.googleapis.com"

MOST_IDS = 400
"""In one filter, which may have 20,000 characters ("Quotas and limits" of Cloud Logging)."""
MOST_A_PAGE = 1000
"""Entries ("Method: entries.list")."""
PATIENT = RetryPolicy(in_all=timedelta(minutes=1))
"""A project may ask some sixty times a minute: whoever is refused waits for the next one."""

# What Google writes about a VM, and copies of what its scripts have said: each line is to be told once.
_NOT_THEIRS = (
    "cloudaudit.googleapis.com|compute.googleapis.com|serialconsole.googleapis.com|syslog|"
    "GCEGuestAgent|OSConfigAgent|google_guest_agent|ops-agent-health|google-cloud-ops-agent"
)
_AGENT = re.compile("/logs/(google_metadata_script_runner|GCEMetadataScripts)$")
_ROUTINE = re.compile(
    r"Starting (startup|shutdown) scripts.*|Found \S+ in metadata\.|Finished running \S+ scripts\.|"
    r"No \S+ scripts to run\.|\S+ exit status 0"
)
"""What the guest agent says of itself where all is well."""
_SAID_BY = re.compile(r"startup-script(-url)?: ")


class _Resource(msgspec.Struct, frozen=True):
    labels: Mapping[str, str] = {}


class _Entry(msgspec.Struct, frozen=True, rename="camel"):
    """A `LogEntry`, as far as it is read."""

    timestamp: datetime
    log_name: str = ""
    insert_id: str = ""
    resource: _Resource = _Resource()
    text_payload: str | None = None
    json_payload: Mapping[str, Any] | None = None

    def line(self) -> LogLine | None:
        """What it says; None where that is no text."""
        text = _text(self)
        if text is None or (_AGENT.search(self.log_name) and _ROUTINE.fullmatch(text)):
            return None
        return LogLine(
            at=self.timestamp,
            instance_id=self.resource.labels.get("instance_id", ""),
            text=_SAID_BY.sub("", text, count=1) if _SAID_BY.match(text) else text,
            key=f"{self.timestamp.isoformat()} {self.insert_id}",
        )


class _Page(msgspec.Struct, frozen=True, rename="camel"):
    entries: Sequence[_Entry] = ()
    next_page_token: str = ""


typed.prepare(_Page)


class CloudLogging:
    """`Logs` over one project. Safe to use from several threads."""

    def __init__(self, *, project: str, endpoint: str = "", retry_policy: RetryPolicy = PATIENT) -> None:
        self._project = project
        self._rest = Rest(endpoint=endpoint or GOOGLE, retry_policy=retry_policy)

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        self._rest.close()

    def lines(self, ids: Collection[str], since: datetime, *, newest: int = 0) -> Iterator[LogLine]:
        """As `Logs.lines`."""
        wanted = sorted(name for name in set(ids) if ID_ONLY.fullmatch(name))
        parts = [wanted[first : first + MOST_IDS] for first in range(0, len(wanted), MOST_IDS)]
        if newest:
            found = heapq.merge(
                *(self._lines(part, since, newest) for part in parts), key=_order, reverse=True
            )
            return reversed(list(islice(found, newest)))
        return heapq.merge(*(self._lines(part, since, 0) for part in parts), key=_order)

    def _lines(self, ids: Sequence[str], since: datetime, newest: int) -> Iterator[LogLine]:
        body = {
            "resourceNames": [f"projects/{self._project}"],
            "filter": _filter(ids, since),
            "orderBy": "timestamp desc" if newest else "timestamp asc",
            "pageSize": min(newest or MOST_A_PAGE, MOST_A_PAGE),
        }
        token: Mapping[str, str] = {}
        while True:
            # A page may be empty and yet not be the last: there was no time to look at everything.
            page = self._page({**body, **token})
            yield from (line for entry in page.entries if (line := entry.line()))
            if not page.next_page_token:
                return
            token = {"pageToken": page.next_page_token}

    def _page(self, body: Mapping[str, Any]) -> _Page:
        try:
            return decode(self._rest.post("/v2/entries:list", {}, body), _Page)
        except msgspec.ValidationError as error:
            raise UnansweredError(f"the answer has an unknown form: {error}") from error


def _filter(ids: Sequence[str], since: datetime) -> str:
    named = " OR ".join(f'"{instance_id}"' for instance_id in ids)
    stamp = since.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return (
        f'resource.type="gce_instance" AND resource.labels.instance_id=({named}) '
        f'AND timestamp>="{stamp}" AND logName!~"/logs/({_NOT_THEIRS})"'
    )


def _text(entry: _Entry) -> str | None:
    if entry.text_payload is not None:
        return entry.text_payload
    if entry.json_payload is None:
        return None
    said = entry.json_payload.get("message")
    return said if isinstance(said, str) else msgspec.json.encode(entry.json_payload).decode()


def _order(line: LogLine) -> datetime:
    return line.at
