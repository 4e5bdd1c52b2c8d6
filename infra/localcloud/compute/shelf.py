"""Where the resources of one collection stand: found by name at once, listed in the order of names.

A list may be made to lag: it then shows the collection as it was a while ago, as a list of the real API may.
"""

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Any

import msgspec

Resource = Mapping[str, Any]


def shared(value: Any) -> Any:
    """The same JSON value, as one that others have too: nobody changes it."""
    return _kept(msgspec.json.encode(value))


@lru_cache(maxsize=1024)
def _kept(text: bytes) -> Any:
    return msgspec.json.decode(text)


@dataclass(kw_only=True)
class Row:
    """The resources of one scope."""

    by_name: dict[str, Resource] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    def put(self, name: str, resource: Resource) -> Resource | None:
        """Put it there; return what was there before."""
        before = self.by_name.get(name)
        if before is None:
            insort(self.names, name)
        self.by_name[name] = resource
        return before

    def take(self, name: str) -> Resource | None:
        """Take it away and return it; None when there was none."""
        before = self.by_name.pop(name, None)
        if before is not None:
            del self.names[bisect_right(self.names, name) - 1]
        return before

    def after(self, name: str) -> Iterator[Resource]:
        """The resources whose names come later."""
        for at in range(bisect_right(self.names, name), len(self.names)):
            yield self.by_name[self.names[at]]

    def find(self, name_or_id: str) -> Resource | None:
        """The resource of this name or numeric id."""
        if name_or_id.isdecimal():
            return next((given for given in self.by_name.values() if given.get("id") == name_or_id), None)
        return self.by_name.get(name_or_id)

    def copy(self) -> "Row":
        """Another row with the same resources."""
        return Row(by_name=dict(self.by_name), names=list(self.names))


Rows = Mapping[str, Row]
_NOTHING = Row()


@dataclass(frozen=True, kw_only=True)
class _Change:
    at: float
    scope: str
    name: str
    before: Resource | None


class Shelf:
    """Resources by scope (`zones/us-east1-b`, `global`) and name. They are replaced, never changed."""

    def __init__(self, *, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._rows: dict[str, Row] = {}
        self._lag = 0.0
        self._changes: deque[_Change] = deque()

    def __len__(self) -> int:
        return sum(len(row.names) for row in self._rows.values())

    def get(self, scope: str, name: str) -> Resource | None:
        """The resource of this name, as it is now."""
        return self._rows.get(scope, _NOTHING).by_name.get(name)

    def name_of(self, scope: str, name_or_id: str) -> str:
        """The name of the resource with this id; what was given where there is none."""
        found = self._rows.get(scope, _NOTHING).find(name_or_id)
        return str(found["name"]) if found else name_or_id

    def put(self, scope: str, name: str, resource: Resource) -> None:
        """Put a resource there, in place of the one of this name."""
        before = self._rows.setdefault(scope, Row()).put(name, resource)
        self._note(scope, name, before)

    def take(self, scope: str, name: str) -> Resource | None:
        """Take a resource away and return it; None when there is none."""
        before = self._rows.get(scope, _NOTHING).take(name)
        if before is not None:
            self._note(scope, name, before)
        return before

    def scopes(self) -> Collection[str]:
        """The scopes in which there is, or was, something."""
        return self._rows.keys()

    def all(self, scope: str = "") -> Iterator[Resource]:
        """Every resource, as it is now; those of one scope, where one is given."""
        rows = [self._rows.get(scope, _NOTHING)] if scope else self._rows.values()
        for row in rows:
            yield from row.by_name.values()

    def lag(self, behind: timedelta) -> None:
        """Let lists show what was there so long ago; nothing before this moment is remembered."""
        self._lag = behind.total_seconds()
        if not self._lag:
            self._changes.clear()

    def seen(self) -> Rows:
        """What a list shows, by scope."""
        if not self._lag:
            return self._rows
        until = self._elapsed() - self._lag
        while self._changes and self._changes[0].at <= until:
            self._changes.popleft()
        return self._undone()

    def _note(self, scope: str, name: str, before: Resource | None) -> None:
        if self._lag:
            self._changes.append(_Change(at=self._elapsed(), scope=scope, name=name, before=before))

    def _undone(self) -> Rows:
        rows = {scope: row.copy() for scope, row in self._rows.items()}
        for change in reversed(self._changes):
            row = rows[change.scope]
            if change.before is None:
                row.take(change.name)
            else:
                row.put(change.name, change.before)
        return rows
