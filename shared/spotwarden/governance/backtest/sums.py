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
    deeds = [deed for deed in replayed.deeds if deed.rule == rule]
    saved = [deed for deed in deeds if not deed.wrong and deed.machine is not None]
    return Sum(
        rule=rule,
        cases=replayed.cases.get(rule, 0),
        unknown=replayed.clouded.get(rule, 0),
        told=sum(told.rule == rule for told in replayed.told),
        deeds=len(deeds),
        wrong=sum(deed.wrong for deed in deeds),
        stopped=sum(one.rule == rule for one in replayed.stopped),
        vm_hours=sum(deed.hours for deed in saved),
        gpu_hours=sum(deed.hours * deed.machine.gpus for deed in saved if deed.machine),
        money=_money(saved, prices),
    )


def _money(saved: Iterable[ReplayedRemedy], prices: PriceTable) -> str:
    spans = [(kind_of(deed.machine), deed.hours) for deed in saved if deed.machine and deed.hours]
    if not spans:
        return ""
    cost = bill(spans, prices)
    return words(cost) if cost.oldest else "unknown: no price"
