"""Curves as small as a word: one character for each stretch of a training, as high as its values."""

from collections.abc import Sequence

from spotwarden.model.heartbeat import number
from spotwarden.report.model.job import CurvePoint

BARS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-:=+*#"
"""For a terminal that knows no more than ASCII."""
UNREAL = "!"
NOTHING = " "
WIDTH = 24


def sparks(*curves: Sequence[CurvePoint], bars: str = BARS, width: int = WIDTH) -> list[str]:
    """One line for each curve, all on the same axes: steps, or turns where steps are not said.

    A stretch is as high as its last value; one whose last value is no number is `!`, one without any blank.
    """
    by_step = all(point.step is not None for curve in curves for point in curve)
    placed = [list(_placed(curve, by_step=by_step)) for curve in curves]
    last = max((at for curve in placed for at, _ in curve), default=0.0)
    first = min((at for curve in placed for at, _ in curve), default=0.0)
    real = [value for curve in placed for _, value in curve if _is_real(value)]
    low, high = min(real, default=0.0), max(real, default=0.0)
    lines = []
    for curve in placed:
        line = [NOTHING] * width
        for at, value in curve:
            column = int((at - first) / (last - first) * (width - 1)) if last > first else 0
            line[column] = _mark(value, low, high, bars)
        lines.append("".join(line).rstrip())
    return lines


def _placed(curve: Sequence[CurvePoint], *, by_step: bool) -> list[tuple[float, float]]:
    if by_step:
        return [(point.step or 0.0, number(point.value)) for point in curve]
    return [(float(turn), number(point.value)) for turn, point in enumerate(curve)]


def _mark(value: float, low: float, high: float, bars: str) -> str:
    if not _is_real(value):
        return UNREAL
    share = (value - low) / (high - low) if high > low else 0.5
    return bars[min(len(bars) - 1, int(share * len(bars)))]


def _is_real(value: float) -> bool:
    return value - value == 0
