"""The shapes of Compute Engine's messages: what a request may hold, and which fields a filter may name.

`schema.json` is derived from Google's discovery document by `tests/localcloud/compute/write_schema.py`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from localcloud.compute.undone import UNDONE
from localcloud.rpc.shapes import Shape, Shapes, read_bytes, stored_shapes


@cache
def shapes() -> Mapping[str, Mapping[str, Shape]]:
    """Every message by its name."""
    return stored_shapes(__package__).messages


def read(message: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """A request in normal form: names in camel case, 64-bit numbers as text, nulls left out.

    Raises:
        RpcError: 400, worded as Google's front end words it: an unknown name, a value of a wrong type;
            501 for a member that is not done.
    """
    return _reader().read(message, value)


@cache
def _reader() -> Shapes:
    # The document names the words of an enum and not their numbers.
    return Shapes(shapes(), scalars={"byte": _fingerprint}, enum_numbers=False, undone=UNDONE)


def _fingerprint(value: object, path: str) -> str:
    """Bytes, in the alphabet of base64 that is safe in URLs, as answers have them."""
    return read_bytes(value, path).replace("+", "-").replace("/", "_")


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
