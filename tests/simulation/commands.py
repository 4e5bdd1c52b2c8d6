"""What can happen in a history.

A number picks one of those that it can happen to, so that any list of commands is a history: that is what
makes histories easy to draw, to repeat and to shorten.
"""

from enum import Enum

import msgspec


class Kind(Enum):
    """What sort of job is submitted."""

    SOLO = "one VM that a preemption deletes"
    KEPT = "one VM that a preemption stops"
    GANG = "several VMs from one bulk request"
    ROAM = "several VMs from one bulk request for a region"
    MUTE = "one VM whose shutdown writes no marker"
    BARE = "one VM whose script was never stored"
    BENT = "several VMs from one bulk request, of which all but one are enough"
    EARLY = "one VM that is told two minutes before, and replaced while it runs"
    WIDE = "one VM in any zone of a region, told and replaced in the same way"
    FLEX = "one Flex-start VM, which waits for room, is never preempted, and ends at its time limit"


class Word(Enum):
    """What the shutdown script writes, if anything."""

    NONE = "no marker"
    EMPTY = "an empty marker"
    JSON = "a marker that names its instance"
    TWICE = "a marker, and once more five seconds later"
    LATE = "a marker that names its instance, 45 s late"
    LATE_EMPTY = "an empty marker, 45 s late"


class Then(Enum):
    """What comes of the last call of a run."""

    PAUSE = "nothing; the sweep waits before its next call"
    GO_ON = "nothing; the sweep goes on to its end"
    KILL_BEFORE = "the process is killed before the call is made"
    KILL_AFTER = "the process is killed once the call was carried out"
    LOST_BEFORE = "no answer, and nothing was done"
    LOST_AFTER = "no answer, though it was done"
    REFUSED = "Compute Engine refuses it for want of quota"


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happens."""


class Submit(Command, frozen=True, kw_only=True, tag=True):
    """A developer stores a script and launches its VMs by hand; with `seen` a tick comes before trouble.

    The nodes of a gang that bends may be `told` before they are taken.
    """

    kind: Kind
    zone: int = 0
    nodes: int = 2
    seen: bool = True
    told: bool = False


class SubmitByLedger(Command, frozen=True, kw_only=True, tag=True):
    """A developer types `spotwarden submit`, which makes so many calls that change something."""

    kind: Kind
    zone: int = 0
    nodes: int = 2
    calls: int = 1
    then: Then = Then.GO_ON
    told: bool = False


class Finish(Command, frozen=True, kw_only=True, tag=True):
    """A job writes its status code; then its VMs delete themselves, unless they fail to."""

    job: int = 0
    leave: bool = True
    word: Word = Word.NONE


class Crash(Command, frozen=True, kw_only=True, tag=True):
    """A job's VMs shut themselves down without a status code."""

    job: int = 0
    word: Word = Word.NONE


class Preempt(Command, frozen=True, kw_only=True, tag=True):
    """Compute Engine takes a running VM; it ends one with a time limit there."""

    vm: int = 0
    word: Word = Word.JSON


class Announce(Command, frozen=True, kw_only=True, tag=True):
    """Compute Engine tells a VM that it will be taken, once or several times, and does not take it."""

    vm: int = 0
    times: int = 1


class FailHost(Command, frozen=True, kw_only=True, tag=True):
    """A running VM's host fails: no shutdown script, no marker."""

    vm: int = 0


class Reboot(Command, frozen=True, kw_only=True, tag=True):
    """A VM's guest reboots; its shutdown script writes a marker all the same."""

    vm: int = 0
    word: Word = Word.EMPTY


class Remove(Command, frozen=True, kw_only=True, tag=True):
    """An owner deletes the VMs of a job, or stops them with `keep`."""

    job: int = 0
    keep: bool = False
    word: Word = Word.NONE


class Stop(Command, frozen=True, kw_only=True, tag=True):
    """An owner types `spotwarden stop`: the next record of the chain; then its VMs are stopped or deleted."""

    job: int = 0
    keep: bool = False


class Namesake(Command, frozen=True, kw_only=True, tag=True):
    """A colleague makes a VM with the name of a node of a job, with its labels copied or without.

    Or with the `second` name that the node's VM may have.
    """

    job: int = 0
    zone: int = 0
    labelled: bool = False
    second: bool = False


class Interfere(Command, frozen=True, kw_only=True, tag=True):
    """A person deletes a VM that is being taken just now, or stops it with `keep`."""

    vm: int = 0
    keep: bool = False


class RemoveNode(Command, frozen=True, kw_only=True, tag=True):
    """An owner deletes one node of a gang that runs whole, or stops it with `keep`."""

    job: int = 0
    node: int = 0
    keep: bool = False


class StartAgain(Command, frozen=True, kw_only=True, tag=True):
    """An owner starts the VMs again that they had stopped."""

    job: int = 0


