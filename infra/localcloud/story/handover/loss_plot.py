"""A picture of a loss curve, as SVG: the undisturbed training beneath, what each VM trained above it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement

from localcloud.story.handover.curve import CurvePoint, handovers

WIDTH, HEIGHT = 960, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 930, 92, 400
COLORS = ("#0b6bcb", "#c2410c", "#15803d", "#7e22ce")
INK, PALE, GRID = "#1f2937", "#6b7280", "#e5e7eb"
TICKS = 5
NAMESPACE = "http://www.w3.org/2000/svg"


class Scale:
    """Where a step and a loss are in the picture; losses by their logarithm."""

    def __init__(self, curve: Sequence[CurvePoint]) -> None:
        logs = [math.log10(float(point.loss)) for point in curve]
        self.decades = range(math.floor(min(logs)), math.ceil(max(logs)) + 1)
        self.steps = curve[-1].step

    def x(self, step: float) -> float:
        """From the left."""
        return LEFT + (RIGHT - LEFT) * step / self.steps

    def y(self, log: float) -> float:
        """From above, of the logarithm of a loss."""
        return BOTTOM - (BOTTOM - TOP) * (log - self.decades[0]) / (len(self.decades) - 1)

    def line(self, curve: Iterable[CurvePoint]) -> str:
        """The points of a polyline."""
        return " ".join(
            f"{self.x(point.step):.1f},{self.y(math.log10(float(point.loss))):.1f}" for point in curve
        )


def draw(
    handed_over: Sequence[CurvePoint], undisturbed: Sequence[CurvePoint], zones: Mapping[int, str]
) -> Element:
    """The picture; `zones` says where each attempt ran."""
    scale = Scale(undisturbed)
    size = {"width": str(WIDTH), "height": str(HEIGHT), "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    picture = Element("svg", {"xmlns": NAMESPACE, **size, "font-family": "sans-serif"})
    SubElement(picture, "rect", {"width": str(WIDTH), "height": str(HEIGHT), "fill": "white"})
    lost = len(handovers(handed_over))
    _text(picture, LEFT, 30, f"One training, {lost} VMs lost, no step lost", size=19)
    _text(
        picture, LEFT, 52, "thin: handed over from VM to VM · wide, gray: the same training undisturbed", PALE
    )
    _draw_axes(picture, scale)
    _draw_line(picture, scale.line(undisturbed), "#cbd5e1", 7)
    for attempt, points in groupby(handed_over, key=lambda point: point.attempt):
        _draw_segment(picture, scale, attempt, [*points], zones.get(attempt, ""))
    for last, first in handovers(handed_over):
        _draw_handover(picture, scale, last, first)
    return picture


def _draw_axes(picture: Element, scale: Scale) -> None:
    for decade in scale.decades:
        _draw_line(picture, f"{LEFT},{scale.y(decade):.1f} {RIGHT},{scale.y(decade):.1f}", GRID, 1)
        _text(picture, LEFT - 8, scale.y(decade) + 4, f"{10.0**decade:g}", PALE, anchor="end")
    for number in range(TICKS + 1):
        step = scale.steps * number // TICKS
        _text(picture, scale.x(step), BOTTOM + 20, str(step), PALE, anchor="middle")
    _text(picture, (LEFT + RIGHT) / 2, BOTTOM + 44, "step", PALE, anchor="middle")
    _text(picture, LEFT - 8, TOP - 16, "loss", PALE, anchor="end")


def _draw_segment(
    picture: Element, scale: Scale, attempt: int, points: Sequence[CurvePoint], zone: str
) -> None:
    color = COLORS[(attempt - 1) % len(COLORS)]
    _draw_line(picture, scale.line(points), color, 1.5)
    middle = scale.x((points[0].step + points[-1].step) / 2)
    _text(picture, middle, TOP - 24, f"VM {attempt}", color, anchor="middle")
    _text(picture, middle, TOP - 9, zone, color, anchor="middle")


def _draw_handover(picture: Element, scale: Scale, last: CurvePoint, first: CurvePoint) -> None:
    x = scale.x((last.step + first.step) / 2)
    _draw_line(picture, f"{x:.1f},{TOP - 10} {x:.1f},{BOTTOM}", INK, 1, dash="3 4")
    _text(picture, x + 5, TOP + 30, f"{first.at - last.at:.1f} s")
    _text(picture, x + 5, TOP + 46, f"{last.step} → {first.step}", PALE)


def _draw_line(picture: Element, points: str, color: str, width: float, dash: str = "none") -> None:
    form = {"fill": "none", "stroke": color, "stroke-width": str(width), "stroke-linejoin": "round"}
    SubElement(picture, "polyline", {"points": points, **form, "stroke-dasharray": dash})


def _text(
    picture: Element,
    x: float,
    y: float,
    words: str,
    color: str = INK,
    *,
    size: int = 12,
    anchor: str = "start",
) -> None:
    form = {"fill": color, "font-size": str(size), "text-anchor": anchor}
    SubElement(picture, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", **form}).text = words
