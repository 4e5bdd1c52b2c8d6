"""What a rule finds about one VM or job, before anybody thinks of what to do about it."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum

import msgspec

from spotwarden.model.governance import Limits
from spotwarden.model.moment import Moment
from spotwarden.model.slices import SliceGroup


class Reading(Enum):
    """A rule's verdict. What nobody knows never leads to an action."""

    BAD = "bad"
    UNKNOWN = "unknown"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A VM that the remedy is for. A stop discards the data on its `local_ssds`.

    Nothing is done to one that has a `manager`, who would make it anew. `ends` is when Compute Engine ends it
    whatever we do: it takes no other run time for a VM that runs (Google: "instances.setScheduling").
    A preemption may delete one that is `spot`, with its disks, even while it stops.
    `group` is the group of the TPU slice that it is a part of, which goes as one; None for any other VM.
    """

    id: str
    name: str
    zone: str
    local_ssds: int = 0
    manager: str = ""
    ends: Moment | None = None
    group: SliceGroup | None = None
    spot: bool = False

    @property
    def unit(self) -> str:
        """The id of what a remedy is sent for: of its slice's group, else its own."""
        return self.group.id if self.group else self.id


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a finding is about. `key` names its case: an instance id, a job, or an owner made safe.

    `targets` are the VMs that the remedy would be for, none where only a person can help. `ours` is false
    for a VM that is no job's: it is told about and never touched.
    """

    key: str
    job: str = ""
    owner: str = ""
    targets: tuple[Target, ...] = ()
    ours: bool = True


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something is wrong, or nobody can know. A rule that is content finds nothing.

    `level` is how many of the rule's warnings its own measure calls for by now (0 only keeps its case open),
    `ripe` that it calls for the remedy. `reason` is one sentence for a person, `evidence` the figures behind
    it, `todo` what the owner can do. `exempt` says why nothing may be done, "" where it may; `since` is when
    the trouble began, `due` when the measure will be ripe if nothing changes. `limits` are those that hold
    for this subject. `title` is what is wrong, as the end of a sentence, where that is not the rule's own
    TITLE. `labels` are put on the targets once a warning was told, and taken off when the case is
    cleared.
    """

    rule: str
    subject: Subject
    reading: Reading = Reading.BAD
    reason: str
    todo: str = ""
    evidence: Mapping[str, str] = {}
    level: int = 1
    ripe: bool = False
    since: datetime | None = None
    due: datetime | None = None
    exempt: str = ""
    limits: Limits = Limits()
    title: str = ""
    labels: Mapping[str, str] = {}


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """All that a sweep's rules found. Of a case that no finding is about, `hidden` may hide the subject.

    `rules` are the names of the rules that were judged at all: a case of another rule is left alone.
    `hidden` are zones, or `project`, of which the facts are not complete; `present` the ids of the VMs seen
    running; `fleet` counts the job VMs that run, for the share of the blast radius. A sweep that was woken
    for one VM is not `whole`: what it has not found says nothing. `repaired` are the ids of VMs that Compute
    Engine repairs, or of which no metrics could be read: a case about one waits until that is over.
    """

    rules: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    hidden: tuple[str, ...] = ()
    present: frozenset[str] = frozenset()
    fleet: int = 0
    whole: bool = True
    repaired: frozenset[str] = frozenset()
