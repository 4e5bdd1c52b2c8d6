"""What an object of the bucket says, or that it says nothing of the kind: anybody may have written it."""

from typing import TypeVar

import msgspec

Kind = TypeVar("Kind")


def decoded(name: str, data: bytes, kind: type[Kind]) -> Kind:
    """The object's JSON as what its name promises; `ValueError` names it and says what is wrong."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise ValueError(f"{name}: {problem}") from problem
