"""How the look of `flag_idle_gpus` grows with the number of VMs: a table, and a plot of it.

    python tests/bench/govern_scale_growth.py [--counts 10 100 1000 10000 100000] [--rounds 3] [--plot FILE]

A process of its own for each look, imports included, against the server of `govern_scale_server.py`; medians
of processor time, peaks and calls. The *first* look knows nothing of the project; the *next* one of the same
process knows how large it was.
"""

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.govern_scale import MB, Cost, Server, ours, serving, warm
from tests.bench.plot import Line, drawn

COUNTS = (10, 100, 1_000, 10_000, 100_000)


def looked(server: Server, count: int, rounds: int) -> list[Cost]:
    """So many first looks."""
    if count >= COUNTS[2]:
        warm(server, count)
    else:
        ours(server, "look")
    return [ours(server, "look") for _ in range(rounds)]


def calls_of(cost: Cost) -> int:
    """All calls, whoever was asked."""
    return sum(cost.calls.values())


def growth(counts: Sequence[int], rounds: int) -> dict[str, Line]:
    """Print the table, and give its lines."""
    print("| VMs | CPU of a first look | peak | calls | calls of the next look |\n|---:|---:|---:|---:|---:|")
    lines: dict[str, list[tuple[float, float]]] = {
        "processor time, s": [],
        "memory at the peak, MB": [],
        "calls": [],
    }
    for count in counts:
        with serving(count) as server:
            costs = looked(server, count, rounds)
            again = ours(server, "twice")
        cpu = statistics.median(cost.cpu for cost in costs)
        peak = statistics.median(cost.peak for cost in costs) / MB
        calls = calls_of(costs[-1])
        more = calls_of(again) - calls
        print(f"| {count:,} | {cpu:.2f} s | {peak:.0f} MB | {calls} | {more} |", flush=True)
        for line, figure in zip(lines.values(), (cpu, peak, calls), strict=True):
            line.append((count, figure))
    return dict(lines)


def main() -> None:
    """Read the arguments, print the table, write the plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--counts", type=int, nargs="*", default=list(COUNTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plot", type=Path)
    said = parser.parse_args()
    lines = growth(said.counts, said.rounds)
    if said.plot:
        title = "A first look of flag_idle_gpus, by the number of VMs"
        said.plot.write_text(drawn(title, "VMs", lines), encoding="utf-8")


if __name__ == "__main__":
    main()
