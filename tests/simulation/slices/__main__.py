"""Play histories of a slice: `python -m tests.simulation.slices --seed 1 --first 0 --histories 200`."""

import argparse
import contextlib
import io
import json
import sys
import traceback

from tests.fakes.world import load
from tests.simulation.slices.blows import Blow, draw
from tests.simulation.slices.play import play


def _played(model: str, blows: list[Blow]) -> str:
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return play(load("recover_spot"), model, blows)
        except Exception:  # noqa: BLE001 - whatever rises is what was wrong
            return traceback.format_exc(limit=-3)


def _shortened(model: str, blows: list[Blow]) -> list[Blow]:
    """The same failure with as few blows as go."""
    at = 0
    while at < len(blows):
        fewer = [*blows[:at], *blows[at + 1 :]]
        if _played(model, fewer):
            blows = fewer
        else:
            at += 1
    return blows


def main() -> None:
    """Play them, and print those that fail, shortened."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seed", default="1")
    words.add_argument("--first", type=int, default=0)
    words.add_argument("--histories", type=int, default=200)
    asked = words.parse_args()
    failed = 0
    for number in range(asked.first, asked.first + asked.histories):
        model, blows = draw(f"{asked.seed}/{number}")
        if _played(model, blows):
            short = _shortened(model, blows)
            sys.stdout.write(f"{number} {_played(model, short)}\n")
            sys.stdout.write(json.dumps({"model": model, "blows": short}) + "\n")
            failed += 1
            if failed == 3:
                break
    sys.stdout.write(f"{failed} of {asked.histories} failed\n")


if __name__ == "__main__":
    main()
