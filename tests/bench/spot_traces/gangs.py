"""Gangs of 16 on the H100 probes, which tell how many of 16 VMs each zone gave: whole, or bent.

A gang of k nodes trains at k/16 of its speed. A loss is heard of after a minute and costs those that are left
another one; one that was told of 120 s before stops all for the last half minute of that, and the others
change meanwhile. A VM that joins, or a gang that moves, costs half a minute. A new VM trains after twelve.
Each request takes 20 s and tells only what it was answered: a refusal stands in the memory of places.

    cd tests/bench && python -m spot_traces.gangs
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from spotwarden.model.placement import PlaceEvent
from spotwarden.recovery.places import placement

from .calibration import us
from .market import HOUR, ROUND, Zone, _lines, h100
from .ours import Memory, _homed, moment
from .placing import SPAN, seeds
from .replay import A_MOMENT, Job
from .table import Table, show

NODES = 16
HEARD, IN_PLACE, JOINED, BOOT = 60.0, 60.0, 30.0, 720.0
TOLD = 35.0
"""All stop 30 s before the end of a node that is told; the others have heard and changed in so long."""
AGAIN = 600.0
SHORT = 4
"""How many nodes are missing when a gang that moves looks for another place: chosen on even seeds."""


@dataclass(frozen=True)
class Way:
    """How a gang is kept: how many nodes are enough, and whether it moves to a place that has all of them.

    The product does not move gangs. One that `moves` asks, where `short` nodes are missing, the places in
    which nothing befell it within `fragile`, or where it is `rash` all of them. `in_place` is what a loss
    costs those that are left, in seconds, where no node is `told` of it before. `again` is how often missing
    nodes are asked for, and `steps` are the numbers that every place is asked for in turn where the gang is
    made anew.
    """

    least: int = NODES
    moves: bool = False
    short: int = SHORT
    rash: bool = False
    in_place: float = IN_PLACE
    places: int = 8
    told: bool = False
    again: float = AGAIN
    steps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Move:
    """A move under way: so many VMs boot there until `ready`, while the gang trains on."""

    zone: str
    ready: float
    nodes: int


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
    moving: Move | None = None
    paused: float = 0.0
    ask_at: float = 0.0
    move_at: float = 0.0
    backed: float = 30.0
    bends: int = 0
    moved: int = 0
    vm_hours: float = 0.0
    cost: float = 0.0
    pause: str = ""
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def held(self) -> int:
        """Nodes that train, and those that are about to join them."""
        return self.nodes + sum(count for _, count in self.boots)

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
        """Train until the next thing may happen."""
        works = self.now >= self.paused and self.nodes > 0
        span = min(self.next_moments(works=works)) - self.now
        self.account(span, works=works)
        if works:
            left = self.left - span * self.nodes / NODES
            self.left = left if left > A_MOMENT else 0.0
        moving = self.moving.nodes if self.moving else 0
        self.vm_hours += (self.held + moving) * span / HOUR
        self.cost += self.held * self.prices[self.zone] * span / HOUR
        self.cost += moving * self.prices[self.moving.zone] * span / HOUR if self.moving else 0.0
        self.now += span

    def account(self, span: float, *, works: bool) -> None:
        """Note what the span is short of the work of 16 nodes, and why."""
        short = 1 - self.nodes / NODES
        best = max(self.room(zone) for zone in self.order[: self.way.places])
        elsewhere = max(0.0, min(best, NODES) - self.nodes) / NODES
        self.spent["fewer nodes, and no zone had more"] += span * (short - elsewhere)
        self.spent["fewer nodes, and another zone had more"] += span * elsewhere
        if not works:
            self.spent[self.pause] += span * self.nodes / NODES

    def rest(self, until: float, why: str) -> None:
        """Train nothing until then."""
        if until > self.paused:
            self.paused, self.pause = until, why

    def next_moments(self, *, works: bool) -> Iterator[float]:
        """When a round ends, a VM is there, a place is asked, a pause ends, or the work is done."""
        yield (self.now // ROUND + 1) * ROUND
        asks = (self.ask_at, self.move_at) if self.held < NODES else ()
        arrives = (self.moving.ready,) if self.moving else ()
        ends = (self.now + self.left * NODES / self.nodes,) if works else ()
        moments = (*(at for at, _ in self.boots), *asks, *arrives, *ends, self.paused)
        yield from (at for at in moments if at > self.now + A_MOMENT)

    def place(self) -> None:
        """Ask each place for all nodes, then each for what is enough; then wait."""
        began = self.now
        for least in dict.fromkeys((NODES, *self.way.steps, self.way.least)):
            for zone in self.ordered() or self.order[: self.way.places]:
                room = self.room(zone)
                if room >= least:
                    self.spent["no zone had enough, and was asked"] += self.now - began
                    self.begin(zone, min(room, NODES))
                    return
                self.memory.learn(zone, PlaceEvent.STOCKOUT, self.now)
                self.now += self.job.ask
        self.now += self.backed
        self.spent["no zone had enough, and was asked"] += self.now - began
        self.backed = min(2 * self.backed, AGAIN)

    def ordered(self) -> Sequence[str]:
        """The places that the product would ask, best first."""
        places = self.order[: self.way.places]
        record, limits = self.memory.record, self.memory.limits
        return placement.order(places, record, moment(self.now), limits, self.prices)

    def begin(self, zone: str, nodes: int) -> None:
        """Be made anew there."""
        self.memory.learn(zone, PlaceEvent.GAVE, self.now)
        self.zone, self.nodes, self.boots, self.backed = zone, nodes, [], 30.0
        self.rest(self.now + BOOT, "all boot anew")
        self.ask_at = self.move_at = self.now

    def lose(self) -> None:
        """Lose what the zone no longer has, nodes that train first; below what is enough all of it."""
        self.lose_move()
        lost = self.held - self.room(self.zone)
        if lost <= 0:
            return
        fell = min(lost, self.nodes)
        self.nodes -= fell
        self.lose_boots(lost - fell)
        self.memory.learn(self.zone, PlaceEvent.PREEMPTED, self.now)
        if self.nodes < self.way.least:
            self.end()
        elif fell:
            self.bends += 1
            self.ask_at = self.move_at = self.now
            self.rest(self.now + (TOLD if self.way.told else HEARD + self.way.in_place), "a loss")

    def lose_boots(self, count: int) -> None:
        """Lose so many VMs that boot."""
        left = []
        for at, nodes in self.boots:
            cut = min(nodes, count)
            count -= cut
            left.append((at, nodes - cut))
        self.boots = [(at, nodes) for at, nodes in left if nodes]

    def lose_move(self) -> None:
        """Lose VMs where the gang goes; it goes there all the same while that is more than it has."""
        room = self.room(self.moving.zone) if self.moving else NODES
        if self.moving and room < self.moving.nodes:
            self.memory.learn(self.moving.zone, PlaceEvent.PREEMPTED, self.now)
            enough = room >= self.way.least and room > self.held
            self.moving = replace(self.moving, nodes=room) if enough else None

    def end(self) -> None:
        """Too few are left: go where VMs boot already, or be made anew."""
        if self.moving:
            self.arrive(self.moving, max(self.moving.ready, self.now + HEARD))
            return
        self.zone, self.nodes, self.boots = "", 0, []
        self.now += HEARD
        self.spent["too few were left, and that was heard of"] += HEARD

    def grow(self) -> None:
        """Take in what has booted, ask for what is missing, and look for a place that has all."""
        if ready := sum(count for at, count in self.boots if at <= self.now):
            self.nodes += ready
            self.boots = [(at, count) for at, count in self.boots if at > self.now]
            self.rest(self.now + JOINED, "new nodes join")
        missing = NODES - self.held
        if missing and self.now >= self.ask_at:
            self.ask_at = self.now + self.way.again
            spare = min(missing, self.room(self.zone) - self.held)
            if spare > 0:
                self.boots.append((self.now + BOOT, spare))
            if spare < missing:
                self.memory.learn(self.zone, PlaceEvent.STOCKOUT, self.now)
        if self.way.moves:
            self.move()

    def move(self) -> None:
        """Have all nodes made in another place, and go there once they have booted."""
        if self.moving:
            if self.now >= self.moving.ready and self.moving.nodes >= self.held:
                self.arrive(self.moving, self.now)
            elif self.now >= self.moving.ready:
                self.moving = None
        elif self.held <= NODES - self.way.short and self.now >= self.move_at:
            self.move_at = self.now + AGAIN
            self.moving = self.asked()

    def asked(self) -> Move | None:
        """Ask the other places that are open, best first, for all nodes."""
        asks = 0
        for zone in self.ordered():
            if zone == self.zone or not (self.way.rash or self.is_quiet(zone)):
                continue
            asks += 1
            if self.room(zone) >= NODES:
                self.memory.learn(zone, PlaceEvent.GAVE, self.now)
                return Move(zone=zone, ready=self.now + self.job.ask * asks + BOOT, nodes=NODES)
            self.memory.learn(zone, PlaceEvent.STOCKOUT, self.now)
        return None

    def is_quiet(self, zone: str) -> bool:
        """Whether the product would move a single VM there."""
        return placement.is_quiet(zone, self.memory.record, moment(self.now), self.memory.limits)

    def arrive(self, move: Move, at: float) -> None:
        """Go on there."""
        self.zone, self.nodes, self.boots, self.moving = move.zone, move.nodes, [], None
        self.rest(at + JOINED, "the gang moves")
        self.moved += 1
        self.ask_at = self.move_at = self.now


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


BENDS = Way(least=8, told=True)
WAYS = {
    "all or none": Way(),
    "bends, 8:16": BENDS,
    "  and is not told of losses": replace(BENDS, told=False),
    "  and asks for what is missing each 3 min *": replace(BENDS, again=180.0),
    "  and asks places for 14, 12 and 10 before 8 *": replace(BENDS, steps=(14, 12, 10)),
    "bends, 6:16": replace(BENDS, least=6),
    "bends, 4:16": replace(BENDS, least=4),
    "bends, 8:16, and 12 or fewer move where all 16 are *": replace(BENDS, moves=True),
    "  and 14 or fewer do, to any zone *": replace(BENDS, moves=True, short=2, rash=True),
    "bends, 4:16, and moves *": replace(BENDS, least=4, moves=True),
    "bends, 2:16, and moves *": replace(BENDS, least=2, moves=True),
}


def study() -> Iterator[Table]:
    """Every home of the eight US zones, and one zone alone."""
    zones = us(list(h100(NODES, held=False).values()))
    for places, title in ((8, "8 US zones, mean of 8 homes"), (1, "one fixed zone, each of 8")):
        ways = {name: way for name, way in WAYS.items() if places > 1 or not (way.moves or way.steps)}
        rows = [[name, *_figures(runs(zones, way, places))] for name, way in ways.items()]
        yield Table(
            title=f"100 h of work, gang of 16 H100 VMs, {title} (goals: 110 h; twice as many runs that end)",
            head=("", "runs", "done", "hours", "bends", "moves", "VM hours", "USD for each VM"),
            rows=[*rows, *(_hours_at_best(zones) if places > 1 else _ends_at_best(zones))],
            note="Traces: GCP H100 probes, October 2025 (SkyNomad artifact); prices of 2025-10-23. "
            "* is not built.",
        )
    yield _where_it_goes(zones)


def _where_it_goes(zones: Sequence[Zone]) -> Table:
    """What the hours beyond the work are spent on, in eight zones."""
    ways = {name: way for name, way in WAYS.items() if way.least == BENDS.least and not way.steps}
    spent = {name: _spent(runs(zones, way, 8)) for name, way in ways.items()}
    whys = sorted({why for of in spent.values() for why in of}, key=lambda why: -spent["bends, 8:16"][why])
    return Table(
        title="Hours beyond the 100, and what for: a training on 8 of 16 nodes spends half of its own",
        head=("", *(name.strip() for name in ways)),
        rows=[[why, *(f"{of[why]:.2f}" for of in spent.values())] for why in whys],
        note="* is not built.",
    )


def _spent(found: Sequence[Gang]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for gang in found:
        for why, seconds in gang.spent.items():
            total[why] += seconds / HOUR / len(found)
    return total


def _ends_at_best(zones: Sequence[Zone]) -> Iterator[list[str]]:
    """How many runs end in one zone of which all is known, where VMs boot for a round and no more."""
    given = rooms()
    pairs = [(job, given[zone.name]) for job in seeds(1) for zone in zones]
    for least in (NODES, 8, 6, 4):
        ends = sum(at_best(job, [row], least, len(row)) <= len(row) * ROUND for job, row in pairs)
        yield [f"at best, {least}:16, all known", str(len(pairs)), str(ends), *[""] * 5]


def _hours_at_best(zones: Sequence[Zone]) -> Iterator[list[str]]:
    """The hours in eight zones of which all is known, always where most VMs are; with and without boots."""
    given = rooms()
    rows = [given[zone.name] for zone in zones]
    for boots, what in ((1, "VMs boot for a round"), (0, "VMs are there at once")):
        hours = mean(
            (at_best(job, rows, 8, 2 * len(rows[0]), boots=boots) - job.start) / HOUR for job in seeds(1)
        )
        yield [f"at best, 8:16, all known, {what}", "12", "", f"{hours:.1f}", *[""] * 4]


def at_best(job: Job, rows: Sequence[Sequence[int]], least: int, until: int, *, boots: int = 1) -> float:
    """The second of the trace at which the work may be done, at the earliest; endless where not by `until`.

    In each round as many VMs train as the best zone has now, and had so many rounds before.
    """
    first, left = int(job.start // ROUND), job.work
    for at in range(first, until):
        there = at - first >= boots
        room = max(min(row[at % len(row)], row[(at - boots) % len(row)]) if there else 0 for row in rows)
        speed = min(room, NODES) / NODES if room >= least else 0.0
        if speed * ROUND >= left:
            return at * ROUND + left / speed
        left -= speed * ROUND
    return float("inf")


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
        f"{mean(gang.cost for gang in done) / NODES:,.0f}",
    ]


if __name__ == "__main__":
    for table in study():
        show(table)
