"""Which of the local clouds of this machine a command is meant for."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from localcloud.commands import main
from localcloud.running import VARIABLE, RunningCloud, living, write_down

DEAD = "http://127.0.0.1:1"
ELSE = "http://127.0.0.1:2"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str | None]:
    """A user's environment, in which no local cloud has been named."""
    return {"XDG_STATE_HOME": str(tmp_path), VARIABLE: None}


def note(environ: dict[str, str | None], pid: int, http: str = DEAD) -> Path:
    """A local cloud of project `demo` notes that it runs."""
    running = RunningCloud(http=http, grpc="", project="demo", pid=pid, state=f"/tmp/{pid}")
    return write_down(running, {"XDG_STATE_HOME": str(environ["XDG_STATE_HOME"])})


@pytest.mark.parametrize("command", [["env"], ["fault", "storage", "--status", "503"], ["preempt", "vm"]])
def test_where_several_run_and_none_is_named_a_command_says_what_to_type(environ, command):
    """It touches none of them: another one is a test, or a colleague's story."""
    note(environ, os.getpid())
    note(environ, os.getppid(), ELSE)
    done = CliRunner().invoke(main, command, env=environ)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: 2 local clouds are running. Name one")
    for url, pid in ((DEAD, os.getpid()), (ELSE, os.getppid())):
        assert f"  export {VARIABLE}={url}  # project demo, process {pid}, /tmp/{pid}\n" in done.stderr


def test_one_that_is_named_is_taken_whatever_else_runs(environ):
    """By the line that the refusal prints."""
    note(environ, os.getpid())
    note(environ, os.getppid(), ELSE)
    done = CliRunner().invoke(main, ["env"], env={**environ, VARIABLE: ELSE})
    assert done.stderr.startswith(f"Error: no local cloud responds at {ELSE}: ")
    assert f"unset {VARIABLE}" in done.stderr


def test_the_only_one_is_taken_and_named(environ):
    """On standard error: what `env` prints is for the shell."""
    note(environ, os.getpid())
    done = CliRunner().invoke(main, ["env"], env=environ)
    assert done.stderr.startswith(f"local cloud: {DEAD}, project demo\n")
    assert "unset" not in done.stderr


def test_a_process_that_only_has_the_number_of_a_dead_one_is_no_local_cloud(environ):
    """It began after the note was written; the note goes."""
    file = note(environ, os.getpid())
    os.utime(file, (0, 0))
    assert living({"XDG_STATE_HOME": str(environ["XDG_STATE_HOME"])}) == []
    assert not file.exists()


def test_where_none_runs_a_command_says_how_to_start_one(environ):
    """Instead of a refused connection."""
    done = CliRunner().invoke(main, ["status"], env=environ)
    assert done.stderr == "Error: no local cloud is running. Start one: spotwarden local serve --functions\n"
