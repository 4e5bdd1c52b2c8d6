"""Which histories of the plane are played, and how a failing one is told."""

import re
from collections.abc import Sequence

import msgspec

from tests.simulation.commands import Command, Kind, told
from tests.simulation.history import shorten
from tests.simulation.plane.commands import AnyCommand
from tests.simulation.plane.draw import KINDS, WAITING, draw
from tests.simulation.plane.history import play
from tests.simulation.plane.hunt import hunt
from tests.simulation.plane.world import PlaneWorld
from tests.simulation.process import Count
from tests.simulation.run import Histories

_VARYING = re.compile(r"\d\d:\d\d:\d\d|[a-z]+-\d+(-\d+)?|\b[0-9a-f]{8,}\b|\d+")


class PlaneSetting(Histories[PlaneWorld], frozen=True, kw_only=True):
    """Which histories: the seed, the kinds of jobs, and the blows left out.

    With `hunts` they are the hunts of the seed; with a `story` each tells that one.
    """

    kinds: tuple[Kind, ...] = KINDS
    without: tuple[str, ...] = tuple(WAITING)
    hunts: bool = False
    story: str = ""

    def history(self, number: int) -> list[Command]:
        """The commands of one history."""
        if self.hunts:
            return hunt(f"{self.seed}/{number}")
        return draw(f"{self.seed}/{number}", kinds=self.kinds, without=self.without, story=self.story)

    def faults(self, commands: Sequence[Command], world: PlaneWorld | None = None) -> tuple[list[str], Count]:
        """Play these commands under this setting."""
        outcome = play(commands, world or self.world())
        return outcome.faults, outcome.count

    def world(self, *, verbose: bool = False) -> PlaneWorld:
        """An empty world."""
        return PlaneWorld(verbose=verbose)


def replay(text: str, setting: PlaneSetting) -> tuple[list[str], PlaneWorld]:
    """Play the commands of a story again, from their JSON."""
    commands = msgspec.json.decode(text, type=list[AnyCommand])
    world = setting.world(verbose=True)
    faults, _ = setting.faults(commands, world)
    return faults, world


def kind_of(fault: str) -> str:
    """What sort of fault it is, whatever names, numbers and moments it is about."""
    return _VARYING.sub("#", fault)[:120]


def shortest(setting: PlaneSetting, commands: Sequence[Command]) -> list[Command]:
    """As few of these commands as fail in the same way."""
    kind = kind_of(setting.faults(commands)[0][0])

    def fails(some: Sequence[Command]) -> bool:
        return any(kind_of(fault) == kind for fault in setting.faults(some)[0])

    return shorten(commands, fails)


def story(setting: PlaneSetting, number: int) -> str:
    """A failing history at its shortest: its commands, what happened, and what was wrong."""
    short = shortest(setting, setting.history(number))
    world = setting.world(verbose=True)
    faults, _ = setting.faults(short, world)
    as_json = msgspec.json.encode(short).decode()
    lines = ["Commands:", *(f"  {told(command)}" for command in short), "What happened:"]
    lines += [f"  {line}" for line in world.log]
    return "\n".join([*lines, "What was wrong:", *(f"  {fault}" for fault in faults), f"As JSON: {as_json}"])
