"""The shapes of Compute Engine's messages: what a request may hold, and which fields a filter may name.

`schema.json` is derived from Google's discovery document by `tests/localcloud/compute/write_schema.py`.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from localcloud.errors import ApiError

Shape = Any
"""`"string"`, `"#Message"`, `[item]`, `{"*": value}`, `{"enum": [word]}` or `{"fields": {name: shape}}`."""

_INTEGERS: Mapping[str, tuple[int, int]] = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}


@cache
def shapes() -> Mapping[str, Mapping[str, Shape]]:
    """Every message by its name."""
    messages: Mapping[str, Mapping[str, Shape]] = msgspec.json.decode(
        files(__package__).joinpath("schema.json").read_bytes()
    )
    return messages


def read(message: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """A request in normal form: 64-bit numbers as text, nulls left out.

    Raises:
        ApiError: 400, worded as Google's front end words it: an unknown name, a value of a wrong type.
    """
    return _fields(shapes()[message], value, "")


def _fields(shape: Mapping[str, Shape], value: object, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _mistyped(path, "an object", value)
    unknown = next((name for name in value if name not in shape), None)
    if unknown is not None:
        at = f" at '{path}'" if path else ""
        raise _payload(f'Unknown name "{unknown}"{at}: Cannot find field.')
    return {
        name: _normal(shape[name], item, f"{path}.{name}" if path else name)
        for name, item in value.items()
        if item is not None
    }


def _normal(shape: Shape, value: object, path: str) -> Any:
    if isinstance(shape, list):
        return _items(shape[0], value, path)
    if isinstance(shape, str):
        return _scalar(shape, value, path)
    if "enum" in shape:
        return _word(shape["enum"], value, path)
    if "*" in shape:
        return _map(shape["*"], value, path)
    return _fields(shape["fields"], value, path)


def _items(shape: Shape, value: object, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _mistyped(path, "a list", value)
    return [_normal(shape, item, f"{path}[{at}]") for at, item in enumerate(value)]


def _map(shape: Shape, value: object, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _mistyped(path, "an object", value)
    return {key: _normal(shape, item, f"{path}[{key}]") for key, item in value.items()}


def _word(words: Sequence[str], value: object, path: str) -> str:
    if isinstance(value, str) and value in words:
        return value
    raise _payload(f"Invalid value at '{path}', {value!r}. Must be one of {', '.join(words)}.")


def _scalar(shape: str, value: object, path: str) -> Any:
    if shape.startswith("#"):
        return _fields(shapes()[shape[1:]], value, path)
    return _SCALARS.get(shape, _integer(shape))(value, path)


def _integer(shape: str) -> Callable[[object, str], int | str]:
    low, high = _INTEGERS.get(shape, _INTEGERS["int64"])

    def integer(value: object, path: str) -> int | str:
        whole = isinstance(value, int | str) and not isinstance(value, bool) and str(value).lstrip("-")
        if not (whole and whole.isdecimal() and whole.isascii() and low <= int(str(value)) <= high):
            raise _mistyped(path, f"TYPE_{shape.upper()}", value)
        return int(str(value)) if shape == "int32" else str(int(str(value)))

    return integer


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise _mistyped(path, "TYPE_STRING", value)
    return value


def _bytes(value: object, path: str) -> str:
    """A fingerprint, in either alphabet of base64; answers use the one that is safe in URLs."""
    text = _text(value, path)
    try:
        raw = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _mistyped(path, "TYPE_BYTES", value) from error
    return base64.urlsafe_b64encode(raw).decode()


def _switch(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise _mistyped(path, "TYPE_BOOL", value)
    return value


def _number(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _mistyped(path, "TYPE_DOUBLE", value)
    return float(value)


def _anything(value: object, _path: str) -> object:
    return value


_SCALARS: Mapping[str, Callable[[object, str], Any]] = {
    "string": _text,
    "google-datetime": _text,
    "google-duration": _text,
    "byte": _bytes,
    "boolean": _switch,
    "double": _number,
    "float": _number,
    "any": _anything,
}


def _mistyped(path: str, wanted: str, value: object) -> ApiError:
    shown = msgspec.json.encode(value).decode()[:200]
    return _payload(f"Invalid value at '{path}' ({wanted}), {shown}")


def _payload(message: str) -> ApiError:
    return ApiError(400, "badRequest", f"Invalid JSON payload received. {message}")


def shape_at(message: str, path: Sequence[str]) -> Shape | None:
    """The shape of a field named by its path; None when no such field can be compared.

    Lists cannot: "only atomic field types are supported" (the reference of `filter`).
    """
    shape: Shape = {"fields": shapes()[message]}
    for at, name in enumerate(path):
        if isinstance(shape, dict) and "*" in shape:
            return shape["*"] if at == len(path) - 1 else None
        fields = shape["fields"] if isinstance(shape, dict) and "fields" in shape else None
        if fields is None or name not in fields:
            return None
        shape = fields[name]
        if isinstance(shape, str) and shape.startswith("#"):
            shape = {"fields": shapes()[shape[1:]]}
    return shape if not isinstance(shape, list) else None
