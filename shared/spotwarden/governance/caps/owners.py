"""Caps on what the VMs of one owner use in a day, a week and a month, and at once.

Where the policy has the owner's VMs stopped, these are whole jobs, the newest first: all of them once a
period's share is used up, or only as many as it takes until no more GPUs run than may.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import cast

from msgspec.structs import replace

from spotwarden.governance.caps.facts import CapFacts, JobAttempts
from spotwarden.governance.caps.findings import judged, misdated, spared, targets, unknown, up_since
from spotwarden.governance.caps.measures import LimitUse, in_words, is_full
from spotwarden.governance.caps.usage import DAY, bounds_of, month_of, week_of
from spotwarden.governance.costs import basis, bill, kind_of, words
from spotwarden.model import precedence
from spotwarden.model.brief import Brief
from spotwarden.model.exemptions import exempt
from spotwarden.model.finding import Finding, Subject
from spotwarden.model.fleet import Machine
from spotwarden.model.jobfile import JobFile
from spotwarden.model.prices import PriceTable
from spotwarden.model.rule_limits import OwnerCap
from spotwarden.model.usage import Spent

OWNER = "owner_cap"
GPU_HOURS, MONEY, AT_ONCE = "GPU-hours", "money", "GPUs at once"
SECONDS = 3600
Jobs = Mapping[str, Sequence[Machine]]


def of_owner(
    owner: str, jobs: Jobs, spent: Mapping[date, Sequence[Spent]], facts: CapFacts, brief: Brief
) -> Finding | None:
    """What is to be said about an owner; `jobs` are theirs that have VMs running, `spent` their days."""
    limits = cast("OwnerCap", precedence.limits(brief.policy, OWNER, owner=owner))
    machines = [item for mine in jobs.values() for item in mine]
    found = [
        *_hours(limits, spent, machines, brief.tick.now),
        *_money(limits, spent, machines, facts.prices, brief),
    ]
    found += _at_once(limits, machines)
    if not found:
        return None
    plain = Finding(
        rule=OWNER,
        subject=Subject(key=facts.keys.get(owner, ""), owner=owner),
        reason="",
        todo="stop what you don't need, or ask ops to raise the limit in the policy",
        exempt=exempt(brief.policy, OWNER, brief.tick, labels={}, owner=owner, job_file=JobFile()),
        limits=limits,
    )
    if why := misdated(machines, brief):
        return unknown(plain, why)
    finding = judged(plain, found, limits.warn, brief, owner)
    if finding is None:
        return None
    chosen = _chosen(found, limits, jobs, facts, brief) if finding.ripe else []
    # At what pace the share was used up is not known, so neither is since when it is. What was warned of
    # before a VM was started is past.
    began = max(map(up_since, chosen), default=None)
    return replace(finding, since=began, subject=replace(plain.subject, targets=targets(chosen)))


def _periods(now: datetime) -> tuple[tuple[str, date, date], ...]:
    """Today, this week and this month: name, first day, and the day on which it is over."""
    today = now.date()
    month = month_of(today)
    after = month_of(month + 31 * DAY)
    week = week_of(today)
    return (("day", today, today + DAY), ("week", week, week + 7 * DAY), ("month", month, after))


def _in(spent: Mapping[date, Sequence[Spent]], first: date) -> list[Spent]:
    return [item for day, mine in spent.items() if day >= first for item in mine]


def _hours(
    limits: OwnerCap, spent: Mapping[date, Sequence[Spent]], machines: Sequence[Machine], now: datetime
) -> Iterator[LimitUse]:
    bounds = {"day": limits.gpu_hours_day, "week": limits.gpu_hours_week, "month": limits.gpu_hours_month}
    for name, first, end in _periods(now):
        if (limit := bounds[name]) is None:
            continue
        used = sum(item.seconds * item.kind.gpus for item in _in(spent, first)) / SECONDS
        measure = LimitUse(
            what=f"{GPU_HOURS} this {name}",
            used=used,
            limit=limit,
            said=in_words(used, "GPU-hours"),
            allowed=in_words(limit, "GPU-hours"),
            pace=float(sum(machine.gpus for machine in machines)),
            ends=bounds_of(end)[0],
        )
        yield measure


def _money(
    limits: OwnerCap,
    spent: Mapping[date, Sequence[Spent]],
    machines: Sequence[Machine],
    table: PriceTable,
    brief: Brief,
) -> Iterator[LimitUse]:
    bounds = {"day": limits.money_day, "week": limits.money_week, "month": limits.money_month}
    now = brief.tick.now
    for name, first, end in _periods(now):
        if (limit := bounds[name]) is None:
            continue
        cost = bill(((item.kind, item.seconds / SECONDS) for item in _in(spent, first)), table)
        known = basis(cost, table, now, brief.policy.governance.prices_old)
        measure = LimitUse(
            what=f"{MONEY} this {name}",
            used=cost.amount,
            limit=limit,
            said=f"{words(cost)} ({known})",
            allowed=f"${limit:.2f}",
            pace=bill(((kind_of(machine), 1.0) for machine in machines), table).amount,
            unknown=words(cost) if cost.hours else "",
            ends=bounds_of(end)[0],
        )
        yield measure


def _at_once(limits: OwnerCap, machines: Sequence[Machine]) -> Iterator[LimitUse]:
    """Exactly as many GPUs as may run are no trouble, and nothing to be warned of."""
    used, limit = sum(machine.gpus for machine in machines), limits.concurrent_gpus
    if limit is not None and used > limit:
        yield LimitUse(
            what=AT_ONCE, used=used, limit=limit, said=f"{used} GPUs", allowed=f"{limit} GPUs", pace=0
        )


def _chosen(
    found: Sequence[LimitUse], limits: OwnerCap, jobs: Jobs, facts: CapFacts, brief: Brief
) -> list[Machine]:
    """The VMs that the remedy would be for: of whole jobs, the newest first, none that is exempt."""
    full = {match.what for match in found if is_full(match.share)}
    money = any(what.startswith(MONEY) for what in full)
    most = (limits.concurrent_gpus or 0) if full == {AT_ONCE} else 0
    running = sum(item.gpus for mine in jobs.values() for item in mine)
    chosen: list[Machine] = []
    for job, mine in sorted(
        jobs.items(), key=lambda candidate: max(map(up_since, candidate[1])), reverse=True
    ):
        gpus = sum(item.gpus for item in mine)
        counts = money or (gpus and running > most)
        if counts and not spared(OWNER, mine, facts.records.get(job, JobAttempts()), brief):
            chosen += mine
            running -= gpus
    return chosen
