"""A project in memory with its fleet, and sweeps of governance over it."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.settings import Settings
from spotwarden.layout import CaseRecord, Layout, ObjectName
from spotwarden.model.case import Case
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.notice import Notice
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from tests.fakes.cloud import MemoryCloud, memory_cloud

Sweep = Callable[[SweepContext], Swept]


class GovernedWorld:
    """A project whose functions enforce; `sweep` is a function's own, `name` its folder."""

    def __init__(self, name: str, sweep: Sweep, **policy: Any) -> None:
        # What is remembered of a bucket's generations is another bucket's here.
        GenerationCache.forget()
        self.name = name
        self.cloud: MemoryCloud = memory_cloud()
        self.layout = Layout()
        self.policy = Policy(version="test", mode=Mode.ENFORCE, governance=GovernanceLimits(ops="ops@x.org"))
        self.set_policy(**policy)
        self.settings = Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml"))
        self._sweep = sweep
        self._sweeps = count(1)
        self.skew = timedelta(0)

    @property
    def now(self) -> datetime:
        """The present moment of this world."""
        return self.cloud.clock.now()

    def set_policy(self, **changes: Any) -> None:
        """Change sections of the policy."""
        self.policy = msgspec.structs.replace(self.policy, **changes)

    def store(self, thing: ObjectName, data: bytes = b"", *, shown: bool = False) -> int:
        """Write an object, `shown` in lists or not; gives its generation."""
        return self.cloud.store.write(self.layout.build(thing), data, generation=None, shown=shown)

    def wait(self, **span: float) -> None:
        """Let time pass."""
        self.cloud.clock.advance(timedelta(**span))

    def sweep(self, *, about: str = "", cloud: Cloud | None = None) -> Swept:
        """One sweep, by a tick or by an event about a VM; what fails rises."""
        tick = Tick(
            function=self.name,
            sweep=f"sweep-{next(self._sweeps):08}",
            now=self.now + self.skew,
            patient=not about,
            about=about,
            lost=bool(about),
        )
        swept = self._sweep(SweepContext.open(cloud or self.cloud.ports(), self.settings, self.policy, tick))
        if swept.failures:
            raise ExceptionGroup("the sweep failed", swept.failures)
        return swept

    def sweep_for(self, *, every: timedelta = timedelta(minutes=5), **span: float) -> None:
        """Sweep regularly while time passes, at its end as well."""
        end = self.now + timedelta(**span)
        while self.now < end:
            self.wait(seconds=min(every, end - self.now).total_seconds())
            self.sweep()

    def case(self, rule: str, key: str) -> Case | None:
        """An open case."""
        stored = self.cloud.store.read(self.layout.build(CaseRecord(rule=rule, key=key)))
        return None if stored is None else msgspec.json.decode(stored.data, type=Case)

    def change_case(self, rule: str, key: str, **changes: Any) -> None:
        """Write a case as somebody else would, whatever troubles there are here."""
        case = self.case(rule, key)
        assert case is not None
        changed = msgspec.structs.replace(case, **changes)
        name = self.layout.build(CaseRecord(rule=rule, key=key))
        self.cloud.store.write(name, msgspec.json.encode(changed), generation=None)

    def notices(self) -> list[Notice]:
        """Everything that was told, each once, in the order in which it was first told."""
        told = [msgspec.json.decode(one.data, type=Notice) for one in self.cloud.notices.messages]
        return list({one.id: one for one in told}.values())

    def kinds(self) -> list[str]:
        """What kinds of things were told."""
        return [one.kind for one in self.notices()]

    def asked(self, kinds: Sequence[str] = ("stop", "delete")) -> list[tuple[str, str]]:
        """What was asked of Compute Engine, as kind of operation and VM id, in order."""
        log = self.cloud.compute.vms.log.values()
        return [(one.kind, one.target_id) for one in log if one.kind in kinds]

    def status(self, instance_id: str) -> str:
        """A VM's status; "" where it is gone."""
        found = self.cloud.compute.fleet(ids=[instance_id]).items
        return found[0].status.value if found else ""
