"""How the tables are written: a verb, a path and permissions on each line; `-` asks for nothing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

Key = tuple[str, str]
"""A verb and a path."""


class PermissionAsk(NamedTuple):
    """A permission; for one that a bucket can grant, the part of the path that names the bucket."""

    permission: str
    bucket: str = ""


Rows = Mapping[Key, Sequence[PermissionAsk]]


def rows(text: str, *, prefix: str = "") -> Rows:
    """Read a table. `storage.objects.get@source` is asked for on the bucket that the path calls `source`."""
    return dict(_read(text, prefix))


def _read(text: str, prefix: str) -> Iterator[tuple[Key, Sequence[PermissionAsk]]]:
    for line in filter(None, map(str.strip, text.splitlines())):
        verb, path, *asked = line.split()
        yield (verb, prefix + path), [PermissionAsk(*ask.split("@")) for ask in asked if ask != "-"]
