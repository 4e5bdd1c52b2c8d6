"""How much one sweep may destroy."""

from collections.abc import Collection

from spotwarden.decide import case_notices
from spotwarden.model.case import Case
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.notice import Notice
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick


def allowed(limits: GovernanceLimits, fleet: int) -> int:
    """So many VMs at most: the count, and the share of the job VMs that run; one is always allowed."""
    return max(1, min(limits.blast_count, int(limits.blast_share * fleet)))


def within(cases: Collection[Case], policy: Policy, fleet: int) -> bool:
    """Whether a sweep may act on all of these. A single job is always allowed: half a gang is no use."""
    one_job = len(cases) == 1 and all(case.subject.job for case in cases)
    wanted = sum(len(case.subject.targets) for case in cases)
    return one_job or wanted <= allowed(policy.governance, fleet)


def too_many(rule: str, cases: Collection[Case], fleet: int, policy: Policy, tick: Tick) -> Notice:
    """What ops are told where a rule wants more than it may."""
    return case_notices.too_many(rule, cases, allowed(policy.governance, fleet), policy, tick)
