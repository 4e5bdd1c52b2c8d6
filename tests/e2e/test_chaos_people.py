"""What recovery promises people, kept by real processes: what somebody ends stays away, all else comes back.

`python tests/bench/recover_chaos.py --people 250` plays more of it.
SPOTWARDEN_CHAOS says how many events are played here.
"""

import os
from pathlib import Path

import pytest

from tests.e2e.chaos.crowd import CrowdPlan, play_crowd

EVENTS = int(os.environ.get("SPOTWARDEN_CHAOS", "15"))
SMALL = CrowdPlan(seed=20261122, jobs=10, events=EVENTS)


@pytest.mark.timeout(600 + 10 * EVENTS)
def test_what_people_end_stays_away_and_all_else_comes_back(tmp_path: Path):
    """By Compute Engine's own record, and by what the commands said."""
    report = play_crowd(SMALL, tmp_path)
    assert report.faults == ()
    assert report.events >= EVENTS
    assert report.did["preemptions"] > 0
    assert report.begun > 0
