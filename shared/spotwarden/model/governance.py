"""What holds for all rules of governance, and what each of them has; `rule_limits` has the rest of each."""

from collections.abc import Mapping
from datetime import date, timedelta
from enum import Enum
from typing import ClassVar

import msgspec


class Mode(Enum):
    """Whether a function or a rule acts, or only says what it would do."""

    OBSERVE = "observe"
    ENFORCE = "enforce"


class Remedy(Enum):
    """What a rule does in the end; `NONE` means that it only tells."""

    NONE = "none"
    STOP = "stop"
    DELETE = "delete"


class Scope(Enum):
    """Whose VMs are looked at: those of jobs, or all; those of nobody's job are only told about."""

    JOBS = "jobs"
    PROJECT = "project"


class Lenient(Enum):
    """Which way a value spares VMs.

    A `FIXED` one is no matter of a single job's; an `OWN` one has no direction, and the job's word counts.
    """

    HIGHER = "higher"
    LOWER = "lower"
    FIXED = "fixed"
    OWN = "own"


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every rule has. `grace` passes at least between a delivered warning and the remedy.

    `looks` is how many sweeps must have found the same before the first warning.

    What a rule says of itself, for all: its name `RULE`; its `TITLE`, what is wrong as the end of a sentence;
    the `REMEDIES` it can have; how each value spares VMs (`LENIENT`); and `WORKS`, what a VM has done for its
    job where the rule finds nothing any more, "" where that says nothing of work.
    """

    RULE: ClassVar[str]
    TITLE: ClassVar[str]
    WORKS: ClassVar[str] = ""
    REMEDIES: ClassVar[tuple[Remedy, ...]] = tuple(Remedy)
    LENIENT: ClassVar[Mapping[str, Lenient]] = {
        "mode": Lenient.FIXED,
        "looks": Lenient.FIXED,
        "remedy": Lenient.HIGHER,
        "grace": Lenient.HIGHER,
    }

    mode: Mode = Mode.ENFORCE
    remedy: Remedy = Remedy.NONE
    grace: timedelta = timedelta(minutes=15)
    looks: int = 1


class Calendar(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a remedy may be applied: on these days, at these hours (`09-18`), not on holidays."""

    timezone: str = "UTC"
    days: tuple[str, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    hours: str = "00-24"
    holidays: tuple[date, ...] = ()


class Exemption(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose VMs nothing is done to, up to and with the day `until`; no rules named means all of them."""

    owner: str
    until: date
    why: str
    rules: tuple[str, ...] = ()


class GovernanceLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What holds for all rules.

    One sweep never acts on more than `blast_count` VMs, nor on more than `blast_share` of the job VMs that
    run (or `blast_least`, in a small project): what is due beyond that waits for the next sweep. A single
    case about more VMs than that waits until ops approve it, which counts for `approval_lasts`. No VM is
    judged before it is `launch_grace` old. Silence counts only while our sweeps came at most `outage` apart.
    A clock that is off by more than `clock_skew` judges nothing. A veto lasts `longest_keep` at most. After
    `failures` failed tries in a row ops are told. Prices older than `prices_old` are said to be old. Without
    `discard_local_ssd` no VM with local SSDs is stopped, and ops are told.
    """

    scope: Scope = Scope.JOBS
    blast_count: int = 10
    blast_share: float = 0.1
    blast_least: int = 3
    approval_lasts: timedelta = timedelta(days=1)
    launch_grace: timedelta = timedelta(minutes=10)
    outage: timedelta = timedelta(minutes=30)
    clock_skew: timedelta = timedelta(minutes=2)
    longest_keep: timedelta = timedelta(days=7)
    failures: int = 3
    prices_old: timedelta = timedelta(days=180)
    discard_local_ssd: bool = True
    ops: str = ""
    calendar: Calendar = Calendar()
    exemptions: tuple[Exemption, ...] = ()
