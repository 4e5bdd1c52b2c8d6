"""What VMs have used, by the day: the meter behind the caps on owners."""

from collections.abc import Mapping
from datetime import date

import msgspec

from spotwarden.model.fleet import Machine
from spotwarden.model.moment import Moment
from spotwarden.model.prices import VmKind


class UsageRun(msgspec.Struct, frozen=True, kw_only=True):
    """A VM was up for so many seconds of the day, after it had been started at this moment."""

    started: Moment
    seconds: int


class VmUsage(msgspec.Struct, frozen=True, kw_only=True):
    """One VM on one day: a run for each time that it was started."""

    owner: str = ""
    job: str = ""
    kind: VmKind
    runs: tuple[UsageRun, ...] = ()


class UsageDay(msgspec.Struct, frozen=True, kw_only=True):
    """A day, UTC, as its record says it: its VMs by instance id.

    `settled` means that a complete list of VMs was seen after its end, and that it changes no more.
    """

    day: date
    settled: bool = False
    vms: Mapping[str, VmUsage] = {}


class MeteredVm(msgspec.Struct, frozen=True, kw_only=True):
    """A VM that runs, and whose it is."""

    machine: Machine
    owner: str
    job: str


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """The seconds that an owner's VMs of one kind were up, together."""

    owner: str
    kind: VmKind
    seconds: int


class DayTotal(msgspec.Struct, frozen=True, kw_only=True):
    """A day by owner and kind of VM."""

    day: date
    settled: bool = False
    spent: tuple[Spent, ...] = ()
