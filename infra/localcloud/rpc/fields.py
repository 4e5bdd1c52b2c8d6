"""Fills a request's fields from strings: query parameters and parts of the path."""

from collections.abc import Iterable
from typing import Any, cast

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from localcloud.rpc.codes import RpcError

# "System parameters" of Google's APIs, and what gcloud and older clients add to any call.
SYSTEM = frozenset({
    "$alt", "$.xgafv", "$fields", "$httpMethod", "access_token", "alt", "callback", "fields", "key",
    "oauth_token", "prettyPrint", "quotaUser", "uploadType", "upload_protocol", "userIp", "userProject",
})  # fmt: skip


def bind(message: Message, pairs: Iterable[tuple[str, str]]) -> None:
    """Set each named field, such as `interval.endTime`, from its text; skip system parameters.

    Raises:
        RpcError: INVALID_ARGUMENT for a name that is no field or a text that is no value of it.
    """
    tree: dict[str, Any] = {}
    for name, text in pairs:
        if name not in SYSTEM:
            _place(tree, cast("Descriptor", message.DESCRIPTOR), name, text)
    try:
        json_format.ParseDict(tree, message)
    except json_format.ParseError as error:
        raise RpcError("INVALID_ARGUMENT", f"Invalid value: {error}") from error


def _place(tree: dict[str, Any], descriptor: Descriptor, name: str, text: str) -> None:
    *path, last = name.split(".")
    for part in path:
        field = _field(descriptor, part, name)
        if field.message_type is None:
            raise unknown(name)
        descriptor = field.message_type
        tree = tree.setdefault(field.json_name, {})
    field = _field(descriptor, last, name)
    if field.is_repeated:
        tree.setdefault(field.json_name, []).append(text)
    else:
        tree[field.json_name] = _value(field, text)


def _field(descriptor: Descriptor, part: str, name: str) -> FieldDescriptor:
    found = descriptor.fields_by_name.get(part) or descriptor.fields_by_camelcase_name.get(part)
    if found is None:
        raise unknown(name)
    return found


def unknown(name: str) -> RpcError:
    """What Google's front end says of a parameter that the method does not have."""
    return RpcError(
        "INVALID_ARGUMENT",
        f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter. '
        f"Field '{name}' could not be found in request message.",
    )


def _value(field: FieldDescriptor, text: str) -> str | bool:
    if field.type == FieldDescriptor.TYPE_BOOL and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text
