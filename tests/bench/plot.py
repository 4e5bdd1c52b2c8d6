"""A plot of a few lines as SVG: how something grows, both axes logarithmic."""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH, HEIGHT, MARGIN = 640, 400, 60
COLORS = ("#1a73e8", "#d93025", "#188038", "#9334e6")


def drawn(across: Sequence[float], lines: Mapping[str, Sequence[float]]) -> str:
    """The lines over the same points across, each named at its end; 0 is drawn as 0.1."""
    up = [max(value, 0.1) for values in lines.values() for value in values]
    x_ends, y_ends = _decades(across), _decades(up)
    size = f"0 0 {WIDTH + 160} {HEIGHT}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" viewBox="{size}">',
        *_axis(x_ends, lambda at: (_x(at, x_ends), HEIGHT - MARGIN + 18)),
        *_axis(y_ends, lambda at: (MARGIN - 28, _y(at, y_ends))),
    ]
    for (name, values), color in zip(lines.items(), COLORS, strict=False):
        points = [
            (_x(at, x_ends), _y(max(value, 0.1), y_ends)) for at, value in zip(across, values, strict=True)
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        x, y = points[-1]
        parts.append(f'<text x="{x + 6:.1f}" y="{y:.1f}" fill="{color}" font-size="12">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return first, max(last, first + 1)


def _x(value: float, ends: tuple[int, int]) -> float:
    return MARGIN + (math.log10(value) - ends[0]) / (ends[1] - ends[0]) * (WIDTH - 2 * MARGIN)


def _y(value: float, ends: tuple[int, int]) -> float:
    return HEIGHT - MARGIN - (math.log10(value) - ends[0]) / (ends[1] - ends[0]) * (HEIGHT - 2 * MARGIN)


def _axis(ends: tuple[int, int], place: Callable[[float], tuple[float, float]]) -> list[str]:
    marks = [(10.0**power, place(10.0**power)) for power in range(ends[0], ends[1] + 1)]
    return [f'<text x="{x:.1f}" y="{y:.1f}" font-size="12">{value:g}</text>' for value, (x, y) in marks]
