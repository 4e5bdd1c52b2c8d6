"""A back-test in figures."""

from collections.abc import Iterable

from spotwarden.governance.backtest.model import Replayed, ReplayedRemedy, Sum
from spotwarden.governance.costs import bill, kind_of, words
from spotwarden.model.prices import PriceTable


def sums(replayed: Replayed, prices: PriceTable) -> list[Sum]:
    """One row for each rule that found anything, by name."""
    rules = {*replayed.cases, *replayed.clouded, *(told.rule for told in replayed.told)}
    return [_sum(replayed, rule, prices) for rule in sorted(rules)]


def _sum(replayed: Replayed, rule: str, prices: PriceTable) -> Sum:
    remedies = [remedy for remedy in replayed.remedies if remedy.rule == rule]
    saved = [remedy for remedy in remedies if not remedy.wrong and remedy.machine is not None]
    return Sum(
        rule=rule,
        cases=replayed.cases.get(rule, 0),
        unknown=replayed.clouded.get(rule, 0),
        told=sum(told.rule == rule for told in replayed.told),
        remedies=len(remedies),
        wrong=sum(remedy.wrong for remedy in remedies),
        stopped=sum(stopped.rule == rule for stopped in replayed.stopped),
        vm_hours=sum(remedy.hours for remedy in saved),
        gpu_hours=sum(remedy.hours * remedy.machine.gpus for remedy in saved if remedy.machine),
        money=_money(saved, prices),
    )


def _money(saved: Iterable[ReplayedRemedy], prices: PriceTable) -> str:
    spans = [(kind_of(remedy.machine), remedy.hours) for remedy in saved if remedy.machine and remedy.hours]
    if not spans:
        return ""
    cost = bill(spans, prices)
    return words(cost) if cost.oldest else "unknown: no price"
