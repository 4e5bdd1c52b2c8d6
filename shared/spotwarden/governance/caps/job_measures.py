"""A job's time and money, each against its limit with what was granted on top.

What is granted is hours. A budget grows by what the job's VMs cost in that time.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from spotwarden.governance.caps.facts import JobAttempts
from spotwarden.governance.caps.job_usage import AttemptStay, an_hour, spent, stays
from spotwarden.governance.caps.measures import LimitUse, hours, long
from spotwarden.governance.costs import basis, words
from spotwarden.model.fleet import Machine
from spotwarden.model.prices import PriceTable
from spotwarden.model.rule_limits import JobCap


class JobAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What a job's measures are taken from; `more` are the hours granted, `old` the age of an old price."""

    records: JobAttempts
    machines: tuple[Machine, ...]
    limits: JobCap
    table: PriceTable
    more: float
    now: datetime
    old: timedelta


def is_limited(account: JobAccount) -> bool:
    """Whether anything bounds the job."""
    file, limits = account.records.file, account.limits
    return any(
        span is not None for span in (limits.max_runtime, limits.budget, file.max_runtime, file.budget)
    )


def measures(account: JobAccount) -> list[LimitUse]:
    """Every limit of the job."""
    file, limits = account.records.file, account.limits
    ran = stays(account.records, account.machines, account.now)
    found = []
    bound = least(file.max_runtime, limits.max_runtime)
    if bound is not None:
        found.append(_time(account, ran, bound))
    if limits.budget is not None:
        found.append(_money(account, ran, limits.budget, "cost"))
    if file.budget is not None:
        own = _at_its_price if file.price_per_hour else _money
        found.append(own(account, ran, file.budget, "cost within its own budget"))
    return found


def least(own: timedelta | None, agreed: timedelta | None) -> timedelta | None:
    """The lower of the job's own bound and the policy's; None where there is neither."""
    return min((span for span in (own, agreed) if span is not None), default=None)


def longest(limits: JobCap) -> timedelta | None:
    """How far a job's time can be extended: where the policy does not say, only up to its own bound."""
    return limits.max_runtime if limits.longest is None else limits.longest


def dearest(limits: JobCap) -> float | None:
    """How far a job's budget can be extended: where the policy does not say, only up to its own."""
    return limits.budget if limits.dearest is None else limits.dearest


def extended(bound: float, more: float, most: float | None) -> float:
    """A bound with what was granted on top, and no more than the most; never less than the bound."""
    return bound + more if most is None else max(bound, min(bound + more, most))


def _time(account: JobAccount, ran: Sequence[AttemptStay], bound: timedelta) -> LimitUse:
    most = longest(account.limits)
    used = sum(stay.hours for stay in ran)
    limit = extended(hours(bound), account.more, None if most is None else hours(most))
    return LimitUse(
        what="run time over all attempts",
        used=used,
        limit=limit,
        said=long(used),
        allowed=long(limit),
        plain=hours(bound),
    )


def _money(account: JobAccount, ran: Sequence[AttemptStay], budget: float, what: str) -> LimitUse:
    """By the price table."""
    bill, rate = spent(ran, account.table), an_hour(account.machines, account.table)
    limit = extended(budget, account.more * rate, dearest(account.limits))
    return LimitUse(
        what=what,
        used=bill.amount,
        limit=limit,
        said=f"{words(bill)} ({basis(bill, account.table, account.now, account.old)})",
        allowed=f"${limit:.2f}",
        pace=rate,
        unknown=words(bill) if bill.hours else "",
        plain=budget,
    )


def _at_its_price(account: JobAccount, ran: Sequence[AttemptStay], budget: float, what: str) -> LimitUse:
    """By the price that the job itself has named, in its own currency."""
    price = account.records.file.price_per_hour or 0.0
    used = sum(stay.hours for stay in ran) * price
    limit = budget + account.more * price
    return LimitUse(
        what=what,
        used=used,
        limit=limit,
        said=f"{used:.2f} at {price:g} an hour",
        allowed=f"{limit:.2f}",
        pace=price,
        plain=budget,
    )
