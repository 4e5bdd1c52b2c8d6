"""A view of the report → its JSON document, as the document's shape says it.

The fields of a shape are read once: where each comes from, and how it is written. A text is one that UTF-8
can write, or null where there is none; a shape within a shape is made the same way.
"""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from spotwarden.report.export.values import pairs, said, sound, texts

D = TypeVar("D", bound=msgspec.Struct)
Convert = Callable[[Any], Any]
_TEXTS: Mapping[object, Convert] = {
    str: sound,
    str | None: said,
    tuple[str, ...]: texts,
    Mapping[str, str]: pairs,
}


def document(shape: type[D], view: object) -> D:
    """The document of this shape; `AttributeError` where the view has not what the shape says."""
    document: D = _maker(shape)(view)
    return document


@cache
def _maker(shape: type[msgspec.Struct]) -> Convert:
    """In an annotation a text is the name in the view, a function writes it, and a number is the value."""
    names: list[str] = []
    paths: list[str] = []
    writes: list[tuple[int, Convert]] = []
    fixed: dict[str, int] = {}
    for name, hint in get_type_hints(shape, include_extras=True).items():
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if number := next((note for note in notes if isinstance(note, int)), None):
            fixed[name] = number
            continue
        if write := next((note for note in notes if callable(note)), None) or _writer(kind):
            writes.append((len(names), write))
        names.append(name)
        paths.append(next((note for note in notes if isinstance(note, str)), name))
    look = attrgetter(*paths)

    def make(view: object) -> msgspec.Struct:
        values = [*look(view)]
        for place, write in writes:
            values[place] = write(values[place])
        return shape(**dict(zip(names, values, strict=True)), **fixed)

    return make


def _writer(kind: object) -> Convert | None:
    """What writes a value of this type; None for one that stays as it is."""
    if found := _TEXTS.get(kind):
        return found
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _maker(kind)
    *_, write = [_writer(part) for part in get_args(kind) if part is not ...] or [None]
    if write and get_origin(kind) is tuple:
        return lambda values: tuple(map(write, values))
    if write and get_origin(kind) is Mapping:
        return lambda values: {key.value: write(value) for key, value in values.items()}
    return None
