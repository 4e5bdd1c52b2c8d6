"""Whether a job's own budget is used up, by its records and the price table: no VM of it need be there."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import NamedTuple

from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.prices import PriceTable, VmKind
from spotwarden.recovery.kinds.becoming import scripted
from spotwarden.recovery.kinds.bounds import life_of
from spotwarden.recovery.kinds.prices import kind_of_launch, price_of
from spotwarden.recovery.kinds.ran_as import on_its_machine, provisioned

HOUR = timedelta(hours=1)


class UsedBudget(NamedTuple):
    """What the job's VMs have cost as far as prices are known, and what they may; both in USD."""

    used: float
    limit: float


def used_budget(facts: JobFacts, launch: Launch, table: PriceTable, now: datetime) -> UsedBudget | None:
    """The budget that leaves nothing for another attempt; None where there is something left, or no budget.

    The limit has on top what the job as its script has it costs in the hours that somebody has granted. A
    job with a `price_per_hour` is counted at that, as `time_left` does.
    """
    budget = facts.file.budget
    if budget is None or facts.file.price_per_hour:
        return None
    usual = price_of(_kind(None, launch), table)
    more = facts.granted / HOUR * len(launch.nodes) * usual.per_hour if usual else 0.0
    found = UsedBudget(used=sum(_costs(facts, launch, table, now)), limit=budget + more)
    return found if found.used >= found.limit else None


def _costs(facts: JobFacts, launch: Launch, table: PriceTable, now: datetime) -> Iterator[float]:
    """Of each attempt that ran and has a known price."""
    attempts = [recorded.attempt for recorded in facts.ledger]
    for attempt, successor in zip_longest(attempts, attempts[1:]):
        life = life_of(attempt, successor)
        price = price_of(_kind(attempt, launch), table)
        if life is not None and price is not None:
            span = max((life.ended or now) - life.started, timedelta())
            yield span / HOUR * len(attempt.instances) * price.per_hour


def _kind(attempt: Attempt | None, launch: Launch) -> VmKind:
    """What each VM of an attempt was, as it was asked for; without an attempt as the script says."""
    asked = attempt.tries[-1] if attempt and attempt.tries else None
    if attempt is None or asked is None:
        return kind_of_launch(launch, launch.place, scripted(launch))
    kind = kind_of_launch(launch, asked.place, provisioned(asked, _scripted(attempt, launch)))
    return on_its_machine(attempt, kind)


def _scripted(attempt: Attempt, launch: Launch) -> str:
    """The provisioning model of the script that it was launched by; of another, the cheapest."""
    same = attempt.script is None or launch.script is None or attempt.script.sha256 == launch.script.sha256
    return scripted(launch) if same else "SPOT"
