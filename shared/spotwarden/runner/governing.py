"""A sweep of governance: look, judge, escalate each case, and look again before anything is destroyed."""

from collections.abc import Callable, Collection
from typing import Generic, TypeVar

import msgspec

from spotwarden.model.brief import Brief
from spotwarden.model.finding import Judged
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.runner.apply import Applier
from spotwarden.runner.each import Swept
from spotwarden.runner.settings import Settings

Facts = TypeVar("Facts", bound=msgspec.Struct)


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
        applier = Applier(cloud, settings.layout, policy, tick)
        return cls(cloud=cloud, settings=settings, policy=policy, tick=tick, applier=applier)


class Governed(msgspec.Struct, Generic[Facts], frozen=True, kw_only=True):
    """What makes one function of governance: which rules, what it looks at, how it judges.

    `look` gathers the facts of everything, or of the VMs of these ids alone; `judge` is pure.
    """

    rules: tuple[str, ...]
    look: Callable[[Duty, Collection[str]], Facts]
    judge: Callable[[Facts, Brief], Judged]


def govern(duty: Duty, governed: Governed[Facts]) -> Swept:
    """One sweep."""
    raise NotImplementedError
