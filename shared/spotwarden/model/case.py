"""A case: an open finding that is being escalated."""

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum

import msgspec

from spotwarden.model.finding import Finding, Subject
from spotwarden.model.governance import Remedy
from spotwarden.model.moment import Moment


class CaseState(Enum):
    """Where a case stands; `governance.cases.escalation` says what may follow what."""

    SUSPECTED = "suspected"
    UNKNOWN = "unknown"
    WARNED = "warned"
    DUE = "due"
    ACTED = "acted"


class Warned(msgspec.Struct, frozen=True, kw_only=True):
    """A warning that was published and accepted. `counts` is false for one that only observed.

    It said that `remedy` would be applied to the VMs `targets`, by id, and not before `due`. `delivered` is
    when it reached somebody, None as long as it is not known to have; `grace` is for how long after that
    nothing is done.
    """

    level: int
    at: Moment
    notice: str
    counts: bool = True
    remedy: Remedy = Remedy.NONE
    targets: tuple[str, ...] = ()
    due: Moment | None = None
    delivered: Moment | None = None
    grace: timedelta | None = None


class Remediation(msgspec.Struct, frozen=True, kw_only=True):
    """One try to act on one VM, written down before it is sent.

    `operation` is "" until Compute Engine has answered, `error` is "" unless the try is known to have failed.
    """

    target: str
    request_id: str
    at: Moment
    operation: str = ""
    error: str = ""


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """What ops were asked to allow, since it is more than a sweep may do by itself, and who has allowed it.

    The notice `notice` asked at `asked` whether `remedy` may be applied to the VMs `targets`, by id, in the
    trouble that began at `since`; it holds for nothing else. `by` is "" until somebody has allowed it, at
    `at`; that counts until `until`.
    """

    notice: str
    asked: Moment
    remedy: Remedy
    targets: tuple[str, ...]
    since: Moment | None = None
    by: str = ""
    at: Moment | None = None
    until: Moment | None = None
    why: str = ""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One case of one rule, first suspected at `opened`; `looked` is the last look at it, `looks` how many.

    `since` is when the trouble itself began, as far as the rule can vouch for it. `keep_until` with `kept_by`
    and `kept_why` are a veto by a person; `extended` is how much more a person has granted, in the unit in
    which the rule counts (hours, or money). `remediations` are the newest try for each target, `failures` how
    often acting has failed in a row, `told` the ids of other notices about it, `labels` the names of those
    that we have put on its VMs, `answered` the ids of the offers that were taken up: none counts twice.
    `title` is what is wrong, as the end of a sentence, "" for the rule's own TITLE.
    `approval` is there where the remedy is for more VMs than a sweep may act upon.
    """

    rule: str
    subject: Subject
    state: CaseState
    opened: Moment
    looked: Moment
    looks: int = 1
    since: Moment | None = None
    reason: str = ""
    title: str = ""
    evidence: Mapping[str, str] = {}
    remedy: Remedy = Remedy.NONE
    due: Moment | None = None
    warnings: tuple[Warned, ...] = ()
    keep_until: Moment | None = None
    kept_by: str = ""
    kept_why: str = ""
    extended: float = 0.0
    remediations: tuple[Remediation, ...] = ()
    failures: int = 0
    told: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    approval: Approval | None = None

    @property
    def key(self) -> str:
        """What names its record, beside the rule."""
        return self.subject.key


class Filed(msgspec.Struct, frozen=True, kw_only=True):
    """A case as it was read, with the generation of its record; 0 means that there is none yet."""

    case: Case
    generation: int


class CaseFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One case in one sweep: as it was read, and what was found this time.

    `finding` is None where the problem is gone; with `hidden` it may only be out of sight, and with `merged`
    its VMs are all in another case of the rule now; `spared` is why nothing is done about that one, "" where
    it is warned of. `there` says that some VM of the case still runs.
    `permitted` says that a second look and the blast radius let the sweep act; `budget` is how many VMs a
    sweep may act upon, where this case alone has more and ops are to be asked, and `most` the same of any
    sweep, where that is known. What this sweep has done already: `told` the ids of notices, with when they
    were accepted,
    `planned` the remedy written down, `closed` the job closed in its ledger, `labelled` and `remediated` (by
    target) the VMs it has been applied to, with how that went.
    """

    rule: str
    key: str
    filed: Filed | None = None
    finding: Finding | None = None
    hidden: bool = False
    merged: bool = False
    spared: str = ""
    there: bool = True
    permitted: bool = False
    budget: int | None = None
    most: int | None = None
    told: Mapping[str, Moment] = {}
    planned: bool = False
    closed: bool = False
    labelled: frozenset[str] = frozenset()
    remediated: Mapping[str, Remediation] = {}

    @property
    def job(self) -> str:
        """What a sweep's log calls it."""
        return f"{self.rule} {self.key}"
