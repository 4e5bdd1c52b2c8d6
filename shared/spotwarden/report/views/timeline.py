"""A job's life as a picture: where its VMs were, what happened to it, and how busy its GPUs were beneath."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from spotwarden.model.spans import span
from spotwarden.report.model.job import Bar, BarEnd, JobReport, Mark, MarkKind
from spotwarden.report.views.drawing import (
    SWATCH,
    Area,
    DrawnText,
    Picture,
    Scale,
    line,
    rect,
    thinned,
    ticks,
)
from spotwarden.report.views.loads import noun_of, pieces
from spotwarden.report.views.text import Words

WIDTH, LEFT, RIGHT = 1000, 150, 12
_ROW, _GAP, _AXIS, _LOADS = 20, 5, 26, 70
BESIDE_PICTURE = 20
"""Letters of a name that fit there."""
MOST_ROWS = 30
"""Rows of bars: a gang of more VMs is drawn in part, and stands in the table in full."""
_LETTER = 7.0
"""About what a letter takes in width."""
_LOST = frozenset((BarEnd.PREEMPTED, BarEnd.LOST, BarEnd.EXPIRED))
_SIGNS = {
    MarkKind.LAUNCHED: ("mark-action", "M{x} {y}m-4 -5l8 5l-8 5z"),
    MarkKind.PREEMPTED: (
        "mark-preemption",
        "M{x} {y}m-5 -3l2 -2l3 3l3 -3l2 2l-3 3l3 3l-2 2l-3 -3l-3 3l-2 -2l3 -3z",
    ),
    MarkKind.LOST: (
        "mark-preemption",
        "M{x} {y}m-5 -3l2 -2l3 3l3 -3l2 2l-3 3l3 3l-2 2l-3 -3l-3 3l-2 -2l3 -3z",
    ),
    MarkKind.REFUSED: ("waited", "M{x} {y}m-5 -1.5h10v3h-10z"),
    MarkKind.CHECKPOINT: ("mark-checkpoint", "M{x} {y}m-2 -5h4v10h-4z"),
    MarkKind.WARNED: ("mark-warning", "M{x} {y}m0 -5l6 10h-12z"),
    MarkKind.ANSWERED: ("mark-answer", "M{x} {y}m0 -6l6 6l-6 6l-6 -6z"),
    MarkKind.ACTED: ("mark-action", "M{x} {y}m-4 -4h8v8h-8z"),
    MarkKind.ENDED: ("mark-end", "M{x} {y}m-1.5 -7h3v14h-3z"),
}
_LANES = (
    ("Preempted, lost", (MarkKind.PREEMPTED, MarkKind.LOST, MarkKind.ENDED)),
    ("Launched, refused", (MarkKind.LAUNCHED, MarkKind.REFUSED)),
    ("Warned, answered", (MarkKind.WARNED, MarkKind.ANSWERED, MarkKind.ACTED)),
    ("Checkpoints", (MarkKind.CHECKPOINT,)),
)
"""Kinds of marks by the row that they stand in."""


class _Lane(msgspec.Struct, frozen=True, kw_only=True):
    """The bars of one zone, in rows in which none covers another."""

    zone: str
    rows: tuple[tuple[Bar, ...], ...]


def timeline(report: JobReport, words: Words) -> Picture | None:
    """The picture; None where nothing is on record."""
    if report.start is None or report.end is None or not report.end > report.start:
        return None
    return _Timeline(report, words, report.start, report.end).picture()


class _Timeline:
    """Draws from top to bottom; `y` is how far it has come."""

    def __init__(self, report: JobReport, words: Words, start: datetime, end: datetime) -> None:
        self.report, self.words, self.start, self.end = report, words, start, end
        self.at = Scale(low=start.timestamp(), high=end.timestamp(), start=LEFT, end=WIDTH - RIGHT)
        self.y = _AXIS
        self.areas: list[Area] = []
        self.texts: list[DrawnText] = []
        self.left_out = 0

    def picture(self) -> Picture:
        """Draw all of it."""
        lanes = list(_lanes(self.report.bars))
        crowded = sum(len(lane.rows) for lane in lanes) > MOST_ROWS
        for lane in lanes:
            self._lane(lane, max(1, MOST_ROWS // len(lanes)) if crowded else MOST_ROWS)
        if self.report.waits:
            self._waits()
        for name, kinds in _LANES:
            self._marks(name, [mark for mark in self.report.marks if mark.kind in kinds])
        self._loads()
        grid, labels = self._grid()
        return Picture(
            width=WIDTH,
            height=self.y + 6,
            title="Timeline",
            note=f"{self.left_out:,} more VMs are only in the table" if self.left_out else "",
            says=self._says(),
            areas=(*grid, *self.areas),
            texts=(*labels, *self.texts),
            key=tuple(self._key()),
        )

    def _x(self, at: datetime) -> float:
        return self.at(at.timestamp())

    def _lane(self, lane: _Lane, most: int) -> None:
        rows = lane.rows[:most]
        self.left_out += sum(len(row) for row in lane.rows[most:])
        self._name(lane.zone or "zone unknown")
        for row in rows:
            for bar in row:
                self._bar(bar)
            self.y += _ROW
        self.y += _GAP

    def _bar(self, bar: Bar) -> None:
        x, end = self._x(bar.start), self._x(bar.end or self.end)
        says = f"Attempt {bar.attempt}, {bar.node}: {self._span(bar.start, bar.end)}, {bar.fate.value}"
        self.areas.append(
            Area(d=rect(x, self.y, end - x, _ROW - 4), kind="used", says=f"{says}. {bar.why}".rstrip(". "))
        )
        if bar.kept and bar.fate in _LOST and bar.end and bar.kept < bar.end:
            kept = max(self._x(bar.kept), x)
            lost = f"Lost: {span(bar.end - max(bar.kept, bar.start))} since the last checkpoint"
            self.areas.append(Area(d=rect(kept, self.y, end - kept, _ROW - 4), kind="lost", says=lost))
        label = f"#{bar.attempt}"
        if end - x > _LETTER * len(label) + 6:
            self.texts.append(DrawnText(x=x + 4, y=self.y + 12, text=label, kind="onbar"))

    def _waits(self) -> None:
        self._name("no VM")
        for wait in self.report.waits:
            x, end = self._x(wait.start), self._x(wait.end or self.end)
            says = f"Before attempt {wait.attempt}: {self._span(wait.start, wait.end)}. {wait.reason}"
            self.areas.append(
                Area(d=rect(x, self.y + 3, end - x, _ROW - 10), kind="wait", says=says.rstrip(". "))
            )
        self.y += _ROW + _GAP

    def _marks(self, name: str, marks: Sequence[Mark]) -> None:
        if not marks:
            return
        self._name(name)
        for mark in thinned(marks, [self._x(item.at) for item in marks], 3):
            kind, sign = _SIGNS[mark.kind]
            says = f"{self.words.stamp(mark.at)} {mark.kind.value}: {mark.what}"
            self.areas.append(Area(d=sign.format(x=self._x(mark.at), y=self.y + 8), kind=kind, says=says))
        self.y += _ROW + _GAP

    def _loads(self) -> None:
        if not self.report.loads:
            return
        noun = noun_of(self.report)
        self._name(f"{noun}s busy", 12)
        up = Scale(low=0, high=100, start=self.y + _LOADS, end=self.y)
        for percent in (0, 50, 100):
            self.areas.append(Area(d=line([(LEFT, up(percent)), (WIDTH - RIGHT, up(percent))]), kind="grid"))
            place = DrawnText(x=LEFT - 6, y=up(percent) + 4, text=f"{percent}%", kind="quiet end")
            self.texts.append(place)
        vms = len({load.node or load.instance_id for load in self.report.loads})
        says = f"busiest {noun}"
        says += "" if vms == 1 else " of each VM, the mean of all that were up"
        for piece in pieces(self.report.loads, self.start, self.end):
            points = [(self._x(at), up(value)) for at, value in piece]
            d = line([(points[0][0], up(0)), *points, (points[-1][0], up(0))]) + "z"
            self.areas.append(Area(d=d, kind="util", says=says))
        self.y += _LOADS + 2 * _GAP

    def _grid(self) -> tuple[list[Area], list[DrawnText]]:
        found = list(ticks(self.start, self.end, self.words.zone))
        grid = [
            Area(d=line([(self._x(at), _AXIS - 6), (self._x(at), self.y)]), kind="grid") for at, _ in found
        ]
        labels = [DrawnText(x=self._x(at), y=12, text=label, kind="quiet mid") for at, label in found]
        return grid, [text for text in labels if LEFT + 20 <= text.x <= WIDTH - RIGHT - 40]

    def _name(self, name: str, down: int = 12) -> None:
        short = name if len(name) <= BESIDE_PICTURE else f"{name[: BESIDE_PICTURE - 1]}…"
        self.texts.append(DrawnText(x=0, y=self.y + down, text=short))

    def _span(self, start: datetime, end: datetime | None) -> str:
        until = f"to {self.words.stamp(end)}" if end else "until now"
        return f"{self.words.stamp(start)} {until} ({span((end or self.end) - start)})"

    def _says(self) -> str:
        zones = ", ".join(dict.fromkeys(bar.zone or "unknown" for bar in self.report.bars))
        attempts = len({bar.attempt for bar in self.report.bars})
        lost = sum(bar.fate in _LOST for bar in self.report.bars)
        return (
            f"From {self.words.stamp(self.start)} to {self.words.stamp(self.end)}: attempts: {attempts};"
            f" zones: {zones or 'none'}; VMs preempted or lost: {lost}; waits: {len(self.report.waits)}."
            " The tables below have the same figures."
        )

    def _key(self) -> Iterator[tuple[str, str, str]]:
        kinds = {area.kind for area in self.areas}
        if "used" in kinds:
            yield "used", "VM up, with the attempt's number", SWATCH
        if "lost" in kinds:
            yield "lost", "work lost since the last checkpoint", SWATCH
        if "wait" in kinds:
            yield "wait", "waiting for VMs", SWATCH
        here = {mark.kind for mark in self.report.marks}
        for kind, (colour, sign) in _SIGNS.items():
            if kind in here:
                yield colour, kind.value, sign.format(x=13, y=6)


def _lanes(bars: Sequence[Bar]) -> Iterator[_Lane]:
    """The zones in the order in which the job came to them; in each, bars that overlap below each other."""
    zones: dict[str, list[list[Bar]]] = {}
    for bar in sorted(bars, key=lambda item: (item.start, item.node)):
        rows = zones.setdefault(bar.zone, [])
        free = next((row for row in rows if row[-1].end is not None and row[-1].end <= bar.start), None)
        if free is None:
            rows.append([bar])
        else:
            free.append(bar)
    for zone, rows in zones.items():
        yield _Lane(zone=zone, rows=tuple(map(tuple, rows)))
