"""A training that knows nothing of clouds: it fits a line, and goes on from its checkpoint."""

import argparse
import json
import os
import time
from pathlib import Path

POINTS = [(x / 50, 3 * x / 50 - 1 + (x * 7 % 11 - 5) / 50) for x in range(100)]
EVERY = 5


def step(a: float, b: float, rate: float) -> tuple[float, float, float]:
    """One step of gradient descent; gives the new line and the loss of the old one."""
    wrong = [(x, a * x + b - y) for x, y in POINTS]
    loss = sum(error * error for _, error in wrong) / len(POINTS)
    a -= rate * sum(error * x for x, error in wrong) / len(POINTS)
    b -= rate * sum(error for _, error in wrong) / len(POINTS)
    return a, b, loss


def main() -> None:
    """Train, from the last checkpoint on if there is one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--pause", type=float, default=0.1, help="Seconds that a step takes.")
    options = parser.parse_args()
    checkpoint = Path(os.environ.get("SPOTWARDEN_OUTPUT", "."), "checkpoint.json")
    done, a, b = json.loads(checkpoint.read_text()) if checkpoint.exists() else (0, 0.0, 0.0)
    print(f"begins after step {done}", flush=True)
    while done < options.steps:
        a, b, loss = step(a, b, options.rate)
        done += 1
        print(f"step {done} loss {loss:.6f}", flush=True)
        if done % EVERY == 0 or done == options.steps:
            # Written under another name first, so that a half one never counts.
            new = checkpoint.with_suffix(".tmp")
            new.write_text(json.dumps([done, a, b]))
            new.replace(checkpoint)
        time.sleep(options.pause)


if __name__ == "__main__":
    main()
