"""Whether a job that runs should run elsewhere: where it costs less, by so much that the move pays.

A move is a hand-over: the VM trains on while its successor boots. It is counted as a whole restart all the
same, and must save `WORTH` times as much until the job's expected end.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import PlacementRecord
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watched
from spotwarden.recovery.kinds.bounds import work_left
from spotwarden.recovery.kinds.ladder import ladder_of
from spotwarden.recovery.kinds.machines import is_on_demand, runs_on
from spotwarden.recovery.kinds.price_limits import prices_in, spot_limit
from spotwarden.recovery.places import placement
from spotwarden.recovery.places.avoiding import avoided, is_avoided
from spotwarden.recovery.places.choosing import why_on_demand
from spotwarden.recovery.places.movable import hands_over, is_movable, keeps_work
from spotwarden.recovery.places.placement import Prices
from spotwarden.recovery.requests.refusals import RefusalKind, lacks_notice, refusal
from spotwarden.recovery.requests.second_name import may_be_beside

WORTH = 2.0
TURNS = 10
"""A running job is looked at in one minute of so many."""
BESIDE = 3
"""A job with several zones goes beside its on-demand VM where nothing befell for so many times `fragile`.

Chosen on even starts of the traces: with one, many lives that it finds there are too short to pay.
"""
REFUSED_FOR = timedelta(days=1)
"""How long a place is not moved to that refused for anything but want of room, which the memory tells."""


class CheaperPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a job should run: what it costs there as spot, and what it costs where it runs, USD an hour."""

    place: str
    price: float
    paid: float


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """What is paid where the job runs, what spot costs elsewhere, USD an hour, and how much work is left.

    Where a second VM may be `beside` the one that runs, spot `here` counts as well.
    """

    here: str
    paid: float
    prices: Prices
    left: timedelta
    beside: bool = False


def cheaper(
    places: Sequence[str],
    record: PlacementRecord,
    now: datetime,
    limits: PlacementLimits,
    bill: Bill,
) -> CheaperPlace | None:
    """The best place to which a move pays; None where the job stays.

    A place counts only if nothing befell our VMs there, and nobody was refused, within `fragile`; beside
    the VM of a job with several zones that is `BESIDE` times as long.
    """
    longer = replace(limits, fragile=limits.fragile * BESIDE) if len(places) > 1 else limits
    for place in placement.order(places, record, now, limits, bill.prices):
        price, quiet = bill.prices.get(place), longer if place == bill.here else limits
        taken = place == bill.here and not bill.beside
        if taken or price is None or not placement.is_quiet(place, record, now, quiet):
            continue
        saved = (bill.paid - price) * (bill.left / timedelta(hours=1))
        restart = (bill.paid + price) * (limits.restart_cost / timedelta(hours=1))
        if saved > WORTH * restart:
            return CheaperPlace(place=place, price=price, paid=bill.paid)
    return None


def has_time(left: timedelta, deadline: datetime | None, now: datetime, limits: PlacementLimits) -> bool:
    """Whether a job could lose its VM right after the move, and still finish in time."""
    return deadline is None or now < placement.move_until(left, deadline, limits)


def destination(facts: JobFacts, policy: Policy, tick: Tick) -> CheaperPlace | None:
    """Where a job that runs should be moved to; None where it stays."""
    newest, launch, limits = facts.newest, facts.launch, policy.placement
    instance = _settled(facts, policy, tick) if facts.may_move else None
    left = work_left(facts, tick.now)
    if newest is None or instance is None or left is None or not isinstance(launch, Launch):
        return None
    if _wants_no_spot(facts, policy, tick) or not has_time(left, facts.file.deadline, tick.now, limits):
        return None
    paid = facts.prices.get(instance.zone, {}).get(model_of(newest, launch))
    if paid is None:
        return None
    return cheaper(
        list(_places(facts, instance, policy, tick)),
        facts.places or PlacementRecord(machine=launch.machine),
        tick.now,
        limits,
        Bill(
            here=instance.zone,
            paid=paid,
            prices=_spot_prices(facts, launch, limits),
            left=left,
            beside=_may_be_beside(facts, newest, instance, policy, tick),
        ),
    )


