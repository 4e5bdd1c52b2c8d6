"""Recorded sweeps, judged and escalated again under another policy, as if every notice had been accepted.

The facts are those of what really happened. A VM that this policy would have stopped is taken out of them
until it is started again, and what is seen of it meanwhile says what stopping it would have been worth.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from spotwarden.governance.backtest.aftermath import LaterSweep, follow_up, is_hidden_in, is_there
from spotwarden.governance.backtest.model import Replayed, ReplayedNotice, ReplayedRemedy, Stopped
from spotwarden.governance.cases.blast import portion
from spotwarden.governance.cases.escalation import next_step
from spotwarden.governance.cases.pairing import paired
from spotwarden.governance.cases.progress import after
from spotwarden.governance.signals.since import dated
from spotwarden.governance.units import units
from spotwarden.model.action import (
    CaseStep,
    CloseCase,
    DeleteInstance,
    FileCase,
    RemoveLeftover,
    Ripe,
    StopInstance,
    Tell,
)
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case, CaseFacts, CaseState, Filed
from spotwarden.model.finding import Finding, Judged
from spotwarden.model.fleet import Machine
from spotwarden.model.outcome import Done
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.seen import RecordedSweep
from spotwarden.model.slice_action import DeleteGroup
from spotwarden.model.tick import Tick

Judge = Callable[[Any, Brief], Judged]
STEPS_AT_MOST = 2000
"""More steps than any case needs; more is a fault of ours."""


class Replay:
    """One policy, looking at one sweep after the other. It enforces, but where a rule or a team observes."""

    def __init__(self, function: str, judge: Judge, policy: Policy) -> None:
        self._function = function
        self._judge = judge
        self._policy = replace(policy.untold(), mode=Mode.ENFORCE)
        self._filed: dict[tuple[str, str], Filed] = {}
        self._remedies: list[ReplayedRemedy] = []
        self._gone: dict[str, ReplayedRemedy] = {}
        self._told: list[ReplayedNotice] = []
        self._stopped: list[Stopped] = []
        self._cases: Counter[str] = Counter()
        self._clouded: Counter[str] = Counter()
        self._sweeps: list[datetime] = []

    def look(self, seen: RecordedSweep[Any]) -> None:
        """Take in the next sweep; they come in the order of time."""
        tick, machines = seen.tick, {item.id: item for item in getattr(seen.facts, "machines", ())}
        self._sweeps.append(tick.now)
        known = {key: filed.case for key, filed in self._filed.items()}
        brief = Brief(policy=self._policy, tick=tick, steady=seen.steady, cases=known)
        judged = dated(self._judge(seen.facts, brief), brief)
        later = LaterSweep.of(judged)
        self._remedies = [follow_up(remedy, later, tick.now) for remedy in self._remedies]
        self._restarted(later, machines)
        left = self._without_gone(judged)
        ripe = [
            step.case for facts in self._pair(left, tick.now) if (step := self._walk(facts, tick, machines))
        ]
        due = {(case.rule, case.key) for case in self._allowed(ripe, left, tick)}
        for facts in self._pair(left, tick.now) if due else ():
            if (facts.rule, facts.key) in due and facts.finding is not None:
                self._walk(replace(facts, permitted=True), tick, machines)

    def result(self) -> Replayed:
        """What it would have done, all told."""
        return Replayed(
            function=self._function,
            policy=self._policy.version,
            sweeps=len(self._sweeps),
            first=min(self._sweeps, default=None),
            last=max(self._sweeps, default=None),
            cases=dict(self._cases),
            clouded=dict(self._clouded),
            told=tuple(self._told),
            remedies=tuple(self._remedies),
            stopped=tuple(self._stopped),
        )

    def _pair(self, judged: Judged, now: datetime) -> list[CaseFacts]:
        return list(paired(judged, list(self._filed.values()), now))

    def _restarted(self, later: LaterSweep, machines: dict[str, Machine]) -> None:
        """A VM that is stopped by now, or was started since, has a new life that this policy judges anew."""
        for target, remedy in list(self._gone.items()):
            started = machines[target].started if target in machines else None
            again = started is not None and started > remedy.at
            if again or not (is_hidden_in(remedy, later) or is_there(remedy, later)):
                del self._gone[target]

    def _without_gone(self, judged: Judged) -> Judged:
        """What would have been found had those VMs not been there any more."""
        if not self._gone:
            return judged
        return replace(
            judged,
            findings=tuple(self._left(judged.findings)),
            fleet=max(0, judged.fleet - len(judged.present.intersection(self._gone))),
        )

    def _left(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        for finding in findings:
            targets = tuple(target for target in finding.subject.targets if target.id not in self._gone)
            if targets or not finding.subject.targets:
                yield replace(finding, subject=replace(finding.subject, targets=targets))

    def _walk(self, facts: CaseFacts, tick: Tick, machines: dict[str, Machine]) -> Ripe | None:
        """Take one case as far as it goes; every step succeeds."""
        known: CaseFacts | None = facts
        for _ in range(STEPS_AT_MOST):
            step = next_step(known, self._policy, tick) if known else None
            if known is None or step is None or isinstance(step, Ripe):
                return step if isinstance(step, Ripe) else None
            known = after(known, step, self._done(known, step, tick, machines))
        raise RuntimeError(f"{facts.job}: no end after {STEPS_AT_MOST} steps")

    def _done(self, facts: CaseFacts, step: CaseStep, tick: Tick, machines: dict[str, Machine]) -> Done:
        match step:
            case FileCase(case=case):
                self._count(case, new=step.generation == 0)
                self._filed[case.rule, case.key] = Filed(case=case, generation=step.generation + 1)
                return Done(generation=step.generation + 1)
            case CloseCase(case=case):
                self._filed.pop((case.rule, case.key), None)
            case Tell(notice=notice) if notice.kind.endswith("_warning"):
                told = ReplayedNotice(rule=facts.rule, key=facts.key, at=tick.now, owner=notice.owner)
                self._told.append(told)
            case StopInstance(instance_id=target) | DeleteInstance(instance_id=target):
                self._remediation(facts, target, tick, machines)
            case DeleteGroup(group_id=unit) if facts.filed:
                for vm in units(facts.filed.case.subject.targets).get(unit, ()):
                    self._remediation(facts, vm.id, tick, machines)
            case RemoveLeftover(link=target):
                self._remediation(facts, target, tick, machines)
        return Done()

    def _count(self, case: Case, *, new: bool) -> None:
        if new:
            counts = self._clouded if case.state is CaseState.UNKNOWN else self._cases
            counts[case.rule] += 1

    def _remediation(self, facts: CaseFacts, target: str, tick: Tick, machines: dict[str, Machine]) -> None:
        if facts.filed is None:
            raise ValueError(f"{facts.job}: nothing is done without a case on record")
        case = facts.filed.case
        remedy = ReplayedRemedy(
            rule=case.rule,
            key=case.key,
            target=next(item for item in case.subject.targets if item.id == target),
            remedy=case.remedy,
            at=tick.now,
            job=case.subject.job,
            owner=case.subject.owner,
            reason=case.reason,
            machine=machines.get(target),
            wasted=tick.now,
            seen=tick.now,
        )
        self._remedies.append(remedy)
        self._gone[target] = remedy

    def _allowed(self, ripe: list[Case], judged: Judged, tick: Tick) -> tuple[Case, ...]:
        """The ripe cases that this sweep acts upon; nobody approves anything in a replay."""
        found = portion(judged.rules, ripe, self._policy, judged.fleet, tick.now)
        held = Counter[str]()
        for case in (*found.waiting, *found.unapproved):
            held[case.rule] += len(case.subject.targets)
        self._stopped += [Stopped(rule=rule, at=tick.now, vms=vms) for rule, vms in held.items()]
        return found.allowed
