"""Markers: fast news of a shutdown, which may lie, double or be missing."""

from datetime import datetime

import msgspec


class MarkerBody(msgspec.Struct, frozen=True, kw_only=True):
    """What a marker may say about itself; every part may be absent.

    `early` is true where Compute Engine has announced the preemption and the instance still runs, and
    `handed_over` once a node of a gang has stopped because of that, and uploads nothing more.
    """

    job: str | None = None
    node: str | None = None
    instance_id: str | None = None
    zone: str | None = None
    attempt: int | None = None
    at: str | None = None
    early: bool = False
    handed_over: bool = False


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """One marker as it was read: later deletes name this very `generation`.

    `written` is the bucket's own time for the object, the same clock for every VM.
    """

    node: str
    generation: int
    written: datetime
    body: MarkerBody = MarkerBody()
    data: bytes = b""


class Aside(msgspec.Struct, frozen=True, kw_only=True):
    """A marker that was put aside, as it stands in the quarantine: since `at`, for this `reason`.

    `content` is the marker's text; bytes that are no UTF-8 stand in it as backslash escapes.
    """

    marker: str
    generation: int
    reason: str
    at: datetime
    job: str = ""
    content: str = ""


class UnusableMarker(msgspec.Struct, frozen=True, kw_only=True):
    """An object among the markers that says nothing we could act on, and why; `data` is its content."""

    name: str
    generation: int
    reason: str
    data: bytes
