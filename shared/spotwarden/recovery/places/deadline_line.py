"""The line to a deadline: a job that is behind it takes an on-demand VM, and comes back to spot by a move.

All of its work, laid evenly over the time from its launch to the deadline, is the line (Uniform Progress, of
Wu et al., "Can't Be Late", NSDI '24). Who waits until only the work is left has no time left for spot when
there is some again. So the line is only for jobs that may come back: an on-demand VM that nobody may move is
taken as late as possible.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from spotwarden.model.facts import JobFacts
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.placement import PlacementRecord, ZoneAvailability, region_of
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.kinds.bounds import time_up, work_left
from spotwarden.recovery.kinds.ladder import ladder_of
from spotwarden.recovery.kinds.machines import remembered
from spotwarden.recovery.kinds.price_limits import prices_in
from spotwarden.recovery.places.movable import hands_over, keeps_work, may_come_back
from spotwarden.recovery.places.placement import Prices

BEHIND = 1.0
"""So many restarts behind the line it no longer waits for spot; chosen on even windows of the traces."""
NEVER = datetime.min.replace(tzinfo=UTC)


def behind(
    *, whole: timedelta, left: timedelta, began: datetime, deadline: datetime, now: datetime
) -> timedelta:
    """How much of the work should have been done by now, and is not; less than nothing where it is ahead."""
    span = deadline - began
    share = min(max((now - began) / span, 0.0), 1.0) if span > timedelta() else 1.0
    return whole * share - (whole - left)


def waits_until(
    *, whole: timedelta, left: timedelta, began: datetime, deadline: datetime, late: timedelta
) -> datetime:
    """The moment up to which it is no more than so `late`; by the deadline everything is due.

    Each hour of work that is left brings it as much nearer as an hour of all the work has to the deadline.
    """
    if whole <= timedelta():
        return deadline
    share = min(max((late + whole - left) / whole, 0.0), 1.0)
    return began + max(deadline - began, timedelta()) * share


def on_demand_for_now(
    facts: JobFacts, places: Sequence[str], policy: Policy, tick: Tick
) -> tuple[str, str] | None:
    """Which of the places gives an on-demand VM to a job that finds no spot VM, and why; None if it waits."""
    launch = facts.launch
    why = why_behind(facts, policy, tick) if places else ""
    if not why or not isinstance(launch, Launch):
        return None
    return aside(places, prices_in(facts, launch, None, spot=False), remembered(facts, launch)), why


def why_behind(facts: JobFacts, policy: Policy, tick: Tick) -> str:
    """Say how far a job is behind its line that finds no spot VM; "" where it waits for one all the same."""
    began, deadline, left = began_at(facts), facts.file.deadline, work_left(facts, tick.now)
    if began is None or deadline is None or left is None or not follows_line(facts, policy):
        return ""
    whole = facts.file.work if facts.file.work is not None else left + time_up(facts, tick.now)
    most = BEHIND * policy.placement.restart_cost
    if tick.now <= waits_until(whole=whole, left=left, began=began, deadline=deadline, late=most):
        return ""
    late = behind(whole=whole, left=left, began=began, deadline=deadline, now=tick.now)
    hours = late / timedelta(hours=1)
    return f"{hours:.1f} h of work behind an even pace to the deadline {deadline:%Y-%m-%d %H:%M} UTC"


def follows_line(facts: JobFacts, policy: Policy) -> bool:
    """Whether a job holds to the line, once it is known how much work is left.

    A ladder says itself what comes when, and on-demand VMs that compliance would stop are no way to catch up.
    """
    may = facts.file.deadline is not None and VmModel.STANDARD not in facts.stopped
    return may and not ladder_of(facts, policy.placement) and comes_back(facts, policy)


def comes_back(facts: JobFacts, policy: Policy) -> bool:
    """Whether a move may bring the job from an on-demand VM back to spot."""
    launch = facts.launch
    zonal = isinstance(launch, Launch) and all(
        choice.place != region_of(choice.place) for choice in launch.choices
    )
    allowed = policy.placement.move and hands_over(facts, policy.recovery)
    return zonal and allowed and may_come_back(facts) and keeps_work(facts)


def began_at(facts: JobFacts) -> datetime | None:
    """When a person last launched it; None where no record tells."""
    by_hand = [
        entry.attempt for entry in facts.ledger if entry.attempt.lost is None and not entry.attempt.bent
    ]
    return by_hand[-1].created if by_hand else None


def aside(places: Sequence[str], prices: Prices, record: PlacementRecord) -> str:
    """Of the places that cost least, the one that had a spot VM longest ago: spot is asked for in the others.

    In the place of its on-demand VM the name is taken, or spot is asked for later than elsewhere
    (`moving.BESIDE`). It stays in the region of the first; a place without a price costs as much as that.
    """
    at_first = prices.get(places[0], 0.0)
    near = [place for place in places if region_of(place) == region_of(places[0])]
    least = min(prices.get(place, at_first) for place in near)
    cheap = [place for place in near if prices.get(place, at_first) == least]

    def had_spot(place: str) -> tuple[datetime, int]:
        known = record.availability.get(place, ZoneAvailability())
        return max(known.given or NEVER, known.taken or NEVER), -places.index(place)

    return min(cheap, key=had_spot)
