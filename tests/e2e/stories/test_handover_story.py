"""The story of the hand-over, as `./deploy.sh local --story handover --once` tells it, and what it draws."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from localcloud.story.handover.curve import CurvePoint, compare, handovers, read_curve
from localcloud.story.handover.loss_plot import draw
from localcloud.story.watch import StoryError
from tests.e2e.conftest import SPOTWARDEN, marked

WITHIN_SECONDS = 480
"""Two minutes, and more on a machine that is busy with other tests."""


def points(losses, attempts):
    """A curve with these losses, a step a second."""
    return [
        CurvePoint(step=number + 1, loss=loss, attempt=attempt, at=float(number))
        for number, (loss, attempt) in enumerate(zip(losses, attempts, strict=True))
    ]


def test_three_vms_are_lost_and_no_step(tmp_path):
    """Its own judge compares each loss; the picture has four VMs, and says how long nobody trained."""
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    words = [str(SPOTWARDEN), "local", "story", "--story", "handover", "--once"]
    story = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=WITHIN_SECONDS,
        stdin=subprocess.DEVNULL,
        env=environment,
        check=False,
    )
    assert story.returncode == 0, story.stdout + story.stderr
    assert "800 steps, each run once" in story.stdout
    [path] = re.findall(r"both loss curves: +(\S+)$", story.stdout, flags=re.MULTILINE)
    words = re.findall(r">([^<]+)</text>", Path(path).read_text(encoding="utf-8"))
    assert {"VM 1", "VM 2", "VM 3", "VM 4"} <= set(words)
    gaps = re.findall(r"the next one ([\d.]+ s) later", story.stdout)
    assert len(gaps) == len([word for word in words if word in gaps]) == 3
    assert marked(tmp_path) == []


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        (["1.0", "0.5000000000000001"], "step 2 with loss 0.5000000000000001"),
        (["1.0"], "the curve has nothing"),
        (["1.0", "0.5", "0.25"], "an undisturbed training has nothing"),
    ],
)
def test_a_curve_that_differs_in_the_last_bit_is_not_the_same(losses, said):
    """Nor is one that lacks a step, or has one too many."""
    with pytest.raises(StoryError, match=re.escape(said)):
        compare(points(losses, [1] * len(losses)), points(["1.0", "0.5"], [0, 0]))


def test_a_line_that_is_not_whole_yet_is_no_step():
    """The program may be in the middle of writing it."""
    curve = read_curve(b"1,0.5,1,10.00\n2,0.4,2,11.50\n3,0.")
    assert [(last.step, first.at - last.at) for last, first in handovers(curve)] == [(1, 1.5)]


def test_each_vm_has_a_line_of_its_own_above_that_of_the_undisturbed_training():
    """Two VMs: a wide line beneath, two above it."""
    alone = points(["1.0", "0.1", "0.01", "0.02"], [0] * 4)
    picture = draw(points(["1.0", "0.1", "0.01", "0.02"], [1, 1, 2, 2]), alone, {1: "zone-a"})
    widths = [float(line.get("stroke-width")) for line in picture.iter("polyline")]
    assert (widths.count(7), widths.count(1.5)) == (1, 2)
    wide, first, second = [
        line.get("points").split()
        for line in picture.iter("polyline")
        if line.get("stroke-width") in ("7", "1.5")
    ]
    assert first + second == wide
