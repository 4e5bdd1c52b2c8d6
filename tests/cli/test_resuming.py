"""A spot job that keeps nothing is launched, and its developer is told what that costs."""

import pytest

WORDS = ("run", "--job", "job", "--machine", "e2-small", "--zone", "us-central1-a", "--script-only")
TOLD = "warning: neither the command nor the code names $SPOTWARDEN_OUTPUT"
COMMAND = ("--", "python train.py")


@pytest.fixture
def code(tmp_path, monkeypatch):
    """The folder of the code; its program keeps nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("print('trains')\n")
    return tmp_path


def told(workstation, *words):
    """What `run` says beside what it prints."""
    return workstation.run(*words).stderr


def test_a_spot_job_that_keeps_nothing_is_warned_of(workstation, code):
    """Each preemption pays for all work again."""
    assert TOLD in told(workstation, *WORDS, *COMMAND)


@pytest.mark.parametrize(
    "line", ["out = os.environ['SPOTWARDEN_OUTPUT']", "save('gs://bucket/last.pt')", "open('/gcs/b/last.pt')"]
)
def test_code_that_names_where_it_could_keep_something_is_not(workstation, code, line):
    """In any file that is sent."""
    (code / "src").mkdir()
    (code / "src" / "saving.py").write_text(f"{line}\n")
    assert TOLD not in told(workstation, *WORDS, *COMMAND)


def test_code_that_is_left_out_does_not_count(workstation, code):
    """It never reaches the VM."""
    (code / ".gitignore").write_text("old.py\n")
    (code / "old.py").write_text("os.environ['SPOTWARDEN_OUTPUT']\n")
    assert TOLD in told(workstation, *WORDS, *COMMAND)


@pytest.mark.parametrize(
    "words",
    [
        ("--on-demand", *COMMAND),
        ("--no-code", *COMMAND),
        ("--container", "docker.io/library/python:3.11", *COMMAND),
        ("--env", "OUT=gs://bucket/out", *COMMAND),
        ("--setup", "ln -s $SPOTWARDEN_OUTPUT runs", *COMMAND),
        ("--", "python train.py --out $SPOTWARDEN_OUTPUT"),
    ],
)
def test_who_says_where_to_keep_it_or_has_code_that_nobody_sees_is_not(workstation, code, words):
    """A warning that is wrong is soon not read."""
    assert TOLD not in told(workstation, *WORDS, *words)
