"""What came of an action or of a question."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from spotwarden.model.instance import Instances, Operation, Operations
from spotwarden.model.slices import SeenGroup


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """It worked. `generation` is that of what was written, `operation` what was started or looked at.

    `at` is by when a notice was accepted, `detail` what the other side said.

    `instances` with `operations`, and `resource` answer a survey and a fetch; a resource of None is an
    instance that is gone. `group` answers a look at one; None is one that is gone.
    """

    generation: int = 0
    at: datetime | None = None
    detail: str = ""
    operation: Operation | None = None
    instances: Instances | None = None
    operations: Operations | None = None
    resource: Mapping[str, Any] | None = None
    group: SeenGroup | None = None


class Lost(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Somebody else was first: the generation no longer matches."""

    detail: str


class Rejected(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Compute has answered that it did not and will not do it."""

    code: str
    message: str


class Unanswered(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Nobody knows whether it was done: a time-out, a lost answer, an overload."""

    detail: str


class Observed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Not done, on purpose: the mode is observe."""


Outcome = Done | Lost | Rejected | Unanswered | Observed
