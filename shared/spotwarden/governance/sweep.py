"""A sweep of governance: look, judge, escalate each case, and look again before anything is destroyed.

The cases are read before the facts, so that these are never older than what they are held against. A veto
that is written meanwhile makes a new generation of its case, and the sweep loses it.
"""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from functools import partial
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import replace

from spotwarden.engine.advance import step_by_step
from spotwarden.engine.executor import Applier
from spotwarden.engine.fan_out import Each, Swept, each, swept
from spotwarden.engine.log import log
from spotwarden.engine.metrics import pulse
from spotwarden.engine.settings import Settings
from spotwarden.engine.turn import Taken, end_turn, take_turn
from spotwarden.governance.cases.deliveries import with_deliveries
from spotwarden.governance.cases.store import read_cases
from spotwarden.governance.last_sweeps import Silent, last_sweeps
from spotwarden.governance.pace import too_many
from spotwarden.governance.recording import record
from spotwarden.governance.signals.steady import check_clock, check_event_clock, steady_since, with_steady
from spotwarden.model.action import CaseStep, FileCase, Ripe, Tell, Wait
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case, CaseFacts
from spotwarden.model.escalation import Escalation
from spotwarden.model.finding import Judged, Subject
from spotwarden.model.outcome import Done
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud

Facts = TypeVar("Facts", bound=msgspec.Struct)
Moved = Ripe | Wait | CaseFacts


class Duty(msgspec.Struct, frozen=True, kw_only=True):
    """What one sweep of governance works with."""

    cloud: Cloud
    settings: Settings
    policy: Policy
    tick: Tick
    applier: Applier

    @classmethod
    def open(cls, cloud: Cloud, settings: Settings, policy: Policy, tick: Tick) -> "Duty":
        """Everything for one sweep."""
        pulse().watch(cloud.calls)
        applier = Applier(cloud, settings.layout, policy, tick)
        return cls(cloud=cloud, settings=settings, policy=policy, tick=tick, applier=applier)


class Governed(msgspec.Struct, Generic[Facts], frozen=True, kw_only=True):
    """What makes one function of governance: which rules, what it looks at, how it judges.

    `look` gathers the facts of everything, or of the VMs of these ids alone; `judge` is pure. `silent` makes
    it one of those that look after the other functions.
    """

    rules: tuple[str, ...]
    look: Callable[[Duty, Collection[str]], Facts]
    judge: Callable[[Facts, Brief], Judged]
    escalation: Escalation
    silent: Silent | None = None


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """One look, judged: what was found about each case. One that cannot be read is left alone, and told."""

    judged: Judged
    cases: tuple[CaseFacts, ...]
    broken: tuple[Exception, ...]


def govern(duty: Duty, governed: Governed[Facts]) -> Swept:
    """One sweep. An event's looks at its own VM and never acts: the next tick does, with all in view."""
    if duty.tick.about and too_many(duty.tick):
        return swept([Wait(reason="many VMs are made at once: the next tick looks at all", soon=False)], ())
    if duty.tick.about:
        sight = _look(duty, governed, duty.tick.now)
        if any(one.finding for one in sight.cases):
            skew = duty.policy.governance.clock_skew
            check_event_clock(duty.cloud.store, duty.settings.layout, duty.tick, skew)
        moved = _escalate(duty, governed, sight.cases)
        return swept(_waits(moved), [*sight.broken, *moved.failures])
    store, layout = duty.cloud.store, duty.settings.layout
    taken = take_turn(store, layout, duty.tick)
    if taken is None:
        return swept([Wait(reason="another sweep looks at everything", soon=False)], ())
    check_clock(store, layout, taken, duty.tick, duty.policy.governance.clock_skew)
    return _sweep(duty, governed, taken)


def _sweep(duty: Duty, governed: Governed[Facts], taken: Taken) -> Swept:
    steady = steady_since(taken, duty.tick, duty.policy.governance.outage)
    sight = _look(duty, governed, steady)
    moved = _escalate(duty, governed, sight.cases)
    acted = _act(duty, governed, sight, [one for one in moved.results if isinstance(one, Ripe)], steady)
    told = each([governed.silent] if governed.silent else [], partial(_tell_of_silence, duty, taken))
    taken = next(iter(told.results), taken)
    end_turn(duty.cloud.store, duty.settings.layout, with_steady(taken, steady), duty.tick.now)
    failures = [*sight.broken, *moved.failures, *acted.failures, *told.failures]
    return swept([*_waits(moved), *_waits(acted)], failures)


