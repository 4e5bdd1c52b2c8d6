"""A sweep of `check_compliance`."""

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.governance.compliance.gather import gather
from spotwarden.governance.compliance.rule import NAMES, judge
from spotwarden.governance.sweep import SweptRules, govern

RULES = SweptRules(names=NAMES, gather=gather, judge=judge)


def sweep(context: SweepContext) -> Swept:
    """Gather, judge, warn, gather again, act; one bad VM or job never stops the others."""
    return govern(context, RULES)
