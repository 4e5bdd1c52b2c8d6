"""JSON read by protobuf's rules ("ProtoJSON Format"), by tables: the same for every API that is transcoded.

A name is taken in camel case or as the `.proto` file has it, null is an absent field, a 64-bit number may be
text. A name that is given in both forms, an unknown one and a value of a wrong type are refused in the words
of Google's front end. Tables come from discovery documents (`tests/localcloud/rpc/write_schemas.py`) or from
descriptors (`described.py`).
"""

import base64
import binascii
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from localcloud.rpc.codes import RpcError

Shape = Any
"""`"string"`, `"#Message"`, `[item]`, `{"*": value}`, `{"enum": [word]}` or `{"fields": {name: shape}}`."""

_INTEGERS: Mapping[str, tuple[int, int]] = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
_SHORT = ("int32", "uint32")
_WHOLE = re.compile(r"-?\d{1,20}(?:\.0+)?", re.ASCII)
_SPECIAL = ("NaN", "Infinity", "-Infinity")


Scalar = Callable[[Any, str], Any]
"""Reads a value that stands at a path."""


@dataclass(frozen=True)
class Shapes:
    """The messages of one API by their names.

    `scalars` read values in place of the usual ones, `enum_numbers`: an enum's number is taken for its word.
    `undone` are members of messages that are refused as not done here, unless they ask for nothing.
    """

    messages: Mapping[str, Mapping[str, Shape]]
    scalars: Mapping[str, Scalar] = field(default_factory=dict)
    enum_numbers: bool = True
    undone: Mapping[str, Collection[str]] = field(default_factory=dict)

    def read(self, message: str, value: object) -> dict[str, Any]:
        """A request in normal form: names in camel case, 64-bit numbers as text, no nulls.

        Raises:
            RpcError: INVALID_ARGUMENT, with every unknown name, or else the first value of a wrong type;
                UNIMPLEMENTED, with the first member that is not done.
        """
        reading = _Reading(self)
        found = reading.message(message, value, "")
        if reading.unknown:
            raise RpcError("INVALID_ARGUMENT", "\n".join(reading.unknown))
        if reading.undone:
            raise RpcError("UNIMPLEMENTED", f"The local cloud does not do {reading.undone[0]}.")
        return found


@cache
def stored_shapes(package: str) -> Shapes:
    """The table `schema.json` of a service's package."""
    return Shapes(msgspec.json.decode(files(package).joinpath("schema.json").read_bytes()))


