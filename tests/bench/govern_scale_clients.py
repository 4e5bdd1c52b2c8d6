"""A sweep of `flag_idle_gpus` with Cloud Monitoring read over REST and through google-cloud-monitoring.

    python tests/bench/govern_scale_clients.py [--rounds 7] [--vms 10000]

Each run is a process of its own, from start to end, imports included; the two take turns against one server
that gives the same answers to both. The least of each is shown, and the ratio of the processor's times: the
decision for the client (docs/adr) holds while that is under 1.3.
"""

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.govern_scale import HERE, IDLE, Cost, Server, measured, serving

MOST = 1.3
"""So many times the processor's time of REST a sweep may cost through the client."""


def run(server: Server, stage: str, door: str) -> Cost:
    """One sweep."""
    script = [str(HERE / "govern_scale_sweep.py"), json.dumps(server.said), stage, "16", door]
    return measured(server, [sys.executable, *script], os.environ)


def warm(server: Server, door: str, count: int) -> None:
    """Ask until the server knows all answers."""
    for _ in range(30):
        if json.loads(run(server, "warm", door).said)["found"] >= count // IDLE:
            return
    sys.exit("the server does not come to know its answers")


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--vms", type=int, default=10_000)
    said = parser.parse_args()
    doors = ("rest", "client")
    with serving(said.vms) as server:
        for door in doors:
            warm(server, door, said.vms)
        print(
            f"{said.vms:,} VMs, least of {said.rounds}\n\n"
            "| | REST | client | ratio | goal | peaks |\n|---|---|---|---|---|---|"
        )
        for stage in ("look", "observe"):
            costs: dict[str, list[Cost]] = {door: [] for door in doors}
            for _ in range(said.rounds):
                for door in doors:
                    costs[door].append(run(server, stage, door))
            rest, client = (min(cost.cpu for cost in costs[door]) for door in doors)
            peaks = " / ".join(f"{min(cost.peak for cost in costs[door]) / 1024:.0f} MB" for door in doors)
            print(
                f"| {stage} | {rest:.2f} s | {client:.2f} s | {client / rest:.2f} | {MOST} | {peaks} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
