"""What can happen to the whole plane, beside what can happen to recovery alone.

A number picks one of those that it can happen to, so that any list of commands is a history.
"""

from enum import Enum

from tests.simulation.commands import (
    Allow,
    Announce,
    Cheaper,
    Command,
    Corner,
    FailHost,
    Forbid,
    Forget,
    Hide,
    Kind,
    Pass,
    Preempt,
    Reboot,
    Run,
    RunOut,
    SpotRoom,
    Stock,
    Stray,
    Then,
    Word,
)


class Function(Enum):
    """The functions that sweep."""

    RECOVER = "recover_spot"
    REAP = "reap_vms"
    IDLE = "flag_idle_gpus"
    CAP = "cap_runtime"
    COMPLY = "check_compliance"
    NOTIFY = "notify_developers"


class Mood(Enum):
    """What the program in a VM does."""

    WORK = "it makes progress and uses its GPU"
    IDLE = "it makes progress and does not use its GPU"
    HANG = "the VM is alive, the program has stopped making progress and uses nothing"
    DARK = "nothing comes from the VM any more"
    SPIN = "the program has stopped making progress and keeps its GPU busy"


class Verb(Enum):
    """What a person does to VMs with gcloud."""

    DELETE = "delete"
    STOP = "stop"
    START = "start"
    SUSPEND = "suspend"
    RESUME = "resume"


class Spell(Enum):
    """What an owner types."""

    SUBMIT = "spotwarden submit --again"
    STOP = "spotwarden stop"
    DELETE = "spotwarden stop --delete"
    RESTART = "spotwarden restart"


class Answer(Enum):
    """Which link in a mail is clicked."""

    KEEP = "keep"
    EXTEND = "extend"
    STOP = "stop"
    RESTART = "restart"


class Lie(Enum):
    """What a job VM that is not its owner's any more writes, all of it within its rights."""

    MARKER = "a marker of another job's node"
    MARKER_AS = "a marker of another job's node that names that node's instance"
    EARLY = "an early marker of another job's node"
    BEAT = "a heartbeat of another job that claims that it has stopped making progress"
    FUTURE = "a heartbeat of another job from the next year"
    NAMESAKE = "a heartbeat by the name of another job's node, as one of a job of its own"
    JUNK = "heartbeats and metrics of another job that nobody can read"
    UNREAL = "metrics of another job that are not numbers"
    STATUS = "the status code of another job that runs"
    LATE = "a status code that says that it is of an attempt before"
    STATUS_AS = "the status code of another job, as one of its newest attempt, which may be under way"
    BEAT_END = "a heartbeat of another job that says that its program has ended"


class Port(Enum):
    """What of Google does not answer."""

    STORE = "Cloud Storage"
    COMPUTE = "Compute Engine"
    METRICS = "Cloud Monitoring"
    NOTICES = "Pub/Sub"
    MAIL = "the mail server"


class Fault(Enum):
    """How it does not answer."""

    BUSY = "503: nothing was done"
    LIMITED = "429: nothing was done"
    DENIED = "403 for what changes VMs; for mail: it refuses the recipient"
    SILENT = "it is done, and no answer comes"


class PolicyChange(Enum):
    """What ops do to the policy while everything runs."""

    OBSERVE = "mode = observe"
    ENFORCE = "mode = enforce"
    BREAK = "a policy file that cannot be read"
    MEND = "one that can be read again"
    TELL_ONLY = "every remedy is none"
    REMEDIES = "the remedies are as they were"
    TIGHT = "a cap on uptime of two hours"


class Launch(Command, frozen=True, kw_only=True, tag=True):
    """An owner launches a job: by hand, or `typed` with `spotwarden submit`.

    `gpus` each VM has; `shy` ones do not register their ids; `mute` ones send no heartbeat; `capped` ones say
    in job.toml how long they may run; `odd` ones are not what the policy wants; `owned` ones name a person.
    A Flex-start VM waits for `valid` seconds and runs for `longest`; at that limit it is stopped, and `kept`,
    or deleted. What `climbs` has a ladder: spot VMs, then Flex-start ones, then on-demand ones. The nodes of
    a gang that bends may be `told` before they are taken.
    """

    kind: Kind
    zone: int = 0
    nodes: int = 2
    typed: bool = False
    gpus: int = 1
    shy: bool = False
    mute: bool = False
    capped: bool = False
    odd: bool = False
    owned: bool = True
    valid: int = 300
    longest: int = 604_800
    kept: bool = False
    climbs: bool = False
    told: bool = False


class Behave(Command, frozen=True, kw_only=True, tag=True):
    """The program in a running VM of a job, or `whole` in all of them, changes what it does."""

    vm: int = 0
    mood: Mood = Mood.WORK
    whole: bool = False


