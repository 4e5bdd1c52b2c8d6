"""Which of the places that may be asked comes next, and for what."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from spotwarden.model.attempt import Attempt, Try, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.placement import PlacementRecord, region_of
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.kinds.bounds import work_left
from spotwarden.recovery.kinds.ladder import from_now_on, ladder_of
from spotwarden.recovery.kinds.machines import remembered, said
from spotwarden.recovery.kinds.price_limits import affordable, by_price, prices_in
from spotwarden.recovery.observed.fates import Fate
from spotwarden.recovery.places import placement
from spotwarden.recovery.places.avoiding import avoided, is_avoided
from spotwarden.recovery.places.deadline_line import on_demand_for_now
from spotwarden.recovery.places.usable_places import (
    OWN,
    MadeAs,
    kept_instance,
    starts,
    usable,
    useless_start,
)
from spotwarden.recovery.requests.refusals import RefusalKind, elsewhere, lacks_notice, refusal
from spotwarden.recovery.requests.second_name import may_be_beside


class Choosing(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of which place; `why` is "" unless it is worth a word, as `advice` on the place is."""

    place: str
    kind: TryKind
    spot: bool
    why: str = ""
    advice: str = ""
    model: VmModel | None = None
    machine: str = ""


def choose(
    facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick, *, waited: bool, least: int = 0
) -> Choosing | None:
    """The next place, None where none is open now; after a back-off that was `waited` out there is one.

    `attempt` already tells how its newest try failed. None as well where every place is useless. Of a gang
    that bends, `least` is how many nodes are asked for at least: who refused all of them may have some.
    """
    if kept := _kept_to_start(facts, attempt, policy, tick, waited=waited):
        return kept
    model, places = _open_places(facts, attempt, policy, tick)
    if not isinstance(facts.launch, Launch) or not places:
        return None
    why = why_on_demand(facts, policy, tick) if facts.launch.spot or model else ""
    asked = Choosing(
        place="",
        kind=TryKind.CREATE,
        spot=not why if model is None else model is VmModel.SPOT,
        why=why,
        model=model,
    )
    # All places of one machine type come before the next one.
    options = [(machine, place) for machine, some in places.items() for place in some]
    for launch in by_price(facts, model, spot=asked.spot, places=options):
        made = MadeAs(model=model, machine=said(facts, launch), least=least)
        fresh = [
            place
            for place in places.get(made.machine, ())
            if not _asked_lately(attempt, place, policy, tick, spot=asked.spot, made=made)
        ]
        if found := _best(facts, attempt, launch, fresh, asked, policy=policy, tick=tick):
            return found
    if on_demand := _on_the_line(facts, attempt, asked, places.get("", ()), policy=policy, tick=tick):
        return on_demand
    if not waited:
        return None
    machine, place = min(options, key=lambda option: _last_asked(attempt, option, tick))
    return msgspec.structs.replace(asked, place=place, machine=machine)


def _best(
    facts: JobFacts,
    attempt: Attempt,
    launch: Launch,
    fresh: Sequence[str],
    asked: Choosing,
    *,
    policy: Policy,
    tick: Tick,
) -> Choosing | None:
    """The best of these places for this machine type that may be asked now; None where none may."""
    machine, spot = said(facts, launch), asked.spot
    # What places did to spot VMs says nothing about on-demand ones.
    availability = remembered(facts, launch) if spot else PlacementRecord(machine=launch.machine)
    prices = prices_in(facts, launch, asked.model, spot=spot)
    known = (fresh, availability, tick.now, policy.placement, prices)
    if not fresh or not (ordered := placement.order(*known)):
        return None
    named = _named(attempt, machine, policy, tick)
    place = min(ordered, key=lambda place: place not in named)
    advice = placement.why_there(*known) if place == ordered[0] else ""
    return msgspec.structs.replace(asked, place=place, machine=machine, advice=advice)


def _on_the_line(
    facts: JobFacts, attempt: Attempt, asked: Choosing, places: Sequence[str], *, policy: Policy, tick: Tick
) -> Choosing | None:
    """An on-demand VM for a job that finds no spot VM, is behind its line, and may come back; else None."""
    alone = len(places) <= 1 and not may_be_beside(facts)
    if not asked.spot or asked.model or alone or VmModel.STANDARD in facts.stopped:
        return None
    fresh = [place for place in places if not _asked_lately(attempt, place, policy, tick, spot=False)]
    found = on_demand_for_now(facts, fresh, policy, tick)
    return msgspec.structs.replace(asked, place=found[0], spot=False, why=found[1]) if found else None


