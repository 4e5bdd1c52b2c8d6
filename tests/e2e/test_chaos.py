"""The promise of recovery, kept by real function processes under real trouble.

`tests/bench/recover_chaos.py` plays the same with 100 jobs and 1,000 preemptions.
"""

from pathlib import Path

from tests.e2e.chaos.run import Plan, play

SMALL = Plan(seed=20261121, jobs=10, preemptions=8, kill_every=4.0)


def test_recovery_keeps_its_promises_whatever_happens(tmp_path: Path):
    """One life at a time, nobody forgotten, nobody else touched, nothing lost."""
    report = play(SMALL, tmp_path)
    assert report.faults == ()
    assert report.did["preemptions"] == SMALL.preemptions
    assert report.restarts >= SMALL.preemptions / 2
