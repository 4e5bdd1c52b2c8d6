"""All that `reap_vms` finds: orphans, stalls, trainings for nothing, and leftovers."""

from spotwarden.decide.rules import early_stops, leftovers, orphans, stalls
from spotwarden.decide.rules.reap_words import runs
from spotwarden.model.brief import Brief
from spotwarden.model.finding import Judged
from spotwarden.model.reaping import ReapFacts

RULES = (orphans.RULE, leftovers.RULE, stalls.RULE, early_stops.RULE)


def judge(facts: ReapFacts, brief: Brief) -> Judged:
    """What is true now of every job's VMs, and of what jobs left behind."""
    rules = tuple(one for one in RULES if one != leftovers.RULE or facts.leftovers is not None)
    running = frozenset(one.id for one in facts.machines if runs(one))
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
        fleet=sum(one in facts.whose for one in running),
    )
