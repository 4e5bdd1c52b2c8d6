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
NAME_AT_MOST = 200
"""Characters of an id, a status, or a metric's name; a metric with a longer name is left out."""
CHECKPOINT_AT_MOST = 1_024
"""Characters of a checkpoint's name: as many as an object's name may have."""
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

_FLOATS = [name for name, kind in _TYPES.items() if kind == float | None]

NOTHING = Beat()

typed.prepare(Beat, *_TYPES.values())


def beat_in(data: bytes) -> Beat:
    """What a heartbeat says; a part that cannot be understood is left out, and an empty one says nothing."""
    # As the kit writes it, it is read in one go; part by part that takes twenty times as long.
    if (beat := _whole(data)) is not None:
        return beat
    if not (said := _object(data)):
        return NOTHING
    kept = {name: part for name in _TYPES if (part := _part(name, said)) is not None}
    metrics = said.get("metrics")
    measured = dict(_measured(metrics)) if isinstance(metrics, Mapping) else {}
    return _short(Beat(**kept, metrics=measured))


def _whole(data: bytes) -> Beat | None:
    """The heartbeat, where every part of it is of its type and counts; else None."""
    try:
        beat = typed.decode(data, Beat)
    except msgspec.DecodeError:
        return None
    measured = beat.metrics
    many = len(measured) > METRICS_AT_MOST or any(len(name) > NAME_AT_MOST for name in measured)
    return None if many else _short(beat)


def _short(beat: Beat) -> Beat:
    """The heartbeat without the ends of long texts: these go into messages, and into records."""
    words = (beat.instance_id, beat.job, beat.status)
    if len(beat.checkpoint) <= CHECKPOINT_AT_MOST and all(len(word) <= NAME_AT_MOST for word in words):
        return beat
    return msgspec.structs.replace(
        beat,
        instance_id=beat.instance_id[:NAME_AT_MOST],
        job=beat.job[:NAME_AT_MOST],
        status=beat.status[:NAME_AT_MOST],
        checkpoint=beat.checkpoint[:CHECKPOINT_AT_MOST],
    )


def beat_beside(metadata: Mapping[str, str], *, brief: bool = False) -> Beat | None:
    """What the custom metadata of a heartbeat say; None where they name no job, and so are no heartbeat's.

    What is `brief` leaves out checkpoint and metrics, which may be long.
    """
    said = dict(parse_qsl(metadata[IN_ONE])) if IN_ONE in metadata else metadata
    if not said.get("job"):
        return None
    left_out = {"metrics", "checkpoint"} if brief else {"metrics"}
    beat = _told({name: text for name, text in said.items() if name in _TYPES and name not in left_out})
    if not brief and (metrics := said.get("metrics")):
        beat = msgspec.structs.replace(beat, metrics=dict(_measured(_object(metrics))))
    return _short(beat)


def _told(said: Mapping[str, str]) -> Beat:
    """What these texts say: in one go, or where one of them is not of its type part by part."""
    try:
        beat = typed.convert(said, Beat, strict=False)
        if all(math.isfinite(getattr(beat, name) or 0.0) for name in _FLOATS):
            return beat
    except (msgspec.ValidationError, OverflowError):
        pass
    return Beat(**{name: part for name in said if (part := _part(name, said, strict=False)) is not None})


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
    for line in map(bytes.strip, lines.splitlines()):
        # A file may have four million lines that are empty or cut, and each would be tried in two ways.
        if line.startswith(b"{") and line.endswith(b"}") and (beat := beat_in(line)) != NOTHING:
            yield beat


def _part(name: str, said: Mapping[str, Any], *, strict: bool = True) -> Any:  # noqa: ANN401 — the type is the field's
    try:
        value = typed.convert(said.get(name), _TYPES[name], strict=strict)
    except (msgspec.ValidationError, OverflowError):
        return None
    return value if not isinstance(value, float) or math.isfinite(value) else None


def _measured(metrics: Mapping[str, Any]) -> Iterator[tuple[str, Measured]]:
    for name, value in list(metrics.items())[:METRICS_AT_MOST]:
        if len(name) <= NAME_AT_MOST and (measured := _value(value)) is not None:
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
