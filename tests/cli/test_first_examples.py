"""The first example of each command's help, typed as it stands there."""

import shlex
from pathlib import Path

import click
import msgspec
import pytest

from spotwarden.cli.main import main
from spotwarden.layout import AttemptRecord, CreateScript
from spotwarden.model.attempt import Attempt, AttemptState
from tests.cli.test_acting import NOW, Shop
from tests.cli.test_all_commands import ALL

SCRIPT = (
    "gcloud compute instances create trainer --zone=us-central1-a --machine-type=e2-small"
    " --image-family=debian-12 --image-project=debian-cloud\n"
)
NOT_TYPED = {
    "run": "follows a program to its end; tests/e2e/stories/test_tutorial.py types such lines",
    "submit": "waits for a VM that boots; tests/e2e/test_commands.py types it",
    "shell": "needs a VM with processes; tests/localcloud/machines/test_shell.py runs commands in one",
    "doctor": "looks at a whole deployment; tests/e2e/test_doctor.py types it",
    "backtest": "replays what functions recorded; tests/cli/test_backtest.py types it",
    "config path": "opens the reader's editor",
    "config get": "is part of a line for gcloud storage",
    "completion": "is for a shell's own eval; tests/cli/test_all_commands.py reads its script",
}
"""First examples that are not typed here, and why."""
NAMED = {"exp-1", "exp-2", "my-job"}
"""The jobs that the examples are about: each was launched, and is over."""


def first(command: click.Command) -> str:
    """The first line below "Examples:"; "" where the help shows none."""
    _, _, shown = (command.help or "").replace("Example:", "Examples:").partition("Examples:")
    return next((line.strip() for line in shown.splitlines() if line.strip(" \b")), "")


EXAMPLES = {" ".join(path): first(one) for path, one in ALL.items() if path[0] != "local" and first(one)}


def attempt(job: str) -> Attempt:
    """The first attempt of a job, which was stopped."""
    common = {"state": AttemptState.STOPPED, "created": NOW, "updated": NOW, "owner": "ada@example.com"}
    return Attempt(job=job, number=1, **common)


@pytest.fixture
def shop(workstation, world, tmp_path, monkeypatch):
    """A workstation in a folder with a create script, whose bucket has the jobs of the examples."""
    monkeypatch.chdir(tmp_path)
    Path("create-instance.sh").write_text(SCRIPT, encoding="utf-8")
    Path("infra").mkdir()
    shipped = Path(__file__).parents[2] / "infra/policy.toml"
    Path("infra/policy.toml").write_bytes(shipped.read_bytes())
    shop = Shop(workstation, world)
    for job in sorted(NAMED):
        shop.put(CreateScript(job=job), SCRIPT.encode())
        shop.put(AttemptRecord(job=job, attempt=1), msgspec.json.encode(attempt(job)))
    workstation.store.write("my-job/output/last.pt", b"1", generation=0)
    workstation.store.write("my-job/metadata/job.toml", b'max_runtime = "8h"\n', generation=0)
    return shop


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path not in NOT_TYPED])
def test_the_first_example_works_as_typed(shop, path):
    """A reader copies that line before anything else."""
    program, *words = shlex.split(EXAMPLES[path], comments=True)
    assert program == "spotwarden"
    done = shop.workstation.run(*words, *(["--yes"] if path == "stop" else []))
    # `diff` tells by its status that two jobs differ, as diff does.
    assert done.exit_code in ({0, 1} if path == "diff" else {0}), done.output


def test_every_example_that_is_not_typed_is_there_and_has_a_reason():
    """And the others are most of them."""
    assert set(NOT_TYPED) <= set(EXAMPLES)
    assert all(NOT_TYPED.values())
    assert len(EXAMPLES) - len(NOT_TYPED) > 15
    assert {path for path in main.list_commands(click.Context(main)) if path != "local"} <= set(EXAMPLES)
