"""How busy GPUs were, as much of it as a picture has room for."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from spotwarden.model.report_job import JobReport, Load

MOST_SLOTS = 300
"""Values of one VM that are drawn: about one for each three pixels."""
Piece = list[tuple[datetime, float]]


def pieces(load: Load) -> Iterator[Piece]:
    """What was reported, without the times of which nothing was; many values are drawn as means of a few."""
    every = max(1, -(-len(load.values) // MOST_SLOTS))
    piece: Piece = []
    for number in range(0, len(load.values), every):
        value = _mean(load.values[number : number + every])
        if value is not None:
            at = load.start + number * load.step
            piece += [(at, value), (at + every * load.step, value)]
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def means(report: JobReport) -> dict[str, float | None]:
    """The mean of each VM's GPUs over the time of which they reported, in percent, by its id."""
    return {load.instance_id: _mean(load.values) for load in report.loads}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
