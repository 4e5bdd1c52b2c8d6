"""The loss curve of a training: what each VM has added to it, and how long nobody trained in between."""

import itertools
from collections.abc import Sequence

import msgspec

from localcloud.story.watch import StoryError


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A step: its loss, as the program wrote it, which attempt made it, and when in seconds."""

    step: int
    loss: str
    attempt: int
    at: float


def read_curve(raw: bytes) -> list[CurvePoint]:
    """The lines of curve.csv, but for a last one that is not whole."""
    rows = (line.split(",") for line in raw.decode().split("\n")[:-1])
    return [
        CurvePoint(step=int(step), loss=loss, attempt=int(attempt), at=float(at))
        for step, loss, attempt, at in rows
    ]


def compare(handed_over: Sequence[CurvePoint], undisturbed: Sequence[CurvePoint]) -> None:
    """Hold one training against the other, step by step; `StoryError` names the first that differs."""
    for made, due in itertools.zip_longest(handed_over, undisturbed):
        if made is None or due is None or (made.step, made.loss) != (due.step, due.loss):
            there = "nothing" if made is None else f"step {made.step} with loss {made.loss}"
            wanted = "nothing" if due is None else f"step {due.step} with loss {due.loss}"
            raise StoryError(f"the curve has {there} where an undisturbed training has {wanted}")


def handovers(curve: Sequence[CurvePoint]) -> list[tuple[CurvePoint, CurvePoint]]:
    """The last step of each VM, and the first of the one after it."""
    return [(last, first) for last, first in itertools.pairwise(curve) if last.attempt != first.attempt]
