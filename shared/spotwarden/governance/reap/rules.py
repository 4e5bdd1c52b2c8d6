"""All that `reap_vms` finds: orphans, stalls, trainings for nothing, and leftovers."""

from spotwarden.governance.early_stop import rule as early_stops
from spotwarden.governance.leftovers import rule as leftovers
from spotwarden.governance.orphans import rule as orphans
from spotwarden.governance.signals.facts import ReapFacts
from spotwarden.governance.signals.text import runs
from spotwarden.governance.stalls import rule as stalls
from spotwarden.model.brief import Brief
from spotwarden.model.finding import Judged

NAMES = (orphans.RULE, leftovers.RULE, stalls.RULE, early_stops.RULE)


def judge(facts: ReapFacts, brief: Brief) -> Judged:
    """What is true now of every job's VMs, and of what jobs left behind."""
    rules = tuple(name for name in NAMES if name != leftovers.RULE or facts.leftovers is not None)
    running = frozenset(machine.id for machine in facts.machines if runs(machine))
    return Judged(
        rules=rules,
        findings=(
            *orphans.judge(facts, brief),
            *stalls.judge(facts, brief),
            *early_stops.judge(facts, brief),
            *leftovers.judge(facts, brief),
        ),
        hidden=facts.unreachable,
        present=running,
        fleet=sum(item in facts.whose for item in running),
    )
