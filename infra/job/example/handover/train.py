"""A training that is handed over: it learns a wave by chance that is part of the checkpoint."""

import argparse
import json
import math
import os
import random
import time
from pathlib import Path
from typing import Any

import spotwarden_preemption as preemption

FEATURES, RATE = 12, 0.005


def features(x: float) -> list[float]:
    """What the model sees of a point."""
    return [math.cos(number * x) for number in range(FEATURES)]


def make_step(state: dict[str, Any]) -> float:
    """One step on a batch that chance draws; gives its loss."""
    version, internal, gauss = state["chance"]
    chance = random.Random()
    chance.setstate((version, tuple(internal), gauss))
    loss, slope = 0.0, [0.0] * FEATURES
    for _ in range(16):
        x = chance.uniform(0, math.pi)
        seen = features(x)
        wrong = sum(map(float.__mul__, state["weights"], seen)) - math.sin(3 * x) - chance.gauss(0, 0.1)
        loss += wrong * wrong / 16
        slope = [sum_ + wrong * value / 8 for sum_, value in zip(slope, seen, strict=True)]
    state["weights"] = [weight - RATE * value for weight, value in zip(state["weights"], slope, strict=True)]
    state["chance"] = chance.getstate()
    state["step"] += 1
    return loss


def main() -> None:
    """Train, from the checkpoint on if there is one; save when the VM is about to be taken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.1, help="Seconds between two steps.")
    options = parser.parse_args()
    guard = preemption.guard()
    preemption.wait_for_turn()
    output = Path(os.environ.get("SPOTWARDEN_OUTPUT", "."))
    checkpoint, attempt = output / "state.json", os.environ.get("SPOTWARDEN_ATTEMPT", "0")
    state = {"step": 0, "weights": [0.0] * FEATURES, "chance": random.Random(7).getstate()}
    if checkpoint.exists():
        state = json.loads(checkpoint.read_text())
    progress = Path(os.environ.get("SPOTWARDEN_PROGRESS", os.devnull))
    while state["step"] < options.steps:
        loss = make_step(state)
        with (output / "curve.csv").open("a") as curve:
            curve.write(f"{state['step']},{loss!r},{attempt},{time.time():.2f}\n")
        progress.write_text(json.dumps({"step": state["step"], "steps": options.steps, "loss": loss}))
        if guard.requested:
            checkpoint.with_suffix(".tmp").write_text(json.dumps(state))
            checkpoint.with_suffix(".tmp").replace(checkpoint)
        if guard.stopping:
            raise SystemExit(143)
        time.sleep(options.pause)


if __name__ == "__main__":
    main()
