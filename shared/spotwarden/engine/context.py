"""What one sweep works with."""

import msgspec

from spotwarden.engine.executor import Executor
from spotwarden.engine.metrics import sweep_metrics
from spotwarden.engine.settings import Settings
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud


class SweepContext(msgspec.Struct, frozen=True, kw_only=True):
    """Settings, policy, tick and clients of one sweep, and the executor of its actions."""

    cloud: Cloud
    settings: Settings
    policy: Policy
    tick: Tick
    executor: Executor

    @classmethod
    def open(cls, cloud: Cloud, settings: Settings, policy: Policy, tick: Tick) -> "SweepContext":
        """Everything for one sweep; its calls are counted from now on."""
        sweep_metrics().watch(cloud.calls)
        executor = Executor(cloud, settings.layout, policy, tick)
        return cls(cloud=cloud, settings=settings, policy=policy, tick=tick, executor=executor)