class _Reading:
    """One request. Unknown names are gathered, since Google names all of them."""

    def __init__(self, shapes: Shapes) -> None:
        self._messages = shapes.messages
        self._scalars = {**_SCALARS, **shapes.scalars}
        self._enum_numbers = shapes.enum_numbers
        self._not_done = shapes.undone
        self.unknown: list[str] = []
        self.undone: list[str] = []

    def message(self, name: str, value: object, path: str) -> dict[str, Any]:
        """A message that has a name."""
        found = self.fields(self._messages[name], value, path)
        self.undone += [f"{name}.{member}" for member in self._not_done.get(name, ()) if found.get(member)]
        return found

    def fields(self, shape: Mapping[str, Shape], value: object, path: str) -> dict[str, Any]:
        """A message; where it is empty, the whole body is."""
        if value is None and not path:
            return {}
        if not isinstance(value, Mapping):
            raise _mistyped(path, "an object", value)
        found: dict[str, Any] = {}
        for given, item in value.items():
            name = given if given in shape else camel(given)
            if name not in shape:
                at = f" at '{path}'" if path else ""
                self.unknown.append(
                    f'Invalid JSON payload received. Unknown name "{given}"{at}: Cannot find field.'
                )
            elif item is not None:
                if name in found:
                    raise _twice(path, name, given)
                found[name] = self._value(shape[name], item, _below(path, name))
        return found

    def _value(self, shape: Shape, value: object, path: str) -> Any:
        if isinstance(shape, list):
            return self._items(shape[0], value, path)
        if isinstance(shape, str):
            return self._scalar(shape, value, path)
        if "enum" in shape:
            return self._word(shape["enum"], value, path)
        if "*" in shape:
            return self._map(shape["*"], value, path)
        return self.fields(shape["fields"], value, path)

    def _items(self, shape: Shape, value: object, path: str) -> list[Any]:
        if not isinstance(value, list):
            raise _mistyped(path, "a list", value)
        return [self._value(shape, item, f"{path}[{at}]") for at, item in enumerate(value)]

    def _map(self, shape: Shape, value: object, path: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _mistyped(path, "an object", value)
        return {str(key): self._value(shape, item, f"{path}[{key}]") for key, item in value.items()}

    def _scalar(self, shape: str, value: object, path: str) -> Any:
        if shape.startswith("#"):
            return self.message(shape[1:], value, path)
        if shape in _INTEGERS:
            return _integer(shape, value, path)
        return self._scalars[shape](value, path)

    def _word(self, words: Sequence[str], value: object, path: str) -> str | int:
        if self._enum_numbers and isinstance(value, int) and not isinstance(value, bool):
            return value  # whether there is such a one is the service's to say
        if isinstance(value, str) and value in words:
            return value
        raise _mistyped(path, "TYPE_ENUM", value)


def camel(name: str) -> str:
    """The JSON name of a field of a `.proto` file; one that is in camel case already stays as it is."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def _below(path: str, name: str) -> str:
    """Google writes the place of an error in the names of the `.proto` file."""
    original = re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), name)
    return f"{path}.{original}" if path else original


def _integer(shape: str, value: object, path: str) -> int | str:
    low, high = _INTEGERS[shape]
    said = isinstance(value, int | float | str) and not isinstance(value, bool) and str(value)
    if not (said and _WHOLE.fullmatch(said) and low <= int(said.partition(".")[0]) <= high):
        raise _mistyped(path, f"TYPE_{shape.upper()}", value)
    whole = int(said.partition(".")[0])
    return whole if shape in _SHORT else str(whole)


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise _mistyped(path, "TYPE_STRING", value)
    return value


def read_bytes(value: object, path: str) -> str:
    """Either alphabet of base64, with padding or without."""
    text = _text(value, path).replace("-", "+").replace("_", "/").rstrip("=")
    padded = text + "=" * (-len(text) % 4)
    try:
        base64.b64decode(padded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _mistyped(path, "TYPE_BYTES", value) from error
    return padded


def _switch(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise _mistyped(path, "TYPE_BOOL", value)
    return value


def _number(value: object, path: str) -> float | str:
    if value in _SPECIAL:
        return str(value)
    try:
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise _mistyped(path, "TYPE_DOUBLE", value)


def _anything(value: object, _path: str) -> object:
    return value


_SCALARS: Mapping[str, Scalar] = {
    "string": _text,
    "google-datetime": _text,
    "google-duration": _text,
    "google-fieldmask": _text,
    "byte": read_bytes,
    "boolean": _switch,
    "double": _number,
    "float": _number,
    "any": _anything,
}


def _twice(path: str, name: str, given: str) -> RpcError:
    """Both names of a field. Google's front end says so of fields that may be absent; protobuf of all."""
    where = f" at '{path}'" if path else ""
    field = _below("", name)
    why = f"oneof field '_{field}' is already set. Cannot set '{given}'"
    return RpcError("INVALID_ARGUMENT", f"Invalid value{where} (oneof), {why}")


def _mistyped(path: str, wanted: str, value: object) -> RpcError:
    shown = msgspec.json.encode(value).decode()[:200]
    where = f"at '{path}' ({wanted})" if path else f"({wanted})"
    return RpcError("INVALID_ARGUMENT", f"Invalid value {where}, {shown}")
