"""Stacked bars: how time was split, by day from left to right, or by name from top to bottom."""

from collections.abc import Sequence
from datetime import timedelta

from spotwarden.report.model.fleet import Spans
from spotwarden.report.views.drawing import SWATCH, Area, DrawnText, Picture, Scale, line, nice, rect
from spotwarden.report.views.text import plain

_WIDTH, _LEFT, _RIGHT = 900, 56, 12
_HEIGHT, _TOP, _BOTTOM = 220, 8, 24
_NAMES, _ROW = 190, 24
BESIDE_BAR = 26
"""Letters of a name that fit beside its bar."""
MOST_BARS = 12
"""Names of one picture; the table has all."""
_HOUR = timedelta(hours=1)
_KINDS = (
    ("used", "useful"),
    ("rest", "starting, after end, unknown"),
    ("idle", "idle"),
    ("lost", "lost"),
)
Named = Sequence[tuple[str, Spans]]


def across(title: str, named: Named) -> Picture | None:
    """Days from left to right, given the newest first; None where nothing was used."""
    days = list(reversed(named))
    most = max((_hours(spans.used) for _, spans in days), default=0.0)
    if not most:
        return None
    heights = nice(0, most, 4)
    up = Scale(low=0, high=heights[-1], start=_HEIGHT - _BOTTOM, end=_TOP)
    pitch = (_WIDTH - _LEFT - _RIGHT) / len(days)
    wide = min(pitch * 0.8, 60)
    areas = [Area(d=line([(_LEFT, up(y)), (_WIDTH - _RIGHT, up(y))]), kind="grid") for y in heights]
    texts = [DrawnText(x=_LEFT - 6, y=up(y) + 4, text=plain(y), kind="quiet end") for y in heights]
    every = -(-len(days) // 10)
    for place, (day, spans) in enumerate(days):
        x, low = _LEFT + pitch * (place + 0.5), 0.0
        for kind, hours in _parts(spans):
            top, bottom = up(low + hours), up(low)
            areas.append(
                Area(d=rect(x - wide / 2, top, wide, bottom - top), kind=kind, says=_says(day, spans))
            )
            low += hours
        if place % every == 0:
            texts.append(DrawnText(x=round(x, 1), y=_HEIGHT - 6, text=day[5:] or day, kind="quiet mid"))
    return _picture(title, named, _HEIGHT, areas, texts)


def along(title: str, named: Named) -> Picture | None:
    """Names from top to bottom; None where nothing was used."""
    shown = [about for about in named if about[1].used][:MOST_BARS]
    if not shown:
        return None
    height = len(shown) * _ROW + 4
    right = Scale(low=0, high=max(_hours(spans.used) for _, spans in shown), start=_NAMES, end=_WIDTH - 90)
    areas, texts = [], []
    for place, (name, spans) in enumerate(shown):
        y, low = place * _ROW + 4, 0.0
        short = name if len(name) <= BESIDE_BAR else f"{name[: BESIDE_BAR - 1]}…"
        texts.append(DrawnText(x=_NAMES - 8, y=y + 13, text=short, kind="end"))
        for kind, hours in _parts(spans):
            start, end = right(low), right(low + hours)
            areas.append(Area(d=rect(start, y, end - start, _ROW - 6), kind=kind, says=_says(name, spans)))
            low += hours
        texts.append(DrawnText(x=right(low) + 6, y=y + 13, text=f"{_hours(spans.used):,.1f} h", kind="quiet"))
    return _picture(title, named, height, areas, texts)


def _picture(
    title: str, named: Named, height: int, areas: Sequence[Area], texts: Sequence[DrawnText]
) -> Picture:
    kinds = {area.kind for area in areas}
    return Picture(
        width=_WIDTH,
        height=height,
        title=title,
        says="; ".join(_says(name, spans) for name, spans in named[:MOST_BARS])
        + ". The table below has the same figures.",
        areas=tuple(areas),
        texts=tuple(texts),
        key=tuple((kind, name, SWATCH) for kind, name in _KINDS if kind in kinds),
    )


def _parts(spans: Spans) -> list[tuple[str, float]]:
    rest = spans.starting + spans.after + spans.unknown
    parts = (("used", spans.useful), ("rest", rest), ("idle", spans.idle), ("lost", spans.lost))
    return [(kind, _hours(time)) for kind, time in parts if time]


def _says(name: str, spans: Spans) -> str:
    return (
        f"{name}: {_hours(spans.used):,.1f} h used, {_hours(spans.useful):,.1f} useful,"
        f" {_hours(spans.idle):,.1f} idle, {_hours(spans.lost):,.1f} lost"
    )


def _hours(time: timedelta) -> float:
    return time / _HOUR
