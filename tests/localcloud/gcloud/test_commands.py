"""The table of gcloud's commands is that of the page, and each does what the table says."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.localcloud.gcloud.commands import PAGE, GcloudCommand, commands, page
from tests.long import longest

PROJECT = "demo-project"
TIMEOUT_SECONDS = 60
INSERTS = "insert_times=0.02"
"""Nobody learns anything from waiting for a VM."""


def test_the_page_shows_the_commands():
    """`python -m tests.localcloud.gcloud.commands` brings it up to date."""
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text)


def test_each_command_has_a_group_and_stands_once():
    """A line that is no command would be run for nothing."""
    every = commands()
    assert len({command.line for command in every}) == len(every) > 100
    assert all(command.group for command in every)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a client of a local cloud that runs the functions; its VMs have no processes."""
    state = tmp_path_factory.mktemp("state")
    words = ["--functions", "--no-machines", "--project", PROJECT, "--state", str(state), "--limit", INSERTS]
    serving = subprocess.Popen([sys.executable, "-m", "localcloud", "serve", *words], stdout=subprocess.PIPE)
    assert serving.stdout is not None
    url = json.loads(serving.stdout.readline())["http"]
    settings = httpx.get(f"{url}/local/env", trust_env=False, timeout=TIMEOUT_SECONDS).json()
    yield {**os.environ, **settings}
    serving.terminate()
    serving.wait(timeout=TIMEOUT_SECONDS)
    serving.stdout.close()


@longest
@pytest.mark.parametrize("group", dict.fromkeys(command.group for command in commands()))
def test_each_command_does_what_the_table_says(group: str, environment: dict[str, str], tmp_path: Path):
    """Those that work end with status 0; the others say what is not done, and end otherwise."""
    if not shutil.which("gcloud"):
        pytest.skip("gcloud is not installed: its everyday commands were not tried")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("text", encoding="utf-8")
    every = [command for command in commands() if command.group == group]
    wrong = [problem for command in every if (problem := _problem(command, environment, tmp_path))]
    assert not wrong, "\n".join(wrong)


def _problem(command: GcloudCommand, environment: dict[str, str], folder: Path) -> str:
    """What a command does that the table does not say; "" for nothing."""
    try:
        done = subprocess.run(
            ["bash", "-c", f"gcloud {command.words}"],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{command.line}: it took more than {TIMEOUT_SECONDS} s"
    said = re.sub(r"\s+", " ", done.stderr)
    if bool(done.returncode) == bool(command.refusal) and command.refusal in said:
        return ""
    return f"{command.line}: {done.returncode} {said[-400:]}"
