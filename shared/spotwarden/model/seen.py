"""What a sweep of governance saw, as it is kept."""

from datetime import datetime
from typing import Generic, TypeVar

import msgspec

from spotwarden.model.tick import Tick

Facts = TypeVar("Facts", bound=msgspec.Struct)


class RecordedSweep(msgspec.Struct, Generic[Facts], frozen=True, kw_only=True):
    """One sweep: its tick, the version of the policy it went by, and what it saw."""

    tick: Tick
    policy: str
    steady: datetime
    facts: Facts


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A record that cannot be read, perhaps of another version of ours; says why."""

    name: str
    why: str
