"""How busy GPUs or TPU chips were, as much of it as a picture has room for."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from spotwarden.model.accelerators import GPU, TPU_CHIP
from spotwarden.model.tpus import has_tpus
from spotwarden.report.model.job import GpuLoad, JobReport

MOST_SLOTS = 300
"""Values that are drawn: about one for each three pixels."""
Piece = list[tuple[datetime, float]]


def pieces(loads: Sequence[GpuLoad], start: datetime, end: datetime) -> Iterator[Piece]:
    """The mean of all VMs over time, without the times of which none reported."""
    slots = _slots(loads, start, end)
    piece: Piece = []
    for at, until in pairwise(start + (end - start) * place / len(slots) for place in range(len(slots) + 1)):
        value = _mean(slots[round((at - start) / (end - start) * len(slots))])
        if value is not None:
            piece += [(at, value), (until, value)]
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def noun_of(report: JobReport) -> str:
    """What is busy in these VMs, in the singular."""
    known = [bar.machine for bar in report.bars if bar.machine]
    return TPU_CHIP if known and all(map(has_tpus, known)) else GPU


def means(report: JobReport) -> dict[str, float | None]:
    """The mean of each VM's GPUs over the time of which they reported, in percent, by its id."""
    return {
        load.instance_id: _mean([value for value in load.values if value is not None])
        for load in report.loads
    }


def _slots(loads: Sequence[GpuLoad], start: datetime, end: datetime) -> list[list[float]]:
    """What was reported, by equal parts of the time."""
    finest = min(load.step for load in loads)
    count = max(1, min(MOST_SLOTS, round((end - start) / finest)))
    slots: list[list[float]] = [[] for _ in range(count)]
    for load in loads:
        first, wide = (load.start - start) / (end - start) * count, load.step / (end - start) * count
        for number, value in enumerate(load.values):
            if value is not None:
                low = first + number * wide
                for place in range(max(0, round(low)), min(count, max(round(low) + 1, round(low + wide)))):
                    slots[place].append(value)
    return slots


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
