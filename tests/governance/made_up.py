"""A function of governance whose facts are what a test says: to try escalation itself."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import msgspec

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.governance.signals.text import target
from spotwarden.governance.sweep import SweptRules, govern
from spotwarden.model.brief import Brief
from spotwarden.model.finding import Finding, Judged, Reading, Subject
from spotwarden.model.fleet import Machine
from spotwarden.model.governance import Limits
from spotwarden.model.instance import Status
from tests.governance.governed import GovernedWorld

RULE = "idle"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What a test says of a VM: how it reads, which warnings are called for, whether the remedy is.

    `beside` are the ids of VMs that the remedy would be for as well.
    """

    reading: Reading = Reading.BAD
    level: int = 1
    ripe: bool = False
    exempt: str = ""
    ours: bool = True
    since: datetime | None = None
    due: datetime | None = None
    beside: tuple[str, ...] = ()
    labels: Mapping[str, str] = {}


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The VMs that run, and what is said of them."""

    running: Mapping[str, Machine]
    said: Mapping[str, Said]
    hidden: tuple[str, ...] = ()


class MadeUp(GovernedWorld):
    """VMs of one job, each with what is said of it; `then` changes what a second look sees.

    A `wide` second look lists all VMs, as an owner's cap needs it; `key` names the case where no VM does.
    """

    job = "job"
    key = ""
    wide = False

    def __init__(self, limits: Limits, **policy: Any) -> None:
        super().__init__("flag_idle_gpus", self._made_up, **policy)
        self.limits = limits
        self.owner = "ada@x.org"
        self.said: dict[str, Said] = {}
        self.then: dict[str, Said | None] = {}
        self.looks: list[frozenset[str]] = []

    def vm(self, name: str = "vm", said: Said | None = Said(), **machine: Any) -> str:  # noqa: B008 — frozen
        """A VM of the job `job`; gives its id."""
        made = self.cloud.compute.add(name, labels={"spotwarden-job": "job"}, **machine)
        if said is not None:
            self.said[made] = said
        return made

    def say(self, instance_id: str, **changes: Any) -> None:
        """Change what is said of a VM."""
        self.said[instance_id] = msgspec.structs.replace(self.said[instance_id], **changes)

    def _made_up(self, context: SweepContext) -> Swept:
        return govern(context, SweptRules(names=(RULE,), gather=self._look, judge=self._judge))

    def _look(self, context: SweepContext, only: Collection[str]) -> Facts:
        self.looks.append(frozenset(only))
        fleet = context.cloud.compute.fleet(ids=() if self.wide else only)
        running = {one.id: one for one in fleet.items if one.status is Status.RUNNING}
        said = {**self.said, **self.then} if only else self.said
        known = {key: one for key, one in said.items() if one is not None}
        return Facts(running=running, said=known, hidden=fleet.unreachable)

    def _judge(self, facts: Facts, _brief: Brief) -> Judged:
        findings = tuple(
            self._finding(key, said, facts.running)
            for key, said in facts.said.items()
            if key in facts.running
        )
        return Judged(
            rules=(RULE,),
            findings=findings,
            hidden=facts.hidden,
            present=frozenset(facts.running),
            fleet=len(facts.running),
        )

    def _finding(self, key: str, said: Said, running: Mapping[str, Machine]) -> Finding:
        machines = [running[one] for one in (key, *said.beside) if one in running]
        targets = tuple(target(machine) for machine in machines)
        return Finding(
            rule=RULE,
            subject=Subject(
                key=self.key or key, job=self.job, owner=self.owner, targets=targets, ours=said.ours
            ),
            reading=said.reading,
            reason="made up",
            level=said.level,
            ripe=said.ripe,
            exempt=said.exempt,
            since=said.since,
            due=said.due,
            limits=self.limits,
            labels=said.labels,
        )