class End(Command, frozen=True, kw_only=True, tag=True):
    """A job writes its status code; then its VMs delete themselves, unless they fail to."""

    job: int = 0
    leave: bool = True


class Collapse(Command, frozen=True, kw_only=True, tag=True):
    """A job's VMs shut themselves down without a status code."""

    job: int = 0
    word: Word = Word.NONE


class Gcloud(Command, frozen=True, kw_only=True, tag=True):
    """A person does this to a VM of a job, or `whole` to all; a `late` delete is of one that stops."""

    vm: int = 0
    verb: Verb = Verb.DELETE
    whole: bool = False
    late: bool = False
    word: Word = Word.NONE


class Type(Command, frozen=True, kw_only=True, tag=True):
    """An owner types a command about a job, which makes so many calls."""

    job: int = 0
    spell: Spell = Spell.STOP
    calls: int = 1
    changes: bool = True
    then: Then = Then.GO_ON


class Click(Command, frozen=True, kw_only=True, tag=True):
    """Somebody clicks a link of this kind in one of the mails that arrived."""

    mail: int = 0
    answer: Answer = Answer.KEEP
    calls: int = 1
    then: Then = Then.GO_ON


class Namesake(Command, frozen=True, kw_only=True, tag=True):
    """A colleague makes a VM with the name of a job's node, in any zone; perhaps a group of VMs does.

    `managed` ones carry the job's label, as what a managed instance group makes of a job's template. Another
    one has the `second` name that the node's VM may have.
    """

    job: int = 0
    zone: int = 0
    managed: bool = False
    second: bool = False


class Lag(Command, frozen=True, kw_only=True, tag=True):
    """The list of operations is behind by so many seconds from now on."""

    seconds: int = 120


class HideLog(Command, frozen=True, kw_only=True, tag=True):
    """The operations of a zone are left out of their list, which says so, or shown again."""

    zone: int = 0
    hidden: bool = True


class Others(Command, frozen=True, kw_only=True, tag=True):
    """From now on recovery leaves more jobs than so many to other instances of its function."""

    above: int = 0


class Pace(Command, frozen=True, kw_only=True, tag=True):
    """From now on an object takes one write a second: who writes it again waits for so long."""


class Repair(Command, frozen=True, kw_only=True, tag=True):
    """Compute Engine repairs a VM for three minutes; then it runs as before."""

    vm: int = 0


class Outage(Command, frozen=True, kw_only=True, tag=True):
    """A part of Google, or the mail server, fails for so many seconds."""

    port: Port = Port.STORE
    fault: Fault = Fault.BUSY
    seconds: int = 120


class Deceive(Command, frozen=True, kw_only=True, tag=True):
    """A VM of one job lies about another job."""

    by: int = 0
    about: int = 0
    lie: Lie = Lie.MARKER


class Rewrite(Command, frozen=True, kw_only=True, tag=True):
    """An owner stores another create script for a job, which runs or not."""

    job: int = 0


class Rerun(Command, frozen=True, kw_only=True, tag=True):
    """Somebody, its owner or a colleague, runs the script of a job by hand of which no VM is there."""

    job: int = 0
    colleague: bool = False


class SetPolicy(Command, frozen=True, kw_only=True, tag=True):
    """Ops change the policy."""

    change: PolicyChange = PolicyChange.OBSERVE


class Topic(Command, frozen=True, kw_only=True, tag=True):
    """From now on Pub/Sub delivers each notice so many seconds late, or twice."""

    late: int = 0
    twice: bool = False


class Tick(Command, frozen=True, kw_only=True, tag=True):
    """So many minutes pass, in which the Scheduler wakes all functions regularly."""

    minutes: int = 10


class Sweep(Command, frozen=True, kw_only=True, tag=True):
    """One function begins a sweep, with a clock that is off by `skew` seconds, and makes so many calls.

    `about` is the node that its event speaks of; None where it looks at everything.
    """

    function: Function = Function.RECOVER
    about: int | None = None
    skew: int = 0
    calls: int = 1
    changes: bool = False
    then: Then = Then.GO_ON


AnyCommand = (
    Launch
    | Behave
    | End
    | Collapse
    | Gcloud
    | Type
    | Click
    | Namesake
    | Lag
    | HideLog
    | Pace
    | Others
    | Repair
    | Outage
    | Deceive
    | Rewrite
    | Rerun
    | Announce
    | SetPolicy
    | Topic
    | Tick
    | Sweep
    | Preempt
    | FailHost
    | Reboot
    | Stray
    | Stock
    | Hide
    | Forget
    | Forbid
    | Allow
    | RunOut
    | Cheaper
    | Corner
    | SpotRoom
    | Pass
    | Run
)