class Lag(Command, frozen=True, kw_only=True, tag=True):
    """The operation log shows only what is older than so many seconds; 0 ends that."""

    seconds: int = 240


class Relaunch(Command, frozen=True, kw_only=True, tag=True):
    """An owner launches a job that is closed once more, by hand; with `seen` a tick comes before trouble."""

    job: int = 0
    seen: bool = True


class Stray(Command, frozen=True, kw_only=True, tag=True):
    """A marker comes that no shutdown of now has written: of nobody's job, or broken."""

    job: int = 0
    broken: bool = False


class Stock(Command, frozen=True, kw_only=True, tag=True):
    """A zone runs out, but for so many VMs; None restocks it."""

    zone: int = 0
    left: int | None = 0


class Allow(Command, frozen=True, kw_only=True, tag=True):
    """An owner lets a job run on other machine types, too, where there is no room for its script's own."""

    job: int = 0
    machines: int = 2


class Notice(Command, frozen=True, kw_only=True, tag=True):
    """Requests with a notice of preemption are refused, by that name or in other words; or taken again."""

    machine: int = 0
    named: bool = True
    refused: bool = True


class RunOut(Command, frozen=True, kw_only=True, tag=True):
    """A zone runs out of one machine type, its jobs' own or another that they may have; or has it again."""

    zone: int = 0
    machine: int = 0
    out: bool = True


class Hide(Command, frozen=True, kw_only=True, tag=True):
    """A zone is left out of the lists, or shown again."""

    zone: int = 0
    hidden: bool = True


class Forget(Command, frozen=True, kw_only=True, tag=True):
    """Compute Engine answers 404 about all operations so far; with `requests` it forgets their ids."""

    requests: bool = False


class Forbid(Command, frozen=True, kw_only=True, tag=True):
    """Somebody takes the right from us to create and to start VMs, or gives it back."""

    forbidden: bool = True


class Pass(Command, frozen=True, kw_only=True, tag=True):
    """Time passes."""

    seconds: int = 10


class Sweep(Command, frozen=True, kw_only=True, tag=True):
    """A new sweep begins, with a clock that is off by `skew` seconds, and makes so many calls.

    `about` is the node that its event speaks of; None where it looks at everything.
    """

    about: int | None = None
    skew: int = 0
    calls: int = 1
    changes: bool = False
    then: Then = Then.GO_ON


class Run(Command, frozen=True, kw_only=True, tag=True):
    """A sweep that waits makes so many calls more; with `changes`, only those count that change something."""

    sweep: int = 0
    calls: int = 1
    changes: bool = False
    then: Then = Then.GO_ON


class Share(Command, frozen=True, kw_only=True, tag=True):
    """From now on a sweep takes at most so many jobs itself, and asks other instances to look at more."""

    above: int = 0


class Cheaper(Command, frozen=True, kw_only=True, tag=True):
    """Ops allow a region in which VMs cost less, with room for so many; then the turn of a job comes."""

    left: int | None = None
    job: int = 0


class Corner(Command, frozen=True, kw_only=True, tag=True):
    """An owner says that a job that hands over may go nowhere else, and that it is not to wait for spot VMs.

    By a deadline, or by a ladder. A `regional` one may go to all zones of its region.
    """

    job: int = 0
    ladder: bool = False
    regional: bool = False


class SpotRoom(Command, frozen=True, kw_only=True, tag=True):
    """The zones of such jobs have no spot VMs any more, or have them again."""

    out: bool = True


class Deliver(Command, frozen=True, kw_only=True, tag=True):
    """One of the messages that sweeps have published for other instances is delivered, to a sweep of its own.

    With `keep` it will be delivered again; a `lost` one never is.
    """

    message: int = 0
    keep: bool = False
    lost: bool = False
    skew: int = 0
    calls: int = 1
    changes: bool = False
    then: Then = Then.GO_ON


AnyCommand = (
    Submit
    | SubmitByLedger
    | Finish
    | Crash
    | Preempt
    | Announce
    | FailHost
    | Reboot
    | Remove
    | Stop
    | Namesake
    | Interfere
    | RemoveNode
    | StartAgain
    | Lag
    | Relaunch
    | Stray
    | Stock
    | Allow
    | Notice
    | RunOut
    | Corner
    | SpotRoom
    | Hide
    | Forget
    | Forbid
    | Pass
    | Sweep
    | Run
    | Share
    | Cheaper
    | Deliver
)


def told(command: Command) -> str:
    """The command in one line, for a person."""
    fields = (f"{name}={_word(getattr(command, name))}" for name in command.__struct_fields__)
    return f"{type(command).__name__}({', '.join(fields)})"


def _word(value: object) -> str:
    return value.name if isinstance(value, Enum) else repr(value)
