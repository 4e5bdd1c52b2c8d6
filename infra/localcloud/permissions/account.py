"""Service accounts: what each may do, and what it did with it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from localcloud.permissions.refusals import refusal

_WRITING = frozenset({"storage.objects.create", "storage.objects.delete"})


@dataclass(frozen=True, kw_only=True)
class Need:
    """What a call needs: a permission `on` a resource, in a bucket perhaps, for one object of it perhaps."""

    permission: str
    on: str
    bucket: str = ""
    thing: str = ""


@dataclass(kw_only=True)
class Account:
    """A service account with its role in the project, and with another one on a bucket.

    It writes only objects whose whole name one of `writes` matches. `entrance` is the URL of its door.
    Everything it was allowed and refused is counted, so that a role can be held against what was needed.
    """

    name: str
    email: str
    permissions: frozenset[str]
    bucket: str = ""
    bucket_permissions: frozenset[str] = frozenset()
    writes: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    entrance: str = ""
    used: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def held(self) -> frozenset[str]:
        """Every permission of its roles."""
        return self.permissions | self.bucket_permissions

    @property
    def unused(self) -> Collection[str]:
        """What its roles hold, and no call has needed so far."""
        return sorted(self.held - self.used)

    def demand(self, needs: Iterable[Need]) -> None:
        """Take note of what is needed.

        Raises:
            ApiError: 403, for the first thing that it may not do, as Google words it.
        """
        for need in needs:
            if not self._may(need):
                self.refused[need.permission] += 1
                raise refusal(self.email, need.permission, need.on)
            self.used.add(need.permission)

    def _may(self, need: Need) -> bool:
        if need.permission in self.permissions:
            return True
        if not need.bucket or need.bucket != self.bucket or need.permission not in self.bucket_permissions:
            return False
        if not need.thing or need.permission not in _WRITING:
            return True
        fitting = [name for name, pattern in self.writes.items() if pattern.fullmatch(need.thing)]
        self.written.update(fitting)
        return bool(fitting)
