"""How much one sweep may destroy."""

from collections.abc import Sequence

from spotwarden.model.case import Case
from spotwarden.model.governance import GovernanceLimits


def allowed(limits: GovernanceLimits, fleet: int) -> int:
    """So many VMs at most: the count, and the share of the job VMs that run; one is always allowed."""
    return max(1, min(limits.blast_count, int(limits.blast_share * fleet)))


def within(cases: Sequence[Case], limits: GovernanceLimits, fleet: int) -> bool:
    """Whether a sweep may act on all of these. A single job is always allowed: half a gang is no use."""
    one_job = len(cases) == 1 and bool(cases[0].subject.job)
    return one_job or sum(len(case.subject.targets) for case in cases) <= allowed(limits, fleet)
