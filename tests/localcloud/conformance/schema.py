"""Values held against a schema of a Google discovery document ("Type and format", Discovery API)."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

Schema = Mapping[str, Any]

_BOUNDS = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint64": (0, (1 << 64) - 1),
}
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")
_JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}


def findings(value: Any, schema: Schema, schemas: Mapping[str, Schema], where: str = "") -> Iterator[str]:
    """Say everything in a JSON value that its schema does not allow, each with its place."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema.get("type", "any")
    if kind == "any":
        return
    if not _is_a(value, kind):
        yield f"{where or '.'}: {value!r:.60} is no {kind}{_hint(schema)}"
        return
    checks: Mapping[str, Callable[..., Iterator[str]]] = {"object": _object, "array": _array}
    if kind in checks:
        yield from checks[kind](value, schema, schemas, where)
    else:
        yield from (f"{where or '.'}: {text}" for text in scalar_findings(value, schema))


def scalar_findings(value: Any, schema: Schema) -> Iterator[str]:
    """Say what is wrong with a string, number or boolean of the right JSON type."""
    style = schema.get("format", "")
    if style in _BOUNDS:
        yield from _integer(value, style)
    elif style in {"date-time", "google-datetime"} and not _is_moment(value):
        yield f"{value!r} is no RFC 3339 date-time"
    elif style == "byte" and not _is_base64(value):
        yield f"{value!r:.60} is not base64"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{value!r} is none of {', '.join(schema['enum'])}"
    if "pattern" in schema and not re.fullmatch(schema["pattern"], str(value)):
        yield f"{value!r} does not match {schema['pattern']}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _limits(value, schema)


def _is_a(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _JSON_TYPES[kind])


def _hint(schema: Schema) -> str:
    return f" ({schema['format']} goes as a string)" if schema.get("format") in {"int64", "uint64"} else ""


def _object(
    value: dict[str, Any], schema: Schema, schemas: Mapping[str, Schema], where: str
) -> Iterator[str]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties")
    for key, item in value.items():
        inner = known.get(key, others)
        if inner is not None:
            yield from findings(item, inner, schemas, f"{where}.{key}")
        elif known or schema.get("format") != "google.protobuf.Any":
            yield f"{where}.{key}: there is no such field"


def _array(value: list[Any], schema: Schema, schemas: Mapping[str, Schema], where: str) -> Iterator[str]:
    for position, item in enumerate(value):
        yield from findings(item, schema["items"], schemas, f"{where}[{position}]")


def _integer(value: Any, style: str) -> Iterator[str]:
    least, most = _BOUNDS[style]
    if not re.fullmatch(r"-?\d+", str(value)) or not least <= int(value) <= most:
        yield f"{value!r} is no {style}"


def _limits(value: float, schema: Schema) -> Iterator[str]:
    if "minimum" in schema and value < float(schema["minimum"]):
        yield f"{value} is less than {schema['minimum']}"
    if "maximum" in schema and value > float(schema["maximum"]):
        yield f"{value} is more than {schema['maximum']}"


def _is_moment(value: str) -> bool:
    if not _RFC3339.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_base64(value: str) -> bool:
    try:
        base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error:
        return False
    return True
