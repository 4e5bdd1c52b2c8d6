"""The demonstration, as `./deploy.sh local --once` runs it, and its sudden death."""

import asyncio
import os
import re
import signal
import subprocess

import psutil
import pytest

from localcloud.story import one_vm
from localcloud.story.telling import tell_story
from tests.e2e.conftest import SPOTWARDEN, descendants, marked
from tests.long import longest

WITHIN_SECONDS = 480
"""Half a minute, and a lot more on a machine that is busy with other tests."""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The whole story, told once for all tests that read it; gives what it printed."""
    home = tmp_path_factory.mktemp("home")
    story = subprocess.run(
        [str(SPOTWARDEN), "local", "story", "--once"],
        capture_output=True,
        text=True,
        timeout=WITHIN_SECONDS,
        stdin=subprocess.DEVNULL,
        # As in the shell of a developer who works with a real deployment.
        env={**os.environ, "XDG_STATE_HOME": str(home), "SPOTWARDEN_SMTP_PASSWORD": "sesame"},
        check=False,
    )
    assert story.returncode == 0, story.stdout + story.stderr
    assert marked(home) == []
    return story.stdout


def chapter(told, job):
    """The lines of one job, in their order, as one text."""
    return "\n".join(re.findall(rf"^ *[\d.]+ s  {job} +(.*)$", told, flags=re.MULTILINE))


def test_a_preempted_vm_comes_back_and_resumes(told):
    """Preempted half-way, back, resumed, finished; with the time that took, and what was in it."""
    lines = chapter(told, "test-vm")
    assert re.search(r"marker → create request: \d+ ms", lines)
    assert re.search(r"\d+ ms of it until the old VM was really gone", lines)
    assert re.search(r"attempt 2 resumed at step (2[6-9]|[3-7]\d) and finished with status 0", lines)
    assert re.search(r"test-vm +ended +2 ", told)


def test_a_gang_comes_back_as_one(told):
    """One node is preempted: the survivor goes first, one attempt starts both, both resume."""
    lines = chapter(told, "pair")
    survivor = lines.index("pair-1, the survivor, was deleted first")
    both = re.search(r"both were asked for \d+ ms after it was gone", lines)
    assert both
    assert lines.index("Compute Engine preempts pair-2") < survivor < both.start()
    assert "attempt 2 has started both in us-central1-" in lines
    for node in ("pair-1", "pair-2"):
        assert re.search(rf"{node} resumed from its checkpoint at step [1-9]", lines)
    assert re.search(r"pair +ended +2 ", told)
    assert "the job ended with status 0" in lines


def test_a_job_leaves_a_zone_that_has_none_left(told):
    """It comes back elsewhere, and its ledger tells the refused try."""
    lines = chapter(told, "roam")
    assert "us-central1-a has no a2-highgpu-1g left" in lines
    assert re.search(r"the job runs again in us-central1-[bcf]; marker → its create request: \d+ ms", lines)
    assert re.search(r"\d+ ms of it until us-central1-a had refused", lines)
    assert "the ledger shows the refused request: us-central1-a, ZONE_RESOURCE_POOL_EXHAUSTED" in lines
    assert re.search(r"attempt 2 asked us-central1-a, refused: ZONE_RESOURCE_POOL_EXHAUSTED", told)
    assert re.search(r"roam +ended +2 ", told)


def test_a_vm_that_writes_no_marker_is_missed_all_the_same(told):
    """It comes back, and the story says what told of the loss and how long that took."""
    lines = chapter(told, "silent")
    assert "without a marker" in lines
    assert re.search(r"reported it; preemption → create request: \d+ ms", lines)
    assert re.search(r"silent +ended +2 ", told)


def test_the_story_ends_with_nothing_left_and_says_where_to_look(told):
    """No VM is left, and a reader learns of mailbox and report."""
    assert "nothing runs or costs money any more" in told
    assert "/local/mailbox" in told
    assert re.search(r"the report: +http://127\.0\.0\.1:\d+/", told)


def test_its_owner_gets_the_news_as_one_mail(told):
    """An hour later, since she need not do anything."""
    assert len(re.findall(r"✉ ada@example\.com: Spotwarden: \d+ notices about 4 jobs", told)) == 1


@longest
@pytest.mark.parametrize("moment", ["test-vm is being preempted"])
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
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    psutil.wait_procs(marked(home), timeout=60)
    assert marked(home) == []


def test_an_interrupted_story_ends_cleanly(start, home):
    """Ctrl-C: the local cloud puts everything away itself, and the exit status says that it was cut short."""
    story = start("local", "story", "--once")
    assert story.stdout is not None
    for line in story.stdout:
        if "attempt 1 runs in" in line:
            break
    story.send_signal(signal.SIGINT)
    story.communicate(timeout=60)
    assert story.returncode == 130
    assert marked(home) == []


def test_a_story_that_nobody_listens_to_ends_cleanly(home):
    """`… | head -2`: no traceback, and nothing runs on."""
    story = f"{SPOTWARDEN} local story --once | head -2"
    environment = {**os.environ, "XDG_STATE_HOME": str(home)}
    heard = subprocess.run(
        ["bash", "-c", story],
        capture_output=True,
        text=True,
        timeout=WITHIN_SECONDS,
        stdin=subprocess.DEVNULL,
        env=environment,
        check=True,
    )
    assert "test-vm: one VM is preempted" in heard.stdout
    assert heard.stderr == ""
    assert marked(home) == []


def test_a_story_that_does_not_come_true_says_why(tmp_path, monkeypatch, capsys):
    """The exit status is 1, and the message names the command that failed and what it said."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(one_vm, "EXAMPLE", tmp_path / "nowhere")
    assert asyncio.run(tell_story(tmp_path / "cloud", stay=False)) == 1
    told = capsys.readouterr().out
    assert "the demo failed: spotwarden submit" in told
    assert "does not exist" in told
    assert marked(tmp_path) == []
