"""What an object of the bucket says, or that it says nothing of the kind: anybody may have written it."""

from typing import TypeVar

import msgspec

from spotwarden import typed
from spotwarden.ports import BrokenError

Kind = TypeVar("Kind")


def decoded(name: str, data: bytes, kind: type[Kind]) -> Kind:
    """The object's JSON as what its name promises; `BrokenError` names it and says what is wrong."""
    try:
        return typed.decode(data, kind)
    except msgspec.DecodeError as problem:
        raise BrokenError(f"{name}: {problem}") from problem
