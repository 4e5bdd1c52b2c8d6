"""Gangs of 16 on the H100 probes, which tell how many of 16 VMs each zone gave: whole, or bent.

A gang of k nodes trains at k/16 of its speed. A loss is heard of after a minute and costs those that are left
another one; a VM that joins, or a gang that hands over, costs half a minute. A new VM trains after twelve.

    cd tests/bench && python -m spot_traces.gangs
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from spotwarden.model.placement import PlaceEvent
from spotwarden.recovery import placement

from .calibration import us
from .market import HOUR, ROUND, Zone, _lines, h100
from .ours import Memory, _homed, moment
from .placing import SPAN, seeds
from .replay import Job
from .table import Table, show

NODES, STEP = 16, 20.0
HEARD, IN_PLACE, JOINED, BOOT = 60.0, 60.0, 30.0, 720.0
AGAIN = 600.0


@dataclass(frozen=True)
class Way:
    """How a gang is kept: how many nodes are enough, and whether it moves to a place that has all of them.

    `in_place` is what a loss costs those that are left, in seconds.
    """

    least: int = NODES
    moves: bool = False
    in_place: float = IN_PLACE
    places: int = 8


@dataclass
class Gang:
    """One gang under way: `nodes` train in `zone`, `boots` are moments with VMs, `moving` where it goes."""

    job: Job
    way: Way
    rooms: Mapping[str, Sequence[int]]
    order: Sequence[str]
    prices: Mapping[str, float]
    memory: Memory = field(default_factory=Memory)
    now: float = 0.0
    left: float = 0.0
    zone: str = ""
    nodes: int = 0
    boots: list[tuple[float, int]] = field(default_factory=list)
    moving: tuple[str, float] | None = None
    paused: float = 0.0
    ask_at: float = 0.0
    move_at: float = 0.0
    backed: float = 30.0
    bends: int = 0
    moved: int = 0
    vm_hours: float = 0.0

    def room(self, zone: str) -> int:
        """How many VMs a zone has now; a trace repeats from its start."""
        rooms = self.rooms[zone]
        return rooms[int(self.now // ROUND) % len(rooms)]

    def run(self) -> "Gang":
        """Train to the end, or to that of the replay."""
        self.now, self.left = self.job.start, self.job.work
        while self.left > 0 and self.now < self.job.start + self.job.horizon:
            if not self.zone:
                self.place()
                continue
            self.lose()
            if self.zone:
                self.grow()
                self.train()
        return self

    def train(self) -> None:
        """One step of time."""
        if self.now >= self.paused:
            self.left -= STEP * self.nodes / NODES
        held = self.nodes + sum(count for _, count in self.boots) + (NODES if self.moving else 0)
        self.vm_hours += held * STEP / HOUR
        self.now += STEP

    def place(self) -> None:
        """Ask each place for all nodes, then each for what is enough; then wait."""
        for least in dict.fromkeys((NODES, self.way.least)):
            for zone in self.ordered():
                room = self.room(zone)
                if room >= least:
                    self.begin(zone, min(room, NODES))
                    return
                self.memory.learn(zone, PlaceEvent.STOCKOUT, self.now)
                self.now += self.job.ask
        self.now += self.backed
        self.backed = min(2 * self.backed, AGAIN)

    def ordered(self) -> list[str]:
        """The places that the product would ask, best first; where none is open, all of them."""
        places = self.order[: self.way.places]
        record, limits = self.memory.record, self.memory.limits
        return list(placement.order(places, record, moment(self.now), limits, self.prices)) or list(places)

    def begin(self, zone: str, nodes: int) -> None:
        """Be made anew there."""
        self.memory.learn(zone, PlaceEvent.GAVE, self.now)
        self.zone, self.nodes, self.boots, self.backed = zone, nodes, [], 30.0
        self.paused = self.now + BOOT
        self.ask_at = self.move_at = self.now

    def lose(self) -> None:
        """Lose what the zone no longer has, nodes that train first; below what is enough all of it."""
        lost = self.nodes + sum(count for _, count in self.boots) - self.room(self.zone)
        if self.moving and self.room(self.moving[0]) < NODES:
            self.moving = None
        if lost <= 0:
            return
        fell = min(lost, self.nodes)
        self.nodes -= fell
        self.boots = [(at, count) for at, count in self.boots if not (lost := max(0, lost - count))] or []
        self.memory.learn(self.zone, PlaceEvent.PREEMPTED, self.now)
        if self.nodes < self.way.least:
            self.zone, self.nodes, self.boots, self.moving = "", 0, [], None
            self.now += HEARD
        elif fell:
            self.bends += 1
            self.ask_at = self.move_at = self.now
            self.paused = max(self.paused, self.now + HEARD + self.way.in_place)

    def grow(self) -> None:
        """Take in what has booted, ask for what is missing, and look for a place that has all."""
        if ready := sum(count for at, count in self.boots if at <= self.now):
            self.nodes += ready
            self.boots = [(at, count) for at, count in self.boots if at > self.now]
            self.paused = max(self.paused, self.now + JOINED)
        missing = NODES - self.nodes - sum(count for _, count in self.boots)
        if missing and self.now >= self.ask_at:
            self.ask_at = self.now + AGAIN
            if spare := min(missing, self.room(self.zone) - (NODES - missing)):
                self.boots.append((self.now + BOOT, spare))
        if self.way.moves:
            self.move()

    def move(self) -> None:
        """Have all nodes made in another place, and go there once they have booted."""
        if self.moving:
            zone, at = self.moving
            if self.now >= at:
                self.zone, self.nodes, self.boots, self.moving = zone, NODES, [], None
                self.paused, self.moved = self.now + JOINED, self.moved + 1
            return
        have = self.nodes + sum(count for _, count in self.boots)
        if have >= NODES or self.now < self.move_at:
            return
        self.move_at = self.now + AGAIN
        for zone in self.ordered():
            if zone != self.zone and self.room(zone) >= NODES:
                self.moving = (zone, self.now + BOOT)
                return


def rooms() -> dict[str, list[int]]:
    """How many of 16 VMs each zone gave in each round; one without a probe repeats the one before."""
    found: dict[str, list[int]] = {}
    for line in _lines("gcp-h100/probes.txt"):
        name, _spot, _on_demand, rounds = line.split()
        row: list[int] = []
        for given in rounds:
            row.append((row[-1] if row else 0) if given == "." else int(given, 17))
        found[name] = row
    return found


WAYS = {
    "all or none": Way(),
    "bends, 8:16": Way(least=8),
    "bends, 4:16": Way(least=4),
    "bends, and moves where all 16 are": Way(least=8, moves=True),
    "  with 15 s for a loss": Way(least=8, moves=True, in_place=15.0),
}


def study() -> Iterator[Table]:
    """Every home of the eight US zones, and one zone alone."""
    zones = us(list(h100(NODES, held=False).values()))
    for places, title in ((8, "8 US zones, mean of 8 homes"), (1, "one fixed zone, each of 8")):
        ways = {name: way for name, way in WAYS.items() if places > 1 or not way.moves}
        rows = [[name, *_figures(runs(zones, way, places))] for name, way in ways.items()]
        yield Table(
            title=f"100 h of work, gang of 16 H100 VMs, {title} (goals: 110 h; twice as many runs that end)",
            head=("", "runs", "done", "hours", "bends", "moves", "VM hours"),
            rows=rows if places > 1 else [*rows, _free(zones)],
            note="Traces: GCP H100 probes, October 2025 (SkyNomad artifact).",
        )


def _free(zones: Sequence[Zone]) -> list[str]:
    """How many runs a gang of 8 to 16 could end whose restarts, waits and losses cost nothing at all."""
    given = rooms()
    pairs = [(job, given[zone.name]) for job in seeds(1) for zone in zones]
    ends = sum(_at_best(job, row) >= job.work for job, row in pairs)
    return ["no gang of 8 to 16 can end more", str(len(pairs)), str(ends), "", "", "", ""]


def _at_best(job: Job, row: Sequence[int]) -> float:
    """Seconds of work that a zone has room for, from the start to the end of the trace."""
    first = int(job.start // ROUND)
    return sum(ROUND * min(vms, NODES) / NODES for vms in row[first:] if vms >= NODES // 2)


def runs(zones: Sequence[Zone], way: Way, places: int) -> list[Gang]:
    """One run for each odd seed and each home."""
    prices, given = {zone.name: zone.spot for zone in zones}, rooms()
    way = replace(way, places=places)
    return [
        Gang(job=job, way=way, rooms=given, order=_homed(zones, zone.name), prices=prices).run()
        for job in seeds(1)
        for zone in zones
    ]


def _figures(found: Sequence[Gang]) -> list[str]:
    done = [gang for gang in found if gang.left <= 0]
    return [
        str(len(found)),
        str(sum(gang.now <= SPAN for gang in done)),
        f"{mean((gang.now - gang.job.start) / HOUR for gang in done):.1f}",
        f"{mean(gang.bends for gang in done):.1f}",
        f"{mean(gang.moved for gang in done):.1f}",
        f"{mean(gang.vm_hours for gang in done):,.0f}",
    ]


if __name__ == "__main__":
    for table in study():
        show(table)
