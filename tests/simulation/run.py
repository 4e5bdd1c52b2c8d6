"""Many histories from one seed, over all cores."""

import gc
import multiprocessing
import os
import time
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from tests.simulation.commands import AnyCommand, Command, Kind, told
from tests.simulation.draw import draw
from tests.simulation.ground import as_it_is
from tests.simulation.history import play, shorten
from tests.simulation.mutations import MUTATIONS
from tests.simulation.process import Count
from tests.simulation.world import World

BATCH = 50
FEW = 300
"""Histories that are played where they are asked for: each process more takes a second to start."""
OfWorld = TypeVar("OfWorld")


class Histories(msgspec.Struct, Generic[OfWorld], frozen=True, kw_only=True):
    """Histories in one kind of world: the seed, the kinds of jobs, and the blows left out."""

    seed: str = "1"
    kinds: tuple[Kind, ...] = tuple(kind for kind in Kind if kind not in {Kind.BENT, Kind.WIDE, Kind.FLEX})
    without: tuple[str, ...] = ()

    @abstractmethod
    def history(self, number: int) -> list[Command]:
        """The commands of one history."""

    @abstractmethod
    def faults(self, commands: Sequence[Command], world: OfWorld | None = None) -> tuple[list[str], Count]:
        """Play these commands under this setting."""

    @abstractmethod
    def world(self, *, verbose: bool = False) -> OfWorld:
        """An empty world."""


class Setting(Histories[World], frozen=True, kw_only=True):
    """Which histories of recovery, and a mutation by its name or ""."""

    mutation: str = ""

    def history(self, number: int) -> list[Command]:
        """The commands of one history."""
        return draw(f"{self.seed}/{number}", kinds=self.kinds, without=self.without)

    def faults(self, commands: Sequence[Command], world: World | None = None) -> tuple[list[str], Count]:
        """Play these commands under this setting."""
        outcome = play(commands, world=world or self.world())
        return outcome.faults, outcome.count

    def world(self, *, verbose: bool = False) -> World:
        """An empty world, with the protocol broken as the mutation says."""
        wrap = MUTATIONS[self.mutation] if self.mutation else as_it_is
        return World(wrap=wrap, blind=bool(self.mutation), verbose=verbose)


class Batch(msgspec.Struct, kw_only=True):
    """What came of some histories: how many were played, and the first that failed."""

    played: int = 0
    count: Count = msgspec.field(default_factory=Count)
    failed: int | None = None
    faults: list[str] = msgspec.field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: "Batch") -> None:
        """Take in another batch."""
        self.played += other.played
        self.count.add(other.count)
        if other.failed is not None and (self.failed is None or other.failed < self.failed):
            self.failed, self.faults = other.failed, other.faults


def play_all(numbers: Collection[int], setting: Histories[Any]) -> Batch:
    """Play these histories one after the other, up to the first that fails."""
    batch = Batch()
    for number in numbers:
        faults, count = setting.faults(setting.history(number))
        batch.played += 1
        batch.count.add(count)
        if faults:
            batch.failed, batch.faults = number, faults
            break
    return batch


def run(setting: Histories[Any], histories: int, *, processes: int = 0, first: int = 0) -> Batch:
    """Play so many histories, on so many cores (0: all; few are played here), up to the first that fails."""
    if not processes and histories <= FEW:
        return play_all(range(first, first + histories), setting)
    began, whole = time.perf_counter(), Batch()
    processes = processes or os.cpu_count() or 1
    rooms = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, rooms, initializer=_collect_seldom) as pool:
        for batch in pool.map(partial(play_all, setting=setting), _batches(first, histories)):
            whole.add(batch)
            if whole.failed is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    whole.seconds = time.perf_counter() - began
    return whole


def _collect_seldom() -> None:
    """Each history leaves a whole world behind; the usual search for garbage is a tenth of the work."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def _batches(first: int, histories: int) -> Iterator[range]:
    last = first + histories
    return (range(start, min(start + BATCH, last)) for start in range(first, last, BATCH))


def story(setting: Setting, number: int) -> str:
    """A failing history at its shortest: its commands, what happened, and what was wrong."""
    short = shorten(setting.history(number), lambda some: bool(setting.faults(some)[0]))
    world = setting.world(verbose=True)
    faults, _ = setting.faults(short, world)
    as_json = msgspec.json.encode(short).decode()
    lines = ["Commands:", *(f"  {told(command)}" for command in short), "What happened:"]
    lines += [f"  {line}" for line in world.log]
    return "\n".join([*lines, "What was wrong:", *(f"  {fault}" for fault in faults), f"As JSON: {as_json}"])


def replay(text: str, setting: Setting) -> tuple[list[str], World]:
    """Play the commands of a story again, from their JSON."""
    commands = msgspec.json.decode(text, type=list[AnyCommand])
    world = setting.world(verbose=True)
    faults, _ = setting.faults(commands, world)
    return faults, world
