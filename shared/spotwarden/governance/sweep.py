"""A sweep of governance: look, judge, escalate each case, and look again before anything is destroyed.

The cases are read before the facts, so that these are never older than what they are held against. A veto
that is written meanwhile makes a new generation of its case, and the sweep loses it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import replace

from spotwarden.engine.advance import step_by_step
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Each, Swept, each, swept
from spotwarden.engine.log import log
from spotwarden.engine.metrics import sweep_metrics
from spotwarden.engine.turn import TakenTurn, end_turn, read_turn, take_turn
from spotwarden.governance.cases import blast, ops_notices
from spotwarden.governance.cases.approval import is_approved, is_asked
from spotwarden.governance.cases.blast import Portion, portion
from spotwarden.governance.cases.deliveries import with_deliveries
from spotwarden.governance.cases.escalation import next_step
from spotwarden.governance.cases.observation import APART, seen
from spotwarden.governance.cases.pairing import paired
from spotwarden.governance.cases.progress import after
from spotwarden.governance.cases.store import read_cases
from spotwarden.governance.last_sweeps import last_sweeps
from spotwarden.governance.pace import too_many
from spotwarden.governance.recording import record
from spotwarden.governance.signals.since import dated
from spotwarden.governance.signals.steady import check_clock, check_event_clock, steady_since, with_steady
from spotwarden.governance.silence import SILENT, silent
from spotwarden.layout import SweepTurn
from spotwarden.model.action import CaseStep, FileCase, Ripe, Tell, Wait
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case, CaseFacts
from spotwarden.model.finding import Judged, Subject
from spotwarden.model.outcome import Done
from spotwarden.model.tick import Tick

Facts = TypeVar("Facts", bound=msgspec.Struct)
Moved = Ripe | Wait | CaseFacts


class SweptRules(msgspec.Struct, Generic[Facts], frozen=True, kw_only=True):
    """The rules that one function sweeps for: each function has its own facts and its own judge.

    `names` stand in the order of how certain the rules are: the first ones come first where not all can be
    acted upon in one sweep. `gather` reads the facts of everything, or of the VMs of these ids alone; `judge`
    is pure. `watches` makes it one of those that look after the other functions.
    """

    names: tuple[str, ...]
    gather: Callable[[SweepContext, Collection[str]], Facts]
    judge: Callable[[Facts, Brief], Judged]
    watches: bool = False


class JudgedSweep(msgspec.Struct, frozen=True, kw_only=True):
    """One look, judged: what was found about each case. One that cannot be read is left alone, and told."""

    judged: Judged
    cases: tuple[CaseFacts, ...]
    broken: tuple[Exception, ...]


def govern(context: SweepContext, rules: SweptRules[Facts]) -> Swept:
    """One sweep. An event's looks at its own VM and never acts: the next tick does, with all in view."""
    if context.tick.about and too_many(context.tick):
        return swept([Wait(reason="many VMs are being created: the next tick checks all", soon=False)], ())
    if context.tick.about:
        judged_sweep = _look(context, rules, _steady(context))
        if any(case.finding for case in judged_sweep.cases):
            skew = context.policy.governance.clock_skew
            check_event_clock(context.cloud.store, context.settings.layout, context.tick, skew)
        moved = _escalate(context, judged_sweep.cases)
        return swept(_waits(moved), [*judged_sweep.broken, *moved.failures])
    store, layout = context.cloud.store, context.settings.layout
    taken = take_turn(store, layout, context.tick)
    if taken is None:
        return swept([Wait(reason="another sweep is running", soon=False)], ())
    check_clock(store, layout, taken, context.tick, context.policy.governance.clock_skew)
    return _sweep(context, rules, taken)


