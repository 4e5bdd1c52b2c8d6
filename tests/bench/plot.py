"""A plot of a few lines as SVG: how something grows, both axes by powers of ten."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from math import log10

WIDTH, HEIGHT, MARGIN = 640, 340, 52
COLORS = ("#1a73e8", "#d93025", "#188038", "#9334e6")
GREY = "#5f6368"
LEAST = 0.01
"""What is less is drawn as this: nothing has no logarithm."""

Line = Sequence[tuple[float, float]]
Place = Callable[[float, float], tuple[float, float]]


def drawn(title: str, across: str, lines: Mapping[str, Line]) -> str:
    """The lines over one another, each figure at its point; `across` says what the numbers below count."""
    parts = "\n".join(_parts(across, lines, _place(lines)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12">\n'
        f'<title>{escape(title)}</title>\n<rect width="100%" height="100%" fill="white"/>\n{parts}\n</svg>\n'
    )


def _place(lines: Mapping[str, Line]) -> Place:
    points = [(log10(x), log10(max(y, LEAST))) for line in lines.values() for x, y in line]
    (left, right), (low, high) = ((min(way), max(way)) for way in zip(*points, strict=True))

    def place(x: float, y: float) -> tuple[float, float]:
        along = (log10(x) - left) / (right - left or 1)
        up = (log10(max(y, LEAST)) - low) / (high - low or 1)
        return MARGIN + along * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)

    return place


def _parts(across: str, lines: Mapping[str, Line], place: Place) -> Iterator[str]:
    for number, ((name, line), color) in enumerate(zip(lines.items(), COLORS, strict=False)):
        points = [place(x, y) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{path}"/>'
        for (x, y), (_, figure) in zip(points, line, strict=True):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>'
            yield _text(x, y - 7, color, f"{figure:,.0f}" if figure >= 100 else f"{figure:.2g}")
        yield _text(MARGIN, 14 * (number + 1), color, name, "start")
    for count in sorted({x for line in lines.values() for x, _ in line}):
        yield _text(place(count, 1)[0], HEIGHT - 20, GREY, f"{count:,}")
    yield _text(WIDTH / 2, HEIGHT - 4, GREY, across)


def _text(x: float, y: float, color: str, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(text)}</text>'
