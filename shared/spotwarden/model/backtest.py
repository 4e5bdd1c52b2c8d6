"""What a policy would have done, told from recorded sweeps."""

from datetime import datetime
from enum import Enum

import msgspec

from spotwarden.model.finding import Target
from spotwarden.model.fleet import Machine
from spotwarden.model.governance import Remedy


class After(Enum):
    """What became of a VM after a policy would have acted on it; the first two are wrong kills."""

    WORKED = "worked again"
    KEPT = "was kept by its owner"
    WASTED = "was never seen to work again"


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A warning that would have been given."""

    rule: str
    key: str
    at: datetime
    owner: str = ""


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """A VM that would have been acted upon.

    `wasted` is the last sweep that still found fault with it, `seen` the last one that saw it run, `gone`
    the first one that did not. `after` is what became of it, as of `turned`, in the words of `how`.
    """

    rule: str
    key: str
    target: Target
    remedy: Remedy
    at: datetime
    job: str = ""
    owner: str = ""
    reason: str = ""
    machine: Machine | None = None
    wasted: datetime
    seen: datetime
    gone: datetime | None = None
    after: After = After.WASTED
    turned: datetime | None = None
    how: str = ""

    @property
    def wrong(self) -> bool:
        """Whether it would have hit work, or somebody who wanted the VM."""
        return self.after is not After.WASTED

    @property
    def hours(self) -> float:
        """VM-hours that would have been saved."""
        return (self.wasted - self.at).total_seconds() / 3600


class Stopped(msgspec.Struct, frozen=True, kw_only=True):
    """A sweep in which a rule would have wanted more than the blast radius, and so have done nothing."""

    rule: str
    at: datetime
    vms: int


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """What one policy would have done over some sweeps of one function.

    `cases` counts those that would have been opened, by rule; `clouded` those opened for want of knowledge.
    """

    function: str
    policy: str
    sweeps: int = 0
    first: datetime | None = None
    last: datetime | None = None
    cases: dict[str, int] = {}
    clouded: dict[str, int] = {}
    told: tuple[Told, ...] = ()
    deeds: tuple[Deed, ...] = ()
    stopped: tuple[Stopped, ...] = ()
