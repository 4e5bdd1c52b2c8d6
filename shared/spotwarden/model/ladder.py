"""The kinds of VM that a job is asked for, one after the other, while it waits."""

from datetime import timedelta
from enum import Enum
from typing import Annotated

import msgspec

MaxPrice = Annotated[float, msgspec.Meta(gt=0, le=1e9)]


class VmModel(Enum):
    """A provisioning model, as job.toml and the policy name it."""

    SPOT = "spot"
    FLEX = "flex"
    STANDARD = "standard"

    @property
    def google(self) -> str:
        """The word of Compute Engine's `provisioningModel`."""
        return "FLEX_START" if self is VmModel.FLEX else self.name


class Rung(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of VM, and how long it is asked for; the last one is until there is room.

    A place is left out where one such VM is known to cost more than `max_price`, USD an hour.
    """

    model: VmModel
    up_to: timedelta | None = None
    max_price: MaxPrice | None = None
