"""What is left of the bench of recovery under trouble when somebody ends it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from localcloud import running

BENCH = Path(__file__).with_name("recover_chaos.py")
WORDS = ("--people", "100000", "--jobs", "3")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """One that plays far longer than any test."""
    playing = subprocess.Popen(
        [sys.executable, str(BENCH), *WORDS, "--keep", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield playing
    playing.terminate()
    playing.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_whoever_ends_it_is_told_what_was_wrong_so_far_and_nothing_is_left(bench, tmp_path, number):
    """Neither its local cloud, nor that one's functions, nor a command that was under way."""
    assert "events after" in bench.stderr.readline()
    [cloud] = running.living({"XDG_STATE_HOME": str(tmp_path)})
    started = psutil.Process(bench.pid).children(recursive=True)
    assert cloud.pid in {process.pid for process in started}
    bench.send_signal(number)
    printed, _ = bench.communicate(timeout=300)
    assert f"ended by {number.name}" in printed
    assert "| violations | 0 |" in printed
    assert bench.returncode == 1
    assert [process for process in started if process.is_running()] == []
