"""What instances went through, each change of status: who looks afterwards has missed nothing."""

import sys
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from localcloud.compute.links import last
from localcloud.compute.shelf import Resource

GONE = "GONE"
MOST = 200_000
"""Changes that are kept; an instance makes some six of them in its life."""


class Change(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An instance has this status from this moment on; GONE when its name is free."""

    at: datetime
    id: str
    name: str
    zone: str
    status: str
    labels: dict[str, Any]


class History:
    """The newest changes, in the order in which they happened."""

    def __init__(self, *, now: Callable[[], datetime]) -> None:
        self._now = now
        self._changes: deque[Change] = deque(maxlen=MOST)

    def note(self, resource: Resource, status: str) -> None:
        """Keep one."""
        self._changes.append(
            Change(
                at=self._now(),
                id=resource["id"],
                name=resource["name"],
                zone=sys.intern(last(resource["zone"])),
                status=status,
                labels=resource.get("labels", {}),
            )
        )

    def changes(self) -> Sequence[Change]:
        """Those that are kept."""
        return self._changes
