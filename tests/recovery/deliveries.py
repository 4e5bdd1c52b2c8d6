"""The function's own topic: what it publishes there, and what of that is delivered."""

from base64 import b64encode
from collections.abc import Mapping
from itertools import count
from typing import Any

import msgspec
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.executor import Executor
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.trigger import open_tick
from spotwarden.engine.turn import TakenTurn, take_turn
from spotwarden.model.base_action import CloseJob
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.recovery.sweep import sweep
from tests.fakes.topic import MemoryTopic
from tests.fakes.world import World
from tests.recovery.crowd_world import Crowded


def pushed(data: bytes, message: str = "1") -> dict[str, Any]:
    """A message of the function's own, as it is pushed."""
    attributes = {"spotwarden-batch": "recover_spot"}
    return {"attributes": attributes, "data": b64encode(data).decode(), "messageId": message}


class Deliveries:
    """Sweeps of one world whose function has a topic of its own."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.crowd = Crowded(world)
        world.settings = replace(world.settings, workers=1)
        self.topic = MemoryTopic(world.cloud.clock)
        self._sweeps = count(1)

    def ports(self) -> Cloud:
        """The cloud with that topic."""
        return replace(self.world.cloud.ports(), wakeups=self.topic)

    def push(self, message: Mapping[str, Any], cloud: Cloud | None = None) -> Swept:
        """One run of the function, woken by this message."""
        tick = open_tick("recover_spot", message, self.world.layout)
        return self._sweep(replace(tick, now=self.world.cloud.clock.now()), cloud)

    def _sweep(self, tick: Tick, cloud: Cloud | None = None) -> Swept:
        named = replace(tick, sweep=f"shared-{next(self._sweeps):08}")
        context = SweepContext.open(cloud or self.ports(), self.world.settings, self.world.policy, named)
        return sweep(context)

    def tick(self) -> Swept:
        """A tick of the Scheduler."""
        return self.push({"attributes": {"spotwarden-tick": "recover_spot"}, "messageId": "tick"})

    def event(self, node: str, message: str, cloud: Cloud | None = None) -> Swept:
        """The event of a marker."""
        said = {"attributes": {"objectId": f"preempted-jobs/{node}"}, "messageId": message}
        return self.push(said, cloud)

    def taken(self, message: str) -> TakenTurn | None:
        """Another sweep that takes the turn now."""
        tick = Tick(function="recover_spot", sweep="other", now=self.world.cloud.clock.now(), message=message)
        return take_turn(self.world.cloud.store, self.world.layout, tick)

    def message(self, number: int) -> dict[str, Any]:
        """One that was published, as it is pushed."""
        return pushed(self.topic.messages[number].data, f"m-{number}")

    def deliver(self, number: int) -> Swept:
        """Deliver one that was published."""
        return self.push(self.message(number))

    def deliver_all(self) -> None:
        """Deliver each once, and none again."""
        for number in range(len(self.topic.messages)):
            self.deliver(number)
        self.topic.messages.clear()

    def named(self) -> list[list[str]]:
        """The jobs that each message names."""
        return [msgspec.json.decode(message.data)["jobs"] for message in self.topic.messages]

    def stop(self, job: str) -> None:
        """Its owner stops it."""
        tick = Tick(function="stop", sweep="stop", now=self.world.cloud.clock.now())
        executor = Executor(self.world.cloud.ports(), self.world.layout, self.world.policy, tick)
        executor.apply(CloseJob(reason="stopped", job=job))

    def refused(self) -> int:
        """How often the audit says that nobody could be asked."""
        entries = [self.world.cloud.store.read(name) for name in self.world.names("spotwarden/audit/")]
        return sum(b'"ShareOut"' in stored.data for stored in entries if stored)

    @staticmethod
    def forget() -> None:
        """A new instance."""
        GenerationCache.forget()
