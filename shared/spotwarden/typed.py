"""JSON and plain values, read as the types that we name, from any thread.

msgspec builds what it knows of a type at its first use. Two threads that do so at the same time end the
process by SIGSEGV: one reads what the other has half built. So every module names the types that it reads to
`prepare`, at its import. A type that nobody prepared is built by one thread at a time.
"""

from threading import Lock
from typing import Any, TypeVar

import msgspec

Kind = TypeVar("Kind")

_MALFORMED = (RecursionError, UnicodeError)
"""Raised by msgspec besides its own errors: for what is nested too deeply, and for what is no UTF-8."""

_building = Lock()
_decoders: dict[tuple[Any, bool], msgspec.json.Decoder[Any]] = {}


def prepare(*kinds: Any, strict: bool = True) -> None:  # noqa: ANN401 — a type form: a class, a union, a list of something
    """Build what is known of these types, and of all that they hold, now: at the import of who reads them."""
    for kind in kinds:
        if (kind, strict) not in _decoders:
            _build(kind, strict=strict)


def decode(data: bytes | str, kind: type[Kind], *, strict: bool = True) -> Kind:
    """This JSON as the type; `msgspec.DecodeError` for any that is none of it, however it is malformed.

    Unless it is strict, a text may say a number.
    """
    decoder = _decoders.get((kind, strict)) or _build(kind, strict=strict)
    try:
        found: Kind = decoder.decode(data)
    except _MALFORMED as problem:
        raise msgspec.DecodeError(str(problem)) from problem
    return found


def unpack(data: bytes, kind: type[Kind]) -> Kind:
    """The same from MessagePack."""
    prepare(kind)
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except _MALFORMED as problem:
        raise msgspec.DecodeError(str(problem)) from problem


def convert(value: object, kind: type[Kind], *, strict: bool = True) -> Kind:
    """The same from plain values; `msgspec.ValidationError`. Unless it is strict, a text may say a number."""
    prepare(kind)
    return msgspec.convert(value, kind, strict=strict)


def _build(kind: Any, *, strict: bool) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 — as above
    with _building:
        # Its construction builds everything: the type, and each that it names in turn.
        decoder = msgspec.json.Decoder(kind, strict=strict)
        _decoders[kind, strict] = decoder
    return decoder
