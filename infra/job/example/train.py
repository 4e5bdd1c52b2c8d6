"""A small real training: logistic regression by gradient descent, resumed from its last checkpoint."""

import argparse
import json
import math
import random
import subprocess
import time
from pathlib import Path

FEATURES, SAMPLES, STEPS, EVERY = 8, 400, 80, 5
RATE, SECONDS_PER_STEP = 0.5, 0.15


def data(seed: int = 7) -> list[tuple[list[float], int]]:
    """Points of two classes that a plane nearly separates; the same on every attempt."""
    chance = random.Random(seed)
    truth = [chance.uniform(-2, 2) for _ in range(FEATURES)]
    points = [[chance.gauss(0, 1) for _ in range(FEATURES)] for _ in range(SAMPLES)]
    return [(x, int(dot(truth, x) + chance.gauss(0, 0.3) > 0)) for x in points]


def dot(a: list[float], b: list[float]) -> float:
    """The scalar product."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def step(weights: list[float], points: list[tuple[list[float], int]]) -> tuple[list[float], float]:
    """One step of gradient descent over all points; gives the new weights and the loss before it."""
    gradient, loss = [0.0] * FEATURES, 0.0
    for x, label in points:
        guess = 1 / (1 + math.exp(-dot(weights, x)))
        loss -= math.log(max(guess if label else 1 - guess, 1e-12)) / SAMPLES
        gradient = [g + (guess - label) * value / SAMPLES for g, value in zip(gradient, x, strict=True)]
    return [w - RATE * g for w, g in zip(weights, gradient, strict=True)], loss


def main() -> None:
    """Train to the end, from the checkpoint if there is one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--attempt", required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--bucket", required=True)
    options = parser.parse_args()
    checkpoint, curve = options.output / "checkpoint.json", options.output / "curve.jsonl"
    weights, first = [0.0] * FEATURES, 0
    if checkpoint.exists():
        saved = json.loads(checkpoint.read_text())
        weights, first = saved["weights"], saved["step"]
    print(f"attempt {options.attempt}: from step {first} of {STEPS}", flush=True)
    # What was trained after the last checkpoint is trained again, so its part of the curve goes.
    known = [json.loads(line) for line in curve.read_text().splitlines()] if curve.exists() else []
    curve.write_text("".join(json.dumps(item) + "\n" for item in known if item["step"] <= first))
    points = data()
    for number in range(first + 1, STEPS + 1):
        started = time.monotonic()
        weights, loss = step(weights, points)
        with curve.open("a") as file:
            file.write(
                json.dumps({"attempt": options.attempt, "step": number, "loss": round(loss, 6)}) + "\n"
            )
        if number % EVERY == 0 or number == STEPS:
            checkpoint.write_text(json.dumps({"step": number, "weights": weights}))
            subprocess.run(["gsutil", "-q", "cp", str(curve), f"{options.bucket}/curve.jsonl"], check=True)
            subprocess.run(
                ["gsutil", "-q", "cp", str(checkpoint), f"{options.bucket}/checkpoint.json"], check=True
            )
            print(f"step {number}: loss {loss:.4f}", flush=True)
        time.sleep(max(0.0, SECONDS_PER_STEP - (time.monotonic() - started)))


if __name__ == "__main__":
    main()
