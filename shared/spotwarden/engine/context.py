"""What one sweep works with."""

import gc

import msgspec

from spotwarden.engine.executor import Executor
from spotwarden.engine.metrics import sweep_metrics
from spotwarden.engine.settings import Settings
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud

NEW_OBJECTS = 50_000
"""After so many Python looks for cycles among them. A sweep makes data, which has none, and a great deal of
it: by Python's own 700 the search is a tenth of a sweep over 100,000 VMs."""


class SweepContext(msgspec.Struct, frozen=True, kw_only=True):
    """Settings, policy, tick and clients of one sweep, and the executor of its actions."""

    cloud: Cloud
    settings: Settings
    policy: Policy
    tick: Tick
    executor: Executor

    @classmethod
    def open(cls, cloud: Cloud, settings: Settings, policy: Policy, tick: Tick) -> "SweepContext":
        """Everything for one sweep; its calls are counted from now on, and garbage is looked for seldom."""
        often, *rest = gc.get_threshold()
        if 0 < often < NEW_OBJECTS:
            gc.set_threshold(NEW_OBJECTS, *rest)
        sweep_metrics().watch(cloud.calls)
        executor = Executor(cloud, settings.layout, policy, tick)
        return cls(cloud=cloud, settings=settings, policy=policy, tick=tick, executor=executor)
