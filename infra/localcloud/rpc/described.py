"""Shapes of messages that this process has classes of: Pub/Sub's and Monitoring's."""

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from localcloud.rpc.shapes import Shape, Shapes

_WELL_KNOWN: Mapping[str, str] = {
    "Any": "any",
    "Struct": "any",
    "Value": "any",
    "ListValue": "any",
    "Timestamp": "google-datetime",
    "Duration": "google-duration",
    "FieldMask": "google-fieldmask",
    "BoolValue": "boolean",
    "BytesValue": "byte",
    "DoubleValue": "double",
    "FloatValue": "float",
    "Int32Value": "int32",
    "Int64Value": "int64",
    "StringValue": "string",
    "UInt32Value": "uint32",
    "UInt64Value": "uint64",
}
"""Messages of google.protobuf that have a JSON form of their own."""

_SCALARS: Mapping[int, str] = {
    FieldDescriptor.TYPE_BOOL: "boolean",
    FieldDescriptor.TYPE_BYTES: "byte",
    FieldDescriptor.TYPE_DOUBLE: "double",
    FieldDescriptor.TYPE_FLOAT: "float",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_SINT32: "int32",
    FieldDescriptor.TYPE_SFIXED32: "int32",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_FIXED32: "uint32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_SINT64: "int64",
    FieldDescriptor.TYPE_SFIXED64: "int64",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_FIXED64: "uint64",
}


@cache
def shapes_of(descriptor: Descriptor) -> Shapes:
    """The shapes of a message and of all that it refers to, by their full names."""
    messages: dict[str, dict[str, Shape]] = {}
    wanted = [descriptor]
    while wanted:
        message = wanted.pop()
        if message.full_name not in messages:
            messages[message.full_name] = {field.json_name: _shape(field, wanted) for field in message.fields}
    return Shapes(messages)


def _shape(field: Any, wanted: list[Descriptor]) -> Shape:
    inner: Descriptor | None = field.message_type
    if inner is not None and inner.GetOptions().map_entry:
        return {"*": _single(inner.fields_by_name["value"], wanted)}
    single = _single(field, wanted)
    return [single] if field.is_repeated else single


def _single(field: Any, wanted: list[Descriptor]) -> Shape:
    if field.enum_type is not None:
        return {"enum": [value.name for value in field.enum_type.values]}
    inner = cast("Descriptor | None", field.message_type)
    if inner is None:
        return _SCALARS[field.type]
    package, _, name = inner.full_name.rpartition(".")
    if package == "google.protobuf" and name in _WELL_KNOWN:
        return _WELL_KNOWN[name]
    wanted.append(inner)
    return f"#{inner.full_name}"