def _sweep(context: SweepContext, rules: SweptRules[Facts], taken: TakenTurn) -> Swept:
    steady = steady_since(taken.turn, context.tick, context.policy.governance.outage)
    judged_sweep = _look(context, rules, steady)
    moved = _escalate(context, judged_sweep.cases)
    ripe = [result.case for result in moved.results if isinstance(result, Ripe)]
    taken = _with_budget(taken, context.tick)
    fleet, spent = judged_sweep.judged.fleet, taken.turn.spent
    found = portion(rules.names, ripe, context.policy, fleet, context.tick.now, spent=spent)
    acted = _act(context, rules, found, steady)
    taken = _tell_of_waiting(context, taken, found)
    taken = replace(taken, turn=replace(taken.turn, spent=found.spent))
    told = each([taken] if rules.watches else [], partial(_tell_of_silence, context))
    taken = next(iter(told.results), taken)
    end_turn(context.cloud.store, context.settings.layout, with_steady(taken, steady), context.tick.now)
    failures = [*judged_sweep.broken, *moved.failures, *acted.failures, *told.failures]
    return swept([*_waits(moved), *_waits(acted)], failures)


def _with_budget(taken: TakenTurn, tick: Tick) -> TakenTurn:
    """The turn with a whole budget, or within the same minute with what is left of it, for a doubled tick."""
    began = taken.turn.spending
    if began is not None and timedelta(0) <= tick.now - began < APART:
        return taken
    return replace(taken, turn=replace(taken.turn, spending=tick.now, spent=0))


def _steady(context: SweepContext) -> datetime:
    """Since when our whole sweeps have come regularly, for one that takes no turn."""
    name = context.settings.layout.build(SweepTurn(function=context.tick.function))
    turn, _generation = read_turn(context.cloud.store, name)
    return steady_since(turn, context.tick, context.policy.governance.outage)


def _tell_of_silence(context: SweepContext, taken: TakenTurn) -> TakenTurn:
    """Tell who is silent, unless we have already; gives the turn that remembers it.

    Nobody is accused by a function that has itself just woken: what kept it asleep kept the others, too, and
    they sweep by its next tick.
    """
    if taken.turn.swept is None or context.tick.now - taken.turn.swept > SILENT:
        return taken
    store, layout, now = context.cloud.store, context.settings.layout, context.tick.now
    others = last_sweeps(store, layout, besides=taken.function, now=now, within=SILENT / 2)
    notice = silent(others, context.policy, context.tick)
    if notice is None or notice.id == taken.turn.told:
        return taken
    if not isinstance(context.executor.apply(Tell(reason=notice.what, notice=notice)), Done):
        return taken
    return replace(taken, turn=replace(taken.turn, told=notice.id))


def _tell_of_waiting(context: SweepContext, taken: TakenTurn, found: Portion) -> TakenTurn:
    """Tell once that more is due than one sweep may do; the turn remembers it until nothing waits."""
    since = taken.turn.waits
    if not found.waiting:
        since = None
    elif since is None:
        notice = blast.waits(found, context.policy, context.tick)
        log(context.tick, "WARNING", notice.what, kind=notice.kind)
        if isinstance(context.executor.apply(Tell(reason=notice.why, notice=notice)), Done):
            since = context.tick.now
    return replace(taken, turn=replace(taken.turn, waits=since))


def _look(
    context: SweepContext, rules: SweptRules[Facts], steady: datetime, only: Collection[str] = ()
) -> JudgedSweep:
    """Everything, or these VMs once more; only a whole look is worth recording."""
    store, layout = context.cloud.store, context.settings.layout
    workers = context.settings.workers
    read = read_cases(store, layout, rules.names, workers=workers)
    filed, broken = with_deliveries(store, layout, context.policy, read, workers=workers)
    known = {(filed_case.case.rule, filed_case.case.key): filed_case.case for filed_case in filed}
    brief = Brief(policy=context.policy, tick=context.tick, steady=steady, cases=known)
    facts = rules.gather(context, only)
    if not only and not context.tick.about:
        record(store, layout, brief, facts)
    judged = dated(rules.judge(facts, brief), brief)
    if not only:
        sweep_metrics().saw(vms=judged.fleet, cases=len(filed))
    most = blast.allowed(context.policy.governance, judged.fleet) if judged.whole else None
    cases = tuple(
        replace(case_facts, most=most)
        for case_facts in paired(judged, filed, context.tick.now)
        if (case_facts.rule, case_facts.key) not in broken
    )
    return JudgedSweep(judged=judged, cases=cases, broken=tuple(broken.values()))