def _may_be_beside(facts: JobFacts, newest: Attempt, instance: Instance, policy: Policy, tick: Tick) -> bool:
    """Whether a spot VM may stand beside the job's on-demand VM, under its node's other name."""
    zone, choices = instance.zone, facts.launch.choices if isinstance(facts.launch, Launch) else ()
    closed = zone in _refused(facts, tick) or is_avoided(zone, avoided(facts, policy.placement, tick.now))
    allowed = zone in {choice.place for choice in choices} and not closed
    return allowed and is_on_demand(newest) and may_be_beside(facts)


def _wants_no_spot(facts: JobFacts, policy: Policy, tick: Tick) -> bool:
    """Whether something speaks for on-demand now, or its ladder has no spot VM."""
    models = {rung.model for rung in ladder_of(facts, policy.placement)}
    return bool(why_on_demand(facts, policy, tick)) or bool(models and VmModel.SPOT not in models)


def _spot_prices(facts: JobFacts, launch: Launch, limits: PlacementLimits) -> Prices:
    """What spot costs where its ladder does not call that too much."""
    known, most = prices_in(facts, launch, VmModel.SPOT, spot=True), spot_limit(facts, limits)
    return {place: price for place, price in known.items() if most is None or price <= most}


def turns(watches: Sequence[Watched], now: datetime, most: int) -> list[str]:
    """The jobs that may be moved this minute: no more than are left of so many that may be under way."""
    left = most - sum(entry.watch.moving for entry in watches)
    minute = int(now.timestamp() // 60)
    ripe = [entry.watch.job for entry in watches if entry.watch.movable and _is_due(entry.watch.job, minute)]
    span = timedelta(seconds=1)
    return sorted(ripe, key=lambda job: placement.jitter(job, minute, span))[: max(left, 0)]


def _is_due(job: str, minute: int) -> bool:
    return int(placement.jitter(job, 0, timedelta(seconds=TURNS)).total_seconds()) == minute % TURNS


def model_of(newest: Attempt, launch: Launch) -> VmModel:
    """The kind of VM that an attempt runs on: what its newest try asked for, else what the script says."""
    last = newest.tries[-1] if newest.tries else None
    if last and last.model:
        return last.model
    return VmModel.SPOT if (last.spot if last else launch.spot) else VmModel.STANDARD


def _settled(facts: JobFacts, policy: Policy, tick: Tick) -> Instance | None:
    """The VM of a job that could be moved now: it has run for a while, and its job kit tells of it.

    Only the job kit waits for its predecessor: without it both VMs would train.
    """
    newest, limits = facts.newest, policy.placement
    if newest is None or newest.state is not AttemptState.RUNNING or newest.started is None:
        return None
    quiet = not facts.unsure and not facts.namesakes and all(node.marker is None for node in facts.nodes)
    allowed = policy.mode is not Mode.OBSERVE and limits.move and hands_over(facts, policy.recovery)
    if not allowed or not is_movable(facts) or not quiet:
        return None
    if runs_on(facts):
        # What the script's own machine costs elsewhere says little of another one's.
        return None
    if (
        not keeps_work(facts)
        or facts.progress.attempt != newest.number
        or tick.now - newest.started < limits.restart_cost
    ):
        return None
    mine = [item for item in facts.instances if item.id in newest.instances.values()]
    return mine[0] if len(facts.instances) == 1 and mine and mine[0].status is Status.RUNNING else None


def _places(facts: JobFacts, instance: Instance, policy: Policy, tick: Tick) -> Iterator[str]:
    """Where the job runs, then the other places that it may go to and that have not refused it for good."""
    avoid, refused = avoided(facts, policy.placement, tick.now), _refused(facts, tick)
    yield instance.zone
    choices = facts.launch.choices if isinstance(facts.launch, Launch) else ()
    for place in (choice.place for choice in choices):
        if place != instance.zone and place not in refused and not is_avoided(place, avoid):
            yield place


def _refused(facts: JobFacts, tick: Tick) -> set[str]:
    """The places that have refused the job for good lately."""
    return {
        tried.place
        for recorded in facts.ledger
        for tried in recorded.attempt.tries
        if tried.error
        and not lacks_notice(tried)
        and refusal(tried.error) is not RefusalKind.STOCKOUT
        and tick.now - tried.last_word < REFUSED_FOR
    }
