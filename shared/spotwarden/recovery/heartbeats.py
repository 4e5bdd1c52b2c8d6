"""Heartbeats as jobs write them: what can be understood is taken, whatever stands beside it."""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from spotwarden import typed
from spotwarden.model.heartbeat import Beat, Measured

IN_ONE = "beat"
"""The key of custom metadata with a whole heartbeat as a query string: a VM may be able to write but one."""
METRICS_AT_MOST = 200
"""Names in one heartbeat; a program that counts its steps in names would fill the bucket otherwise."""
UNREAL: Mapping[str, Measured] = {
    "nan": "nan",
    "inf": "inf",
    "infinity": "inf",
    "-inf": "-inf",
    "-infinity": "-inf",
}
"""How programs spell what JSON has no number for."""

STILL_AT_MOST = timedelta(days=366)
"""What says that it has stood still for longer has a wrong clock."""

_TYPES: Mapping[str, Any] = {
    field.name: field.type for field in msgspec.structs.fields(Beat) if field.name != "metrics"
}

NOTHING = Beat()

typed.prepare(Beat, *_TYPES.values())


def beat_in(data: bytes) -> Beat:
    """What a heartbeat says; a part that cannot be understood is left out, and an empty one says nothing."""
    # As the kit writes it, it is read in one go; part by part that takes twenty times as long.
    if (beat := _whole(data)) is not None:
        return beat
    said = _object(data)
    kept = {name: part for name in _TYPES if (part := _part(name, said)) is not None}
    metrics = said.get("metrics")
    return Beat(**kept, metrics=dict(_measured(metrics)) if isinstance(metrics, Mapping) else {})


def _whole(data: bytes) -> Beat | None:
    """The heartbeat, where every part of it is of its type and counts; else None."""
    try:
        beat = typed.decode(data, Beat)
    except msgspec.DecodeError:
        return None
    return beat if len(beat.metrics) <= METRICS_AT_MOST else None


def beat_beside(metadata: Mapping[str, str], *, brief: bool = False) -> Beat | None:
    """What the custom metadata of a heartbeat say; None where they name no job, and so are no heartbeat's.

    What is `brief` leaves out checkpoint and metrics, which may be long.
    """
    said = dict(parse_qsl(metadata[IN_ONE])) if IN_ONE in metadata else metadata
    if not said.get("job"):
        return None
    kept = {
        name: part
        for name in said
        if name in _TYPES and (part := _part(name, said, strict=False)) is not None
    }
    if brief:
        return Beat(**{name: part for name, part in kept.items() if name != "checkpoint"})
    return Beat(**kept, metrics=dict(_measured(_object(said.get("metrics", "")))))


def _object(text: str | bytes) -> Mapping[str, Any]:
    """The object that a text of JSON is; an empty one where it is none."""
    try:
        # Python's own reader takes NaN and Infinity, which is what Python's own writer makes of them.
        said = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, Mapping) else {}


def progress_in(beat: Beat, came: datetime) -> datetime:
    """When the program that sent it last made progress, by our clock; it came at that moment.

    A VM's clock may be wrong, so only the difference of its own two moments counts. A heartbeat without
    `progress_at` is one that a training loop writes when it gets on: that it came is progress.
    """
    if beat.progress_at is None:
        return came
    still = (beat.at or came) - beat.progress_at
    return came - min(max(still, timedelta(0)), STILL_AT_MOST)


def beats_in(lines: bytes) -> Iterator[Beat]:
    """Every line of a metrics file, oldest first; a line that was cut or says nothing is left out."""
    for line in lines.splitlines():
        if (beat := beat_in(line)) != NOTHING:
            yield beat


def _part(name: str, said: Mapping[str, Any], *, strict: bool = True) -> Any:  # noqa: ANN401 — the type is the field's
    try:
        value = typed.convert(said.get(name), _TYPES[name], strict=strict)
    except (msgspec.ValidationError, OverflowError):
        return None
    return value if not isinstance(value, float) or math.isfinite(value) else None


def _measured(metrics: Mapping[str, Any]) -> Iterator[tuple[str, Measured]]:
    for name, value in list(metrics.items())[:METRICS_AT_MOST]:
        if (measured := _value(value)) is not None:
            yield name, measured


def _value(value: object) -> Measured | None:
    if isinstance(value, bool):
        return None
    try:
        found = float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return "inf" if isinstance(value, int) and value > 0 else "-inf"
    if found is not None and math.isfinite(found):
        return found
    text = str(value if found is None else found).strip().lower()
    return UNREAL.get(text)
