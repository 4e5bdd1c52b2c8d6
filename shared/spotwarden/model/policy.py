"""The policy as a whole."""

from collections.abc import Mapping
from typing import Any

import msgspec

from spotwarden.model.governance import GovernanceLimits, Limits, Mode
from spotwarden.model.limits import AdmissionLimits, NotifyLimits, PlacementLimits, RecoveryLimits
from spotwarden.model.rule_limits import (
    ComplianceLimits,
    EarlyStopLimits,
    IdleLimits,
    InstanceCap,
    JobCap,
    LeftoverLimits,
    OrphanLimits,
    OwnerCap,
    StallLimits,
)
from spotwarden.model.threads import Threads

__all__ = ["RULES", "Mode", "Policy", "Team"]

RULES: Mapping[str, type[Limits]] = {
    limits.RULE: limits
    for limits in (
        OrphanLimits,
        LeftoverLimits,
        StallLimits,
        EarlyStopLimits,
        IdleLimits,
        JobCap,
        InstanceCap,
        OwnerCap,
        ComplianceLimits,
    )
}
"""Every rule of governance by its name, which is also the name of its section and of its cases' folder."""


class Team(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who belongs to a team (globs of owners), whom to tell, and which limits are other than the policy's.

    `hook` names a web hook of the settings. Messages to the team tell moments in its `timezone`, and its
    mails share subjects as `threads` says ("" and None: as `notify` has it).
    """

    owners: tuple[str, ...]
    email: str = ""
    hook: str = ""
    timezone: str = ""
    threads: Threads | None = None
    rules: Mapping[str, Mapping[str, Any]] = {}


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a team agreed on; `version` goes into every audit record.

    `ceilings` are how far a team or a job may go beyond the policy, by rule and value.
    """

    version: str
    mode: Mode = Mode.OBSERVE
    recovery: RecoveryLimits = RecoveryLimits()
    placement: PlacementLimits = PlacementLimits()
    admission: AdmissionLimits = AdmissionLimits()
    governance: GovernanceLimits = GovernanceLimits()
    notify: NotifyLimits = NotifyLimits()
    orphan: OrphanLimits = OrphanLimits()
    leftover: LeftoverLimits = LeftoverLimits()
    stall: StallLimits = StallLimits()
    early_stop: EarlyStopLimits = EarlyStopLimits()
    idle: IdleLimits = IdleLimits()
    job_cap: JobCap = JobCap()
    instance_cap: InstanceCap = InstanceCap()
    owner_cap: OwnerCap = OwnerCap()
    compliance: ComplianceLimits = ComplianceLimits()
    teams: Mapping[str, Team] = {}
    ceilings: Mapping[str, Mapping[str, Any]] = {}

    @property
    def tells(self) -> bool:
        """Whether we bring notices to people ourselves: then only what arrived was told."""
        hooks = (self.notify.ops_hook, *(team.hook for team in self.teams.values()))
        return self.notify.email or any(hooks)

    def untold(self) -> "Policy":
        """The same for where nothing is brought to anybody: what was published was told."""
        teams = {name: msgspec.structs.replace(team, hook="") for name, team in self.teams.items()}
        notify = msgspec.structs.replace(self.notify, email=False, ops_hook="")
        return msgspec.structs.replace(self, notify=notify, teams=teams)

    def rule(self, name: str) -> Limits:
        """The limits of a rule, for nobody in particular; `KeyError` where there is none of this name."""
        if name not in RULES:
            raise KeyError(name)
        limits: Limits = getattr(self, name)
        return limits
