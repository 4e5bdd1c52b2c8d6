"""What starts a sweep, and how it asks to be started again."""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import msgspec

from spotwarden import clock, typed
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.log import log
from spotwarden.engine.metrics import sweep_metrics
from spotwarden.layout import RESERVED_JOBS, Layout, MarkerName, NotInLayoutError, job_problem, node_problem
from spotwarden.model.tick import BATCHED, Tick

TICK = "spotwarden-tick"
"""The attribute that a Scheduler job sets on its message; events have others."""
BATCH = "spotwarden-batch"
"""The attribute of a message of ours that names jobs to look at; its value is the function."""


def message_in(event: object) -> Mapping[str, Any]:
    """The Pub/Sub message that an event carries; an empty one, which means a look at everything, for none."""
    message = event.get("message") if isinstance(event, Mapping) else None
    return message if isinstance(message, Mapping) else {}


def open_tick(function: str, message: Mapping[str, Any], layout: Layout = Layout()) -> Tick:
    """Begin a sweep, from the Pub/Sub message that woke the function (the event's `message`).

    An event of the bucket (Google: "Pub/Sub notifications for Cloud Storage") names the object it is
    about, an entry of the audit log its instance, a message of another sweep's its jobs; every other one
    means a look at everything. Whoever writes a message only says where to look.
    """
    said = message.get("attributes")
    attributes = said if isinstance(said, Mapping) else {}
    marked = node_of_marker(layout, str(attributes.get("objectId", "")))
    batch = BATCH in attributes
    patient = TICK in attributes or batch
    lost = "" if marked or patient else _instance_in(message.get("data"))
    tick = Tick(
        function=function,
        sweep=uuid4().hex,
        now=clock.now(),
        began=clock.machine(),
        patient=patient,
        about=marked or lost,
        lost=bool(lost),
        batch=batch,
        jobs=_jobs_in(message.get("data")) if batch else (),
        message=str(message.get("messageId", "")),
    )
    sweep_metrics().tick = tick
    return tick


def node_of_marker(layout: Layout, name: str) -> str:
    """The node that a marker's object name speaks of; "" for any other object."""
    try:
        object_name = layout.parse(name)
    except NotInLayoutError:
        return ""
    return object_name.node if isinstance(object_name, MarkerName) else ""


class _Payload(msgspec.Struct, frozen=True, rename="camel"):
    """The part of an audit record that names what it is about (Google: "AuditLog")."""

    resource_name: str = ""


class _LogEntry(msgspec.Struct, frozen=True, rename="camel"):
    proto_payload: _Payload = _Payload()


typed.prepare(_LogEntry)


class _Batch(msgspec.Struct, frozen=True):
    """The part of a message of ours that is read."""

    jobs: tuple[str, ...] = ()


typed.prepare(_Batch)


def batch_of(jobs: Sequence[str]) -> bytes:
    """The message that asks for a look at these jobs."""
    return msgspec.json.encode(_Batch(jobs=tuple(jobs)))


def _jobs_in(data: object) -> tuple[str, ...]:
    """The jobs that a message of ours names, as many as are looked at; none where it cannot be read."""
    if not isinstance(data, str | bytes):
        return ()
    try:
        named = typed.decode(b64decode(data), _Batch).jobs
    except (ValueError, msgspec.DecodeError):
        return ()
    known = [job for job in named if job_problem(job) is None and job not in RESERVED_JOBS]
    return tuple(dict.fromkeys(known))[:BATCHED]


def _instance_in(data: object) -> str:
    """The instance's name in an audit log entry as Pub/Sub carries it; "" for anything else."""
    if not isinstance(data, str | bytes):
        return ""
    try:
        entry = typed.decode(b64decode(data), _LogEntry)
    except (ValueError, msgspec.DecodeError):
        return ""
    *_, kind, name = ["", *entry.proto_payload.resource_name.split("/")]
    return name if kind == "instances" and node_problem(name) is None else ""


def close_tick(tick: Tick, swept: Swept) -> None:
    """End a sweep: raise all its failures together, or ask for the event once more where it must wait.

    An event is answered with 503, so that Pub/Sub delivers it again after its back-off; a tick needs
    no such answer, for the next one comes by itself.
    """
    for reason in swept.waiting:
        log(tick, "INFO", f"waits: {reason}", reason=reason)
    sweep_metrics().waiting = len(swept.waiting)
    if swept.failures:
        raise ExceptionGroup(f"{tick.function} couldn't complete everything", swept.failures)
    if swept.soon and not tick.patient:
        from werkzeug.exceptions import ServiceUnavailable

        raise ServiceUnavailable("look again: " + "; ".join(swept.waiting))
