"""A node's shard of a sum: pi, as the area under 4 / (1 + x²), from the node's last checkpoint on."""

import argparse
import json
import math
import subprocess
import time
from pathlib import Path
from typing import Any

STEPS, EVERY, STRIPS, TOLERANCE = 40, 10, 2000, 1e-6
SECONDS_PER_STEP, LOOK_EVERY_SECONDS = 0.15, 0.5


def area(step: int, rank: int, nodes: int) -> float:
    """The area of those strips of this step that are this node's: every `nodes`-th."""
    strips = range(step * STRIPS + rank, (step + 1) * STRIPS, nodes)
    width = 1 / (STEPS * STRIPS)
    return sum(4 / (1 + ((strip + 0.5) * width) ** 2) for strip in strips) * width


def save(state: dict[str, Any], bucket: str) -> None:
    """Keep the checkpoint here and in the bucket."""
    file = Path("output", f"{state['node']}.json")
    file.write_text(json.dumps(state))
    subprocess.run(["gsutil", "-q", "cp", str(file), f"{bucket}/{file.name}"], check=True)
    print(f"{state['node']}: step {state['step']} of {STEPS}", flush=True)


def work(options: argparse.Namespace) -> float:
    """Do this node's shard to the end, from its checkpoint if there is one; gives its area."""
    file = Path("output", f"{options.node}.json")
    saved = json.loads(file.read_text()) if file.exists() else {"step": 0, "area": 0.0}
    state = {**saved, "node": options.node, "attempt": options.attempt, "from": saved["step"]}
    save(state, options.bucket)
    rank = int(options.node.rpartition("-")[2]) - 1 if options.nodes > 1 else 0
    for step in range(saved["step"], STEPS):
        started = time.monotonic()
        state |= {"step": step + 1, "area": state["area"] + area(step, rank, options.nodes)}
        time.sleep(max(0.0, SECONDS_PER_STEP - (time.monotonic() - started)))
        if state["step"] % EVERY == 0:
            save(state, options.bucket)
    return float(state["area"])


def result_of(node: str, bucket: str) -> float:
    """Wait until another node has done its shard; gives its area."""
    while True:
        read = subprocess.run(
            ["gsutil", "-q", "cat", f"{bucket}/{node}.json"], capture_output=True, check=False
        )
        if read.returncode == 0 and (state := json.loads(read.stdout))["step"] == STEPS:
            return float(state["area"])
        time.sleep(LOOK_EVERY_SECONDS)


def main() -> None:
    """Do the shard; the master adds those of the others, and fails if the sum is not pi."""
    parser = argparse.ArgumentParser()
    for name in ("--attempt", "--node", "--master", "--bucket"):
        parser.add_argument(name, required=True)
    parser.add_argument("--nodes", type=int, required=True)
    options = parser.parse_args()
    total = work(options)
    if options.node != options.master:
        return
    job = options.node.rpartition("-")[0]
    total += sum(result_of(f"{job}-{number}", options.bucket) for number in range(2, options.nodes + 1))
    print(f"pi is {total:.9f}", flush=True)
    if abs(total - math.pi) > TOLERANCE:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
