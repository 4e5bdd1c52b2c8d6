"""What a policy would have done, told from recorded sweeps."""

from datetime import datetime
from enum import Enum

import msgspec

from spotwarden.model.finding import Target
from spotwarden.model.fleet import Machine
from spotwarden.model.governance import Remedy
from spotwarden.model.seen import Unreadable


class After(Enum):
    """What became of a VM after a policy would have acted on it; the first two are wrong kills."""

    WORKED = "worked again"
    KEPT = "was kept by its owner"
    WASTED = "was never seen to work again"


class ReplayedNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A warning that would have been given."""

    rule: str
    key: str
    at: datetime
    owner: str = ""


class ReplayedRemedy(msgspec.Struct, frozen=True, kw_only=True):
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
    """A sweep in which so many VMs of a rule would have waited, for the next one or for an approval."""

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
    told: tuple[ReplayedNotice, ...] = ()
    remedies: tuple[ReplayedRemedy, ...] = ()
    stopped: tuple[Stopped, ...] = ()


class Sum(msgspec.Struct, frozen=True, kw_only=True):
    """One policy and one rule in figures. What is saved leaves wrong kills out; `money` is in words.

    `unknown` counts the cases of which nothing could be known, `stopped` the sweeps in which some of
    the rule's VMs would have waited, for the next one or for an approval.
    """

    rule: str
    cases: int = 0
    unknown: int = 0
    told: int = 0
    remedies: int = 0
    wrong: int = 0
    stopped: int = 0
    vm_hours: float = 0.0
    gpu_hours: float = 0.0
    money: str = ""


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """What one policy would have done, and its figures by rule."""

    replayed: Replayed
    sums: tuple[Sum, ...] = ()


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One function's sweeps under a new policy, and under the present one where that is known."""

    function: str
    recorded_under: tuple[str, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    new: Played
    now: Played | None = None
