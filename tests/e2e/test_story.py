"""The demonstration, as `./deploy.sh local --once` runs it, and its sudden death."""

import re
import signal

import psutil
import pytest

from tests.e2e.conftest import descendants, marked

WITHIN_SECONDS = 90


def test_the_story_comes_true_and_leaves_nothing_behind(start, home):
    """Preempted half-way, back, resumed, finished; exit 0, and no process is left."""
    story = start("local", "story", "--once")
    output, errors = story.communicate(timeout=WITHIN_SECONDS)
    assert story.returncode == 0, output + errors
    assert re.search(r"marker → create request: \d+ ms", output)
    assert re.search(r"attempt 2 went on at step 2[6-9]|attempt 2 went on at step [3-5]\d", output)
    assert re.search(r"test-vm +ended +2 ", output)
    assert "/local/mailbox" in output
    assert marked(home) == []


@pytest.mark.parametrize("moment", ["the training has reached", "test-vm is being preempted"])
def test_a_killed_local_cloud_takes_everything_with_it(start, home, moment):
    """SIGKILL half-way: functions, VMs and their daemons end too."""
    story = start("local", "story", "--once")
    assert story.stdout is not None
    for line in story.stdout:
        if moment in line:
            break
    children = descendants(story.pid)
    assert marked(home)
    story.send_signal(signal.SIGKILL)
    story.wait()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    psutil.wait_procs(marked(home), timeout=20)
    assert marked(home) == []


def test_an_interrupted_story_ends_cleanly(start, home):
    """Ctrl-C: the local cloud puts everything away itself, and the exit status says that it was cut short."""
    story = start("local", "story", "--once")
    assert story.stdout is not None
    for line in story.stdout:
        if "the training has reached" in line:
            break
    story.send_signal(signal.SIGINT)
    story.communicate(timeout=30)
    assert story.returncode == 130
    assert marked(home) == []
