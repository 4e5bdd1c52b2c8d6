"""The fields of Compute Engine's bodies: which are done, which are refused, and which are only kept.

A field is the server's own where Google's document says "Output Only". Of the others it is refused where
`UNDONE` names it, done where the code of Compute or of the VMs names it, and else kept.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from localcloud.compute.resource_types import RESOURCE_TYPES
from localcloud.compute.undone import UNDONE
from tests.localcloud.conformance.write_methods import document, is_done, methods

SOURCES = Path(__file__).parents[3] / "infra" / "localcloud"
INSERTED = ("Instance", *(resource_type.message for resource_type in RESOURCE_TYPES))
"""The bodies of inserts: what they say can be read again."""
READ_WHOLE = frozenset({"CapacityAdviceRequest", "CapacityHistoryRequest", "InstanceGroupManager"})
"""Bodies of which the local cloud keeps nothing that it does not do: it refuses the rest by itself.

The rank of an instance selection changes nothing: more than one selection is refused.
"""


UPDATES_ONLY = ("AttachedDiskInitializeParams.onUpdateAction",)
"""Taken and not told again: what `instances.update`, which is not done, would do with a disk."""


class BodyField(NamedTuple):
    """A member of a message."""

    message: str
    name: str

    def __str__(self) -> str:
        return f"{self.message}.{self.name}"


class Step(NamedTuple):
    """One step of the way into a body: a member; `many` says whether it is a `list` or a `map`."""

    name: str
    many: str


@cache
def schemas() -> Mapping[str, Any]:
    """Google's messages."""
    found: Mapping[str, Any] = document("compute")["schemas"]
    return found


def bodies() -> list[str]:
    """The messages that the methods which are done take, those of inserts first."""
    taken = {method.body for method in methods("compute") if is_done("compute", method) and method.body}
    return [*INSERTED, *sorted(taken - {*INSERTED})]


def members(message: str) -> Iterator[tuple[BodyField, Mapping[str, Any]]]:
    """The members that a caller may set."""
    for name, schema in schemas()[message].get("properties", {}).items():
        said = schema.get("description", "").lower()
        if not (schema.get("readOnly") or "[output only]" in said or name == "kind"):
            yield BodyField(message, name), schema


def _below(schema: Mapping[str, Any]) -> tuple[str, str]:
    """The message that a member has below it, "" for none, and whether it is in a list or a map."""
    if "items" in schema:
        return _below(schema["items"])[0], "list"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return _below(schema["additionalProperties"])[0], "map"
    return schema.get("$ref", ""), ""


@cache
def ways() -> Mapping[str, tuple[str, Sequence[Step]]]:
    """For every message that a body can have: the body, and the shortest way to it."""
    found: dict[str, tuple[str, Sequence[Step]]] = {}
    for body in bodies():
        waiting = [] if body in found else [body]
        found.setdefault(body, (body, ()))
        while waiting:
            root, steps = found[message := waiting.pop(0)]
            for field, schema in members(message):
                inner, many = _below(schema)
                if inner and inner not in found:
                    found[inner] = (root, (*steps, Step(field.name, many)))
                    waiting.append(inner)
    return found


@cache
def refused() -> Sequence[BodyField]:
    """Those that answer 501."""
    return [BodyField(message, name) for message, names in UNDONE.items() for name in names]


@cache
def _words() -> frozenset[str]:
    files = [file for folder in ("compute", "machines") for file in (SOURCES / folder).rglob("*.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files if file.name != "undone.py")
    return frozenset(re.findall(r'"(\w+)"', text))


@cache
def kept() -> Sequence[BodyField]:
    """Those that are only kept. What is below a refused one is refused with it.

    What says how a VM is changed later is for the request alone.
    """
    return [
        field
        for message, (root, _) in sorted(ways().items())
        for field, _ in members(message)
        if root not in READ_WHOLE
        if not (is_refused(field) or field.name in _words() or str(field) in UPDATES_ONLY)
    ]


def is_refused(field: BodyField) -> bool:
    """Whether it, or something on the way to it, answers 501."""
    root, steps = ways()[field.message]
    message, passed = root, list[BodyField]()
    for step in steps:
        passed.append(BodyField(message, step.name))
        message = _below(schemas()[message]["properties"][step.name])[0]
    return any(each in refused() for each in (*passed, field))


def sample(schema: Mapping[str, Any]) -> Any:
    """A value of a member, in the form in which answers have it."""
    if "items" in schema:
        return [sample(schema["items"])]
    if isinstance(schema.get("additionalProperties"), Mapping):
        return {"key": sample(schema["additionalProperties"])}
    if "$ref" in schema:
        inside = (pair for pair in members(schema["$ref"]) if pair[0] not in refused())
        return next(({field.name: sample(inner)} for field, inner in inside), {})
    if schema["type"] == "object":
        return {name: sample(inner) for name, inner in schema.get("properties", {}).items()}
    if "enum" in schema:
        return schema["enum"][-1]
    return _SAMPLES[schema.get("format", schema["type"])]


_SAMPLES: Mapping[str, Any] = {
    "any": "x",
    "boolean": True,
    "byte": "AAAA",
    "double": 0.5,
    "float": 0.5,
    "int32": 7,
    "int64": "7",
    "integer": 7,
    "string": "sample",
    "uint32": 7,
    "uint64": "7",
}


def with_field(body: dict[str, Any], field: BodyField, value: Any) -> dict[str, Any]:
    """The body with this value there; of a list its first item has it."""
    place = body
    for step in ways()[field.message][1]:
        if step.many == "list":
            place = place.setdefault(step.name, [{}])[0]
        elif step.many == "map":
            place = place.setdefault(step.name, {}).setdefault("key", {})
        else:
            place = place.setdefault(step.name, {})
    place[field.name] = value
    return body


def found_in(resource: Mapping[str, Any], field: BodyField) -> Any:
    """The value of a field of a resource; None where it has none."""
    place: Any = resource
    for step in ways()[field.message][1]:
        place = place.get(step.name) or {}
        if step.many == "list":
            place = place[0] if place else {}
        if step.many == "map":
            place = place.get("key", {})
    return place.get(field.name)
