"""Play a history of the plane: its commands, the end of all trouble, and the verdict."""

import contextlib
import io
from collections.abc import Iterator, Sequence
from datetime import timedelta

from tests.simulation.commands import Command
from tests.simulation.history import Outcome
from tests.simulation.jobs import MACHINES
from tests.simulation.plane.commands import PolicyChange
from tests.simulation.plane.ends import loose_ends
from tests.simulation.plane.product import changed
from tests.simulation.plane.shell import at_shell
from tests.simulation.plane.verdict import ledger_of, open_ends, untold
from tests.simulation.plane.world import PlaneWorld
from tests.simulation.process import silenced

ROUNDS = 18
"""How many stretches of time the end may take: a warning that every server refused is told anew after four
hours (twice `notify.give_up`), then its grace runs, and what the remedy leads to is told as well."""
STRETCH = timedelta(minutes=24)


def play(commands: Sequence[Command], world: PlaneWorld) -> Outcome:
    """Let a history happen in an empty world, and judge it. It stops at the first fault."""
    with _alone(world):
        for command in commands:
            world.do(command)
            if faults := faults_of(world):
                return Outcome(faults=faults, count=world.count)
        return end(world)


@contextlib.contextmanager
def _alone(world: PlaneWorld) -> Iterator[None]:
    def wait(seconds: float) -> None:
        world.pass_time(timedelta(seconds=seconds))

    with silenced(), contextlib.redirect_stderr(io.StringIO()), at_shell(world.now, wait):
        yield


def faults_of(world: PlaneWorld) -> list[str]:
    """What has gone wrong so far."""
    return world.oracle.broken + world.failures + world.guests.overlaps


def end(world: PlaneWorld) -> Outcome:
    """End all trouble, let the functions come to rest, and judge."""
    _calm(world)
    world.let_go()
    faults = ["not judged"]
    for _ in range(ROUNDS):
        world.ticks(STRETCH)
        if broken := faults_of(world):
            return Outcome(faults=broken, count=world.count)
        faults = open_ends(world)
        if not faults:
            break
    _tally(world)
    return Outcome(faults=faults or untold(world) or loose_ends(world), count=world.count)


def _calm(world: PlaneWorld) -> None:
    for zone in world.compute.zones:
        world.compute.restock(zone)
        world.compute.have_spot(zone)
        world.compute.show(zone)
        for machine in MACHINES:
            world.compute.have_again(machine, zone)
    world.compute.forbid(forbidden=False)
    world.compute.lag = timedelta(0)
    world.compute.dark.clear()
    world.troubles.clear()
    world.late, world.twice, world.broken_policy = timedelta(0), False, False
    world.set_policy(changed(changed(world.policy, PolicyChange.ENFORCE), PolicyChange.REMEDIES))


def _tally(world: PlaneWorld) -> None:
    for job in world.jobs:
        states = [record["state"] for record in ledger_of(world, job) if record["number"] > 1]
        world.count.recoveries += states.count("running")
        world.count.given_up += states.count("gave up")
    world.count.mails += len(world.mailroom.arrived)
    world.count.removed += len(world.oracle.removals)
