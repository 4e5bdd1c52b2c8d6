"""A run of tests ends whatever its tests do, and says what hung."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from tests.long import long
from tests.waiting import looks, wait

ROOT = Path(__file__).parents[2]
ENDS = 240
"""Seconds after which this test itself gives up on a run that never ends."""


@pytest.fixture
def lane(tmp_path):
    """Run planted tests as `tests/run` runs a lane, with limits that a test can wait for."""

    def run(source, *options, limit=200, end="60"):
        file = tmp_path / "test_planted.py"
        file.write_text(dedent(source), encoding="utf-8")
        words = ["-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest", "-p", "no:cacheprovider"]
        return subprocess.run(
            [str(ROOT / "tests/lane"), str(limit), *words, *options, str(file)],
            capture_output=True,
            text=True,
            check=False,
            timeout=ENDS,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "SPOTWARDEN_TESTS_END": end,
                "SPOTWARDEN_LANE_GRACE": "2",
            },
        )

    return run


def test_a_test_that_sleeps_for_ever_is_red_and_the_next_one_runs(lane):
    """Its time limit names the line."""
    done = lane(
        """
        import threading

        def test_sleeps():
            threading.Event().wait()

        def test_runs():
            pass
        """,
        "-o",
        "timeout=2",
    )
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "test_sleeps" in done.stdout
    assert "Timeout" in done.stdout


@long
def test_a_fixture_that_leaves_its_thread_running_keeps_nobody_waiting(lane):
    """The thread is named, its stack printed, and the process ended: it was green, and is red."""
    done = lane(
        """
        import asyncio
        import threading

        import pytest

        @pytest.fixture
        def loop():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="the loop of a fixture").start()
            return loop

        def test_uses_it(loop):
            assert loop
        """,
        end="2",
    )
    assert "1 passed" in done.stdout
    assert done.returncode == 1
    assert "is no daemon: the loop of a fixture" in done.stderr
    assert "in run_forever" in done.stderr


@long
def test_a_child_that_nobody_kills_ends_no_run_in_waiting_for_it(lane):
    """The time limit raises in the block, whose end waits once more: all stacks are printed, and it ends."""
    done = lane(
        """
        import subprocess

        def test_waits():
            with subprocess.Popen(["sleep", "30"]) as child:
                child.wait()
        """,
        "-o",
        "timeout=2",
        "-o",
        "faulthandler_timeout=4",
    )
    assert done.returncode == 1
    assert "in __exit__" in done.stderr
    assert "in test_waits" in done.stderr


def test_a_lane_past_its_time_is_ended_and_says_so(lane):
    """Also where a test has no limit of its own; its stack says where it stood."""
    done = lane(
        """
        import threading

        def test_sleeps():
            threading.Event().wait()
        """,
        "-o",
        "timeout=0",
        limit=10,
    )
    assert done.returncode in (124, 134, 137)
    assert '== hung: the lane "' in done.stdout
    assert "was ended after 10 s" in done.stdout
    assert "in test_sleeps" in done.stderr


def test_a_lane_that_ends_by_itself_says_nothing_of_the_kind(lane):
    """Its status is that of pytest."""
    done = lane("def test_runs():\n    pass\n")
    assert (done.returncode, "hung" in done.stdout) == (0, False)


def test_waiting_ends_when_nothing_moves():
    """After as many looks as fit into its time, however long they took."""
    assert len(list(looks(1.0, 0.1, moves=lambda: 0.0))) == pytest.approx(10, abs=1)


def test_waiting_goes_on_while_something_moves():
    """Up to ten times as long."""
    clock = iter(range(10_000))
    assert len(list(looks(2.0, 0.5, moves=lambda: next(clock)))) == 40


def test_a_wait_in_vain_says_for_what():
    """The words of who waited."""
    with pytest.raises(AssertionError, match="a train"):
        wait(0.1, lambda: False, "a train")


def test_a_wait_gives_what_it_waited_for():
    """The first value that is any."""
    values = iter([0, "", "there"])
    assert wait(10, lambda: next(values), "it") == "there"


def test_no_test_of_this_file_leaves_a_lane_behind():
    """The groups of those that were ended are gone with them."""
    names = [one.cmdline() for one in psutil.Process().children(recursive=True)]
    assert [name for name in names if "test_planted.py" in " ".join(name)] == []
