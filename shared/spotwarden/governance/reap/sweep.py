"""A sweep of `reap_vms`."""

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.governance.reap.gather import gather
from spotwarden.governance.reap.rules import NAMES, judge
from spotwarden.governance.sweep import SweptRules, govern

RULES = SweptRules(names=NAMES, gather=gather, judge=judge, watches=True)


def sweep(context: SweepContext) -> Swept:
    """Gather, judge, warn, gather again, act; one bad VM or job never stops the others."""
    return govern(context, RULES)