def _tell_of_silence(duty: Duty, taken: Taken, silent: Silent) -> Taken:
    """Tell who is silent, unless we have already; gives the turn that remembers it."""
    others = last_sweeps(duty.cloud.store, duty.settings.layout, besides=taken.function)
    notice = silent(others, duty.policy, duty.tick)
    if notice is None or notice.id == taken.turn.told:
        return taken
    if not isinstance(duty.applier.apply(Tell(reason=notice.what, notice=notice)), Done):
        return taken
    return replace(taken, turn=replace(taken.turn, told=notice.id))


def _look(duty: Duty, governed: Governed[Facts], steady: datetime, only: Collection[str] = ()) -> Sight:
    """Everything, or these VMs once more; only a whole look is worth recording."""
    store, layout = duty.cloud.store, duty.settings.layout
    workers = duty.settings.workers
    read = read_cases(store, layout, governed.rules, workers=workers)
    filed, broken = with_deliveries(store, layout, duty.policy, read, workers=workers)
    known = {(one.case.rule, one.case.key): one.case for one in filed}
    brief = Brief(policy=duty.policy, tick=duty.tick, steady=steady, cases=known)
    facts = governed.look(duty, only)
    if not only and not duty.tick.about:
        record(store, layout, brief, facts)
    judged = governed.judge(facts, brief)
    if not only:
        pulse().saw(vms=judged.fleet, cases=len(filed))
    paired = governed.escalation.paired(judged, filed)
    cases = tuple(one for one in paired if (one.rule, one.key) not in broken)
    return Sight(judged=judged, cases=cases, broken=tuple(broken.values()))


def _escalate(
    duty: Duty, governed: Governed[Facts], cases: Iterable[CaseFacts], *, only_strike: bool = False
) -> Each[Moved]:
    """Take every case as far as it goes; one bad case never stops the others.

    With `only_strike` no further than to where the remedy was applied: what to tell can wait, a VM costs.
    """
    policy, tick = duty.policy, duty.tick

    def next_step(facts: CaseFacts) -> CaseStep | None:
        return governed.escalation.next_step(facts, policy, tick)

    def end(facts: CaseFacts, step: CaseStep) -> Moved | None:
        if only_strike and facts.planned and isinstance(step, Tell | FileCase):
            return facts
        return step if isinstance(step, Ripe) else None

    def go(facts: CaseFacts) -> Moved | None:
        with duty.applier.together() as apply:
            return step_by_step(
                facts, next_step=next_step, after=governed.escalation.after, apply=apply, end=end
            )

    return each(cases, go, duty.settings.workers)


def _waits(moved: Each[Moved]) -> list[Wait]:
    return [one for one in moved.results if isinstance(one, Wait)]


def _act(
    duty: Duty, governed: Governed[Facts], sight: Sight, ripe: list[Ripe], steady: datetime
) -> Each[Moved]:
    """Look once more at what is ripe, and act on what is so still, within the blast radius."""
    wanted = {(case.rule, case.key): _ids(case.subject) for case in _allowed(duty, governed, sight, ripe)}
    if not wanted:
        return Each([], [])
    again = _look(duty, governed, steady, set[str]().union(*wanted.values()))
    permitted = [
        replace(one, permitted=True)
        for one in again.cases
        if one.finding is not None
        and (ids := wanted.get((one.rule, one.key)))
        and _ids(one.finding.subject) <= ids
    ]
    struck = _escalate(duty, governed, permitted, only_strike=True)
    told = _escalate(duty, governed, [one for one in struck.results if isinstance(one, CaseFacts)])
    return Each([*_waits(struck), *_waits(told)], [*struck.failures, *told.failures])


def _ids(subject: Subject) -> set[str]:
    return {target.id for target in subject.targets}


def _allowed(duty: Duty, governed: Governed[Facts], sight: Sight, ripe: list[Ripe]) -> tuple[Case, ...]:
    """The ripe cases that this sweep may act upon; of a rule that wants too much none, then ops are told."""
    fleet = sight.judged.fleet
    found = governed.escalation.portion(governed.rules, [one.case for one in ripe], duty.policy, fleet)
    for rule, cases in found.stopped.items():
        notice = governed.escalation.too_many(rule, cases, fleet, duty.policy, duty.tick)
        duty.applier.apply(Tell(reason=notice.why, notice=notice))
        log(duty.tick, "ERROR", notice.what, kind=notice.kind)
    return found.allowed
