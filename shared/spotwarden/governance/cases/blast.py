"""How much one sweep may destroy: a budget that throttles. What it has no room for waits, or is asked for."""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from spotwarden.governance.cases import ops_notices
from spotwarden.governance.cases.approval import is_approved
from spotwarden.governance.units import some_slices
from spotwarden.model.case import Case
from spotwarden.model.finding import Target
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.notice import Notice
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick


class Portion(msgspec.Struct, frozen=True, kw_only=True):
    """What one sweep does of what is due.

    `allowed` is acted upon now, of which `approved` by somebody's word; `waiting` has no room in this sweep;
    `unapproved` is each more than the whole `budget`, and waits for an approval. `spent` is how much of the
    budget is used then.
    """

    budget: int
    spent: int = 0
    allowed: tuple[Case, ...] = ()
    approved: tuple[Case, ...] = ()
    waiting: tuple[Case, ...] = ()
    unapproved: tuple[Case, ...] = ()


class _Room:
    """How many more VMs, and how many more targets of any kind, a sweep may act upon."""

    def __init__(self, budget: int, count: int, spent: int = 0) -> None:
        self._budget, self._count = budget - spent, count - spent
        self._taken: dict[str, Target] = {}

    def fits(self, case: Case) -> bool:
        """Whether there is room for all of its targets; a VM that is acted upon anyway takes none.

        A disk that is left over is no part of the fleet, so only the count holds for it.
        """
        wanted = {**self._taken, **{target.id: target for target in case.subject.targets}}
        vms = sum(bool(target.zone) for target in wanted.values())
        return vms <= self._budget and len(wanted) <= self._count

    def take(self, case: Case) -> None:
        """Leave so much less room."""
        self._taken |= {target.id: target for target in case.subject.targets}

    @property
    def taken(self) -> int:
        """How many targets of any kind have been taken."""
        return len(self._taken)


def allowed(limits: GovernanceLimits, fleet: int) -> int:
    """So many VMs at most: the count, and the share of the job VMs that run, in a small project a few."""
    return min(limits.blast_count, max(limits.blast_least, int(limits.blast_share * fleet)))


def portion(
    rules: Sequence[str],
    cases: Collection[Case],
    policy: Policy,
    fleet: int,
    now: datetime,
    *,
    spent: int = 0,
) -> Portion:
    """What a sweep does of what is due: whole cases, the most certain and most harmless first.

    `rules` stand in the order of how certain they are. A case that was approved takes no room from others,
    what was `spent` just before does.
    """
    budget = allowed(policy.governance, fleet)
    whole = _Room(budget, policy.governance.blast_count)
    room = _Room(budget, policy.governance.blast_count, spent)
    done: list[Case] = []
    approved: list[Case] = []
    waiting: list[Case] = []
    unapproved: list[Case] = []
    for case in sorted(cases, key=lambda case: _order(case, rules)):
        if not whole.fits(case):
            (approved if is_approved(case, now) else unapproved).append(case)
        elif room.fits(case):
            room.take(case)
            done.append(case)
        else:
            waiting.append(case)
    return Portion(
        budget=budget,
        spent=spent + room.taken,
        allowed=(*approved, *done),
        approved=tuple(approved),
        waiting=tuple(waiting),
        unapproved=tuple(unapproved),
    )


def _order(case: Case, rules: Sequence[str]) -> tuple[int, int, datetime, str]:
    """The most certain rule first, then what can be undone, then what has been known for longest."""
    return rules.index(case.rule), _harm(case), case.opened, case.key


def _harm(case: Case) -> int:
    """What cannot be undone: nothing of a stop that keeps all disks, the whole VM of a delete."""
    if case.remedy is Remedy.DELETE or some_slices(case.subject.targets):
        return 2
    return int(any(target.local_ssds for target in case.subject.targets))


def waits(found: Portion, policy: Policy, tick: Tick) -> Notice:
    """What ops are told, once, where more is due than one sweep may act upon."""
    return ops_notices.waiting(found.waiting, found.budget, policy, tick)
