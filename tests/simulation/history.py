"""Play a history: its commands, the end of all trouble, and the verdict."""

from collections.abc import Callable, Collection, Sequence
from datetime import timedelta

import msgspec

from spotwarden.engine.fan_out import Swept
from tests.simulation.commands import Command
from tests.simulation.jobs import MACHINES
from tests.simulation.process import Count, silenced
from tests.simulation.verdict import held_by_others, ledger_of, news, open_ends
from tests.simulation.world import World

ROUNDS = 120
"""How many sweeps the end may take; at 15 to 60 s each that is an hour."""
QUIET = 2
SHARED = "other instances of the function check the jobs"
"""What a sweep says that has left its jobs to others."""


class Outcome(msgspec.Struct, kw_only=True):
    """What came of a history: its faults (none is good), and its numbers."""

    faults: list[str]
    count: Count


def play(commands: Sequence[Command], world: World) -> Outcome:
    """Let a history happen in an empty world, and judge it. It stops at the first fault."""
    with silenced():
        for command in commands:
            world.do(command)
            if faults := faults_of(world):
                return Outcome(faults=faults, count=world.count)
        return end(world)


def faults_of(world: World) -> list[str]:
    """What has gone wrong so far."""
    return world.watch.broken + world.failures + world.guests.overlaps


def end(world: World) -> Outcome:
    """End all trouble, let the sweeps come to rest, and judge."""
    compute = world.cloud.compute
    for zone in compute.zones:
        compute.restock(zone)
        compute.have_spot(zone)
        compute.show(zone)
        for machine in MACHINES:
            compute.have_again(machine, zone)
    compute.forbid(forbidden=False)
    compute.let_the_log_lag(timedelta(0))
    world.let_go()
    quiet = 0
    for number in range(ROUNDS):
        world.pass_time(timedelta(seconds=10 + 50 * (number > QUIET)))
        sweeps = [world.sweep_now(), *world.deliver_all()]
        if faults := faults_of(world):
            return Outcome(faults=faults, count=world.count)
        held = {job.name for job in world.jobs if held_by_others(world, job)}
        rests = all(_rests(process.swept, held) for process in sweeps)
        quiet = quiet + 1 if rests and not open_ends(world) else 0
        if quiet == QUIET:
            break
    faults = open_ends(world) + news(world)
    if quiet < QUIET and not faults:
        faults = [f"the sweeps never come to rest: {getattr(world.sweep_now().swept, 'waiting', '')}"]
    _tally(world)
    return Outcome(faults=faults, count=world.count)


def _rests(swept: Swept | None, held: Collection[str]) -> bool:
    """Whether a sweep waits for nothing; what it has left to other instances is for them to say.

    A job of which a name is `held` by others waits until they are gone.
    """
    if swept is None or swept.failures:
        return False
    return all(why == SHARED or why.partition(":")[0] in held for why in swept.waiting)


def _tally(world: World) -> None:
    for job in world.jobs:
        records = ledger_of(world, job)
        world.count.moves += sum(bool(record.get("planned")) for record in records)
        states = [record["state"] for record in records if record["number"] > 1]
        world.count.recoveries += states.count("running")
        world.count.given_up += states.count("gave up")


def shorten(commands: Sequence[Command], fails: Callable[[Sequence[Command]], bool]) -> list[Command]:
    """The commands without those that a failing history can do without; halves first, then one by one."""
    kept, size = list(commands), len(commands) // 2
    while size:
        start = 0
        while start < len(kept):
            shorter = kept[:start] + kept[start + size :]
            if fails(shorter):
                kept = shorter
            else:
                start += size
        size //= 2
    return kept
