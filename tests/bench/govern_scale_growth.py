"""How the look of `flag_idle_gpus` grows with the number of VMs: a table, and a plot of it.

    python tests/bench/govern_scale_growth.py [--counts 10 100 1000 10000 100000] [--rounds 3] [--svg FILE]

A process of its own for each look, imports included, against the server of `govern_scale_server.py`; medians
of processor time, peaks and calls. The *first* look knows nothing of the project; the *next* one of the same
process knows how large it was.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log10
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.govern_scale import MB, Cost, Server, ours, serving, warm

COUNTS = (10, 100, 1_000, 10_000, 100_000)
WIDTH, HEIGHT, MARGIN = 560, 320, 52
COLORS = ("#1a73e8", "#d93025", "#188038")

Line = Sequence[tuple[float, float]]


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
    lines: dict[str, list[tuple[float, float]]] = {"CPU, s": [], "peak, MB": [], "calls": []}
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


def plot(lines: Mapping[str, Line]) -> str:
    """The lines over one another, both axes by powers of ten."""
    every = [point for line in lines.values() for point in line]
    left, right = (log10(edge(x for x, _ in every)) for edge in (min, max))
    low, high = (log10(edge(y for _, y in every)) for edge in (min, max))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (log10(x) - left) / (right - left or 1)
        up = (log10(y) - low) / (high - low or 1)
        return MARGIN + across * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)

    drawn = "\n".join(_drawn(lines, place))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12">\n'
        f"<title>A look of flag_idle_gpus by the number of VMs</title>\n{drawn}\n</svg>\n"
    )


def _drawn(lines: Mapping[str, Line], at: Callable[[float, float], tuple[float, float]]) -> Iterator[str]:
    for (name, line), color in zip(lines.items(), COLORS, strict=True):
        points = [at(x, y) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{path}"/>'
        for (x, y), (_, figure) in zip(points, line, strict=True):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>'
            yield f'<text x="{x:.1f}" y="{y - 7:.1f}" text-anchor="middle" fill="{color}">{figure:.3g}</text>'
        last_x, last_y = points[-1]
        yield f'<text x="{last_x:.1f}" y="{last_y + 16:.1f}" text-anchor="end" fill="{color}">{name}</text>'
    for count, _ in next(iter(lines.values())):
        x, _y = at(count, 1)
        yield f'<text x="{x:.1f}" y="{HEIGHT - 14}" text-anchor="middle" fill="#5f6368">{count:,}</text>'
    yield f'<text x="{WIDTH / 2}" y="{HEIGHT - 1}" text-anchor="middle" fill="#5f6368">VMs</text>'


def main() -> None:
    """Read the arguments, print the table, write the plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--counts", type=int, nargs="*", default=list(COUNTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--svg", type=Path)
    said = parser.parse_args()
    lines = growth(said.counts, said.rounds)
    if said.svg:
        said.svg.write_text(plot(lines))


if __name__ == "__main__":
    main()