def _escalate(
    context: SweepContext, cases: Iterable[CaseFacts], *, only_remediate: bool = False
) -> Each[Moved]:
    """Take every case as far as it goes; one bad case never stops the others.

    With `only_remediate` no further than to where the remedy was applied: what to tell can wait, a VM costs.
    """
    decide = partial(next_step, policy=context.policy, tick=context.tick)

    def end(facts: CaseFacts, step: CaseStep) -> Moved | None:
        if only_remediate and facts.planned and isinstance(step, Tell | FileCase):
            return facts
        return step if isinstance(step, Ripe) else None

    moved: Each[Moved] = Each([], [])

    def go_all(all_facts: Iterable[CaseFacts]) -> None:
        # One audit for all of them: what is killed before it is written has left its trace in its case.
        with context.executor.together() as apply:

            def go(facts: CaseFacts) -> Moved | None:
                return step_by_step(facts, next_step=decide, after=after, apply=apply, end=end)

            done: Each[Moved] = each(all_facts, go, context.settings.workers)
            moved.failures.extend(done.failures)
        # With an audit that could not be written nothing goes any further in this sweep.
        moved.results.extend(done.results)

    audited: Each[None] = each([tuple(cases)], go_all)
    return Each(moved.results, [*moved.failures, *audited.failures])


def _waits(moved: Each[Moved]) -> list[Wait]:
    return [result for result in moved.results if isinstance(result, Wait)]


def _act(context: SweepContext, rules: SweptRules[Facts], found: Portion, steady: datetime) -> Each[Moved]:
    """Look once more at what may be acted upon, and act on what is so still; ask for what is too much."""
    now = context.tick.now
    wanted = _targets(found.allowed)
    asking = _targets(case for case in found.unapproved if not is_asked(case, now))
    if not wanted and not asking:
        return Each([], [])
    again = _look(context, rules, steady, set[str]().union(*wanted.values(), *asking.values()))
    permitted = [
        replace(case_facts, permitted=True)
        for case_facts in again.cases
        if _is_no_more(case_facts, wanted) and _is_approved_still(case_facts, found, context)
    ]
    too_much = [replace(case, budget=found.budget) for case in again.cases if _is_no_more(case, asking)]
    remediated = _escalate(context, permitted, only_remediate=True)
    told = _escalate(context, [result for result in remediated.results if isinstance(result, CaseFacts)])
    for case in too_much:
        name = f"{case.rule} {case.key}"
        about = f"{name}: its remedy is for more than {found.budget} VMs and waits for an approval"
        log(context.tick, "WARNING", about, kind=ops_notices.ASKS)
    asked = _escalate(context, too_much)
    every = (remediated, told, asked)
    failures = [failure for moved in every for failure in moved.failures]
    return Each([wait for moved in every for wait in _waits(moved)], failures)


def _targets(cases: Iterable[Case]) -> dict[tuple[str, str], set[str]]:
    return {(case.rule, case.key): _ids(case.subject) for case in cases}


def _ids(subject: Subject) -> set[str]:
    return {target.id for target in subject.targets}


def _is_no_more(case: CaseFacts, wanted: Mapping[tuple[str, str], set[str]]) -> bool:
    """Whether a second look finds the same as the first one, of no more VMs."""
    ids = wanted.get((case.rule, case.key))
    return case.finding is not None and bool(ids) and _ids(case.finding.subject) <= (ids or set())


def _is_approved_still(case: CaseFacts, found: Portion, context: SweepContext) -> bool:
    """Whether what hangs on somebody's word has it at the second look as well."""
    if not any((item.rule, item.key) == (case.rule, case.key) for item in found.approved):
        return True
    if case.filed is None or case.finding is None:
        return False
    return is_approved(seen(case.filed.case, case.finding, context.tick), context.tick.now)
