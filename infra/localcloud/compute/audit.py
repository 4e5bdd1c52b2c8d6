"""Cloud Audit Logs of Compute Engine: who did what ("Compute Engine audit logging information").

A call has two entries with one operation id: the first says what was asked, the last how it ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from localcloud.clock import Clock, rfc3339
from localcloud.compute.ids import Ids
from localcloud.compute.links import Links
from localcloud.compute.operations import Running
from localcloud.compute.refusals import RPC_CODES
from localcloud.errors import ApiError
from localcloud.ports import Audit

SERVICE = "compute.googleapis.com"
SYSTEM_PRINCIPAL = "system@google.com"
_TYPE = "type.googleapis.com/"


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who made a call: the account of its token, and its user agent."""

    email: str
    agent: str = ""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The instance that an entry is about: `path` is `zones/Z/instances/N`, `id` "" where it has none."""

    path: str
    zone: str
    id: str = ""


class AuditLog:
    """Writes the entries. `method` is `compute.instances.insert` and the like."""

    def __init__(self, *, write: Audit, links: Links, clock: Clock, numbers: Ids) -> None:
        self._write = write
        self._links = links
        self._clock = clock
        self._numbers = numbers

    def asked(
        self, running: Running, method: str, subject: Subject, caller: Caller, body: Mapping[str, Any]
    ) -> None:
        """A call was accepted: its first entry. The last one follows when the operation ends."""
        request = {"@type": f"{_TYPE}{method}", **body}
        response = {"@type": f"{_TYPE}operation", **running.resource}
        payload = {"request": request, "response": response, **self._asked(method, subject, caller)}
        self._activity(subject, payload, "NOTICE", operation=_operation(running.name, first=True))
        running.finished = lambda ended: self._ended(ended, method, subject, caller)

    def _ended(self, running: Running, method: str, subject: Subject, caller: Caller) -> None:
        payload = {"request": {"@type": f"{_TYPE}{method}"}, **self._asked(method, subject, caller)}
        if running.failure:
            code = RPC_CODES[running.failure.http_status]
            payload["status"] = {"code": code, "message": running.failure.code}
        severity = "ERROR" if running.failure else "NOTICE"
        self._activity(subject, payload, severity, operation=_operation(running.name, last=True))

    def refused(
        self, method: str, subject: Subject, caller: Caller, body: Mapping[str, Any], error: ApiError
    ) -> None:
        """A call was not accepted: its only entry, with no operation."""
        status = {"code": RPC_CODES.get(error.status, 2), "message": error.message}
        request = {"@type": f"{_TYPE}{method}", **body}
        payload = {"status": status, "request": request, **self._asked(method, subject, caller)}
        self._activity(subject, payload, "ERROR")

    def happened(self, running: Running, subject: Subject) -> None:
        """The system did something to an instance: one entry, in the log of system events."""
        kind = running.order.kind
        payload = {
            "status": {"message": running.resource["statusMessage"]},
            "authenticationInfo": {"principalEmail": SYSTEM_PRINCIPAL},
            "requestMetadata": {},
            "serviceName": SERVICE,
            "methodName": kind,
            "resourceName": self._name(subject),
            "request": {"@type": f"{_TYPE}{kind}"},
        }
        operation = {"id": running.name, "producer": kind, "first": True, "last": True}
        self._entry("system_event", subject, payload, "INFO", {"operation": operation})

    def _asked(self, method: str, subject: Subject, caller: Caller) -> dict[str, Any]:
        permission = method.replace(".insert", ".create")
        return {
            "authenticationInfo": {"principalEmail": caller.email},
            "requestMetadata": {"callerIp": "127.0.0.1", "callerSuppliedUserAgent": caller.agent},
            "serviceName": SERVICE,
            "methodName": f"v1.{method}",
            "resourceName": self._name(subject),
            "authorizationInfo": [
                {"permission": permission, "granted": True, "resource": self._name(subject)}
            ],
        }

    def _name(self, subject: Subject) -> str:
        return f"projects/{self._links.project}/{subject.path}"

    def _activity(
        self,
        subject: Subject,
        payload: Mapping[str, Any],
        severity: str,
        *,
        operation: Mapping[str, Any] | None = None,
    ) -> None:
        self._entry("activity", subject, payload, severity, {"operation": operation} if operation else {})

    def _entry(
        self,
        log: str,
        subject: Subject,
        payload: Mapping[str, Any],
        severity: str,
        operation: Mapping[str, Any],
    ) -> None:
        project = self._links.project
        labels = {"instance_id": subject.id, "project_id": project, "zone": subject.zone}
        now = rfc3339(self._clock.now())
        entry = {
            "protoPayload": {"@type": f"{_TYPE}google.cloud.audit.AuditLog", **payload},
            "insertId": f"-{int(self._numbers.take()):x}",
            "resource": {"type": "gce_instance", "labels": labels},
            "timestamp": now,
            "receiveTimestamp": now,
            "severity": severity,
            "logName": f"projects/{project}/logs/cloudaudit.googleapis.com%2F{log}",
            **operation,
        }
        self._write(entry)


def _operation(name: str, **ends: bool) -> Mapping[str, Any]:
    return {"id": name, "producer": SERVICE, **ends}