def _open_places(
    facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick
) -> tuple[VmModel | None, dict[str, list[str]]]:
    """The kind of VM that is asked for now, and the places that are not avoided, by machine type."""
    avoid = avoided(facts, policy.placement, tick.now)
    model, usable_places = _model(facts, attempt, policy, tick)
    kept = {
        machine: [place for place in places if not is_avoided(place, avoid)]
        for machine, places in usable_places.items()
    }
    return model, {machine: places for machine, places in kept.items() if places}


def _kept_to_start(
    facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick, *, waited: bool
) -> Choosing | None:
    """The start of the stopped VM in place, where that is tried first."""
    kept = kept_instance(facts, attempt)
    if kept is None or is_avoided(kept.zone, avoided(facts, policy.placement, tick.now)):
        return None
    was = _made_as(facts, kept)
    if not waited and _asked_lately(attempt, kept.zone, policy, tick, made=was):
        return None
    tried_enough = starts(attempt) >= policy.recovery.start_tries
    if useless_start(attempt) or (tried_enough and _open_places(facts, attempt, policy, tick)[1]):
        return None
    return Choosing(place=kept.zone, kind=TryKind.START, spot=True, model=was.model, machine=was.machine)


def _model(
    facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick
) -> tuple[VmModel | None, dict[str, list[str]]]:
    """The kind of VM that a ladder asks for now, with the places that may give it; None without a ladder.

    A reason for on-demand VMs comes before the ladder. A kind is passed over that every place refuses for
    good, or that costs too much in each.
    """
    ladder = ladder_of(facts, policy.placement)
    if not ladder:
        return None, usable(facts, attempt)
    if why_on_demand(facts, policy, tick):
        return VmModel.STANDARD, usable(facts, attempt, VmModel.STANDARD)
    for rung in from_now_on(ladder, tick.now - attempt.created):
        if places := affordable(facts, rung, usable(facts, attempt, rung.model)):
            return rung.model, places
    return ladder[-1].model, {}


def _made_as(facts: JobFacts, kept: Instance) -> MadeAs:
    """What the instance was asked for as when it was made: a start does not change it."""
    made = [item.attempt for item in facts.ledger if kept.id in item.attempt.instances.values()]
    last = made[-1].tries[-1] if made and made[-1].tries else None
    return MadeAs(model=last.model, machine=last.machine) if last else MadeAs()


def _asked_lately(
    attempt: Attempt,
    place: str,
    policy: Policy,
    tick: Tick,
    *,
    spot: bool = True,
    made: MadeAs = OWN,
) -> bool:
    """Whether the place refused the like to this attempt within the block, or its region has no quota."""
    block = policy.placement.block
    recent = [
        tried
        for tried in attempt.tries
        if tried.error
        and not lacks_notice(tried)
        and (tried.spot, tried.model, tried.machine, tried.least)
        == (spot, made.model, made.machine, made.least)
        and tick.now - tried.last_word < block
    ]
    return any(
        item.place == place
        or (refusal(item.error) is RefusalKind.QUOTA and region_of(item.place) == region_of(place))
        for item in recent
    )


def _named(attempt: Attempt, machine: str, policy: Policy, tick: Tick) -> frozenset[str]:
    """The zones that the newest refusal of this attempt has named as having room, while that is news."""
    tries = [tried for tried in attempt.tries if tried.machine == machine]
    last = tries[-1] if tries else None
    fresh = last is not None and tick.now - last.last_word < policy.placement.block
    return elsewhere(last.error) if last and fresh else frozenset()


def _last_asked(attempt: Attempt, option: tuple[str, str], tick: Tick) -> tuple[datetime, int]:
    """The place that was asked longest ago comes first, those that never were before all others."""
    tries: list[Try] = [tried for tried in attempt.tries if (tried.machine, tried.place) == option]
    return (tries[-1].at, 1) if tries else (tick.now - timedelta(days=365), 0)


def why_on_demand(facts: JobFacts, policy: Policy, tick: Tick) -> str:
    """Say why the job should not run on spot now; "" where it should, or would be stopped on demand."""
    if VmModel.STANDARD in facts.stopped:
        return ""
    file, limits = facts.file, policy.placement
    if file.on_demand_after is not None:
        limits = msgspec.structs.replace(limits, on_demand_after=file.on_demand_after)
    return placement.why_on_demand(
        preemptions=sum(
            fact.attempt.fate == Fate.PREEMPTED.value and not fact.attempt.bent for fact in facts.ledger
        ),
        remaining=work_left(facts, tick.now),
        deadline=file.deadline,
        now=tick.now,
        limits=limits,
    )
