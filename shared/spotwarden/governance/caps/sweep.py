"""A sweep of `cap_runtime`."""

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.governance.caps.gather import gather
from spotwarden.governance.caps.rule import NAMES, judge
from spotwarden.governance.sweep import SweptRules, govern

RULES = SweptRules(names=NAMES, gather=gather, judge=judge, watches=True)


def sweep(context: SweepContext) -> Swept:
    """Gather, judge, warn, gather again, act; one bad VM or job never stops the others."""
    return govern(context, RULES)
