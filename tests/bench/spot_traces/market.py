"""What a trace says: which zones give how many VMs in each round of ten minutes, and at what price."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"
ROUND = 600
HOUR = 3600
GAP = range(696, 756)
"""The rounds between two collections; the SkyNomad replays hold each zone's last state through them."""


@dataclass(frozen=True)
class Zone:
    """A zone, its prices in USD an hour and VM, and for each round whether it has what is asked for."""

    name: str
    up: tuple[bool, ...]
    spot: float
    on_demand: float
    edges: tuple[int, ...]
    """The rounds at which `up` changes, with the end of the trace as the last."""

    @property
    def region(self) -> str:
        """The name without its last letter."""
        return self.name.rpartition("-")[0]

    def open(self, now: float) -> bool:
        """Whether a request at this second is served; a trace repeats from its start."""
        return self.up[int(now // ROUND) % len(self.up)]

    def changes(self, now: float) -> float:
        """The next second at which the zone opens or closes; the end of the trace where it never does."""
        turn, at = divmod(int(now // ROUND), len(self.up))
        return (turn * len(self.up) + self.edges[bisect_right(self.edges, at)]) * ROUND

    def up_for(self, now: float) -> float:
        """For how many seconds it has been open without a break; 0 where it is closed."""
        turn, at = divmod(int(now // ROUND), len(self.up))
        before = bisect_right(self.edges, at) - 1
        since = turn * len(self.up) + (self.edges[before] if before >= 0 else 0)
        return now - since * ROUND if self.open(now) else 0.0


def zone(name: str, up: Sequence[bool], spot: float, on_demand: float) -> Zone:
    """A zone with its edges found."""
    edges = (*(at for at in range(1, len(up)) if up[at] != up[at - 1]), len(up))
    return Zone(name=name, up=tuple(up), spot=spot, on_demand=on_demand, edges=edges)


def h100(vms: int, *, held: bool) -> Mapping[str, Zone]:
    """The 13 zones of the H100 probes for so many VMs, by name; `held` fills the gap as SkyNomad does."""
    zones = {}
    for line in _lines("gcp-h100/probes.txt"):
        name, spot, on_demand, rounds = line.split()
        zones[name] = zone(name, _filled(rounds, vms, held=held), float(spot), float(on_demand))
    return zones


def _filled(rounds: str, vms: int, *, held: bool) -> list[bool]:
    """A round without a probe, and each round of a held gap, repeats the one before."""
    up: list[bool] = []
    for at, given in enumerate(rounds):
        silent = given == "." or (held and at in GAP)
        up.append(up[-1] if silent else int(given, 17) >= vms)
    return up


def cant_be_late() -> tuple[list[Zone], list[int]]:
    """The eight traces of Can't Be Late and the first rounds of its 300 windows; prices of one V100."""
    *lines, windows = _lines("cant-be-late/windows.txt")
    zones = [
        zone(name, [one == "1" for one in rounds], 0.9731, 3.06) for name, rounds in map(str.split, lines)
    ]
    return zones, [int(one) for one in windows.split()[1:]]


def _lines(name: str) -> list[str]:
    return [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
