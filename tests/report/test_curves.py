"""A metric's curve over all attempts: what a lost one had beyond its checkpoint counts no more."""

from datetime import UTC, datetime, timedelta

import pytest

from spotwarden.model.heartbeat import Beat
from spotwarden.report.figures.beats import joined, line

START = datetime(2026, 11, 20, 8, tzinfo=UTC)


def attempt(number, steps):
    """The beats of an attempt, a minute each; the loss tells attempt and step."""
    first = START + timedelta(hours=number)
    return line(
        "node",
        number,
        [
            Beat(at=first + timedelta(minutes=turn), attempt=number, step=step, metrics={"loss": number})
            for turn, step in enumerate(steps)
        ],
    )


@pytest.mark.parametrize(
    ("second", "is_joined"),
    [
        ([40, 50], [(10, 1), (20, 1), (30, 1), (40, 2), (50, 2)]),
        ([30, 40], [(10, 1), (20, 1), (30, 2), (40, 2)]),
        ([25, 35], [(10, 1), (20, 1), (25, 2), (35, 2)]),
        ([0], [(0, 2)]),
        ([], [(10, 1), (20, 1), (30, 1)]),
        ([None, None], [(10, 1), (20, 1), (30, 1), (None, 2), (None, 2)]),
    ],
)
def test_a_step_that_was_done_again_is_in_the_curve_once(second, is_joined):
    """As the later attempt measured it; where nobody names steps nothing is left out."""
    (curve,) = joined([attempt(2, second), attempt(1, [10, 20, 30])])
    assert [(point.step, point.value) for point in curve.points] == is_joined
