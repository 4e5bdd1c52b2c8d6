"""How much one sweep may destroy."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from spotwarden.governance.cases import notices
from spotwarden.model.case import Case
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.notice import Notice
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick


class Portion(msgspec.Struct, frozen=True, kw_only=True):
    """What one sweep may do of what is due; `stopped` are the cases of rules that wanted too much."""

    allowed: tuple[Case, ...] = ()
    stopped: Mapping[str, tuple[Case, ...]] = {}


def allowed(limits: GovernanceLimits, fleet: int) -> int:
    """So many VMs at most: the count, and the share of the job VMs that run, in a small project a few."""
    return min(limits.blast_count, max(limits.blast_least, int(limits.blast_share * fleet)))


def portion(rules: Sequence[str], cases: Collection[Case], policy: Policy, fleet: int) -> Portion:
    """What a sweep may do, rule by rule in this order; a rule that wants more than is left does nothing."""
    done: tuple[Case, ...] = ()
    stopped: dict[str, tuple[Case, ...]] = {}
    for rule in rules:
        mine = tuple(case for case in cases if case.rule == rule)
        if _within((*done, *mine), policy, fleet):
            done = (*done, *mine)
        elif mine:
            stopped[rule] = mine
    return Portion(allowed=done, stopped=stopped)


def _within(cases: Collection[Case], policy: Policy, fleet: int) -> bool:
    """Whether a sweep may act on all of these. A single job is always allowed: half a gang is no use.

    A disk that is left over is no part of the fleet, so only the count holds for it.
    """
    limits = policy.governance
    one_job = len(cases) == 1 and all(case.subject.job for case in cases)
    targets = {target.id: target for case in cases for target in case.subject.targets}
    vms = [target for target in targets.values() if target.zone]
    return one_job or (len(vms) <= allowed(limits, fleet) and len(targets) <= limits.blast_count)


def too_many(rule: str, cases: Collection[Case], fleet: int, policy: Policy, tick: Tick) -> Notice:
    """What ops are told where a rule wants more than it may."""
    return notices.too_many(rule, cases, allowed(policy.governance, fleet), policy, tick)
